import DisplayText
import MartletKit

/// A batch of uploads once more: the steps of adding, filled in as it was.
extension Model {
    mutating func again(_ batch: BatchID) {
        if let machine { return refuseFiles(of: machine) }
        ask(.order(batch)) { .order(of: batch, number: $0) }
    }

    /// The batch of the row of the cursor.
    mutating func againAtCursor() {
        guard let batch = tree.cursorRow?.id.batch else { return complain("No batch is chosen.") }
        again(batch)
    }

    mutating func ordered(_ result: Result<BatchRequest, RequestError>, _ number: Int) {
        guard case .order(let batch)? = outstanding.removeValue(forKey: number)?.purpose else { return }
        // Somebody who has begun something else meanwhile is not torn out of it.
        guard adding == nil else { return }
        switch result {
        case .failure(let error): complain(advised(error.message))
        case .success(let order):
            guard let repeated = RepeatedUpload(order), let flow = AddFlow(repeated) else {
                return complain("\(batch) has no uploads to do again.")
            }
            notice = nil
            begin(flow)
        }
    }
}
