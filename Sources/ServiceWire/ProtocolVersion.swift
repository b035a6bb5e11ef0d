/// The version of the control protocol: equal majors understand each other, a higher minor only adds.
package struct ProtocolVersion: Hashable, Sendable {
    /// Rises when something is removed or means something else.
    package var major: Int
    /// Rises when a method, a field or a value is added.
    package var minor: Int

    package init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// The version that this build speaks. The history stands in `Resources/protocol/README.md`.
    package static let current = ProtocolVersion(major: 1, minor: 0)

    /// The reason for which a peer that speaks `other` cannot be talked to, in one sentence; `nil` when it can.
    package func refusal(of other: ProtocolVersion, peer: String) -> String? {
        if major == other.major { return nil }
        return "\(peer) speaks protocol \(other), this one speaks \(self): "
            + "install the same version of martlet and martletd, then `martlet engine stop`"
    }
}

extension ProtocolVersion: CustomStringConvertible, Codable {
    /// Reads `1.0`; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]), major >= 0, minor >= 0 else {
            return nil
        }
        self.init(major: major, minor: minor)
    }

    package var description: String { "\(major).\(minor)" }

    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let version = ProtocolVersion(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a protocol version: \(text)"))
        }
        self = version
    }

    package func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(description)
    }
}
