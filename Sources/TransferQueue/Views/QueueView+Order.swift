import FoundationEssentials
import SQLiteConnection
package import TransferModel

extension QueueReader {
    /// The request that queues the uploads of a batch again: the same sources, place and options, and `like` for the login.
    /// - Returns: `nil`: there is no such batch.
    /// - Throws: `badRequest` for downloads: the queries of their URLs are nobody's business.
    package func request(repeating batch: BatchID) throws(QueueError) -> BatchRequest? {
        try view { try $0.request(repeating: batch) }
    }
}

extension QueueView {
    fileprivate func request(repeating batch: BatchID) throws -> BatchRequest? {
        let id = SQLiteValue.integer(batch.rawValue)
        let found = try database.first(
            """
            SELECT b.name, b.direction, b.priority, b.destination, b.options, s.name FROM batches b
            JOIN sessions s ON s.id = b.session WHERE b.id = ? AND b.purged_at IS NULL
            """, id
        ) { row in
            (
                name: row.text(0), isDownload: row.integer(1) != 0, priority: Int(row.integer(2)),
                destination: row.text(3),
                options: StoredJSON.value(TransferOptions.self, row.text(4)) ?? TransferOptions(),
                session: SessionName(rawValue: row.text(5)) ?? .default
            )
        }
        guard let found else { return nil }
        if found.isDownload { throw QueueError.badRequest("\(batch) downloads: queue its URLs with martlet download") }
        let sources = try database.rows("SELECT path, placement, name FROM sources WHERE batch = ? ORDER BY id", id) {
            UploadSource(path: RawPath($0.bytes(0)), placement: .init(stored: $0.integer(1), name: $0.bytes(2)))
        }
        var order = BatchRequest(
            session: found.session, name: BatchName(rawValue: BatchName.cut(found.name)),
            work: .upload(sources, to: found.destination),
            priority: TransferPriority.allCases.first { $0.level == found.priority } ?? .normal, like: batch)
        order.options = found.options
        // That time is over or another one's.
        order.options.notBefore = nil
        return order
    }
}
