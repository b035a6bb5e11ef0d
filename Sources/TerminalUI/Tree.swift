import MartletKit

/// The tree as far as it is in sight: what the engine sent of it, what is open, where the cursor stands, what is marked.
///
/// It holds the sections of open nodes only, each bounded, so its size follows the window and never the queue. Cursor
/// and marks belong to rows, not to lines: rows may come, go and move under them.
struct Tree: Sendable {
    private(set) var items: [TreeItem] = []
    /// The line under the cursor; `nil` while there are none.
    private(set) var cursor: TreeItem.ID?
    /// The first line in the window.
    private(set) var top = 0
    /// Lines in the window, at least 1.
    private(set) var height = 16
    /// Marked rows as they were last seen.
    var marks: [RowID: NodeRow] = [:]
    /// Where a range that is being marked began.
    var rangeStart: TreeItem.ID?
    /// Whether the root's section has come.
    var isKnown: Bool { sections[nil] != nil }

    private var sections: [RowID?: TreeSection] = [:]
    var open: Set<RowID> = []
    /// Nodes about which it was decided whether they are open; they are not opened by themselves again.
    var seen: Set<RowID> = []
    private var limits: [RowID?: Int] = [:]
    /// How many nodes may still be opened by themselves.
    private var selfOpening = 12
    /// Nodes that were opened by themselves, and that nobody has opened or closed since.
    var selfOpened: Set<RowID> = []
    /// Rows onto which the cursor goes as soon as one is there, the best first; a key that moves it ends that.
    var awaited: [RowID] = []
    /// Rows of a filter: all that has something in it is open.
    private var opensAll = false

    var root: TreeSection? { sections[nil] }
    var cursorIndex: Int? { cursor.flatMap { index(of: $0) } }
    var cursorItem: TreeItem? { cursorIndex.map { items[$0] } }
    var cursorRow: NodeRow? { cursorItem?.row }

    func index(of id: TreeItem.ID) -> Int? { items.firstIndex { $0.id == id } }

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

    /// Whether as much of that section is here already.
    func holds(_ section: TreeSection) -> Bool {
        sections[section.parent].map { $0.rows.count >= min(section.rows.count, Int($0.total)) } ?? false
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
        return tree
    }

    /// Another filter: what was shown is no answer to it.
    mutating func forgetRows() {
        sections = [:]
        (open, seen, limits, selfOpening) = ([], [], [:], 100)
    }

    /// Back to the tree without a filter; marks set meanwhile hold.
    mutating func giveBack(to tree: Tree) {
        let (marks, height) = (marks, height)
        self = tree
        self.marks = marks
        resize(height: height)
    }

    // MARK: From the engine

    /// Takes over what the engine sent.
    mutating func take(_ update: [TreeSection]) {
        for section in update {
            sections[section.parent] = section
            for row in section.rows where marks[row.id] != nil { marks[row.id] = row }
            closeByItself(section)
            openByItself(section)
        }
        // A filter hides batches that are still there.
        if !opensAll, let root = update.first(where: { $0.parent == nil }), Int64(root.rows.count) == root.total {
            let batches = Set(root.rows.compactMap(\.id.batch))
            marks = marks.filter { batches.contains($0.key.batch ?? BatchID(rawValue: 0)) }
        }
        rebuild()
    }

    /// What moves or needs a look is open when it is first seen; whatever a person folds stays as they want it.
    private mutating func openByItself(_ section: TreeSection) {
        for row in section.rows where !seen.contains(row.id) {
            let isFirst: Bool
            switch row.id {
            case .batch where opensAll, .folder where opensAll: isFirst = true
            case .batch:
                let isAtRest = row.state.isTerminal || row.state == .paused || row.state == .created
                isFirst = !isAtRest || row.state == .failed
            case .folder:
                isFirst = row.counts.active > 0 || row.hasProblem || section.total == 1 && !row.state.isTerminal
            case .task, .group: continue
            }
            seen.insert(row.id)
            guard isFirst, selfOpening > 0 else { continue }
            selfOpening -= 1
            open.insert(row.id)
            selfOpened.insert(row.id)
        }
    }

    /// What was opened because it moved is closed again when all of it is done, unless somebody is in it.
    private mutating func closeByItself(_ section: TreeSection) {
        guard !selfOpened.isEmpty, !opensAll else { return }
        for row in section.rows where selfOpened.contains(row.id) && row.state == .completed && !row.scanning {
            guard cursorItem.map({ item in !ancestors(of: item).contains { $0.id == row.id } }) ?? true else {
                continue
            }
            selfOpened.remove(row.id)
            open.remove(row.id)
            selfOpening += 1
        }
    }

    /// What the engine should tell of: the sections that reach into the window or near it.
    func wantedSections() -> [SectionRequest] {
        let near = (top - height)..<(top + 2 * height)
        var wanted = [SectionRequest(parent: nil, limit: limit(nil))]
        var openAbove: [(id: RowID, depth: Int, start: Int)] = []
        func close(_ depth: Int, _ end: Int) {
            while let last = openAbove.last, last.depth >= depth {
                openAbove.removeLast()
                if last.start < near.upperBound && end > near.lowerBound {
                    wanted.append(SectionRequest(parent: last.id, limit: limit(last.id)))
                }
            }
        }
        for (index, item) in items.enumerated() {
            close(item.depth, index)
            if item.isOpen, case .row(let id) = item.id { openAbove.append((id, item.depth, index)) }
        }
        close(0, items.count)
        // The engine refuses more; what is nearest to the root is needed for the rest.
        return Array(wanted.prefix(200))
    }

    private func limit(_ parent: RowID?) -> Int { min(1000, max(limits[parent] ?? 0, max(40, 2 * height))) }

    /// Asks for more of a section whose end comes near.
    private mutating func ask() {
        for index in items.indices.clamped(to: top..<(top + 2 * height)) {
            guard case .more(let parent) = items[index].id, let section = sections[parent] else { continue }
            let limit = limit(parent)
            if section.rows.count >= limit - 1, limit < 1000 { limits[parent] = min(1000, 2 * limit) }
        }
    }

    // MARK: Lines

    private mutating func rebuild() {
        let before = items
        let place = cursorIndex
        var reached: Set<RowID?> = [nil]
        items = []
        append(nil, depth: 0, &reached)
        sections = sections.filter { reached.contains($0.key) }
        settle(before, place)
        goToAwaited()
    }

    private mutating func goToAwaited() {
        guard let place = awaited.firstIndex(where: { index(of: .row($0)) != nil }) else { return }
        cursor = .row(awaited[place])
        awaited.removeSubrange(place...)
        scroll()
    }

    private mutating func append(_ parent: RowID?, depth: Int, _ reached: inout Set<RowID?>) {
        guard let section = sections[parent] else { return }
        for row in section.rows {
            let isOpen = open.contains(row.id)
            items.append(TreeItem(id: .row(row.id), depth: depth, parent: parent, row: row, isOpen: isOpen))
            if isOpen, reached.insert(row.id).inserted { append(row.id, depth: depth + 1, &reached) }
        }
        let hidden = section.total - Int64(section.rows.count)
        if hidden > 0 {
            items.append(TreeItem(id: .more(parent), depth: depth, parent: parent, hidden: hidden))
        }
    }

    /// The cursor stays on its row, and the row on its line of the window; a row that is gone leaves it to its nearest
    /// neighbour.
    private mutating func settle(_ before: [TreeItem], _ place: Int?) {
        let line = place.map { $0 - top } ?? 0
        if let cursor, index(of: cursor) == nil, let place { self.cursor = heir(before, place) }
        if cursor == nil { cursor = items.first?.id }
        guard let index = cursorIndex else {
            (cursor, top) = (items.first?.id, 0)
            return
        }
        if top > 0 || index >= height { top = index - line }
        scroll()
    }

    private func heir(_ before: [TreeItem], _ place: Int) -> TreeItem.ID? {
        let living = Set(items.map(\.id))
        let gone = before[place]
        let following = before[(place + 1)...].filter { living.contains($0.id) }
        let preceding = before[..<place].reversed().filter { living.contains($0.id) }
        let siblings = { (item: TreeItem) in item.parent == gone.parent && item.depth == gone.depth }
        return
            (following.first(where: siblings) ?? preceding.first(where: siblings) ?? preceding.first
            ?? following.first)?.id
    }

    /// Keeps the cursor in the window and the window in the tree.
    private mutating func scroll() {
        let index = cursorIndex ?? 0
        top = min(max(top, index - height + 1), index)
        top = max(0, min(top, items.count - height))
        ask()
    }

    // MARK: The window and the cursor

    mutating func resize(height: Int) {
        self.height = max(1, height)
        scroll()
    }

    mutating func move(to index: Int) {
        guard !items.isEmpty else { return }
        awaited = []
        cursor = items[min(max(0, index), items.count - 1)].id
        scroll()
    }

    mutating func move(to id: TreeItem.ID) { if let index = index(of: id) { move(to: index) } }

    mutating func move(by lines: Int) { move(to: (cursorIndex ?? 0) + lines) }

    /// Moves the window too, as a page does.
    mutating func page(by lines: Int) {
        top = max(0, min(top + lines, items.count - height))
        move(by: lines)
    }

    /// To the next batch (1) or the previous one (-1).
    mutating func moveToBatch(_ step: Int) {
        guard let start = cursorIndex else { return }
        var index = start + step
        while items.indices.contains(index) {
            if items[index].depth == 0 { return move(to: index) }
            index += step
        }
    }

    // MARK: Folding

    mutating func setOpen(_ id: RowID, _ isOpen: Bool) {
        seen.insert(id)
        selfOpened.remove(id)
        if isOpen { open.insert(id) } else { open.remove(id) }
        rebuild()
    }

    /// Opens or closes all under a node that is in sight, itself included. Opening goes one level deeper each time.
    mutating func toggleAll(under id: RowID) {
        guard let start = index(of: .row(id)) else { return }
        let end = items[(start + 1)...].firstIndex { $0.depth <= items[start].depth } ?? items.count
        let nodes = items[start..<end].filter { $0.canOpen && !$0.isGroup }
        let anyClosed = nodes.contains { !$0.isOpen }
        for node in nodes {
            guard case .row(let id) = node.id else { continue }
            seen.insert(id)
            selfOpened.remove(id)
            if anyClosed { open.insert(id) } else { open.remove(id) }
        }
        move(to: .row(id))
        rebuild()
    }
}
