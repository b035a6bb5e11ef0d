import DisplayText

/// The outcome of a request, as one line for a person or a log.
enum ReceiverEvent: Sendable {
    case received(TargetPath, size: UInt64, in: Duration, from: String, replaced: Bool, resumedAt: [UInt64] = [])
    /// The whole file, or a range of it.
    case sent(TargetPath, ByteRange?, size: UInt64, in: Duration, from: String)
    case refused(RequestMethod, TargetPath, Answer, from: String)
    /// The target was no path at all; `shown` is what was sent, made harmless.
    case rejected(RequestMethod, shown: String, Answer, from: String)
    /// The connection ended first. `received` counts an upload's bytes; `nil` for a download.
    case cut(TargetPath, ExchangeEnding, received: UInt64?, expected: UInt64?, from: String)
    /// A resumable upload's connection ended first. `at` is what it has, `nil` when nothing was kept.
    case interrupted(TargetPath, ExchangeEnding, at: UInt64?, of: UInt64?, from: String)
    /// An unfinished upload was given up by its client.
    case removed(TargetPath, at: UInt64, from: String)
    /// Something about the receiver itself.
    case notice(String)

    /// One line without its end. Names and peers' words are harmless in it: `SafeText` has made them.
    var line: String {
        switch self {
        case .received(let path, let size, let time, let peer, let replaced, let resumedAt):
            "\(replaced ? "replaced" : "received") \(path.displayed) \(size) bytes in \(time.shown) s from \(peer)"
                + Self.resumptions(resumedAt)
        case .sent(let path, let range, let size, let time, let peer):
            "sent \(path.displayed) \(Self.extent(range, size)) in \(time.shown) s to \(peer)"
        case .refused(let method, let path, let answer, let peer):
            Self.refusal(method, path.displayed, answer, peer)
        case .rejected(let method, let shown, let answer, let peer):
            Self.refusal(method, shown, answer, peer)
        case .cut(let path, let ending, let received, let expected, let peer):
            "\(received == nil ? "not sent" : "not received") \(path.displayed)\(Self.progress(received, expected)): "
                + "\(ending.reason) (\(peer))"
        case .interrupted(let path, let ending, let offset?, let length, let peer):
            "interrupted \(path.displayed)\(Self.progress(offset, length)), to be resumed: \(ending.reason) (\(peer))"
        case .interrupted(let path, let ending, nil, let length, let peer):
            "not received \(path.displayed)\(Self.progress(0, length)): \(ending.reason) (\(peer))"
        case .removed(let path, let offset, let peer): "given up \(path.displayed) after \(offset) bytes (\(peer))"
        case .notice(let text): text
        }
    }

    private static func refusal(_ method: RequestMethod, _ shown: String, _ answer: Answer, _ peer: String) -> String {
        "refused \(SafeText(method.name).string) \(shown): \(answer.status.rawValue) \(answer.explanation) (\(peer))"
    }

    /// The offsets at which the upload was resumed: all of them when they are at most four.
    private static func resumptions(_ offsets: [UInt64]) -> String {
        switch offsets.count {
        case 0: ""
        case 1...4: ", resumed at " + offsets.map { String($0) }.joined(separator: ", ")
        default: ", resumed \(offsets.count) times, at last at \(offsets[offsets.count - 1])"
        }
    }

    private static func extent(_ range: ByteRange?, _ size: UInt64) -> String {
        range.map { "bytes \($0.first)-\($0.last) of \(size)" } ?? "\(size) bytes"
    }

    private static func progress(_ received: UInt64?, _ expected: UInt64?) -> String {
        guard let received else { return "" }
        return expected.map { " after \(received) of \($0) bytes" } ?? " after \(received) bytes"
    }
}

extension ExchangeEnding {
    fileprivate var reason: String {
        switch self {
        case .answered: "the request ended early"
        case .cut: "the connection was cut"
        case .silent: "the connection was silent for too long"
        case .stopped: "the receiver is stopping"
        }
    }
}

extension Duration {
    /// Seconds with three decimals.
    fileprivate var shown: String {
        let (seconds, attoseconds) = components
        let milliseconds = String(attoseconds / 1_000_000_000_000_000)
        return "\(seconds)." + String(repeating: "0", count: max(0, 3 - milliseconds.utf8.count)) + milliseconds
    }
}
