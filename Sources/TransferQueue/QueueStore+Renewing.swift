import TransferModel

/// What lets batches in, given anew. It stands in the secrets store alone and cannot be taken back: the old one is gone.
extension QueueStore {
    /// Durable on return; what waits for a person stays so until `letIn`.
    func renew(_ nodes: [NodeID], by new: TransferSecrets) throws -> NodeChange {
        try forEach(nodes) { node, target, _ in
            guard case .batch(let batch, _) = target else {
                return refused(node, "what lets it in is its batch's: 'martlet set \(target.batch)'")
            }
            guard let uuid = try uuid(of: batch) else { return NodeResult(id: node, result: .already) }
            let old = try secrets.secrets(of: uuid).secrets
            let all = old.renewed(by: new)
            if all == old { return NodeResult(id: node, result: .already) }
            try secrets.replace(all, of: uuid)
            return NodeResult(id: node, result: .done)
        }
    }

    /// What of these batches waits because it was not let in stands in line again.
    func letIn(_ batches: [BatchID]) throws {
        for batch in batches {
            try clearWait(WaitReasons(.auth), batch: batch, origin: nil)
            change.note(wholly: batch)
        }
        change.mayRun = true
    }
}
