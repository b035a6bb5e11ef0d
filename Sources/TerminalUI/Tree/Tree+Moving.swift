import MartletKit

/// The window, the cursor, and folding.
extension Tree {
    mutating func resize(height: Int) {
        self.height = max(1, height)
        scroll()
    }

    mutating func move(to index: Int) {
        guard !items.isEmpty else { return }
        (going, awaited, isGone, hasArrivedUnseen) = (.nowhere, [], false, false)
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
        going = .nowhere
        seen.insert(id)
        selfOpened.remove(id)
        if isOpen {
            open.insert(id)
        } else {
            open.remove(id)
            showing[id] = nil
        }
        rebuild()
        isGone = false
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
        isGone = false
    }
}
