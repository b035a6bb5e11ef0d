import Configuration
import FoundationEssentials
import MartletKit
import Wording

/// A batch and what has to be asked for beside it, for `show`.
struct ShownBatch {
    let batch: BatchSnapshot
    /// Its first files; all of them in a small batch.
    let first: [TaskSnapshot]
    /// As it was queued; `nil`: it downloads, or that is not known.
    let upload: RepeatedUpload?
    /// The reason of its wait, for one that waits.
    let why: WhyAnswer?
    let units: ScreenConfiguration.Units

    private var named: NamedSources { upload.map { NamedSources(named: $0.sources) } ?? NamedSources(first) }
    private var isWhole: Bool { isWhole(NamedSources(first)) }

    private func isWhole(_ sources: NamedSources) -> Bool {
        sources.isWhole(of: batch.filesTotal, scanning: batch.scanning)
    }

    /// From where, each place once.
    var sources: [(String, String)] {
        let named = named
        let others = named.others(isWhole: isWhole(named)).map { "and \($0): martlet list \(batch.id)" }
        return (named.shown + (others.map { [$0] } ?? [])).map { ("From", $0) }
    }

    var bytes: String {
        var counts = ByteCounts(total: batch.bytesTotal, sent: batch.bytesSent, accepted: batch.bytesAccepted)
        counts.found = batch.bytesFound
        let arrival = Arrival(counts, isDownload: batch.direction == .download, state: batch.state)
        let text = "\(units.size(batch.bytesTotal)): \(arrival.sentence(units.size))"
        return batch.bytesVerified > 0 ? "\(text); \(units.size(batch.bytesVerified)) checked \(check)" : text
    }

    /// By what: the batch only knows how much.
    private var check: String {
        let kinds = Set(first.map(\.verified)).subtracting([.none])
        guard isWhole, kinds.count == 1, let words = kinds.first?.words else { return "by size or digest" }
        return words
    }

    /// Bytes that had to cross the wire again; of how many files that is, where not all of them were looked at.
    var repeated: [(String, String)] {
        let bytes = ByteSum.of(first.lazy.map(\.bytesRepeated))
        guard bytes > 0 else { return [] }
        let part = isWhole ? "" : " by the first \(first.count) files; of the others it is not known"
        return [(TaskSnapshot.repeatedTitle(isDownload: batch.direction == .download), units.size(bytes) + part)]
    }
}

extension ShowCommand {
    func lines(of shown: ShownBatch) -> [(String, String)] {
        let (batch, units) = (shown.batch, shown.units)
        var lines = [
            ("", "\(batch.id) \(batch.name)"),
            ("State", batch.state.word + (batch.scanning ? ", still counting" : "")),
            ("Session", batch.session.rawValue),
        ]
        lines += shown.sources
        lines += [
            ("To", batch.destination),
            (
                "Files",
                "\(batch.filesTotal): \(batch.filesCompleted) completed, \(batch.filesFailed) failed, "
                    + "\(batch.filesCancelled) cancelled, \(batch.filesActive) active, \(batch.filesWaiting) waiting"
            ),
            ("Bytes", shown.bytes),
        ]
        if let listed = batch.listed?.sentence { lines.append(("Listed", listed)) }
        if let leftOut = batch.leftOut.sentence { lines.append(("Left out", leftOut)) }
        lines += shown.repeated
        let moves = batch.state.isActive
        if moves, batch.bytesPerSecond > 0 { lines.append(("Speed", units.rate(batch.bytesPerSecond))) }
        if moves, let left = batch.secondsLeft { lines.append(("Left", shownDuration(seconds: left))) }
        if let why = shown.why {
            lines.append(("Why", why.sentence))
        } else if !batch.waitReasons.isEmpty {
            lines.append(("Waits for", batch.waitReasons.words))
        }
        lines += batch.causes.map { ("Failures", $0.sentence) }
        lines.append(("Priority", batch.priority.rawValue))
        if let limit = batch.limit { lines.append(("Limit", units.rate(limit))) }
        if batch.state == .paused, let end = batch.pausedUntil { lines.append(("Goes on", context.time(end))) }
        if let start = batch.notBefore { lines.append(("Not before", context.time(start))) }
        lines.append(("Queued", context.time(batch.createdAt)))
        if let finished = batch.finishedAt { lines.append(("Finished", context.time(finished))) }
        return lines + [("UUID", batch.uuid.uuidString.lowercased())]
    }
}
