import MartletKit

/// The tree as far as it is in sight: what the engine sent of it, what is open, where the cursor stands, what is marked.
///
/// It holds the sections of open nodes only, each bounded, so its size follows the window and never the queue. Cursor
/// and marks belong to rows, not to lines: rows may come, go and move under them.
///
/// `Tree+Sections` takes what the engine sends and says what is wanted of it, `Tree+Lines` makes lines of it and keeps
/// the cursor on its row, `Tree+Moving` moves the cursor and folds.
struct Tree: Sendable {
    var lines = TreeLines()
    /// The line under the cursor; `nil` while there are none.
    var cursor: TreeItem.ID?
    /// Its row went, and no key has moved it since: one that was meant for that row must not hit its neighbour.
    var isGone = false
    /// It came to its row while a command was typed, and no key has moved it since.
    var hasArrivedUnseen = false
    /// A person has asked for other rows: with the next ones the cursor may go anywhere.
    var expectsOthers = false
    /// The first line in the window.
    var top = 0
    /// Lines in the window, at least 1.
    var height = 16
    /// Marked rows as they were last seen.
    var marks: [RowID: NodeRow] = [:]
    /// The line where the range that is being marked began.
    var rangeStart: TreeItem.ID?
    /// All files in one list, without batches and folders.
    var isFlat = false
    /// The cursor's way, while it has one.
    var going = Going.nowhere
    /// Rows that the engine is to send in any case, by what they lie under: those on the way to the row of `going`.
    var showing: [RowID?: RowID] = [:]
    /// The way to the cursor in the tree, the batch first, while the list is flat.
    var wayInTree: [RowID] = []
    /// In which order the rows of every section stand.
    var order = TreeOrder()
    /// Rows keep their places for now, because somebody is pressing keys; new ones take theirs.
    var keepsPlaces = false

    /// By what they lie under, as they are shown.
    var sections: [RowID?: TreeSection] = [:]
    /// Those whose rows keep their places, as the engine sent them last.
    var waiting: [RowID?: TreeSection] = [:]
    var open: Set<RowID> = []
    /// Nodes about which it was decided whether they are open; they are not opened by themselves again.
    var seen: Set<RowID> = []
    var limits: [RowID?: Int] = [:]
    /// The number of nodes that may still be opened by themselves.
    var selfOpening = 12
    /// Nodes that were opened by themselves, and that nobody has opened or closed since.
    var selfOpened: Set<RowID> = []
    /// Rows onto which the cursor goes as soon as one is there, the best first; a key that moves it ends that.
    var awaited: [RowID] = []
    /// Rows of a filter: all that has something in it is open.
    var opensAll = false

    /// True once the root's section has come.
    var isKnown: Bool { sections[nil] != nil }
    /// The batches, where they are shown.
    var root: TreeSection? { isFlat ? nil : sections[nil] }
    /// True when batches of several sessions are in the list.
    var hasSessions: Bool { root.map { Set($0.rows.map(\.session)).count > 1 } ?? false }
    /// Names that several batches of the list have.
    var twinNames: Set<String> {
        var (known, twins): (Set<String>, Set<String>) = ([], [])
        for row in root?.rows ?? [] where !known.insert(row.name).inserted { twins.insert(row.name) }
        return twins
    }
    /// All files by state, of the flat list.
    var counts: FileCounts? { isFlat ? sections[nil]?.counts : nil }
    var cursorIndex: Int? { cursor.flatMap { index(of: $0) } }
    var cursorItem: TreeItem? { cursorIndex.map { items[$0] } }
    var cursorRow: NodeRow? { cursorItem?.row }

    /// The lines, from the first to the last.
    var items: [TreeItem] { lines.items }

    func index(of id: TreeItem.ID) -> Int? { lines.index(of: id) }

    /// The row as it was last sent, when it is in sight.
    func row(_ id: RowID) -> NodeRow? { index(of: .row(id)).flatMap { items[$0].row } }

    /// The lines in the window.
    var window: Range<Int> { top..<min(items.count, top + height) }

    /// The lines above a line, nearest first.
    func ancestors(of item: TreeItem) -> [NodeRow] {
        var found: [NodeRow] = []
        var parent = item.parent
        while let id = parent, let index = index(of: .row(id)) {
            if let row = items[index].row { found.append(row) }
            parent = items[index].parent
        }
        return found
    }

    // MARK: Filters

    /// The tree to begin with when a filter is set: what is marked stays so.
    var filtered: Tree {
        var tree = Tree()
        tree.opensAll = true
        tree.selfOpening = 100
        tree.height = height
        tree.marks = marks
        tree.awaited = awaited
        tree.order = order
        tree.isFlat = isFlat
        return tree
    }

    /// Another filter: what was shown is no answer to it.
    mutating func forgetRows() {
        (sections, waiting, showing, going) = ([:], [:], [:], .nowhere)
        (open, seen, limits, selfOpening) = ([], [], [:], 100)
        expectsOthers = true
    }

    /// Back to the tree without a filter; marks and the order set meanwhile hold.
    mutating func giveBack(to tree: Tree) {
        let (marks, height, order, isFlat) = (marks, height, order, isFlat)
        self = tree
        going = .nowhere
        self.marks = marks
        self.order = order
        if self.isFlat != isFlat { turn(flat: isFlat) }
        resize(height: height)
    }
}
