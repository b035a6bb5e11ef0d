extension ScreenConfiguration.Units {
    /// A number of bytes in at most five characters (six for `si`): `17B`, `9.8M`, `71.2M`, `402G`; with `si` `9.8MB`.
    /// Rounded down, so that nothing looks finished before it is.
    package func size(_ bytes: Int64) -> String {
        let step: Int64 = self == .iec ? 1024 : 1000
        let tail = self == .iec ? "" : "B"
        guard bytes >= step else { return "\(max(bytes, 0))B" }
        var unit: Int64 = 1
        var letter: Character = " "
        for next in "KMGTPE" where bytes / unit >= step {
            unit *= step
            letter = next
        }
        // A tenth of the unit first: ten times the bytes might not fit.
        let tenths = bytes / unit * 10 + bytes % unit / max(unit / 10, 1)
        let text = tenths < 1000 ? "\(tenths / 10).\(min(tenths % 10, 9))" : "\(tenths / 10)"
        return "\(text)\(self == .si && letter == "K" ? "k" : letter)\(tail)"
    }

    /// A speed: `9.8M/s`.
    package func rate(_ bytesPerSecond: Int64) -> String { size(bytesPerSecond) + "/s" }
}

/// A length of time in at most six characters: `5s`, `12m30s`, `3h05m`, `2d4h`.
package func shownDuration(seconds: Int64) -> String {
    func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    switch max(seconds, 0) {
    case ..<60: return "\(max(seconds, 0))s"
    case ..<3600: return "\(seconds / 60)m\(padded(seconds % 60))s"
    case ..<86_400: return "\(seconds / 3600)h\(padded(seconds % 3600 / 60))m"
    case ..<8_640_000: return "\(seconds / 86_400)d\(seconds % 86_400 / 3600)h"
    default: return "\(min(seconds / 86_400, 99_999))d"
    }
}
