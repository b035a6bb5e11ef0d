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
        again(batch, inPlace: row?.isLost ?? false)
    }

    mutating func ordered(_ result: Result<BatchRequest, RequestError>, _ number: Int) {
        guard case .order(let batch, let inPlace)? = requests.outstanding.removeValue(forKey: number)?.purpose else {
            return
        }
        // Somebody who has begun something else meanwhile is not torn out of it.
        guard adding == nil else { return }
        switch result {
        case .failure(let error): complain(advised(error))
        case .success(let order):
            guard let repeated = RepeatedUpload(order), var flow = AddFlow(repeated) else {
                return complain("\(batch) has no uploads to do again.")
            }
            notice = nil
            flow.replaced = inPlace ? batch : nil
            begin(flow)
        }
    }

    /// The new one is durable: the old one need not go on. Minutes may have passed, in which its server came back: so it is looked at.
    mutating func cancelReplaced(_ old: BatchID, by batch: BatchSnapshot) {
        ask(.replacing(old, by: "\(batch.id) \"\(appearance.safe(batch.name))\"")) { .batches(number: $0) }
    }

    mutating func lookedAtReplaced(
        _ old: BatchID, by new: SafeText, _ result: Result<[BatchSnapshot], RequestError>
    ) {
        switch result {
        case .success(let batches) where batches.contains { $0.id == old && $0.isLost }:
            ask(.replaced(old, by: new)) { .act(.cancel, .ids([.batch(old)]), number: $0) }
        case .success: say("\(new) is queued; \(old) changed meanwhile and is not cancelled: both stand.")
        case .failure(let error):
            complain("\(new) is queued; \(old) was not cancelled: " + advised(error))
        }
    }
}

extension NodeRow {
    /// As the one of a snapshot.
    var isLost: Bool {
        BatchSnapshot.isLost(by: isOver ? nil : error?.code, completed: counts.completed, sent: bytes.sent)
    }
}

extension BatchSnapshot {
    /// It tries an address that may be wrong, and nothing has been sent there: another batch can take its place, and nothing is lost by it.
    var isLost: Bool {
        let code = waits.lazy.compactMap(\.code).first(where: \.isOfAddress)
        return Self.isLost(by: code, completed: filesCompleted, sent: bytesSent)
    }

    /// - Parameter code: why it waits.
    fileprivate static func isLost(by code: TransferErrorCode?, completed: Int64, sent: Int64) -> Bool {
        code?.isOfAddress == true && completed == 0 && sent == 0
    }
}
