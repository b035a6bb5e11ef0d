/// Lower-case hexadecimal digits.
package enum Hexadecimal {
    /// Two digits a byte.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text = [UInt8]()
        text.reserveCapacity(bytes.count * 2)
        // Of an array each byte is a load; through the protocol it is a call.
        for byte in Array(bytes) {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of digits in either case; `nil` for an odd count or anything else than digits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = [UInt8]()
        var high: UInt8?
        for character in text.utf8 {
            guard let digit = value(of: character) else { return nil }
            if let upper = high {
                bytes.append(upper << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// The value of one hexadecimal digit, 0…15; `nil` for any other byte.
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}

/// Base64 of RFC 4648 section 4, with padding.
package enum Base64 {
    /// Four characters for every three bytes, the last group padded.
    package static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text = [UInt8]()
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var group: UInt32 = 0
        var held = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            held += 1
            if held == 3 {
                append(group, characters: 4, to: &text)
                group = 0
                held = 0
            }
        }
        if held > 0 {
            append(group << UInt32(8 * (3 - held)), characters: held + 1, to: &text)
            text.append(contentsOf: repeatElement(padding, count: 3 - held))
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes; `nil` for anything that `encode` would not have written (white space, missing padding, stray bits).
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 4 == 0 else { return nil }
        let padded = characters.suffix(2).count { $0 == padding }
        var bytes = [UInt8]()
        var group: UInt32 = 0
        var held = 0
        for character in characters.dropLast(padded) {
            guard let value = values[Int(character)] else { return nil }
            group = group << 6 | UInt32(value)
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(held)))
            }
        }
        let strayBits = group & (1 << UInt32(held) - 1)
        return strayBits == 0 && held == padded * 2 ? bytes : nil
    }

    private static func append(_ group: UInt32, characters: Int, to text: inout [UInt8]) {
        for position in 0..<characters { text.append(alphabet[Int(group >> UInt32(18 - 6 * position)) & 63]) }
    }

    private static let padding = UInt8(ascii: "=")
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8?] = {
        var table = [UInt8?](repeating: nil, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()
}
