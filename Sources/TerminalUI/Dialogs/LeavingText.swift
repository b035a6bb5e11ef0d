import DisplayText
import MartletKit

/// The lines printed under the shell's prompt line after the screen: what goes on, and how to come back.
enum LeavingText {
    static func lines(_ model: Model) -> [String] {
        let back =
            model.machine.map { "Come back: martlet attach \($0.string)" }
            ?? "Come back: martlet    Status: martlet list    Stop: martlet engine stop"
        if model.isConnected, !model.canChange {
            let whose = model.machine.map { "The engine of \($0.string)" } ?? "The engine"
            return ["\(whose) did not answer; what was queued is not lost, and goes on when it does.", back]
        }
        guard model.isConnected, let counts = model.totals?.counts else {
            let lost = model.machine.map { "There was no line to \($0.string)" } ?? "The engine did not answer"
            // Of another machine's engine nobody knows.
            let stands = model.machine == nil ? ", but nothing moves until an engine runs again" : ""
            return ["\(lost); what was queued is not lost\(stands).", back]
        }
        switch model.leaving.engineEnd {
        case .afterRunning:
            let files =
                counts.active > 0
                ? " when \(Figures.amount(counts.active, "running file is", "running files are")) through" : ""
            return ["The engine ends\(files). What is queued stays.", "Go on: \(model.invocation.string)"]
        case .now:
            return [
                "The engine ends now. What is queued stays, and goes on where it stood.",
                "Go on: \(model.invocation.string)",
            ]
        case nil: break
        }
        let totals = model.totals ?? QueueTotals()
        // What waits for a person is told of by itself, and goes on by itself no more than what is paused.
        let stuck = min(counts.waiting, totals.needsPerson ?? 0)
        let waiting = counts.queued + counts.waiting - stuck
        let parts: [(Int64, String)] = [
            (counts.active, "running"), (waiting, "waiting"), (counts.paused + counts.created, "paused"),
        ]
        let failed = problems(totals)
        let there = parts.filter { $0.0 > 0 }
        guard let first = there.first else {
            return [(stuck > 0 ? "Nothing goes on without you." : "Nothing is unfinished.") + failed, back]
        }
        let rest = there.dropFirst().map { ", \(Figures.count($0.0)) \($0.1)" }.joined()
        let goes = counts.active + waiting > 0
        let isOne = there.reduce(0) { $0 + $1.0 } == 1
        let end =
            switch (goes, isOne) {
            case (true, true): " It goes on without this window."
            case (true, false): " They go on without this window."
            case (false, true): " It waits for you to resume it."
            case (false, false): " They wait for you to resume them."
            }
        return ["\(Figures.amount(first.0, "file")) \(first.1)\(rest).\(end)\(failed)", back]
    }

    /// The files that do not go on by themselves, or not yet; each a sentence with a space in front.
    private static func problems(_ totals: QueueTotals) -> String {
        var text = totals.failures > 0 ? " \(Figures.amount(totals.failures, "file")) failed." : ""
        let waits = [
            (totals.needsPerson ?? 0, "for you"), (totals.needsSpace ?? 0, "for space on a disk"),
            (totals.needsServer ?? 0, "for a server that serves nothing"),
        ]
        for (files, what) in waits where files > 0 {
            text += " \(Figures.amount(files, "file waits", "files wait")) \(what): see martlet why."
        }
        return text
    }
}
