/// A batch's name, as a person or a program gave it: 1 to 1000 bytes.
public struct BatchName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String

    /// `nil` when the name is empty or too long.
    public init?(rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= Self.longest else { return nil }
        self.rawValue = rawValue
    }

    /// Bytes.
    package static let longest = 1000
    package static let rule = "a batch's name has 1 to \(longest) bytes"

    /// The beginning of a name that files gave, or an earlier version let in.
    package static func cut(_ name: String) -> String { name.cut(toBytes: longest) }
}

extension BatchName: CustomStringConvertible, Codable {
    public var description: String { rawValue }

    public init(from decoder: any Decoder) throws {
        guard let name = BatchName(rawValue: try decoder.singleValueContainer().decode(String.self)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "", underlyingError: BrokenRule(Self.rule)))
        }
        self = name
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(rawValue)
    }
}

/// The reason why a value cannot be decoded, in words for whoever sent it.
package struct BrokenRule: Error {
    package let words: String
    package init(_ words: String) { self.words = words }
}

extension String {
    /// As much of the text from its beginning as has so many bytes; no scalar is cut in two.
    package func cut(toBytes most: Int) -> String {
        guard utf8.count > most else { return self }
        var end = utf8.index(startIndex, offsetBy: most)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
