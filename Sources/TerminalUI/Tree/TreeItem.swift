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

extension TreeItem {
    /// True when it stands for many files of one fate.
    var isGroup: Bool {
        if case .row(.group) = id { true } else { false }
    }
}

extension RowID {
    var batch: BatchID? {
        switch self {
        case .batch(let batch), .folder(let batch, _), .task(let batch, _), .group(let batch, _, _): batch
        }
    }
}
