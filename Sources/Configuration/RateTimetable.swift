/// A bound on speed that depends on the time of day, as rclone writes it: `08:00,512K 18:00,off`, with `Mon-08:00` for
/// days; or one rate for always. Pure: it is told what the clock on the wall shows.
package struct RateTimetable: Hashable, WrittenValue {
    /// From when which rate holds.
    package struct Entry: Hashable, Sendable {
        /// 0 is Sunday; `nil`: every day.
        package var weekday: Int?
        /// The minute of the day, 0...1439.
        package var minute: Int
        package var rate: RateLimit

        package init(weekday: Int? = nil, minute: Int, rate: RateLimit) {
            self.weekday = weekday
            self.minute = minute
            self.rate = rate
        }
    }

    /// In the order written; without entries `constant` holds.
    package let entries: [Entry]
    private let constant: RateLimit
    /// Sorted by the minute of the week, from Sunday 00:00.
    private let changes: [(minute: Int, rate: RateLimit)]

    package static let minutesOfWeek = 7 * 1440
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    /// The same rate at all times.
    package init(_ rate: RateLimit) {
        entries = []
        constant = rate
        changes = []
    }

    /// - Parameter entries: at least one.
    package init(_ entries: [Entry]) {
        self.entries = entries
        constant = entries.first?.rate ?? .unlimited
        var table: [Int: RateLimit] = [:]
        // What is said of one day wins over what is said of all.
        for entry in entries.filter({ $0.weekday == nil }) + entries.filter({ $0.weekday != nil }) {
            for day in entry.weekday.map({ [$0] }) ?? Array(0..<7) { table[day * 1440 + entry.minute] = entry.rate }
        }
        changes = table.map { (minute: $0.key, rate: $0.value) }.sorted { $0.minute < $1.minute }
    }

    /// Reads a rate or a timetable; `nil` for anything else.
    package init?(_ text: String) {
        let words = text.split { $0 == " " || $0 == "\t" || $0 == ";" }
        if words.count == 1, !words[0].contains(",") {
            guard let rate = RateLimit(String(words[0])) else { return nil }
            self.init(rate)
            return
        }
        var entries: [Entry] = []
        for word in words {
            guard let entry = Self.entry(word) else { return nil }
            entries.append(entry)
        }
        guard !entries.isEmpty else { return nil }
        self.init(entries)
    }

    private static func entry(_ word: Substring) -> Entry? {
        let parts = word.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let rate = RateLimit(String(parts[1])) else { return nil }
        let when = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard let time = when.last, when.count <= 2, let minute = minute(of: time) else { return nil }
        guard when.count == 2 else { return Entry(minute: minute, rate: rate) }
        guard let day = weekdays.firstIndex(where: { $0.lowercased() == when[0].lowercased() }) else { return nil }
        return Entry(weekday: day, minute: minute, rate: rate)
    }

    private static func minute(of time: Substring) -> Int? {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { (1...2).contains($0.count) && $0.allSatisfy { $0.isASCII && $0.isNumber } }
        guard parts.count == 2, isNumber, let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
        else { return nil }
        return hour * 60 + minute
    }

    package var written: String {
        if entries.isEmpty { return constant.written }
        return entries.map { entry in
            let day = entry.weekday.map { Self.weekdays[$0] + "-" } ?? ""
            return day + Self.timeOfDay(entry.minute) + "," + entry.rate.written
        }.joined(separator: " ")
    }

    /// True when one rate holds at all times.
    package var isConstant: Bool { entries.isEmpty }

    /// The rate at a minute of the week, counted from Sunday 00:00; before the week's first change the last one of
    /// the week before goes on.
    package func rate(at minute: Int) -> RateLimit {
        changes.last { $0.minute <= minute }?.rate ?? changes.last?.rate ?? constant
    }

    /// Minutes from one of the week until something else is said; `nil`: never.
    package func minutes(toChangeAfter minute: Int) -> Int? {
        let now = rate(at: minute)
        let later = changes.filter { $0.minute > minute } + changes.map { ($0.minute + Self.minutesOfWeek, $0.rate) }
        return later.first { $0.rate != now }.map { $0.minute - minute }
    }

    /// `08:00`, of a minute of the day.
    package static func timeOfDay(_ minute: Int) -> String {
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return padded(minute / 60 % 24) + ":" + padded(minute % 60)
    }

    package static func == (one: RateTimetable, other: RateTimetable) -> Bool {
        one.entries == other.entries && (!one.entries.isEmpty || one.constant == other.constant)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(written) }
}

extension ValueSyntax where Value == RateTimetable {
    /// `512K`, `off`, `08:00,512K 18:00,off`.
    package static var timetable: ValueSyntax {
        ValueSyntax(
            "RATE|TIMETABLE",
            allowed: "bytes a second such as 512K, off, or a timetable such as \"08:00,512K 18:00,off\""
        ) { RateTimetable($0) }
    }
}
