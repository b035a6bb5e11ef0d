/// RFC 3986 percent-encoding over bytes.
package enum PercentEncoding {
    /// The bytes of a path segment with everything encoded that is not unreserved; of a path when its slashes are kept.
    package static func encode(_ bytes: [UInt8], keepingSlashes: Bool = false) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            case UInt8(ascii: "/") where keepingSlashes: text.append(byte)
            default:
                text.append(UInt8(ascii: "%"))
                text.append(digit(byte >> 4))
                text.append(digit(byte & 15))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes combining marks that Swift would join with an ASCII character to one `Character`. Without that a `/` with a mark behind it is not
    /// found as a separator, though everybody else who reads the URL sees a slash.
    package static func ofMarks(in url: String) -> String {
        guard url.utf8.contains(where: { $0 >= 0x80 }) else { return url }
        var text: [UInt8] = []
        text.reserveCapacity(url.utf8.count)
        for character in url {
            let isJoined = character.utf8.count > 1 && character.utf8.contains { $0 < 0x80 }
            for byte in character.utf8 {
                text += isJoined && byte >= 0x80 ? [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)] : [byte]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that the text stands for; a `%` without two digits stands for itself.
    package static func decode(_ text: some StringProtocol) -> [UInt8] { decode(text.utf8) }

    /// The same of text in bytes.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8] {
        let source = Array(text)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count, let high = value(source[index + 1]),
                let low = value(source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return bytes
    }

    /// Returns true when every `%` has two digits behind it.
    package static func isWhole(_ text: some StringProtocol) -> Bool { isWhole(text.utf8) }

    /// The same of text in bytes.
    package static func isWhole(_ text: some Collection<UInt8>) -> Bool {
        let pieces = text.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        return pieces.dropFirst().allSatisfy { $0.count >= 2 && $0.prefix(2).allSatisfy { value($0) != nil } }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        case 97...102: digit - 87
        default: nil
        }
    }
}
