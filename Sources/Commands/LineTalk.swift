import Configuration
import MartletKit

/// What is said and what is understood in the line mode. A value: lines in, lines and commands out.
struct LineTalk {
    enum Event: Sendable {
        case line(String)
        case tick
        /// Nothing more comes in.
        case end
    }

    struct Sight: Sendable {
        var batches: [BatchSnapshot]
        var totals: QueueTotals
    }

    struct Step: Equatable {
        var lines: [String] = []
        /// Words of `martlet` commands.
        var commands: [[String]] = []
        var leaves = false
    }

    private enum Place: Equatable {
        case top
        case batch(BatchID)
        case cancel(BatchID)
        case sources
        case destination([String])
        case clear
    }

    private struct Told {
        var state: TransferState
        var failed: Int64
        var percent: Int64
        var at: Int64

        init(_ batch: BatchSnapshot, now: Int64) {
            (state, failed, at) = (batch.state, batch.filesFailed, now)
            percent = LineTalk.percent(batch.bytesSent, of: batch.bytesTotal)
        }
    }

    let units: ScreenConfiguration.Units
    private var place = Place.top
    /// What was said last of each batch.
    private var told: [BatchID: Told] = [:]

    /// As many as are read out.
    private static let most = 20

    init(units: ScreenConfiguration.Units) { self.units = units }

    // MARK: What is said

    mutating func greeting(_ sight: Sight) -> [String] {
        for batch in sight.batches { told[batch.id] = Told(batch, now: 0) }
        return overview(sight) + prompt(sight)
    }

    private func overview(_ sight: Sight) -> [String] {
        let totals = sight.totals
        guard totals.batches > 0 else { return ["martlet. Nothing is queued."] }
        var words = ["martlet. \(totals.batches) \(totals.batches == 1 ? "batch" : "batches")."]
        words.append(
            "\(Self.percent(totals.bytes.sent, of: totals.bytes.total)) percent, \(units.size(totals.bytes.sent)) of \(units.size(totals.bytes.total))."
        )
        let speed = totals.bytesPerSecondUp + totals.bytesPerSecondDown
        if speed > 0 { words.append("\(units.size(speed)) per second.") }
        if let left = totals.secondsLeft, totals.counts.active > 0 { words.append("About \(Self.time(left)).") }
        let lines = sight.batches.prefix(Self.most).enumerated().map { "\($0.offset + 1) \(sentence($0.element))" }
        let more = sight.batches.count - Self.most
        return [words.joined(separator: " ")] + lines + (more > 0 ? ["And \(more) more: martlet list shows them."] : [])
    }

    private func sentence(_ batch: BatchSnapshot) -> String {
        var parts = [batch.name, batch.state == .created ? "held" : batch.state.rawValue]
        if batch.state != .completed { parts.append("\(Self.percent(batch.bytesSent, of: batch.bytesTotal)) percent") }
        if let left = batch.secondsLeft, batch.state == .running { parts.append(Self.time(left)) }
        if let reason = batch.waitReasons.first, batch.state == .waiting { parts.append("waits for \(reason.words)") }
        var text = parts.joined(separator: ", ") + "."
        if batch.filesFailed > 0 {
            text += " \(batch.filesFailed) \(batch.filesFailed == 1 ? "file" : "files") failed"
            text += batch.causes.first.map { ": \($0.message)." } ?? "."
        }
        return text
    }

    /// What can be answered now.
    func prompt(_ sight: Sight) -> [String] {
        switch place {
        case .top:
            let count = min(sight.batches.count, Self.most)
            let choose = count == 0 ? "" : count == 1 ? "1 chooses, " : "1 to \(count) choose, "
            return ["\(choose)a add, s status, e problems, u undo, c clear finished, h help, q leave:"]
        case .batch(let id):
            guard let batch = sight.batches.first(where: { $0.id == id }) else {
                return ["That batch is gone. 0 back:"]
            }
            var choices: [String] = []
            if !batch.state.isTerminal {
                choices.append(batch.paused || batch.state == .created ? "p resume" : "p pause")
            }
            if !batch.state.isTerminal { choices.append("x cancel") }
            if batch.filesFailed + batch.filesCancelled > 0 { choices.append("r retry") }
            if !batch.state.isTerminal { choices.append("w why") }
            return ["\(batch.name). \((choices + ["s status", "l its files", "0 back"]).joined(separator: ", ")):"]
        case .cancel: return ["Cancel it? What has arrived whole stays. y yes, n no:"]
        case .clear:
            return ["Forget every finished batch? No file is touched, and u takes it back for a while. y yes, n no:"]
        case .sources: return ["Which files or folders? Quote names with spaces. An empty line goes back:"]
        case .destination: return ["To which URL? An empty line goes back:"]
        }
    }

    /// What a person wants to be told unasked: what ended or failed at once, progress each 10 percent and no more often
    /// than every 30 seconds.
    mutating func news(_ sight: Sight, now: Int64) -> [String] {
        var lines: [String] = []
        for batch in sight.batches {
            let current = Told(batch, now: now)
            guard let before = told[batch.id] else {
                told[batch.id] = current
                lines.append("New: \(sentence(batch))")
                continue
            }
            let hasChanged = before.state != current.state || before.failed < current.failed
            let hasMoved = current.percent >= before.percent + 10 && now - before.at >= 30_000
            guard hasChanged || hasMoved else { continue }
            told[batch.id] = current
            lines.append(sentence(batch))
        }
        return lines
    }

    // MARK: What is understood

    mutating func take(_ line: String, _ sight: Sight) -> Step {
        let word = line.trimmed
        switch place {
        case .top: return atTop(word, sight)
        case .batch(let id): return inBatch(word, id, sight)
        case .cancel(let id):
            place = .batch(id)
            return word == "y" ? Step(commands: [["cancel", "\(id)"]]) : Step(lines: ["Not cancelled."])
        case .clear:
            place = .top
            return word == "y" ? Step(commands: [["purge", "--finished"]]) : Step(lines: ["Nothing was forgotten."])
        case .sources:
            guard !word.isEmpty else {
                place = .top
                return Step()
            }
            guard let words = Self.words(word) else { return Step(lines: ["A quote is not closed."]) }
            place = .destination(words)
            return Step()
        case .destination(let sources):
            place = .top
            return word.isEmpty ? Step() : Step(commands: [["upload"] + sources + [word]])
        }
    }

    private mutating func atTop(_ word: String, _ sight: Sight) -> Step {
        switch word {
        case "q":
            return Step(lines: ["Transfers go on without this window. Come back: martlet --accessible"], leaves: true)
        case "a": place = .sources
        case "c": place = .clear
        case "u": return Step(commands: [["undo"]])
        case "", "s": return Step(lines: overview(sight))
        case "e":
            let failed = sight.batches.filter { $0.filesFailed > 0 }
            return Step(lines: failed.isEmpty ? ["Nothing has failed."] : failed.map { "\($0.id) \(sentence($0))" })
        case "h":
            return Step(lines: [
                "A number chooses a batch. Each choice is a command of martlet, and is shown as such.",
                "News is told by itself: what ends or fails at once, progress every 10 percent.",
            ])
        default:
            guard let number = Int(word), (1...max(1, min(Self.most, sight.batches.count))).contains(number),
                !sight.batches.isEmpty
            else { return Step(lines: ["\"\(word)\" is none of the choices."]) }
            let batch = sight.batches[number - 1]
            place = .batch(batch.id)
            return Step(lines: [sentence(batch)])
        }
        return Step()
    }

    private mutating func inBatch(_ word: String, _ id: BatchID, _ sight: Sight) -> Step {
        let batch = sight.batches.first { $0.id == id }
        switch word {
        case "0", "q":
            place = .top
            return Step()
        case "p":
            return Step(commands: [[batch?.paused == true || batch?.state == .created ? "resume" : "pause", "\(id)"]])
        case "x": place = .cancel(id)
        case "r": return Step(commands: [["retry", "\(id)"]])
        case "w": return Step(commands: [["why", "\(id)"]])
        case "l": return Step(commands: [["list", "\(id)"]])
        case "", "s": return Step(lines: batch.map { [sentence($0)] } ?? [])
        default: return Step(lines: ["\"\(word)\" is none of the choices."])
        }
        return Step()
    }
}

extension String {
    /// Without blanks at the ends.
    fileprivate var trimmed: String {
        let head = drop(while: \.isWhitespace)
        guard let last = head.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(head[...last])
    }
}
