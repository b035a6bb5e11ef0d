import DisplayText
import TransferModel
import WireOperations

/// Puts header lines together to heads, as libcurl hands them over: one line at a time, several heads one after the
/// other (100, 103, 104, a refused try at authentication), and trailers behind a body.
struct ResponseHeadCollector {
    enum Step: Equatable {
        case more
        /// An answer below 200.
        case interim(HTTPAnswer)
        /// An answer that may be the final one: see `mayGoOn`.
        case final(HTTPAnswer)
        case tooLarge
    }

    /// All lines of one exchange together may have this many bytes. Each 104 is counted by itself: an upload that takes long gets many.
    static let limit = 256 * 1024
    /// Lines of one head that continue the one before, which nobody has sent for a long time (RFC 9112 section 5.2).
    static let mostFolds = 100
    /// Fields of one head. Each is looked at whenever one is sought.
    static let mostFields = 500

    private enum State {
        case waiting
        case collecting(status: Int, fields: [HeaderField])
        /// Behind a final head come trailers, which may look like anything; after a refusal that libcurl may answer, another head.
        case complete(mayGoOn: Bool)

        var expectsHead: Bool {
            switch self {
            case .waiting: true
            case .collecting: false
            case .complete(let mayGoOn): mayGoOn
            }
        }
    }

    /// Returns true for a refusal after which libcurl may send the request anew by itself: to sign in, or without `Expect`.
    static func mayGoOn(after status: Int) -> Bool { [401, 407, 417].contains(status) }

    private var state = State.waiting
    private var size = 0
    /// Bytes of the head that comes now, and its lines that continue the one before.
    private var (headSize, folds) = (0, 0)
    /// Bytes of all 104s.
    private(set) var progressSize = 0

    mutating func append(_ line: UnsafeRawBufferPointer) -> Step {
        size += line.count
        headSize += line.count
        if size > Self.limit { return .tooLarge }
        let text = Self.trimmed(line)
        if state.expectsHead, let status = Self.status(text) {
            // Each status line starts anew: fields of an earlier answer never leak into a later one.
            state = .collecting(status: status, fields: [])
            (headSize, folds) = (line.count, 0)
            return .more
        }
        guard case .collecting(let status, var fields) = state else { return .more }
        if text.isEmpty {
            let head = HTTPAnswer(status: status, headers: fields)
            if status == 104 {
                size -= headSize
                progressSize += headSize
            }
            state = status < 200 ? .waiting : .complete(mayGoOn: Self.mayGoOn(after: status))
            return status < 200 ? .interim(head) : .final(head)
        }
        let isFolded = Self.isBlank(line.first)
        if isFolded { folds += 1 }
        if folds > Self.mostFolds || fields.count >= Self.mostFields { return .tooLarge }
        // The array must have one owner while it grows.
        state = .waiting
        Self.append(text, continuing: isFolded, to: &fields)
        state = .collecting(status: status, fields: fields)
        return .more
    }

    private static func append(_ text: Slice<UnsafeRawBufferPointer>, continuing: Bool, to fields: inout [HeaderField])
    {
        if continuing, !fields.isEmpty {
            fields[fields.count - 1].value += " "
            fields[fields.count - 1].value += String(peer: text)
            return
        }
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = trimmed(UnsafeRawBufferPointer(rebasing: text[(colon + 1)...]))
        fields.append(HeaderField(String(peer: text[..<colon]), String(peer: value)))
    }

    /// The status of `HTTP/x.y NNN …`, nil for any other line.
    private static func status(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard text.starts(with: "HTTP/".utf8), let space = text.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        let digits = text[(space + 1)...].prefix(3)
        guard digits.count == 3 else { return nil }
        var status = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            status = status * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return status
    }

    private static func isBlank(_ byte: UInt8?) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func trimmed(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var start = 0
        var end = line.count
        while end > start, isBlank(line[end - 1]) || line[end - 1] == 13 || line[end - 1] == 10 { end -= 1 }
        while start < end, isBlank(line[start]) { start += 1 }
        return line[start..<end]
    }
}
