import Glibc

/// A point in time as people write it: an ISO 8601 date with or without time and zone, a time of day, or a distance.
package enum WrittenTime: Hashable, Sendable {
    /// `HH:MM`, the next time it is that late.
    case timeOfDay(hour: Int, minute: Int)
    /// `+DURATION`.
    case after(TimeSpan)
    /// `YYYY-MM-DD[THH:MM[:SS[.fff]]][Z|±HH:MM]`; without a zone the machine's own counts.
    case date(WallDate, milliseconds: Int64, zone: Zone)

    package enum Zone: Hashable, Sendable {
        case local
        case offset(seconds: Int64)
    }

    /// `nil` for anything else.
    package init?(_ text: String) {
        if text.hasPrefix("+") {
            guard let span = TimeSpan(String(text.dropFirst())) else { return nil }
            self = .after(span)
        } else if let time = Self.timeOfDay(text) {
            self = .timeOfDay(hour: time.hour, minute: time.minute)
        } else {
            guard let date = Self.date(text) else { return nil }
            self = date
        }
    }

    /// Milliseconds since 1970, UTC.
    package func milliseconds(now: Int64, calendar: WallCalendar = .ofThisMachine) -> Int64 {
        switch self {
        case .after(let span):
            // Further away than the calendar reaches is never.
            let (distance, tooLong) = span.seconds.multipliedReportingOverflow(by: 1000)
            let (time, tooLate) = now.addingReportingOverflow(distance)
            return tooLong || tooLate ? .max : time
        case .date(let date, let milliseconds, .offset(let offset)):
            return (WallCalendar.utcSeconds(date) - offset) * 1000 + milliseconds
        case .date(let date, let milliseconds, .local):
            return calendar.secondsSinceEpoch(date) * 1000 + milliseconds
        case .timeOfDay(let hour, let minute):
            var date = calendar.date(now / 1000)
            (date.hour, date.minute, date.second) = (hour, minute, 0)
            let today = calendar.secondsSinceEpoch(date)
            guard today * 1000 < now else { return today * 1000 }
            // The calendar carries the 32nd over into the next month.
            date.day += 1
            return calendar.secondsSinceEpoch(date) * 1000
        }
    }

    private static func timeOfDay(_ text: String) -> (hour: Int, minute: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = number(parts[0], 1...2), let minute = number(parts[1], 2...2), hour < 24,
            minute < 60
        else { return nil }
        return (hour, minute)
    }

    private static func date(_ text: String) -> WrittenTime? {
        let words = text.prefix(10).split(separator: "-", omittingEmptySubsequences: false)
        guard words.count == 3, let year = number(words[0], 4...4), let month = number(words[1], 2...2),
            let day = number(words[2], 2...2), (1...12).contains(month), year >= 1970,
            (1...WallCalendar.days(inMonth: month, of: year)).contains(day)
        else { return nil }
        var date = WallDate(year: year, month: month, day: day)
        var rest = text.dropFirst(10)
        guard let separator = rest.popFirst() else { return .date(date, milliseconds: 0, zone: .local) }
        guard separator == "T" || separator == " " else { return nil }
        let clock = rest.prefix { $0.isNumber || $0 == ":" || $0 == "." }
        guard let zone = zone(rest.dropFirst(clock.count)), let milliseconds = read(clock, into: &date) else {
            return nil
        }
        return .date(date, milliseconds: milliseconds, zone: zone)
    }

    /// `HH:MM[:SS[.fff]]`; the milliseconds.
    private static func read(_ clock: Substring, into date: inout WallDate) -> Int64? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let time = timeOfDay(parts[0...1].joined(separator: ":")) else {
            return nil
        }
        (date.hour, date.minute) = time
        guard parts.count == 3 else { return 0 }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(seconds.count), let second = number(seconds[0], 2...2), second < 60 else { return nil }
        date.second = second
        guard seconds.count == 2 else { return 0 }
        guard number(seconds[1], 1...9) != nil else { return nil }
        return Int64((seconds[1] + "00").prefix(3))
    }

    private static func zone(_ text: Substring) -> Zone? {
        if text.isEmpty { return .local }
        if text == "Z" { return .offset(seconds: 0) }
        let digits = text.dropFirst().filter { $0 != ":" }
        guard let sign = text.first, sign == "+" || sign == "-", let time = number(digits[...], 4...4), time / 100 < 24,
            time % 100 < 60
        else { return nil }
        return .offset(seconds: Int64((time / 100 * 3600 + time % 100 * 60) * (sign == "-" ? -1 : 1)))
    }

    private static func number(_ text: Substring, _ length: ClosedRange<Int>) -> Int? {
        guard length.contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }
}

/// A date and time of day without a zone.
package struct WallDate: Hashable, Sendable {
    package var year: Int
    package var month: Int
    package var day: Int
    package var hour = 0
    package var minute = 0
    package var second = 0

    /// `2026-11-21 18:00:00`
    package var written: String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(padded(month))-\(padded(day)) \(padded(hour)):\(padded(minute)):\(padded(second))"
    }
}

/// Converts between the date on a wall clock and the seconds since 1970.
package struct WallCalendar: Sendable {
    package var secondsSinceEpoch: @Sendable (WallDate) -> Int64
    package var date: @Sendable (Int64) -> WallDate

    /// The time zone of this process: mktime(3), localtime_r(3).
    package static let ofThisMachine = WallCalendar(
        secondsSinceEpoch: { date in
            var parts = tm()
            parts.tm_year = Int32(date.year - 1900)
            parts.tm_mon = Int32(date.month - 1)
            parts.tm_mday = Int32(date.day)
            parts.tm_hour = Int32(date.hour)
            parts.tm_min = Int32(date.minute)
            parts.tm_sec = Int32(date.second)
            // Whether summer time holds is the zone's business.
            parts.tm_isdst = -1
            return Int64(mktime(&parts))
        },
        date: { seconds in
            var time = time_t(seconds)
            var parts = tm()
            localtime_r(&time, &parts)
            return WallDate(
                year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
                hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
        })

    /// UTC, for tests.
    package static let utc = WallCalendar(secondsSinceEpoch: utcSeconds, date: utcDate)

    /// timegm(3).
    static func utcSeconds(_ date: WallDate) -> Int64 {
        var parts = tm()
        parts.tm_year = Int32(date.year - 1900)
        parts.tm_mon = Int32(date.month - 1)
        parts.tm_mday = Int32(date.day)
        parts.tm_hour = Int32(date.hour)
        parts.tm_min = Int32(date.minute)
        parts.tm_sec = Int32(date.second)
        return Int64(timegm(&parts))
    }

    /// gmtime_r(3).
    static func utcDate(_ seconds: Int64) -> WallDate {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        return WallDate(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
            hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
