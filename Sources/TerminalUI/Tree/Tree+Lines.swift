import MartletKit

/// From sections to lines; the cursor stays on its row.
extension Tree {
    mutating func rebuild() {
        let before = items
        let place = cursorIndex
        var reached: Set<RowID?> = [nil]
        lines = TreeLines()
        append(nil, depth: 0, &reached)
        sections = sections.filter { reached.contains($0.key) }
        waiting = waiting.filter { reached.contains($0.key) }
        // A way is kept until it was gone.
        if going.row == nil { showing = showing.filter { reached.contains($0.key) } }
        if let row = going.row, index(of: .row(row)) != nil {
            cursor = .row(row)
            isGone = false
            going.arrive()
        }
        settle(before, place)
        goToAwaited()
        if sections[nil] != nil { expectsOthers = false }
    }

    private mutating func goToAwaited() {
        guard let place = awaited.firstIndex(where: { index(of: .row($0)) != nil }) else { return }
        cursor = .row(awaited[place])
        isGone = false
        awaited.removeSubrange(place...)
        scroll()
    }

    private mutating func append(_ parent: RowID?, depth: Int, _ reached: inout Set<RowID?>) {
        guard let section = sections[parent] else { return }
        for row in section.rows {
            let isOpen = open.contains(row.id)
            lines.append(TreeItem(id: .row(row.id), depth: depth, parent: parent, row: row, isOpen: isOpen))
            if isOpen, reached.insert(row.id).inserted { append(row.id, depth: depth + 1, &reached) }
        }
        let hidden = section.total - Int64(section.rows.count)
        if hidden > 0 {
            lines.append(TreeItem(id: .more(parent), depth: depth, parent: parent, hidden: hidden))
        }
    }

    /// The cursor stays on its row, and the row on its line of the window; a row that is gone leaves it to its nearest
    /// neighbour.
    private mutating func settle(_ before: [TreeItem], _ place: Int?) {
        let line = place.map { $0 - top } ?? 0
        if let cursor, index(of: cursor) == nil, let place {
            self.cursor = heir(before, place)
            isGone = !expectsOthers
        }
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
    mutating func scroll() {
        let index = cursorIndex ?? 0
        top = min(max(top, index - height + 1), index)
        top = max(0, min(top, items.count - height))
        ask()
    }
}
