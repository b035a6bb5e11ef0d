import Configuration
import MartletKit
import Wording

/// A share in whole percent. A dash while the whole is unknown.
private func percentText(_ share: Share?, isCounting: Bool = false) -> String {
    guard let share, share.isComplete || share.whole > 0 && !isCounting else { return "-" }
    return "\(share.percent)%"
}

extension BatchSnapshot {
    /// The share done; 99 % until every file is completed. What failed or was cancelled never is.
    var percentText: String { Commands.percentText(share, isCounting: scanning) }

    /// Behind the name: what it waits for, or how many files failed.
    var remark: String {
        var words: [String] = []
        if state == .waiting, let reason = waitReasons.first { words.append("waits for \(reason.words)") }
        if filesFailed > 0 { words.append("\(filesFailed) failed") }
        if filesCancelled > 0, state != .cancelled { words.append("\(filesCancelled) cancelled") }
        return words.joined(separator: ", ")
    }

    /// One plain line of all that matters: for `watch` and the progress of `--wait`.
    /// - Parameter because: `waits` and what holds it, where that was asked for.
    func progressText(_ units: ScreenConfiguration.Units, because: String? = nil) -> String {
        progressLine(
            "\(id) \(stateText(state, waitReasons.words, because))", state: state, done: filesCompleted,
            files: filesTotal,
            failed: filesFailed, cancelled: filesCancelled, share, there: bytesSent + (bytesFound ?? 0),
            total: bytesTotal,
            isCounting: scanning,
            rate: bytesPerSecond,
            left: secondsLeft, units)
    }
}

extension TaskSnapshot {
    /// Folder and name.
    var path: String { folder.isEmpty ? name : "\(folder)/\(name)" }

    /// The share done.
    var percentText: String { Commands.percentText(share) }

    /// Behind the name: what it waits for, why it failed, or that it was skipped.
    var remark: String {
        if skipped { return "skipped" }
        if state == .waiting, let error { return error.finding.messageWithoutPromise }
        if state == .waiting, let reason = waitReasons.first { return "waits for \(reason.words)" }
        if state == .failed, let error { return error.message }
        return ""
    }
}

extension WhyAnswer {
    /// The sentence, which names the node and what it waits for, and what would unblock it.
    var text: String { unblock.isEmpty ? sentence : "\(sentence): \(unblock)" }
}

extension NodeRow {
    /// As ``BatchSnapshot/progressText(_:)``, for anything that has a row.
    func progressText(_ id: NodeID, _ units: ScreenConfiguration.Units, because: String? = nil) -> String {
        progressLine(
            "\(id) \(stateText(state, waitReasons.words(after: error), because))", state: state,
            done: counts.completed, files: counts.total,
            failed: counts.failed, cancelled: counts.cancelled, share, there: bytes.done, total: bytes.total,
            isCounting: scanning || !sizeKnown,
            rate: bytesPerSecond, left: secondsLeft, units)
    }
}

extension QueueTotals {
    /// - Parameter states: how the batches stand; empty: all are over.
    func progressText(_ units: ScreenConfiguration.Units, states: String) -> String {
        let state = counts.state(scanning: false, paused: false)
        let subject = batches == 1 ? "1 batch" : "\(batches) batches"
        return progressLine(
            states.isEmpty ? "\(subject) \(state.word)" : "\(subject): \(states),", state: state,
            done: counts.completed, files: counts.total, failed: counts.failed, cancelled: counts.cancelled,
            share(scanning: !states.isEmpty), there: bytes.done,
            total: bytes.total, isCounting: false, rate: bytesPerSecondUp + bytesPerSecondDown, left: secondsLeft, units
        )
    }
}

/// `running`, `waiting for the next try,`, `waits: nas cannot be found,`
private func stateText(_ state: TransferState, _ waits: String, _ because: String?) -> String {
    if let because { return because + "," }
    return state == .waiting && !waits.isEmpty ? "\(state.word) for \(waits)," : state.word
}

/// `b7 running 71% 569/812 files 41.3G of 58.2G 28.9M/s 10m00s left, 2 failed`
private func progressLine(
    _ subject: String, state: TransferState, done: Int64, files: Int64, failed: Int64, cancelled: Int64, _ share: Share,
    there: Int64,
    total: Int64, isCounting: Bool, rate: Int64, left: Int64?, _ units: ScreenConfiguration.Units
) -> String {
    var words = [subject]
    words.append(percentText(share, isCounting: isCounting))
    words.append("\(done)/\(files)\(isCounting ? "+" : "") \(files == 1 ? "file" : "files")")
    words.append("\(units.size(there)) of \(units.size(total))")
    if rate > 0, state.isActive { words.append(units.rate(rate)) }
    if let left, state.isActive { words.append("\(shownDuration(seconds: left)) left") }
    return words.joined(separator: " ") + (failed > 0 ? ", \(failed) failed" : "")
        + (cancelled > 0 && state != .cancelled ? ", \(cancelled) cancelled" : "")
}
