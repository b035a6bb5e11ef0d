import TransferModel
import WireOperations

@testable import TransferProtocols

/// How exchanges end in the tables of the FTP protocols.
enum FTPAnswers {
    static func size(_ size: Int64, modified: Timestamp? = noon) -> FTPEnd {
        FTPEnd(reply: 213, command: "SIZE", size: size, modified: modified, at: noon.advanced(by: .seconds(3600)))
    }

    static let missing = FTPEnd(reply: 550, text: "No such file", command: "SIZE", at: noon)
    static let noSize = FTPEnd(reply: 500, text: "Unknown command", command: "SIZE", at: noon)

    /// - Parameter time: since the last look at the file.
    static func done(
        _ command: String, text: String = "", sent: Int64 = 0, written: Int64 = 0, size: Int64? = nil,
        after time: Duration = .zero
    ) -> FTPEnd {
        FTPEnd(
            reply: 226, text: text, command: command, size: size, bytesSent: sent, bytesWritten: written,
            at: noon.advanced(by: .seconds(3600) + time))
    }

    /// A refusal; libcurl's failure beside it counts less.
    static func refused(_ reply: Int, _ command: String = "STOR", text: String = "no", sent: Int64 = 0) -> FTPEnd {
        FTPEnd(
            reply: reply, text: text, command: command, bytesSent: sent,
            failure: .network(TransferError(.internal, "curl")), at: noon)
    }

    /// The connection ended.
    static func cut(sent: Int64 = 0, written: Int64 = 0, error: TransferError = lost) -> FTPEnd {
        FTPEnd(reply: 0, bytesSent: sent, bytesWritten: written, failure: .network(error), at: noon)
    }
}

extension FTPEnd {
    /// - Parameter reply: 0 for none.
    init(
        reply: Int, text: String = "", command: String = "", size: Int64? = nil, modified: Timestamp? = nil,
        bytesSent: Int64 = 0, bytesWritten: Int64 = 0, failure: ExchangeFailure? = nil, at: Timestamp
    ) {
        var answer = FTPAnswer()
        answer.reply = reply == 0 ? nil : FTPReply(code: reply, text: text)
        answer.command = command
        answer.size = size
        answer.modified = modified
        self.init(answer, bytesSent: bytesSent, bytesWritten: bytesWritten, failure: failure, at: at)
    }
}

/// Plays a machine of FTP: its exchanges end one after the other, its timers fire, its digests are computed.
struct FTPPlay<Machine: ProtocolMachine> {
    var machine: Machine
    private(set) var last: [ProtocolAction] = []
    private(set) var all: [String] = []
    private var id = 0

    init(_ machine: Machine) {
        self.machine = machine
        take(self.machine.handle(.began(at: noon)))
    }

    mutating func take(_ actions: [ProtocolAction]) {
        last = actions
        all += spoken(actions)
        for case .perform(let performed, _) in actions { id = performed.rawValue }
    }

    /// Ends the exchange that is under way; fires timers that were set before it began.
    mutating func end(_ end: FTPEnd) {
        while case .wake(let timer, _)? = last.last { take(machine.handle(.timerFired(timer))) }
        take(machine.handle(.ftpEnded(ExchangeID(rawValue: id), end)))
    }

    /// The words of the last actions: paths and commands as text, times of waiting left out.
    var said: [String] { spoken(last) }
}

/// As `words`, with FTP's exchanges as they would be typed.
func spoken(_ actions: [ProtocolAction]) -> [String] {
    zip(actions.filter(\.isShown), words(actions)).map { action, word in
        guard case .perform(_, .ftp(let exchange)) = action else { return word }
        return switch exchange {
        case .size(let path): "SIZE \(path)"
        case .list(let path): "MLSD \(path)"
        case .enter(let path): "CWD \(path)"
        case .upload(let path, let range, let appends):
            "\(appends ? "APPE" : "STOR") \(path) \(range.lowerBound)..<\(range.upperBound)"
        case .download(let path, let offset, _): "RETR \(path) from \(offset)"
        case .commands(let lines): lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "; ")
        }
    }
}
