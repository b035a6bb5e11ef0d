package import TransferModel

/// The one line that `martlet relay` says before it passes bytes on. What a shell prints before it is not ours.
package enum RelayGreeting: Equatable, Sendable {
    /// From now on the engine is at the other end.
    case ready
    /// There is no way to the engine there.
    case failed(RequestError)

    private static let mark = "martlet-relay: "

    /// The line, with its newline.
    package var line: [UInt8] {
        switch self {
        case .ready: Array("\(Self.mark)ready\n".utf8)
        case .failed(let error): Array("\(Self.mark)failed \(error.code.rawValue) \(error.message)\n".utf8)
        }
    }

    /// Reads a line without its newline; `nil`: somebody else said it.
    package init?(_ line: some Collection<UInt8>) {
        let text = RawPath(Array(line)).displayed
        guard let start = text.firstRange(of: Self.mark) else { return nil }
        let words = text[start.upperBound...].split(separator: " ", maxSplits: 2).map(String.init)
        switch words.first {
        case "ready": self = .ready
        case "failed" where words.count == 3:
            self = .failed(RequestError(RequestErrorCode(rawValue: words[1]) ?? .engineUnreachable, words[2]))
        default: return nil
        }
    }
}
