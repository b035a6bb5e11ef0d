import DisplayText
import MartletKit

/// From one file's page to the next one's.
extension DetailsPage {
    /// The next file of the batch as the list has them, or the one before; the list's cursor goes along.
    func showNeighbour(_ step: Int, in model: inout Model) {
        guard let start = model.tree.index(of: .row(row.id)) else {
            return model.complain("It is further down than the list reaches.")
        }
        let batch = row.id.batch
        var index = start + step
        while model.tree.items.indices.contains(index) {
            if let row = model.tree.items[index].row, case .task(batch, _) = row.id {
                model.tree.move(to: index)
                model.list.followed = nil
                return model.showDetails(row)
            }
            index += step
        }
        model.say("The list has no file of this batch \(step > 0 ? "below" : "above") it.")
    }
}

extension Model {
    /// A batch by its name, with its place among those that are not over: `holiday-2024 (1 of 3)`.
    func title(of batch: BatchID) -> SafeText? {
        let isList = filters.shown == nil && tree.root != nil
        let batches = isList ? tree.root?.rows ?? [] : filters.hiddenBatches
        guard let row = batches.first(where: { $0.id == .batch(batch) }) else { return nil }
        let name = appearance.safe(row.name)
        // In another order than the queue's, or when there are more than were told, a place says nothing.
        let isWhole = tree.root.map { Int64($0.rows.count) == $0.total } ?? true
        let waiting = batches.filter { !$0.isOver }
        guard !isList || tree.order.by == .queue && isWhole, let place = waiting.firstIndex(where: { $0.id == row.id })
        else { return name }
        return name + " (\(place + 1) of \(waiting.count))"
    }
}
