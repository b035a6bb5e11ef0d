import DisplayText
import MartletKit
import Terminal

/// The speed of a file, when it began and will be over, and the effect of a cut.
extension DetailsText {
    /// The speed of a file that runs, with what the engine knows of the attempt; of all others as the row has it.
    var speed: Field? {
        guard let task else { return plainSpeed }
        let figures = task.attempt
        guard shown == .running || shown == .stalled, row.bytesPerSecond > 0 || figures?.averageBytesPerSecond != nil
        else { return nil }
        var parts = [
            row.bytesPerSecond > 0 ? "\(appearance.figures.speed(row.bytesPerSecond)) now" : "nothing moves now"
        ]
        if let average = figures?.averageBytesPerSecond, average > 0 {
            parts.append("\(appearance.figures.speed(average)) average")
        }
        // What is seen now is newer than what was told.
        if let best = figures?.bestBytesPerSecond {
            parts.append("\(appearance.figures.speed(max(best, row.bytesPerSecond))) best")
        }
        return Field("Speed", SafeText(parts.joined(separator: "   ")))
    }

    private var plainSpeed: Field? {
        guard row.bytesPerSecond > 0, shown == .running else { return nil }
        let paused = row.counts.paused > 0 && row.canHold ? row.counts.paused : 0
        let others = paused > 0 ? ", not counting \(Figures.amount(paused, "paused file"))" : ""
        let left = "\(Figures.timeLeftInWords(row.secondsLeft)) left\(others)"
        let average = row.averageBytesPerSecond.map { ", \(appearance.figures.speed($0)) average" } ?? ""
        return Field("Speed", "\(appearance.figures.speed(row.bytesPerSecond))\(average)   \(left)", isShort: true)
    }

    /// The fields that a row has of its file without the engine being asked for it.
    var outline: [Field] {
        let started = row.startedAt.map { Field("Started", moment($0), isShort: true) }
        let tries = row.attempts.map { Field("Try", "\($0)", isShort: true) }
        return [started, tries].compactMap(\.self)
    }

    func times(_ task: TaskSnapshot) -> [Field] {
        var fields: [Field] = []
        if let started = task.startedAt { fields.append(Field("Started", moment(started), isShort: true)) }
        if let finished = task.finishedAt {
            fields.append(Field("Over", moment(finished), isShort: true))
        } else if let left = row.secondsLeft, shown == .running {
            fields.append(Field("Expected", moment(now.wall.advanced(by: .seconds(left))), isShort: true))
        }
        return fields
    }

    // MARK: Trying again

    func tries(_ task: TaskSnapshot) -> [Field] {
        let count = task.attempts == 0 ? "none yet" : "\(task.attempts)"
        var text = task.state.isTerminal ? count : count + ", no limit of tries"
        if task.restarts > 0 {
            let reason = task.history?.last { $0.what == "restarted" }?.message.map { ": \($0)" } ?? ""
            text += ", \(task.restarts) from the beginning\(reason)"
        }
        var fields = [Field("Try", appearance.safe(text), isShort: true)]
        if let resumable = resumable(task) { fields.append(Field("Resumable", resumable, isShort: true)) }
        return fields
    }

    /// The limit to its tries: time alone.
    func patience(_ task: TaskSnapshot) -> Field? {
        guard !task.state.isTerminal, let seconds = task.rules?.giveUpAfterSeconds else { return nil }
        let isDays = seconds > 0 && seconds.isMultiple(of: 86_400)
        let time = isDays ? "\(seconds / 86_400) d" : Figures.timeLeftInWords(seconds)
        return Field("Gives up", "\(SafeText(time)) without progress", isShort: true)
    }

    /// The cost of a cut, a pause or a restart of the engine.
    private func resumable(_ task: TaskSnapshot) -> SafeText? {
        if task.state.isTerminal { return nil }
        let known = row.bytes.accepted
        switch task.attempt?.resumable ?? (known > 0 ? true : nil) {
        case true? where known > 0: return "yes, from \(SafeText(appearance.figures.size(known)))"
        case true?: return task.direction == .upload ? "yes, the server is asked" : "yes"
        case false?: return Self.beginsAgain(task.protocol)
        case nil: return nil
        }
    }

    private static func beginsAgain(_ name: String?) -> SafeText {
        "no: \(SafeText(ProtocolFacts.named(name)?.beginsAgain ?? "this server begins again"))"
    }

    // MARK: Comparing

    /// The comparison that will show that both ends are the same, as long as it is not over.
    func checksum(_ task: TaskSnapshot) -> Field? {
        guard !task.state.isTerminal, let rules = task.rules else { return nil }
        if let expects = rules.expects {
            return Field(
                "Checksum",
                appearance.safe("\(expects.algorithm) \(Self.ends(of: expects.value)) given, compared at the end")
            )
        }
        let pending = task.direction == .upload ? "remote pending" : "compared at the end"
        let inParts = ProtocolFacts.named(task.protocol)?.comparesParts
        switch rules.verify {
        case VerificationWish.none?: return Field("Checksum", "none is wanted")
        case .size?: return Field("Checksum", "the size alone, \(SafeText(pending))")
        case .digest? where inParts == nil: return Field("Checksum", "wanted, \(SafeText(pending))")
        case nil where inParts == nil:
            return Field("Checksum", "as the server offers, else the size; \(SafeText(pending))")
        case .digest?, nil: return Field("Checksum", "\(SafeText(inParts ?? "")), \(SafeText(pending))")
        }
    }

    /// `9f31..c2`
    private static func ends(of value: String) -> String {
        value.count > 12 ? "\(value.prefix(4))..\(value.suffix(2))" : value
    }
}
