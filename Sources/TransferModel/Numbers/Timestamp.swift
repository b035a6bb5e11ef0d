/// A point in time by the wall clock, to the millisecond, UTC, in the years 0 to 9999: what is before or after counts as the first or last
/// moment of them. So every time can be written and read again, and the difference of two is always a number. In JSON ISO 8601:
/// `2026-11-21T12:41:07.250Z`.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01 00:00 UTC; negative before.
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = min(max(milliseconds, Self.first), Self.last) }

    public init(seconds: Int64) {
        let (milliseconds, isTooMany) = seconds.multipliedReportingOverflow(by: 1000)
        self.init(milliseconds: isTooMany ? (seconds < 0 ? .min : .max) : milliseconds)
    }

    /// 0000-01-01T00:00:00.000Z.
    private static let first: Int64 = -62_167_219_200_000
    /// 9999-12-31T23:59:59.999Z.
    private static let last: Int64 = 253_402_300_799_999

    public static func < (one: Timestamp, other: Timestamp) -> Bool { one.milliseconds < other.milliseconds }

    /// This time moved by `duration`, cut to whole milliseconds.
    public func advanced(by duration: Duration) -> Timestamp {
        let (seconds, attoseconds) = duration.components
        // More than that leads out of the years from wherever it begins.
        let most = (Self.last - Self.first) / 1000 + 1
        let whole = min(max(seconds, -most), most) * 1000
        return Timestamp(milliseconds: milliseconds + whole + attoseconds / 1_000_000_000_000_000)
    }

    /// The time from `other` to this; negative when this is earlier.
    public func since(_ other: Timestamp) -> Duration { .milliseconds(milliseconds - other.milliseconds) }
}

extension Timestamp: CustomStringConvertible, Codable {
    public var description: String {
        let days = Self.floorDivide(milliseconds, 86_400_000)
        let ofDay = milliseconds - days * 86_400_000
        let (year, month, day) = Self.date(daysSince1970: days)
        return Self.padded(year, 4) + "-" + Self.padded(month, 2) + "-" + Self.padded(day, 2) + "T"
            + Self.padded(ofDay / 3_600_000, 2) + ":" + Self.padded(ofDay / 60_000 % 60, 2) + ":"
            + Self.padded(ofDay / 1000 % 60, 2) + "." + Self.padded(ofDay % 1000, 3) + "Z"
    }

    /// Reads what `description` writes; the fraction may be missing or longer. `nil` for anything else.
    public init?(_ text: String) {
        let main = text.utf8.prefix(19)
        let bytes = Array(main)
        func number(_ range: Range<Int>) -> Int64? {
            let digits = bytes[range]
            guard digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
        }
        guard bytes.count == 19, bytes[4] == 45, bytes[7] == 45, bytes[10] == 84, bytes[13] == 58, bytes[16] == 58,
            let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19),
            (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour), (0..<60).contains(minute),
            (0...60).contains(second), text.utf8.last == 90
        else { return nil }
        var fraction: Int64 = 0
        let tail = Array(text.utf8.dropFirst(19).dropLast())
        if !tail.isEmpty {
            guard tail[0] == 46, tail.count > 1, tail.dropFirst().allSatisfy({ (48...57).contains($0) }) else {
                return nil
            }
            let digits = (tail.dropFirst().prefix(3).map { Int64($0 - 48) } + [0, 0]).prefix(3)
            fraction = digits.reduce(0) { $0 * 10 + $1 }
        }
        let days = Self.days(year: year, month: month, day: day)
        self.init(milliseconds: ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + fraction)
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let time = Timestamp(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a time: \(text)"))
        }
        self = time
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(description)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func floorDivide(_ number: Int64, _ divisor: Int64) -> Int64 {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }

    // The proleptic Gregorian calendar counted in 400-year eras that begin on 1 March, so that the leap day comes last.
    private static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSince1970 + 719_468
        let era = floorDivide(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * ofYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = floorDivide(shifted, 400)
        let yearOfEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear - 719_468
    }
}
