import Configuration

/// The scale of a picture: zero-based, with a round number every few rows.
struct Axis: Hashable {
    /// The unit of all numbers, that of the highest value: K, M, G …. Else 500K and 1.5M would not be steps of the same
    /// length.
    let unit: Int64
    /// From one number to the next, in tenths of the unit: 1, 2, 5, 10, 20, 50 ….
    let tenths: Int64
    /// Rows from one number to the next.
    let spacing: Int
    private let rows: Int

    /// The tightest that has room for `value`: a number every 3 or 4 rows, in a low picture every 2.
    init(for value: Int64, rows: Int, _ units: ScreenConfiguration.Units) {
        let base: Int64 = units == .iec ? 1024 : 1000
        var unit = base
        while value / unit >= base { unit *= base }
        let spacings = rows >= 8 ? [4, 3] : [rows >= 6 ? 3 : max(1, min(2, rows))]
        let choices = spacings.map { spacing in
            let least = Double(value) / Double(unit) * 10 * Double(spacing) / Double(max(1, rows))
            // Under 1 K nothing is worth a number.
            return (
                spacing: spacing, tenths: Self.steps.first { Double($0) >= least && (unit > base || $0 >= 10) } ?? .max
            )
        }
        // There is one at least.
        let best = choices.min { Double($0.tenths) / Double($0.spacing) < Double($1.tenths) / Double($1.spacing) }!
        (self.unit, tenths, spacing, self.rows) = (unit, best.tenths, best.spacing, rows)
    }

    private static let steps: [Int64] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000]

    /// The value that a picture full to its last row shows.
    var top: Double { Double(tenths) / 10 * Double(unit) * Double(rows) / Double(spacing) }

    /// The numbers, and how many rows above the axis each stands: on the row whose upper edge it is.
    func marks(_ figures: Figures) -> [(row: Int, word: String)] {
        guard rows >= spacing else { return [] }
        // Of `1.0M`, `1.0MB` or `1B`.
        let letter = figures.size(unit).first(where: \.isLetter).map(String.init) ?? ""
        return (1...(rows / spacing)).map { index in
            let value = tenths * Int64(index)
            let fraction = tenths.isMultiple(of: 10) ? "" : ".\(value % 10)"
            return (index * spacing, "\(value / 10)\(fraction)\(letter)")
        }
    }
}
