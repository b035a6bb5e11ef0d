/// A value that people write in a configuration file or on a command line, and how it is written back.
package protocol WrittenValue: Equatable, Sendable {
    /// The shortest text that reads as this value again.
    var written: String { get }
}

/// A number of bytes. Written `512K`, `8M`, `1.5G`: binary multiples, one notation everywhere.
package struct ByteSize: Hashable, Comparable, WrittenValue {
    package var bytes: Int64

    package init(bytes: Int64) { self.bytes = bytes }
    package static func < (one: ByteSize, other: ByteSize) -> Bool { one.bytes < other.bytes }

    /// Reads digits, perhaps with a fraction, and a suffix of `K M G T P`, `Ki`, `KiB` or `B`; upper or lower case.
    /// `KB` is refused: half of the world means 1000 by it.
    package init?(_ text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text.dropFirst(number.count).lowercased()
        guard let shift = Self.shifts.first(where: { Self.spellings($0.key).contains(unit) })?.value,
            let bytes = Self.multiply(number, shift: shift)
        else { return nil }
        self.bytes = bytes
    }

    package var written: String {
        let fitting = Self.shifts.filter { bytes != 0 && bytes & ((1 << Int64($0.value)) - 1) == 0 }
        guard let largest = fitting.max(by: { $0.value < $1.value }), largest.value > 0 else { return String(bytes) }
        return String(bytes >> Int64(largest.value)) + largest.key.uppercased()
    }

    private static let shifts: KeyValuePairs = ["": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50]

    private static func spellings(_ letter: String) -> [String] {
        letter.isEmpty ? ["", "b"] : [letter, letter + "i", letter + "ib"]
    }

    /// `number` × 2^`shift` exactly, in integers; `nil` when it is no number, too large, or no whole number of bytes
    /// without a unit.
    private static func multiply(_ number: Substring, shift: Int) -> Int64? {
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty, let whole = Int64(parts[0]) else { return nil }
        var (bytes, overflow) = whole.multipliedReportingOverflow(by: 1 << Int64(shift))
        guard !overflow else { return nil }
        if parts.count == 2 {
            guard shift > 0, (1...3).contains(parts[1].count), let digits = Int64(parts[1]) else { return nil }
            let divisor = parts[1].reduce(Int64(1)) { product, _ in product * 10 }
            (bytes, overflow) = bytes.addingReportingOverflow((digits << Int64(shift)) / divisor)
            guard !overflow else { return nil }
        }
        return bytes
    }
}

/// A bound on speed. Written `512K` (bytes a second, binary multiples) or `off`.
package enum RateLimit: Hashable, WrittenValue {
    case unlimited
    /// At least 1.
    case bytesPerSecond(Int64)

    /// Reads `off`, or a ``ByteSize`` above zero, perhaps with `/s` after it.
    package init?(_ text: String) {
        if text.lowercased() == "off" {
            self = .unlimited
            return
        }
        let amount = text.lowercased().hasSuffix("/s") ? String(text.dropLast(2)) : text
        guard let size = ByteSize(amount), size.bytes > 0 else { return nil }
        self = .bytesPerSecond(size.bytes)
    }

    package var written: String {
        switch self {
        case .unlimited: "off"
        case .bytesPerSecond(let bytes): ByteSize(bytes: bytes).written
        }
    }

    /// `nil`: unlimited.
    package var bytesPerSecond: Int64? {
        switch self {
        case .unlimited: nil
        case .bytesPerSecond(let bytes): bytes
        }
    }
}

/// A length of time in whole seconds. Written `30s`, `5m`, `2h`, `7d`, `2w`, or several together: `1h30m`.
package struct TimeSpan: Hashable, Comparable, WrittenValue {
    /// Not negative.
    package var seconds: Int64

    /// 100 years: whoever writes more means for ever, and times that far away are none.
    package static let longest: Int64 = 3_153_600_000

    package init(seconds: Int64) { self.seconds = seconds }
    package static func < (one: TimeSpan, other: TimeSpan) -> Bool { one.seconds < other.seconds }

    /// Reads one or more pairs of digits and unit; a number alone is refused, except `0`.
    package init?(_ text: String) {
        var sum: Int64 = 0
        var rest = Substring(text)
        if rest == "0" { rest = "0s" }
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard let number = Int64(digits), let letter = rest.popFirst(),
                let unit = Self.units.first(where: { $0.key == letter })?.value
            else { return nil }
            let (product, tooLong) = number.multipliedReportingOverflow(by: unit)
            let (total, tooMuch) = sum.addingReportingOverflow(product)
            guard !tooLong, !tooMuch, total <= Self.longest else { return nil }
            sum = total
        }
        seconds = sum
    }

    package var written: String {
        let unit = Self.units.first { $0.value <= seconds && seconds % $0.value == 0 && $0.key != "w" }
        guard let unit, seconds > 0 else { return "\(seconds)s" }
        return "\(seconds / unit.value)\(unit.key)"
    }

    /// The same as the standard library's type.
    package var duration: Duration { .seconds(seconds) }

    private static let units: KeyValuePairs<Character, Int64> = [
        "w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1,
    ]
}

extension Int: WrittenValue {
    package var written: String { String(self) }
}

extension Bool: WrittenValue {
    package var written: String { self ? "on" : "off" }
}
