import MartletKit

/// Ways to rows that are not in sight, and the list without a tree.
extension Tree {
    /// Opens what lies above a row and goes there, as soon as the engine has sent it.
    /// - Parameter way: the batch first, the row itself at the end.
    mutating func reveal(_ way: [RowID]) {
        guard let last = way.last, way.count <= Self.longestWay else { return }
        if index(of: .row(last)) != nil { return move(to: .row(last)) }
        for (parent, child) in zip([nil] + way.map(Optional.some), way) {
            showing[parent] = child
            if let parent {
                open.insert(parent)
                seen.insert(parent)
                selfOpened.remove(parent)
            }
        }
        going = .to(last)
        rebuild()
    }

    /// A path has 4,096 bytes, and each folder in it two at least. An engine elsewhere may tell anything.
    private static var longestWay: Int { 2048 }

    /// From the tree to the list of all files, or back to where the cursor was in the tree.
    mutating func turn(flat: Bool) {
        guard flat != isFlat else { return }
        if flat, let item = cursorItem, let row = item.row {
            wayInTree = ancestors(of: item).reversed().map(\.id) + [row.id]
        }
        isFlat = flat
        // What is shown stays until the engine has sent what takes its place.
        (sections, waiting, showing, going) = ([:], [:], [:], .nowhere)
        expectsOthers = true
        if !flat {
            for (parent, child) in zip([nil] + wayInTree.map(Optional.some), wayInTree) { showing[parent] = child }
            if let last = wayInTree.last { going = .to(last) }
        }
    }
}
