/// The name of a region of S3, such as `eu-central-1`: 1 to 64 ASCII letters, digits, hyphens, underscores and dots.
///
/// It becomes part of a host's name and of a header field. Whoever names one, a person, a server's answer or what was stored of it, does it
/// by this initialiser: nothing else can reach a request.
package struct S3Region: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    package init?(rawValue: String) {
        guard (1...64).contains(rawValue.utf8.count), rawValue.utf8.allSatisfy(Self.isNameByte) else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// The region that is signed for when nobody names one.
    package static let usual = S3Region(known: "us-east-1")

    package var description: String { rawValue }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
