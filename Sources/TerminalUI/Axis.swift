import Configuration

/// The scale of a picture: a round number at its top.
enum Axis {
    /// The least of 1, 2, 5, 10, 20, 50 … of a unit that is not under `value`; at least 1 K.
    static func top(above value: Int64, _ units: ScreenConfiguration.Units) -> Int64 {
        let base: Int64 = units == .iec ? 1024 : 1000
        var unit = base
        while true {
            for step in [1, 2, 5, 10, 20, 50, 100, 200, 500] as [Int64] {
                let (top, isTooLarge) = unit.multipliedReportingOverflow(by: step)
                if isTooLarge { return .max }
                if top >= value { return top }
            }
            let (next, isTooLarge) = unit.multipliedReportingOverflow(by: base)
            if isTooLarge { return .max }
            unit = next
        }
    }
}
