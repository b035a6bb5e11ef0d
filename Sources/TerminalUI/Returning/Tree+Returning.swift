import MartletKit

/// Folds and the cursor over leaving.
extension Tree {
    /// Notes what is open and where the cursor stands.
    func keepFolds(in view: inout KeptView) {
        let closed = items.filter { $0.canOpen && !$0.isOpen && !$0.isGroup }.compactMap(\.row?.id)
        view.open = Array(open.subtracting(selfOpened).sorted { $0.description < $1.description }.prefix(KeptView.most))
        view.selfOpened = Array(selfOpened.sorted { $0.description < $1.description }.prefix(KeptView.most))
        view.closed = Array(closed.prefix(KeptView.most))
    }

    func keepCursor(in view: inout KeptView) {
        guard let item = cursorItem else { return view.cursor = awaited }
        view.cursor = (item.row.map { [$0.id] } ?? []) + ancestors(of: item).map(\.id)
    }

    /// Before anything was sent: what was open is open again, and the cursor goes where it was.
    mutating func restore(_ view: KeptView) {
        open.formUnion(view.open + view.selfOpened)
        selfOpened.formUnion(view.selfOpened)
        seen.formUnion(view.open + view.selfOpened + view.closed)
        awaited = view.cursor
        order = view.order
    }
}
