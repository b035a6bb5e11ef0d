import DisplayText
import MartletKit
import Terminal

/// Failures and what needs the person, one line a cause: a thousand files that failed for one reason are one problem.
struct ProblemsPage: Sendable {
    /// The cause with most files first.
    private(set) var causes: [Cause] = []
    /// True once the engine has answered.
    private(set) var isKnown = false
    var problem: SafeText?
    /// When the engine has answered last.
    var answeredAt: Duration?
    private var cursor = ListCursor<Cause.Key>()

    /// The line under the cursor.
    var selected: Int { cursor.index }
    /// The cause under the cursor is there no more, and no other was chosen.
    var isGone: Bool { cursor.isGone }
    var files: Int64 { ByteSum.of(causes.lazy.map(\.files)) }
    var cause: Cause? { !isGone && causes.indices.contains(selected) ? causes[selected] : nil }

    mutating func show(_ batches: [BatchSnapshot]) {
        var found: [Cause.Key: Cause] = [:]
        func note(_ key: Cause.Key, _ finding: Finding, _ files: Int64, _ lastAt: Timestamp?, _ batch: BatchSnapshot) {
            let place = Cause.Place(
                batch: batch.id, name: batch.name, files: files, host: TransferScheme.server(of: batch.destination),
                url: batch.destination, isDownload: batch.direction == .download,
                left: batch.filesActive + batch.filesWaiting, isLost: batch.isLost)
            found[key, default: Cause(key: key, finding: finding, files: 0, batches: [])].add(place, lastAt)
        }
        for batch in batches {
            for count in batch.causes where count.count > 0 {
                let status = count.code == .http ? count.httpStatus : nil
                let host = Cause.unknownHost(count.code, count.known)
                let server = Cause.server(of: count.code, batch.destination)
                let kind = Cause.Kind.failed(count.code, status: status, host: host, server: server)
                let key = Cause.Key(kind, of: batch, count.known)
                note(key, count.known, count.count, count.lastAt, batch)
                found[key]?.quote(count.said, count.detail)
            }
            for wait in batch.waits where wait.count > 0 {
                if let server = wait.server {
                    let key = Cause.Key(.unserved(wait.code, server: server), of: batch, wait.known)
                    note(key, wait.known, wait.count, wait.lastAt, batch)
                    found[key]?.retryAt = wait.retryAt
                    found[key]?.quote(wait.said, wait.detail)
                    continue
                }
                let host =
                    wait.code.flatMap { Cause.unknownHost($0, wait.known) } ?? Cause.key(wait.reason, wait.known)
                // The engine and the queue may call the wait for one name by two reasons.
                let reason = wait.code == nil ? wait.reason : .hostBackoff
                let key = Cause.Key(.waits(reason, code: wait.code, host: host), of: batch, wait.known)
                note(key, wait.known, wait.count, wait.lastAt, batch)
                found[key]?.quote(wait.said, wait.detail)
            }
        }
        causes = found.values.map { cause in
            var cause = cause
            cause.sortBatches()
            return cause
        }.sorted(by: Cause.comesBefore)
        (isKnown, problem) = (true, nil)
        cursor.follow(causes.map(\.key))
    }

    /// Refuses to act on a cause that was chosen and is gone; `nil`: none is.
    mutating func refusal() -> SafeText? {
        cursor.refusal("problem", now: causes.isEmpty ? nil : "another one", in: causes.map(\.key))
    }

    mutating func move(to line: Int) { cursor.move(to: line, in: causes.map(\.key)) }
}
