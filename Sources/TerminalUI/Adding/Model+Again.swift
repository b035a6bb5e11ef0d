import DisplayText
import MartletKit

/// A batch of uploads once more: the steps of adding, filled in as it was.
extension Model {
    /// - Parameter inPlace: what is left of it is cancelled when the new one is queued: it would go on trying a wrong address beside it.
    mutating func again(_ batch: BatchID, inPlace: Bool = false) {
        if let machine { return refuseFiles(of: machine) }
        ask(.order(batch, inPlace: inPlace)) { .order(of: batch, number: $0) }
    }

    /// The batch of the row of the cursor.
    mutating func againAtCursor() {
        guard let batch = tree.cursorRow?.id.batch else { return complain("No batch is chosen.") }
        let row = tree.row(.batch(batch))
        let isLost = row.map { !$0.isOver && $0.counts.completed == 0 && $0.error?.code.isOfAddress == true } ?? false
        again(batch, inPlace: isLost)
    }

    mutating func ordered(_ result: Result<BatchRequest, RequestError>, _ number: Int) {
        guard case .order(let batch, let inPlace)? = outstanding.removeValue(forKey: number)?.purpose else { return }
        // Somebody who has begun something else meanwhile is not torn out of it.
        guard adding == nil else { return }
        switch result {
        case .failure(let error): complain(advised(error.message))
        case .success(let order):
            guard let repeated = RepeatedUpload(order), var flow = AddFlow(repeated) else {
                return complain("\(batch) has no uploads to do again.")
            }
            notice = nil
            flow.replaced = inPlace ? batch : nil
            begin(flow)
        }
    }

    /// The new one is durable: the old one need not go on.
    mutating func cancelReplaced(_ old: BatchID, by batch: BatchSnapshot) {
        let what: SafeText = "\(batch.id) \"\(look.safe(batch.name))\""
        ask(.replaced(old, by: what)) { .act(.cancel, .ids([.batch(old)]), number: $0) }
    }
}
