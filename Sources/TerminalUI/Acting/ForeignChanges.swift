import MartletKit

/// Rows that somebody else has changed lately, on another screen or by a command: what only a person changes is another way, and this
/// screen has not asked for it.
struct ForeignChanges: Sendable {
    /// For so long a change is news to whoever looks at the row.
    static let freshness = Duration.seconds(5)

    private var seen: [RowID: Duration] = [:]

    func isRecent(_ row: RowID, at uptime: Duration) -> Bool {
        seen[row].map { uptime - $0 < Self.freshness } ?? false
    }

    mutating func note(_ rows: [RowID], at uptime: Duration) {
        guard !rows.isEmpty else { return }
        seen = seen.filter { uptime - $0.value < Self.freshness }
        for row in rows { seen[row] = uptime }
    }
}

extension Model {
    /// Compares what comes with what is shown, before it is taken over.
    mutating func noteForeignChanges(_ news: ViewUpdate) {
        // What was done here changes rows, too, until the engine's answer and the news that follow it are in.
        let isOwn = requests.outstanding.values.contains(where: \.purpose.isChange) || !changes.pending.isEmpty
        let wasOwn = changes.history.lastAt.map { now.uptime - $0 < ForeignChanges.freshness } ?? false
        guard !isOwn, !wasOwn else { return }
        let changed = news.sections.flatMap(\.rows).filter { row in
            tree.row(row.id).map { row.isChangedByPerson(since: $0) } ?? false
        }
        observed.changedByOthers.note(changed.map(\.id), at: now.uptime)
    }
}

extension NodeRow {
    /// Returns true when a person changed the row: the engine by itself never changes it so.
    fileprivate func isChangedByPerson(since before: NodeRow) -> Bool {
        paused != before.paused || priority != before.priority || limit != before.limit
            || state == .cancelled && before.state != .cancelled || before.state == .cancelled && state != .cancelled
    }
}
