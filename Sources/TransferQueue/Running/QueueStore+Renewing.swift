import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Replacing the credentials of batches. They stand in the secrets store alone, and this cannot be undone: the old ones are gone.
extension QueueStore {
    /// Durable on return; what waits for a person stays so until `letIn`.
    func renew(_ nodes: [NodeID], by new: TransferSecrets) throws -> NodeChange {
        try finder.forEach(nodes) { node, target, _ in
            guard case .batch(let batch, _) = target else {
                return finder.refused(node, "what lets it in is its batch's: 'martlet set \(target.batch)'")
            }
            guard let uuid = try references.uuid(of: batch) else { return NodeResult(id: node, result: .already) }
            let kept = try secrets.secrets(of: uuid)
            let old = kept?.secrets ?? TransferSecrets()
            if new.netrcFile != nil, new.s3 == nil, try old.s3 != nil || isOfS3(batch) {
                return finder.refused(
                    node, "S3 takes no netrc file: give --s3-keys, or --user with --password-command")
            }
            let all = old.renewed(by: new)
            if all == old, kept != nil { return NodeResult(id: node, result: .already) }
            try secrets.replace(all, of: uuid)
            let text = try database.first(
                "SELECT kept_secrets FROM batches WHERE id = ?", .integer(batch.rawValue)
            ) { $0.optionalText(0) }
            // What was lost and is not among it is missed as before.
            let names = KeptSecret.read(text ?? nil).union(all.kept)
            try database.run(
                "UPDATE batches SET kept_secrets = ? WHERE id = ?", .text(try KeptSecret.stored(names)),
                .integer(batch.rawValue))
            return NodeResult(id: node, result: .done)
        }
    }

    private func isOfS3(_ batch: BatchID) throws -> Bool {
        let text = try database.first("SELECT options FROM batches WHERE id = ?", .integer(batch.rawValue)) {
            $0.text(0)
        }
        return text.flatMap { StoredJSON.value(TransferOptions.self, $0) }?.s3 != nil
    }

    /// Moves proxies that name a user from the options of batches, where earlier versions stored them, to the secrets.
    func hideProxies() throws {
        let suspects = try database.rows(
            "SELECT id, uuid, options FROM batches WHERE options LIKE '%\"proxies\":{%@%'"
        ) { row in (id: row.integer(0), uuid: UUID(bytes: row.bytes(1)), options: row.text(2)) }
        for suspect in suspects {
            guard let uuid = suspect.uuid, var options = StoredJSON.value(TransferOptions.self, suspect.options) else {
                continue
            }
            let hidden = options.removeSecretProxies()
            guard !hidden.isEmpty else { continue }
            var kept = try secrets.secrets(of: uuid)?.secrets ?? TransferSecrets()
            kept.proxies.merge(hidden) { $1 }
            try secrets.replace(kept, of: uuid)
            let text = try StoredJSON.text(options)
            try transact {
                try database.run("UPDATE batches SET options = ? WHERE id = ?", .text(text), .integer(suspect.id))
            }
        }
    }

    /// Earlier versions did not say in the queue which batches keep something in the secrets store.
    func noteSecrets() throws {
        let batches = try database.rows("SELECT id, uuid FROM batches WHERE kept_secrets IS NULL") {
            (id: $0.integer(0), uuid: UUID(bytes: $0.bytes(1)))
        }
        if batches.isEmpty { return }
        let found = try batches.map { batch in
            (
                id: batch.id,
                keeps: SecretStore.names(try batch.uuid.flatMap { try secrets.secrets(of: $0) }).subtracting([.any])
            )
        }
        try transact {
            for batch in found {
                try database.run(
                    "UPDATE batches SET kept_secrets = ? WHERE id = ?", .text(try KeptSecret.stored(batch.keeps)),
                    .integer(batch.id))
            }
        }
    }

    /// Requeues every task of these batches that waits for credentials.
    func letIn(_ batches: [BatchID]) throws {
        for batch in batches {
            try waits.clearWait(WaitReasons(.auth), batch: batch, origin: nil)
            queue.change.note(wholly: batch)
        }
        queue.change.mayRun = true
    }
}
