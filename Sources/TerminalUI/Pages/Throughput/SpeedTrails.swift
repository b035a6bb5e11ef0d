import DisplayText
import MartletKit
import Terminal

/// The speeds of the last seconds of the rows in sight, for the pictures beside them.
struct SpeedTrails: Sendable {
    /// The number of speeds kept of a row, and of cells that its picture has.
    static let length = 10
    /// The least time between two of them.
    static let step = Duration.seconds(1)

    private struct Trail {
        /// Oldest first.
        var speeds: [Int64]
        var last: Duration
    }

    private var trails: [RowID: Trail] = [:]

    mutating func take(_ rows: some Sequence<NodeRow>, at uptime: Duration) {
        for row in rows {
            guard RowState(row) == .running else {
                trails[row.id] = nil
                continue
            }
            var trail = trails[row.id] ?? Trail(speeds: [], last: uptime - Self.step)
            guard uptime - trail.last >= Self.step else { continue }
            trail.speeds = (trail.speeds + [row.bytesPerSecond]).suffix(Self.length)
            trail.last = uptime
            trails[row.id] = trail
        }
    }

    /// Forgets what is no longer in sight.
    mutating func keep(_ isInSight: (RowID) -> Bool) { trails = trails.filter { isInSight($0.key) } }

    /// One cell a speed, the newest at the right; the highest fills its cell.
    func picture(of row: RowID, _ glyphs: GlyphSet) -> SafeText {
        let speeds = trails[row]?.speeds ?? []
        guard let top = speeds.max(), top > 0 else { return "" }
        let levels = Self.levels(glyphs)
        let cells = speeds.map { speed in
            speed == 0 ? Glyph(" ") : levels[Int((Double(speed) / Double(top) * Double(levels.count)).rounded(.up)) - 1]
        }
        return SafeText(Array(repeating: Glyph(" "), count: Self.length - cells.count) + cells)
    }

    private static func levels(_ glyphs: GlyphSet) -> [Glyph] {
        switch glyphs {
        case .unicode: GlyphSet.eighths
        case .narrow, .ascii: "_.-+*#".unicodeScalars.map { Glyph($0) }
        }
    }
}
