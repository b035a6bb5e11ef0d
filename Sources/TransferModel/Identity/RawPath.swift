// TransferModel: the words of the program as values, for the queue, the engine, the wire and every client: batches, tasks, states, wait
// reasons, errors; and the pure decisions over them: `SchedulerChoice` (what starts next), `RetryRule` and `WaitRule` (when again),
// `HostStanding` (what a host's answers teach), `SpeedMeter`. Any thread; nothing here does anything. Start at `BatchRequest` (what is
// asked for) and `TaskSnapshot` (what is told).

import DisplayText
import FoundationEssentials

/// A path or a file's name as the kernel knows it: bytes without NUL, not necessarily UTF-8.
///
/// On the wire and in JSON a string when it is valid UTF-8, else `{"base64": "…"}`.
public struct RawPath: Hashable, Sendable {
    public var bytes: [UInt8]

    /// The bytes as they are; the caller makes sure that there is no NUL among them.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: String) { bytes = Array(text.utf8) }

    /// The path as text, when it is valid UTF-8.
    public var text: String? { String(validating: bytes, as: UTF8.self) }

    /// The path for a person or a log: control and invalid bytes as `\xNN`, and those that turn the direction of what follows or are
    /// not seen, with which a name can look like another. Not reversible; never opened, compared or sent: `shown` has the bytes beside it.
    public var displayed: String { HarmlessText.of(bytes) }

    /// `displayed`, and the bytes in base64 where that is not exactly these bytes: a name in JSON, and the `…Base64` field beside it.
    public var shown: (text: String, base64: String?) {
        let text = displayed
        return (text, text.utf8.elementsEqual(bytes) ? nil : Data(bytes).base64EncodedString())
    }

    /// Reads what `shown` wrote.
    public init(shown text: String, base64: String?) {
        let data = base64.flatMap { Data(base64Encoded: $0) }
        bytes = data.map { Array($0) } ?? Array(text.utf8)
    }

    /// The last component, without slashes at the end; empty for `/`.
    public var lastComponent: RawPath {
        var end = bytes.endIndex
        while end > 0, bytes[end - 1] == Self.slash { end -= 1 }
        let start = bytes[..<end].lastIndex(of: Self.slash).map { $0 + 1 } ?? 0
        return RawPath(Array(bytes[start..<end]))
    }

    /// The path of the folder that this one is in; `nil` for `/` and for a single component.
    package var parent: RawPath? {
        func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            bytes[..<(bytes.lastIndex { $0 != Self.slash }.map { $0 + 1 } ?? 0)]
        }
        let path = trimmed(bytes[...])
        guard let slash = path.lastIndex(of: Self.slash) else { return nil }
        let above = trimmed(path[..<slash])
        return RawPath(above.isEmpty ? [Self.slash] : Array(above))
    }

    /// This path with `name` below it.
    public func appending(_ name: RawPath) -> RawPath {
        if bytes.isEmpty { return name }
        return RawPath(bytes.last == Self.slash ? bytes + name.bytes : bytes + [Self.slash] + name.bytes)
    }

    /// The components between slashes; empty ones are left out.
    public var components: [RawPath] { bytes.split(separator: Self.slash).map { RawPath(Array($0)) } }

    static let slash = UInt8(ascii: "/")
}

extension RawPath: Codable {
    private enum Key: String, CodingKey { case base64 }

    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            bytes = Array(text.utf8)
        } else {
            let object = try decoder.container(keyedBy: Key.self)
            guard let data = Data(base64Encoded: try object.decode(String.self, forKey: .base64)) else {
                throw DecodingError.dataCorruptedError(forKey: .base64, in: object, debugDescription: "not base64")
            }
            bytes = Array(data)
        }
        guard !bytes.contains(0) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a path with a NUL"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        if let text {
            var single = encoder.singleValueContainer()
            try single.encode(text)
        } else {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(Data(bytes).base64EncodedString(), forKey: .base64)
        }
    }
}

extension RawPath: CustomStringConvertible {
    public var description: String { displayed }
}
