import MartletKit

/// Since when rows that run have not moved: what has stood still for long enough is stalled.
///
/// The engine sends rows when they change, and what is stalled does not; so the screen measures it.
struct StalledRows: Sendable {
    private struct Stand {
        var sent: Int64
        var since: Duration
    }

    /// Rows that run, by what was last seen of their bytes.
    private var stands: [RowID: Stand] = [:]

    /// After so long without a byte a person wonders; the engine's average falls to 0 then too.
    static let patience = Duration.seconds(10)

    mutating func take(_ rows: some Sequence<NodeRow>, at uptime: Duration) {
        for row in rows {
            guard RowState(row) == .running, row.counts.finishing == 0 else {
                stands[row.id] = nil
                continue
            }
            if stands[row.id]?.sent != row.bytes.sent { stands[row.id] = Stand(sent: row.bytes.sent, since: uptime) }
        }
    }

    /// Forgets what is no longer in sight.
    mutating func keep(_ isInSight: (RowID) -> Bool) { stands = stands.filter { isInSight($0.key) } }

    func isStalled(_ id: RowID, at uptime: Duration) -> Bool {
        stands[id].map { uptime - $0.since >= Self.patience } ?? false
    }

    /// When the next row becomes stalled if nothing moves.
    func nextChange(after uptime: Duration) -> Duration? {
        stands.values.map { $0.since + Self.patience }.filter { $0 > uptime }.min()
    }
}

extension Model {
    /// The state a person is shown.
    func state(of row: NodeRow) -> RowState {
        let state = RowState(row)
        if !hearsNews, state.needsNews { return .unknown }
        guard state == .running else { return state }
        if observed.stalled.isStalled(row.id, at: now.uptime) { return .stalled }
        // Every byte is in the kernel's or the server's hands: what is missing is the answer.
        let isUnsent = row.scanning || row.counts.queued + row.counts.waiting > 0 || row.bytes.done < row.bytes.total
        if row.sizeKnown, row.bytes.total > 0, !isUnsent {
            return .checking
        }
        return .running
    }
}
