import LinuxSystem
import SessionBus
import TransferModel
import Wording

/// News for the desktop: that a batch has ended, or that it needs the person. A value; it reads no clock and shows nothing.
///
/// The first news are shown at once, what comes within `interval` of them together afterwards: a thousand batches of a script are a few
/// notifications. Of each batch it is said once that it needs the person, until that is over.
struct DesktopNotices {
    /// Between two notifications.
    static let interval = Duration.seconds(30)
    /// News come in commits: what belongs together is waited for.
    static let settling = Duration.seconds(1)
    private static let mostLines = 6

    enum News: Hashable {
        case ended, needsPerson
    }

    /// News with their places in the order in which they came.
    private var waiting: [BatchID: (place: Int, news: News)] = [:]
    private var last = 0
    private var told: Set<BatchID> = []
    private var shownAt: MonotonicInstant?
    private var firstAt: MonotonicInstant?

    /// An event of the queue, in its order.
    mutating func take(_ event: TransferEvent, at now: MonotonicInstant) {
        guard let batch = event.batch else { return }
        switch event.type {
        case .batchFinished:
            told.remove(batch)
            note(batch, .ended, now)
        case .waiting where event.payload.waitReasons?.contains(where: \.needsPerson) == true:
            if told.insert(batch).inserted { note(batch, .needsPerson, now) }
        // Somebody has seen to it.
        case .resumed: told.remove(batch)
        default: break
        }
    }

    private mutating func note(_ batch: BatchID, _ news: News, _ now: MonotonicInstant) {
        // What came last of a batch is what counts.
        last += 1
        waiting[batch] = (last, news)
        firstAt = firstAt ?? now
    }

    /// When `take` has something to show; `nil`: nothing waits.
    var due: MonotonicInstant? {
        guard let firstAt else { return nil }
        let settled = firstAt.advanced(by: Self.settling)
        return shownAt.map { max(settled, $0.advanced(by: Self.interval)) } ?? settled
    }

    /// The batches that are to be shown now.
    mutating func take(at now: MonotonicInstant) -> [(batch: BatchID, news: News)] {
        guard let due, due <= now else { return [] }
        defer { (waiting, firstAt) = ([:], nil) }
        return waiting.sorted { $0.value.place < $1.value.place }.map { (batch: $0.key, news: $0.value.news) }
    }

    /// A notification was shown.
    mutating func shown(at now: MonotonicInstant) { shownAt = now }

    // MARK: Words

    /// One notification of all of them; `nil`: there is nothing that the person does not know.
    static func notification(_ news: [(batch: BatchSnapshot, news: News)]) -> DesktopNotification? {
        let told = news.compactMap { item in one(item.batch, item.news).map { (said: $0, news: item.news) } }
        let said = told.map(\.said)
        guard said.count != 1 else { return said[0] }
        guard !said.isEmpty else { return nil }
        let needing = told.count { $0.news == .needsPerson }
        let title =
            needing == 0 ? "\(said.count) batches are over" : "\(needing) of \(said.count) batches need you"
        // What went wrong first: the rest may not be seen.
        var lines = (said.filter(\.isProblem) + said.filter { !$0.isProblem }).map(\.summary)
        if lines.count > mostLines { lines[(mostLines - 1)...] = ["and \(said.count - mostLines + 1) more"] }
        return DesktopNotification(
            summary: title, body: lines.joined(separator: "\n"), isProblem: said.contains(where: \.isProblem))
    }

    private static func one(_ batch: BatchSnapshot, _ news: News) -> DesktopNotification? {
        // One line, whatever the batch is called: several notices are told below each other.
        let name = "\u{201c}\(RawPath(batch.name).displayed)\u{201d}"
        switch news {
        case .needsPerson:
            guard let wait = batch.waits.first(where: { $0.reason.needsPerson }) else { return nil }
            let server = batch.destination.hostOfURL ?? "the server"
            return DesktopNotification(
                summary: "\(name) needs you",
                body: "It waits \(wait.reason.clause(server: server)). martlet why \(batch.id) says what to do.",
                isProblem: true)
        case .ended:
            // Whoever cancelled it knows, and one that goes on again has not ended.
            guard batch.state == .completed || batch.state == .failed else { return nil }
            let files = amount(batch.filesTotal)
            guard batch.filesFailed > 0 else {
                return DesktopNotification(summary: "\(name) is done", body: "\(files), \(size(batch.bytesTotal))")
            }
            let cause = batch.causes.first.map { "\n" + ($0.isOfOne ? "One of them: " : "") + $0.message } ?? ""
            return DesktopNotification(
                summary: "\(name): \(amount(batch.filesFailed)) failed",
                body: "\(batch.filesCompleted) of \(files) are done.\(cause)", isProblem: true)
        }
    }

    private static func amount(_ files: Int64) -> String { files == 1 ? "1 file" : "\(files) files" }

    /// In words that no setting of a screen changes.
    private static func size(_ bytes: Int64) -> String {
        var (value, unit) = (Double(bytes), "B")
        for larger in ["KiB", "MiB", "GiB", "TiB"] where value >= 1024 { (value, unit) = (value / 1024, larger) }
        if unit == "B" { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let tenths = Int64((value * 10).rounded(.down))
        return tenths >= 100 ? "\(tenths / 10) \(unit)" : "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}

extension String {
    /// The host that a URL names; `nil`: it is a folder.
    fileprivate var hostOfURL: String? {
        guard let scheme = firstRange(of: "://") else { return nil }
        let authority = self[scheme.upperBound...].prefix { $0 != "/" }
        let place = authority.split(separator: "@").last ?? ""
        // An IPv6 address stands in brackets, colons and all.
        let host = place.first == "[" ? place.prefix { $0 != "]" } + "]" : place.prefix { $0 != ":" }
        return host.isEmpty ? nil : String(host)
    }
}
