import DisplayText

/// An upload that is under way, as one line: its name, how much of it is there, and how fast more comes.
struct ProgressLine: Equatable, Sendable {
    /// As it is shown: harmless, and of a known width.
    var name: SafeText
    var received: UInt64
    /// `nil`: its client has not said yet.
    var total: UInt64?
    /// Bytes a second; `nil` while it is not known or nothing comes.
    var rate: UInt64?

    /// At most so many cells. What there is no room for goes: first the rate, then the bytes, and of the name its middle is the last.
    func text(columns: Int) -> SafeText {
        let all = [percent, amount, speed]
        for count in stride(from: all.count, through: 1, by: -1) {
            let facts = SafeText(all.prefix(count).filter { !$0.isEmpty }.joined(separator: "  "))
            let room = columns - facts.width - 2
            if room >= min(name.width, Self.leastName) {
                return name.shortened(to: room) + SafeText("  ") + facts
            }
        }
        return name.shortened(to: max(0, columns))
    }

    /// A name is not shown with less, unless it is shorter.
    private static let leastName = 12

    private var percent: String {
        guard let total else { return "" }
        // A hundred is what its final line says.
        let share = total == 0 ? 0 : min(99, Double(received) / Double(total) * 100)
        return "\(Int(share)) %"
    }

    private var amount: String {
        guard let total else { return Self.shown(received) }
        return "\(Self.shown(received)) of \(Self.shown(total))"
    }

    private var speed: String { rate.map { "\(Self.shown($0))/s" } ?? "-" }

    /// Three digits and a unit of thousands: `999 B`, `1.05 kB`, `12.3 MB`, `300 MB`.
    static func shown(_ bytes: UInt64) -> String {
        if bytes < 1000 { return "\(bytes) B" }
        var (value, unit) = (bytes, 0)
        // Whole thousandths of the next unit, so that nothing is rounded up into a fourth digit.
        while value >= 1_000_000 { (value, unit) = (value / 1000, unit + 1) }
        let (whole, rest) = (value / 1000, value % 1000)
        let digits = String(1000 + rest).dropFirst()
        let places = whole >= 100 ? 0 : whole >= 10 ? 1 : 2
        let fraction = places > 0 ? "." + digits.prefix(places) : ""
        return "\(whole)\(fraction) \(["k", "M", "G", "T", "P", "E"][min(unit, 5)])B"
    }
}
