import FoundationEssentials

/// One reading of a text: as it is written, or with the escapes in it undone (percent-encoding, JSON's, the references of XML and HTML).
/// Servers and libraries write one word in many ways; in one of the readings it stands plainly.
struct EscapedText {
    /// Bytes of the longest escape that is undone: two of JSON's for one character.
    static let longestEscape = 12
    /// A URL within a URL is escaped twice.
    private static let mostReadings = 3

    private(set) var bytes: [UInt8]
    /// For each byte, and for the end, its place in the text as it is written.
    private(set) var places: [Int]

    /// All readings, the first as it is written.
    static func readings(of text: [UInt8]) -> [EscapedText] {
        var readings = [EscapedText(bytes: text, places: Array(0...text.count))]
        while readings.count < mostReadings, let next = readings[readings.count - 1].unescaped {
            readings.append(next)
        }
        return readings
    }

    /// True of a byte that an escape may begin with.
    static func opensEscape(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "&")
    }

    private init(bytes: [UInt8], places: [Int]) {
        self.bytes = bytes
        self.places = places
    }

    /// `nil`: it has no escapes.
    private var unescaped: EscapedText? {
        var next = EscapedText(bytes: [], places: [])
        var place = 0
        while place < bytes.count {
            let escape = Self.escape(in: bytes[place...].prefix(Self.longestEscape))
            let plain = escape?.plain ?? [bytes[place]]
            next.bytes += plain
            next.places += plain.map { _ in places[place] }
            place += escape?.length ?? 1
        }
        guard next.bytes.count < bytes.count else { return nil }
        next.places.append(places[bytes.count])
        return next
    }

    // MARK: Escapes

    private typealias Escape = (plain: [UInt8], length: Int)

    /// The escape that the text begins with.
    private static func escape(in text: ArraySlice<UInt8>) -> Escape? {
        switch text.first {
        case UInt8(ascii: "%"): byte(in: text.dropFirst(), behind: 1)
        case UInt8(ascii: "\\"): backslash(in: text.dropFirst())
        case UInt8(ascii: "&"): reference(in: text.dropFirst())
        default: nil
        }
    }

    private static func byte(in text: ArraySlice<UInt8>, behind before: Int) -> Escape? {
        number(text.prefix(2), digits: 2).map { ([UInt8($0)], before + 2) }
    }

    private static func backslash(in text: ArraySlice<UInt8>) -> Escape? {
        switch text.first {
        case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): return ([text.first!], 2)
        case UInt8(ascii: "x"): return byte(in: text.dropFirst(), behind: 2)
        case UInt8(ascii: "u"):
            guard let unit = number(text.dropFirst().prefix(4), digits: 4) else { return nil }
            if let plain = utf8(unit) { return (plain, 6) }
            // The first of two units.
            let second = text.dropFirst(5)
            guard second.starts(with: "\\u".utf8), let low = number(second.dropFirst(2).prefix(4), digits: 4),
                (0xD800..<0xDC00).contains(unit), (0xDC00..<0xE000).contains(low)
            else { return nil }
            return utf8(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)).map { ($0, 12) }
        default: return nil
        }
    }

    private static let names: [String: UInt8] = [
        "amp": UInt8(ascii: "&"), "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "quot": UInt8(ascii: "\""),
        "apos": UInt8(ascii: "'"),
    ]

    private static func reference(in text: ArraySlice<UInt8>) -> Escape? {
        guard let end = text.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        let name = text[..<end]
        let length = name.count + 2
        if name.first != UInt8(ascii: "#") {
            return names[String(decoding: name, as: UTF8.self)].map { ([$0], length) }
        }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X")
        let scalar = isHexadecimal ? number(digits.dropFirst()) : number(digits, base: 10)
        return scalar.flatMap(utf8).map { ($0, length) }
    }

    /// - Parameter digits: how many there must be; `nil`: any number, of at least one.
    private static func number(_ text: ArraySlice<UInt8>, base: UInt32 = 16, digits: Int? = nil) -> UInt32? {
        if text.isEmpty || digits.map({ $0 != text.count }) == true { return nil }
        var number: UInt32 = 0
        for byte in text {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < base, number < 1 << 24 else {
                return nil
            }
            number = number * base + UInt32(digit)
        }
        return number
    }

    private static func utf8(_ scalar: UInt32) -> [UInt8]? {
        Unicode.Scalar(scalar).map { Array(String(Character($0)).utf8) }
    }
}
