import DisplayText
import MartletKit

/// The rows of a deed, compared with what the engine told of them last.
///
/// A batch, a folder and a file are the same however long ago they were seen. A group is a number of files of one fate: it may hold others and
/// more by now, while the list was frozen, while a question was open, or out of sight.
enum SeenRows: Hashable, Sendable {
    /// No group holds more files than it did when it was seen.
    case same
    /// The rows as they are now, and the files that the groups among them had when they were seen.
    case grown([NodeRow], from: Int64)
    /// A group of which the engine tells nothing now.
    case unknown(NodeRow)
}

extension Model {
    /// Compares rows that a person saw with the newest news of them, which a frozen list does not show.
    func seen(_ rows: [NodeRow]) -> SeenRows {
        let groups = rows.filter(\.isGroup)
        if groups.isEmpty { return .same }
        let news = list.frozen?.news?.sections ?? []
        let parents = Set(news.map(\.parent))
        // Sections that came while the list stands still are newer than those it shows.
        let shown = tree.sections.values.lazy.filter { !parents.contains($0.parent) }
        var newest: [RowID: NodeRow] = [:]
        for section in Array(shown) + news {
            for row in section.rows where row.isGroup { newest[row.id] = row }
        }
        if let unknown = groups.first(where: { newest[$0.id] == nil }) { return .unknown(unknown) }
        let now = rows.map { newest[$0.id] ?? $0 }
        let hasGrown = zip(rows, now).contains { $1.counts.total > $0.counts.total }
        return hasGrown ? .grown(now, from: ByteSum.of(groups.lazy.map(\.counts.total))) : .same
    }

    /// Returns the rows as they are to be asked about; `nil`: nothing is known of one of them, which was said.
    mutating func newest(_ rows: [NodeRow]) -> [NodeRow]? {
        switch seen(rows) {
        case .same: return rows
        case .grown(let now, _): return now
        case .unknown(let row):
            complain(
                "Nothing was done: \(title([row])) is not in sight any more. Open its folder and press the key again.")
            return nil
        }
    }

    /// The line of a question for groups that have grown since they were seen; `nil`: none has.
    func growth(of rows: [NodeRow]) -> SafeText? {
        guard case .grown(_, let before) = seen(rows) else { return nil }
        return SafeText("There were \(Figures.amount(before, "file")) when this was shown; there are more now.")
    }

    /// Returns true when the deed must not be done to these rows yet: a group holds more files than a person has seen, and that is asked about.
    mutating func asksAgain(_ deed: NodeDeed, _ rows: [NodeRow]) -> Bool {
        guard let now = newest(rows) else { return true }
        guard let growth = growth(of: rows) else { return false }
        let files = Figures.amount(ByteSum.of(now.lazy.map { $0.files(for: deed) }), "file")
        confirm(
            "\(deed.verb) \(SafeText(files))?",
            [growth] + (deed == .cancel ? ["What has arrived whole stays. \(takesBack)"] : []), deed.letter, deed.verb,
            no: "Leave them as they are", .actOnGrown(deed, now))
        return true
    }
}

extension NodeRow {
    /// True when it stands for files of one fate, whichever they are.
    var isGroup: Bool { id.isGroup }

    /// The files that a deed would change: of a group all.
    fileprivate func files(for deed: NodeDeed) -> Int64 { isGroup ? counts.total : counts.files(for: deed) }
}
