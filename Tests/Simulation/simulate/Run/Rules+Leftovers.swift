import TransferModel
import TransferProtocols
import TransferQueue

/// Nothing of ours lies at a server that nobody knows of.
extension Rules {
    private static let standing: [TransferState] = [
        .queued, .waiting, .running, .finishing, .paused, .completed, .failed, .cancelled,
    ]

    /// Everything is over, and the time in which it can be taken back, too: whatever is left at a server is left by a task that
    /// `leftovers` shows.
    func checkLeftovers(_ queue: TransferQueue) async throws {
        var known: [String] = []
        var last = TaskID(rawValue: 0)
        while true {
            let page = try await queue.writer.remains(in: Self.standing, claimed: true, after: last, limit: 500)
            for remains in page {
                let point = String(decoding: remains.task.resumePoint ?? [], as: UTF8.self)
                known.append(point + (remains.task.resumeSecret ?? ""))
            }
            guard page.count == 500, let end = page.last?.task.id else { break }
            last = end
        }
        for _ in unfinished { count("left at a server at the end") }
        for left in unfinished where !known.contains(where: { $0.contains(left.name) }) {
            // As well as that goes: a server that lets nothing go keeps it.
            if left.isKept {
                count("left at a server that did not take it away")
            } else {
                for known in known { world.tell("known", known) }
                fault("\(left.what) is left at its server, and nobody knows of it")
            }
        }
    }
}
