package import Configuration

/// Numbers as a person reads them, never wider than their column whatever the number is.
///
/// All are rounded down: 100 % and `71.2M of 71.2M` appear only when nothing is missing. An unknown number is a dash
/// or a question mark, never a zero.
package struct Figures: Sendable, Hashable {
    /// `1M` is 1024 K, or 1000.
    package typealias Units = ScreenConfiguration.Units
    package let units: Units

    package init(units: ScreenConfiguration.Units = .iec) { self.units = units }

    /// A size, at most 6 characters: `71.2M`. The commands print it in the same way.
    package func size(_ bytes: Int64) -> String { units.size(bytes) }

    /// A speed, at most 8 characters: `9.8M/s`; a dash when nothing moves.
    package func speed(_ bytesPerSecond: Int64) -> String { bytesPerSecond > 0 ? units.rate(bytesPerSecond) : "-" }

    /// A time left, at most 5 characters: `12s`, `9m30s`, `41m`, `2h10m`, `23h`, `3d12h`, `99d`, `>1y`; `?` when
    /// unknown.
    package static func timeLeft(_ seconds: Int64?) -> String {
        guard let seconds = seconds.map({ max(0, $0) }) else { return "?" }
        let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400)
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<600: return two(minutes, "m", seconds % 60, "s")
        case ..<3600: return "\(minutes)m"
        case ..<36_000: return two(hours, "h", minutes % 60, "m")
        case ..<86_400: return "\(hours)h"
        case ..<864_000: return two(days, "d", hours % 24, "h")
        case ..<(366 * 86_400): return "\(days)d"
        default: return ">1y"
        }
    }

    /// A time left in words, for the total: `12 s`, `10 min`, `2 h 10 min`, `3 d 4 h`.
    package static func timeLeftInWords(_ seconds: Int64?) -> String {
        guard let seconds = seconds.map({ max(0, $0) }) else { return "?" }
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        case ..<(366 * 86_400): return "\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        default: return "more than a year"
        }
    }

    /// A count with its thousands apart: `12,406`.
    package static func count(_ number: Int64) -> String {
        let digits = Array(String(max(0, number)))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return text
    }

    /// `581/826`, at most 13 characters: counts over 99,999 in thousands or millions.
    package static func files(_ done: Int64, of all: Int64) -> String { "\(shortCount(done))/\(shortCount(all))" }

    /// A count in at most 6 characters.
    package static func shortCount(_ number: Int64) -> String {
        switch max(0, number) {
        case ..<100_000: return count(number)
        case ..<10_000_000: return "\(number / 1000)k"
        case ..<10_000_000_000: return "\(number / 1_000_000)M"
        default: return "\(min(number / 1_000_000_000, 99_999))G"
        }
    }

    /// `1 file`, `12,406 files`.
    package static func amount(_ number: Int64, _ one: String, _ many: String? = nil) -> String {
        "\(count(number)) \(number == 1 ? one : many ?? one + "s")"
    }

    private static func two(_ first: Int64, _ unit: String, _ second: Int64, _ smaller: String) -> String {
        second == 0 ? "\(first)\(unit)" : "\(first)\(unit)\(second)\(smaller)"
    }
}
