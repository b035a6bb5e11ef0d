import CommandLine
import Configuration
import DisplayText
import FoundationEssentials
import MartletKit

/// A batch and what has to be asked for beside it, for `show`.
struct ShownBatch {
    let batch: BatchSnapshot
    /// Its first files; all of them in a small batch.
    let first: [TaskSnapshot]
    /// Of one that waits.
    let why: WhyAnswer?
    let units: ScreenConfiguration.Units

    /// So many files are looked at, at most.
    static let sample = 200
    /// So many places are named one by one.
    private static let mostSources = 5

    private var isWhole: Bool { !batch.scanning && batch.filesTotal <= Int64(first.count) }

    /// From where, each place once.
    var sources: [(String, String)] {
        let places = first.namedSources
        var lines = places.prefix(Self.mostSources).enumerated().map { ("From", $1) }
        let others = places.count - lines.count
        if others > 0 || (!isWhole && places.count > 1) {
            let rest = isWhole ? "\(others) more" : "more"
            lines.append(("From", "and \(rest): martlet list \(batch.id)"))
        }
        return lines
    }

    var bytes: String {
        let counts = ByteCounts(total: batch.bytesTotal, sent: batch.bytesSent, accepted: batch.bytesAccepted)
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

    /// What had to cross the wire again, where all files are known.
    var repeated: [(String, String)] {
        let bytes = first.reduce(0) { $0 + $1.bytesRepeated }
        guard isWhole, bytes > 0 else { return [] }
        return [(batch.direction == .download ? "Received twice" : "Sent twice", units.size(bytes))]
    }
}

extension Front {
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
        lines += batch.causes.map { ("Failures", "\($0.count) × \($0.message)") }
        lines.append(("Priority", batch.priority.rawValue))
        if let limit = batch.limit { lines.append(("Limit", units.rate(limit))) }
        if let start = batch.notBefore { lines.append(("Not before", time(start))) }
        lines.append(("Queued", time(batch.createdAt)))
        if let finished = batch.finishedAt { lines.append(("Finished", time(finished))) }
        return lines + [("UUID", batch.uuid.uuidString.lowercased())]
    }
}
