import DisplayText
package import TransferModel
package import WireOperations

/// The result of an FTP exchange.
package struct FTPEnd: Hashable, Sendable {
    package var answer: FTPAnswer
    /// Listings only: the result of reading the bytes.
    package var listing: ListingEnd?
    /// Bytes of the source that were handed to the connection.
    package var bytesSent: Int64
    /// Bytes that were written through the gate.
    package var bytesWritten: Int64
    /// `nil`: the server said yes (2xx).
    package var failure: ExchangeFailure?
    package var at: Timestamp
    /// Names that the server's text may repeat: they say nothing of why it refuses.
    var names: [RawPath] = []

    package init(
        _ answer: FTPAnswer, bytesSent: Int64 = 0, bytesWritten: Int64 = 0, failure: ExchangeFailure? = nil,
        at: Timestamp
    ) {
        self.answer = answer
        self.bytesSent = bytesSent
        self.bytesWritten = bytesWritten
        self.failure = failure
        self.at = at
    }
}

extension FTPEnd {
    /// The code of the reply that decided, 0 when none did.
    var reply: Int { answer.reply?.code ?? 0 }
    /// The reply's text.
    var text: String { answer.reply?.text ?? "" }
    var command: String { answer.command }
    var isLoginRefused: Bool { answer.isLoginRefused }
    var size: Int64? { answer.size }
    var modified: Timestamp? { answer.modified }

    /// The server said no; then that counts, and no failure beside it.
    var isRefusal: Bool { (400..<600).contains(reply) }
    var isDone: Bool { !isRefusal && failure == nil }
    /// The server does not know the command.
    var isUnknownCommand: Bool { reply == 500 || reply == 502 || reply == 504 }
    /// Its disk or a quota is full. vsftpd and pyftpdlib say so in words alone, with 451 and 426.
    var saysFull: Bool {
        let words = ["no space", "disk full", "quota", "writing to local file", "insufficient storage"]
        return reply == 452 || reply == 552 || (isRefusal && words.contains { text.lowercased().contains($0) })
    }
    /// It did not answer in time.
    var isTimedOut: Bool {
        guard !isRefusal, case .network(let error) = failure else { return false }
        return error.code == .timedOut
    }
    /// `SIZE` says that there is no such file.
    var isMissing: Bool { reply == 550 && !isLoginRefused }
    /// 550 stands for what is not there and for what may not be read: the text alone can say it.
    var isForbidden: Bool {
        let text = textWithoutNames.lowercased()
        return ["denied", "permi", "not allowed", "forbidden"].contains { text.contains($0) }
    }
    /// The text without the file's name, where that begins it before a colon, or ends it behind one.
    private var textWithoutNames: String {
        var words = Array(text.utf8)
        for name in names.flatMap({ [$0.bytes, $0.lastComponent.bytes] }) where !name.isEmpty {
            let (start, end) = (name + Array(":".utf8), Array(": ".utf8) + name)
            if words.starts(with: start) { words.removeFirst(start.count) }
            if words.count >= end.count, words.suffix(end.count).elementsEqual(end) { words.removeLast(end.count) }
        }
        return String(peer: words)
    }
    /// `SIZE` says that the name is free. To tell nothing, or not to allow the question, is not to say so.
    var isFree: Bool { isMissing && !isForbidden }
    /// The server does not want to tell whether something has the name.
    var isUntold: Bool { isUnknownCommand || isMissing && isForbidden }

    var quoted: String { text.isEmpty ? "" : " (\(text))" }
}
