import MartletKit

/// Observations of rows over time: the engine sends only how each row is now.
struct RowObservations: Sendable {
    /// The rows that others have changed lately.
    var changedByOthers = ForeignChanges()
    /// The ends of batches that are known.
    var endings = Endings()
    var stalled = StalledRows()
    /// Only while the column is wanted.
    var trails = SpeedTrails()

    /// Takes rows that have come, and forgets those that are in sight no longer.
    mutating func take(_ rows: [NodeRow], inSight: Set<RowID>, at uptime: Duration, keepsTrails: Bool) {
        stalled.take(rows, at: uptime)
        stalled.keep { inSight.contains($0) }
        guard keepsTrails else { return }
        trails.take(rows, at: uptime)
        trails.keep { inSight.contains($0) }
    }
}
