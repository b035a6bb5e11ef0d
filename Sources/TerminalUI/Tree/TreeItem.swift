import MartletKit

/// One line of the tree.
struct TreeItem: Hashable, Sendable {
    /// The identity of a line; stays the same while lines move.
    enum ID: Hashable, Sendable {
        case row(RowID)
        /// The rows of a section that were not asked for yet.
        case more(RowID?)
    }

    var id: ID
    /// The level of indentation.
    var depth: Int
    /// The row whose section it stands in; `nil`: the root's.
    var parent: RowID?
    /// `nil` for `more`.
    var row: NodeRow?
    /// Rows that `more` stands for.
    var hidden: Int64 = 0
    var isOpen = false

    /// True when there is, or may be, something below it.
    var canOpen: Bool {
        switch id {
        case .row(.batch), .row(.folder), .row(.group): true
        case .row(.task), .more: false
        }
    }
}

/// The lines of the tree from the first to the last, and the place of each: rows are looked up one by one, and there may be thousands.
struct TreeLines: Sendable {
    private(set) var items: [TreeItem] = []
    private var places: [TreeItem.ID: Int] = [:]

    mutating func append(_ item: TreeItem) {
        if places[item.id] == nil { places[item.id] = items.count }
        items.append(item)
    }

    func index(of id: TreeItem.ID) -> Int? { places[id] }
}

extension TreeItem {
    /// True when it stands for many files of one fate.
    var isGroup: Bool {
        if case .row(let row) = id { row.isGroup } else { false }
    }
}

extension RowID {
    var isGroup: Bool { if case .group = self { true } else { false } }

    var batch: BatchID? {
        switch self {
        case .batch(let batch), .folder(let batch, _), .task(let batch, _), .group(let batch, _, _): batch
        }
    }
}
