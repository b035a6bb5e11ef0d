import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Brings up to date what earlier versions stored of secrets. At the start only.
extension QueueStore {
    /// Moves proxies that name a user from the options of batches, where earlier versions stored them, to the secrets. Batches that are
    /// added since have none.
    func hideProxies() throws {
        if try areProxiesHidden { return }
        let suspects = try database.rows(
            "SELECT id, uuid, options FROM batches WHERE \(Self.mayShowProxies)"
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

    /// Notes that no batch shows a proxy's user any more, so that no later start looks for one. In the start's own transaction.
    func noteHiddenProxies() throws {
        guard try !areProxiesHidden,
            try database.integer("SELECT 1 FROM batches WHERE \(Self.mayShowProxies) LIMIT 1") == nil
        else { return }
        try database.run("INSERT INTO meta VALUES ('proxies_hidden', 1)")
    }

    private var areProxiesHidden: Bool {
        get throws { try database.integer("SELECT value FROM meta WHERE name = 'proxies_hidden'") == 1 }
    }

    private static let mayShowProxies = "options LIKE '%\"proxies\":{%@%'"

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
}
