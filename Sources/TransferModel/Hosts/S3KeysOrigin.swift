/// The place that a batch's keys of S3 are from, and come anew from.
public enum S3KeysOrigin: Codable, Hashable, Sendable {
    /// A person has typed them, for this batch or for a configured server.
    case typed
    /// The environment of the client, or the AWS profile that this names.
    case surroundings
    /// The AWS profile that a configured server names.
    case profile(String)

    private enum CodingKeys: String, CodingKey { case profile }

    public init(from decoder: any Decoder) throws {
        if let word = try? decoder.singleValueContainer().decode(String.self) {
            switch word {
            case "typed": self = .typed
            case "surroundings": self = .surroundings
            default:
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "not an origin of keys: \(word)"))
            }
        } else {
            self = .profile(try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .profile))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .typed, .surroundings:
            var single = encoder.singleValueContainer()
            try single.encode(self == .typed ? "typed" : "surroundings")
        case .profile(let name):
            var object = encoder.container(keyedBy: CodingKeys.self)
            try object.encode(name, forKey: .profile)
        }
    }

    /// The profile that was named; `nil`: none.
    package var profile: String? { if case .profile(let name) = self { name } else { nil } }
}
