/// A date of HTTP, with a second's resolution (RFC 9110 section 5.6.7).
struct HTTPDate: Equatable, Comparable, Sendable {
    let secondsSince1970: Int64

    init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete forms that a server must still take:
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    init?(field: String) {
        let words = field.split(separator: " ")
        let date: [Substring]
        let time: Substring
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            (date, time) = (Array(words[1...3]), words[4])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            (date, time) = (words[1].split(separator: "-", omittingEmptySubsequences: false), words[2])
        case 5 where !words[0].hasSuffix(","):
            (date, time) = ([words[2], words[1], words[4]], words[3])
        default: return nil
        }
        guard date.count == 3 else { return nil }
        let (day, month, year) = (date[0], date[1], date[2])
        guard let dayNumber = Self.number(day, 1...31), let monthIndex = Self.months.firstIndex(of: String(month)),
            let yearNumber = Self.year(year), let second = Self.secondOfDay(time)
        else { return nil }
        let days = Self.daysSince1970(year: yearNumber, month: Int64(monthIndex) + 1, day: dayNumber)
        self.init(secondsSince1970: days * 86_400 + second)
    }

    /// The preferred form, as in `Last-Modified`.
    var field: String {
        let days = secondsSince1970.dividedDown(by: 86_400)
        let second = secondsSince1970 - days * 86_400
        let (year, month, day) = Self.calendarDate(days)
        let weekday = Int((days + 4) - (days + 4).dividedDown(by: 7) * 7)
        let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, to: 2) }.joined(separator: ":")
        let date = "\(padded(day, to: 2)) \(Self.months[Int(month) - 1]) \(padded(year, to: 4))"
        return "\(Self.weekdays[weekday]), \(date) \(time) GMT"
    }

    static func < (one: HTTPDate, other: HTTPDate) -> Bool { one.secondsSince1970 < other.secondsSince1970 }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let number = Int64(text), range.contains(number)
        else { return nil }
        return number
    }

    /// Two digits count as the century that puts them nearest: RFC 9110 asks for at most 50 years ahead.
    private static func year(_ text: Substring) -> Int64? {
        switch text.utf8.count {
        case 4: number(text, 0...9999)
        case 2: number(text, 0...99).map { $0 < 70 ? 2000 + $0 : 1900 + $0 }
        default: nil
        }
    }

    private static func secondOfDay(_ time: Substring) -> Int64? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = number(parts[0], 0...23),
            let minute = number(parts[1], 0...59), let second = number(parts[2], 0...60)
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    // The proleptic Gregorian calendar in eras of 400 years that begin on 1 March, so that the leap day comes last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shifted = month > 2 ? year : year - 1
        let era = shifted.dividedDown(by: 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func calendarDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.dividedDown(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

private func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int64 {
    /// The quotient rounded down, also below zero.
    fileprivate func dividedDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
