import Configuration

/// The scale of a picture: zero-based, with a round number every few rows.
struct Axis: Hashable {
    /// From one number to the next: 1, 2, 5, 10, 20, 50 … of a unit.
    let step: Int64
    /// Rows from one number to the next.
    let spacing: Int
    private let rows: Int

    /// The tightest that has room for `value`: a number every 3 or 4 rows, in a low picture every 2.
    init(for value: Int64, rows: Int, _ units: ScreenConfiguration.Units) {
        let spacings = rows >= 6 ? [4, 3] : [max(1, min(2, rows))]
        let choices = spacings.map { spacing in
            (spacing, Self.roundStep(notUnder: Double(value) * Double(spacing) / Double(max(1, rows)), units))
        }
        // There is one at least.
        let best = choices.min { Double($0.1) / Double($0.0) < Double($1.1) / Double($1.0) }!
        (spacing, step, self.rows) = (best.0, best.1, rows)
    }

    /// What a picture that is full to its last row shows.
    var top: Double { Double(step) * Double(rows) / Double(spacing) }

    /// The numbers, and how many rows above the axis each stands: on the row whose upper edge it is.
    var marks: [(row: Int, value: Int64)] {
        guard rows >= spacing else { return [] }
        return (1...(rows / spacing)).map { index in
            let (value, isTooLarge) = step.multipliedReportingOverflow(by: Int64(index))
            return (index * spacing, isTooLarge ? .max : value)
        }
    }

    /// At least 1 K.
    private static func roundStep(notUnder value: Double, _ units: ScreenConfiguration.Units) -> Int64 {
        let base: Int64 = units == .iec ? 1024 : 1000
        var unit = base
        while true {
            for digits in [1, 2, 5, 10, 20, 50, 100, 200, 500] as [Int64] {
                let (step, isTooLarge) = unit.multipliedReportingOverflow(by: digits)
                if isTooLarge { return .max }
                if Double(step) >= value { return step }
            }
            let (next, isTooLarge) = unit.multipliedReportingOverflow(by: base)
            if isTooLarge { return .max }
            unit = next
        }
    }
}
