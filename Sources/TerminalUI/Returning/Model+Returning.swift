import Configuration
import DisplayText
import MartletKit

/// Coming back: the screen opens as it was left, and says what has happened meanwhile.
extension Model {
    /// Under which name the view of this engine is remembered.
    private var keptName: String { machine?.string ?? "" }

    /// Before anything was sent.
    mutating func restore(_ kept: KeptScreen, over configured: ScreenConfiguration) {
        (self.returning.kept, self.returning.configured) = (kept, configured)
        self.returning.kept.appearance = kept.appearance.kept(over: configured)
        guard let view = kept.views[keptName] else { return }
        returning.leftBefore = view
        tree.restore(view)
        if let height = view.lowerHeight, ScreenLayout.lowerHeights.contains(height) { list.lowerHeight = height }
        if let text = view.filter, (try? TransferFilter(text)) != nil { setFilter(text) }
    }

    /// The state to remember when it is left now. An engine that never answered has shown nothing to remember.
    /// - Parameter latest: what other screens have remembered meanwhile.
    func keptScreen(over latest: KeptScreen?) -> KeptScreen {
        var kept = returning.kept
        kept.views = latest?.views ?? kept.views
        guard tree.isKnown || filters.shown?.unfiltered?.isKnown == true else { return kept }
        var view = KeptView(leftAt: engineNow.wall)
        let whole = filters.shown?.unfiltered ?? tree
        whole.keepFolds(in: &view)
        tree.keepCursor(in: &view)
        // Marks are not remembered, so a filter about them would show nothing.
        view.filter = filters.shown?.named == nil ? filters.shown?.text : nil
        view.order = tree.order
        view.lowerHeight = list.lowerHeight
        view.waiting = totals?.needsPerson ?? 0
        // Of batches that were not in sight the last news are still right to begin from.
        view.batches = (returning.leftBefore?.batches ?? [:]).merging(returning.batchesAtStart) { $1 }
        for row in (whole.root?.rows ?? []) + filters.hiddenBatches {
            guard case .batch(let id) = row.id else { continue }
            view.batches[id] = KeptView.Standing(
                completed: row.counts.completed, failed: row.counts.failed, bytes: row.bytes.accepted)
        }
        // The newest are the ones that go on.
        let newest = view.batches.sorted { $0.key.rawValue > $1.key.rawValue }.prefix(2 * KeptView.most)
        view.batches = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
        kept.views[keptName] = view
        return kept
    }

    /// Remembers what was set on the screen.
    mutating func keep(_ key: String, _ value: String) {
        returning.kept.appearance.choose(key, value, over: returning.configured)
    }

    /// Asked once, when the engine answers.
    mutating func askWhatHappened() {
        guard returning.leftBefore != nil, !returning.hasAskedWhatHappened else { return }
        returning.hasAskedWhatHappened = true
        ask(.returning, isPatient: true) { .batches(number: $0) }
    }

    mutating func whatHappened(_ result: Result<[BatchSnapshot], RequestError>) {
        guard let before = returning.leftBefore, case .success(let batches) = result else { return }
        for batch in batches {
            returning.batchesAtStart[batch.id] = KeptView.Standing(
                completed: batch.filesCompleted, failed: batch.filesFailed, bytes: batch.bytesAccepted)
        }
        guard let text = sentence(SinceLeaving(before, batches), before) else { return }
        // What is wrong with a file was said first, and stays until the next key.
        if notice == nil { say(text) } else { returning.waitingNotice = text }
    }

    /// Says what was not said because something else stood there.
    mutating func sayWaiting() {
        guard notice == nil, let text = returning.waitingNotice, page is TransfersPage else { return }
        returning.waitingNotice = nil
        say(text)
    }

    private func sentence(_ since: SinceLeaving, _ before: KeptView) -> SafeText? {
        let files = since.completed > 0
        let waiting = (totals?.needsPerson ?? 0) > before.waiting ? totals?.needsPerson ?? 0 : 0
        let parts: [String?] = [
            files ? "\(Figures.amount(since.completed, "file")) done (\(appearance.figures.size(since.bytes)))" : nil,
            since.failed > 0
                ? files ? "\(Figures.count(since.failed)) failed" : "\(Figures.amount(since.failed, "file")) failed"
                : nil,
            waiting > 0 ? Figures.amount(waiting, "file waits for you", "files wait for you") : nil,
            since.finishedBatches > 0 ? Figures.amount(since.finishedBatches, "batch", "batches") + " finished" : nil,
            since.cancelledBatches > 0
                ? Figures.amount(since.cancelledBatches, "batch", "batches") + " cancelled" : nil,
            since.newBatches > 0 ? Figures.amount(since.newBatches, "new batch", "new batches") : nil,
        ]
        let said = parts.compactMap(\.self)
        let time = shortTime(before.leftAt)
        if said.isEmpty { return since.hasUnfinished ? "Since \(time): nothing has changed." : nil }
        return "Since \(time): \(SafeText(said.joined(separator: ", ")))."
    }

    /// `09:12` of today, else with its date; by this machine's clock.
    private func shortTime(_ time: Timestamp) -> SafeText {
        let here = time.advanced(by: .zero - connection.clockAhead)
        let (date, today) = (appearance.date(here), appearance.date(now.wall))
        return appearance.safe(
            String(date.prefix(10) == today.prefix(10) ? date.dropFirst(11).prefix(5) : date.prefix(16)))
    }
}
