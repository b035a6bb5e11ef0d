import MartletKit

/// The answers that the line mode understands: a line leads to a command, a question, or another place.
extension LineTalk {
    mutating func take(_ line: String, _ sight: Sight) -> Step {
        let word = line.trimmed
        if word == "0", let step = goBack() { return step }
        switch place {
        case .top: return atTop(word, sight)
        case .batch(let id): return inBatch(word, id, sight)
        case .part(let name, let batch): return inPart(word, name, batch, sight)
        case .filter(let text): return inFilter(word, text, sight)
        case .sure(_, let words, let no, let back):
            place = back
            return word == "y" ? Step(commands: [words]) : Step(lines: [no])
        case .limit(let name, let back):
            place = back
            return word.isEmpty ? Step() : limit(word, name)
        case .findingPart(let batch):
            place = .batch(batch)
            return word.isEmpty ? Step() : findPart(word, batch)
        case .existing(let batch): return settle(word, batch)
        case .filtering:
            place = .top
            if word.isEmpty { return Step() }
            place = .filter(word)
            return Step(commands: [["list", "--filter", word]])
        case .elsewhere(let batch):
            place = .batch(batch)
            let named = named(word, sight)
            return named.isEmpty ? Step() : Step(elsewhere: Elsewhere(batch: batch, destination: named))
        case .sources, .links, .destination, .folder: return adding(word, sight)
        }
    }

    /// Goes back from a question at the answer 0, as at an empty line. At a limit 0 is a value: `nil`.
    private mutating func goBack() -> Step? {
        switch place {
        case .top: return Step(lines: ["Nothing is further back; q leaves."])
        case .sources, .links, .destination, .folder, .filtering: place = .top
        case .findingPart(let batch), .elsewhere(let batch), .existing(let batch): place = .batch(batch)
        case .batch, .part, .filter, .sure, .limit: return nil
        }
        return Step()
    }

    /// From what to where: two questions.
    private mutating func adding(_ word: String, _ sight: Sight) -> Step {
        guard !word.isEmpty else {
            place = .top
            return Step()
        }
        switch place {
        case .destination(let sources):
            place = .top
            return Step(commands: [["upload"] + sources + [named(word, sight)]])
        case .folder(let urls):
            place = .top
            guard let folder = Self.words(word)?.joined(separator: " ") else {
                return Step(lines: ["A quote is not closed."])
            }
            return Step(commands: [["download"] + urls + [folder.hasSuffix("/") ? folder : folder + "/"]])
        default:
            guard let words = Self.words(word) else { return Step(lines: ["A quote is not closed."]) }
            place = place == .links ? .folder(words) : .destination(words)
            return Step()
        }
    }

    /// A number of the configured servers means its own folder.
    private func named(_ word: String, _ sight: Sight) -> String {
        guard let number = Int(word), sight.destinations.prefix(Self.most).indices.contains(number - 1) else {
            return word
        }
        return sight.destinations[number - 1] + ":"
    }

    private mutating func atTop(_ word: String, _ sight: Sight) -> Step {
        switch word {
        case "q":
            return Step(lines: ["Transfers go on without this window. Come back: martlet --accessible"], leaves: true)
        case "a": place = .sources
        case "g": place = .links
        case "f": place = .filtering
        case "t":
            place = .limit(nil, back: .top)
            return Step(commands: [["limit"]])
        case "c":
            place = .sure(
                question: "Forget every finished batch? No file is touched, and u takes it back for a while.",
                words: ["purge", "--finished"], no: "Nothing was forgotten.", back: .top)
        case "", "s": return Step(lines: overview(sight))
        case "h", "?":
            return Step(lines: [
                "A number chooses a batch, an ID such as b7 or t31 what it names. Each choice is a command of martlet, and is shown as such.",
                "News is told by itself: what ends or fails at once, progress every 10 percent.",
                Self.takesBack,
            ])
        case "e", "u": return anywhere(word, sight)
        default:
            if let id = NodeID(word) { return go(to: id, sight) }
            guard let number = Int(word), (1...max(1, min(Self.most, sight.batches.count))).contains(number),
                !sight.batches.isEmpty
            else { return Step(lines: ["\"\(word)\" is none of the choices."]) }
            return go(to: .batch(sight.batches[number - 1].id), sight)
        }
        return Step()
    }

    private mutating func go(to id: NodeID, _ sight: Sight) -> Step {
        if case .batch(let batch) = id {
            guard let known = sight.batches.first(where: { $0.id == batch }) else {
                return Step(lines: ["There is no \(batch)."])
            }
            place = .batch(batch)
            return Step(lines: [sentence(known)])
        }
        place = .part("\(id)", of: nil)
        return Step()
    }

    /// Answers the choices that every menu has.
    private func anywhere(_ word: String, _ sight: Sight, help: String = "") -> Step {
        switch word {
        case "u": return Step(commands: [["undo"]])
        case "e":
            let found = sight.batches.filter { $0.filesFailed > 0 || !$0.waits.isEmpty || $0.state == .waiting }
            return Step(
                lines: found.isEmpty
                    ? ["Nothing has failed, and nothing waits for you or a server."]
                    : found.flatMap { batch in ["\(batch.id) \(sentence(batch))"] + waits(of: batch) })
        case "h", "?": return Step(lines: [help, Self.takesBack])
        default: return Step(lines: ["\"\(word)\" is none of the choices."])
        }
    }

    /// The waits of its files, by cause: with the message where there is one, else with the reason.
    private func waits(of batch: BatchSnapshot) -> [String] {
        batch.waits.map { wait in
            let subject = wait.count == 1 ? "1 file waits" : "\(wait.count) files wait"
            guard !wait.message.isEmpty else { return "\(subject) for \(wait.reason.words)." }
            return "\(subject): \(TransferError(wait.code ?? .http, wait.message).happening)."
        }
    }

    private static let takesBack =
        "u takes the last change back within its grace time (grace under [engine] of the configuration, 10 seconds unless set); a cancel also later, from the beginning."

    private mutating func inBatch(_ word: String, _ id: BatchID, _ sight: Sight) -> Step {
        let batch = sight.batches.first { $0.id == id }
        switch word {
        case "0", "q": place = .top
        case "p":
            if batch?.paused == true || batch?.state == .created { return Step(commands: [["resume", "\(id)"]]) }
            return pause(["\(id)"], "it", sight)
        case "x": askToCancel(["\(id)"], "it", sight)
        case "r":
            let isThere = batch?.causes.contains { $0.code == .destinationExists } ?? false
            guard isThere else { return Step(commands: [["retry", "\(id)"]]) }
            place = .existing(id)
        case "d": place = .elsewhere(id)
        case "w": return Step(commands: [["why", "\(id)"]])
        case "t": place = .limit("\(id)", back: place)
        case "o": return Step(commands: [["move", "\(id)", "--top"]])
        case "l": return Step(files: id)
        case "f": place = .findingPart(id)
        case "", "s": return Step(lines: batch.map { [sentence($0)] } ?? [])
        default:
            return anywhere(
                word, sight,
                help:
                    "p pauses the batch or lets it go on, x cancels it after a question, r tries again what failed, d sends what failed elsewhere, w says why it does not move, t limits its speed, o puts it before all others, s says how far it is, l lists its files (the first \(Self.most); martlet list \(id) has all), f goes to a folder or file of it, 0 goes back."
            )
        }
        return Step()
    }

    /// `raw/2024`, `t31`, or the whole of it as commands name it.
    private mutating func findPart(_ word: String, _ batch: BatchID) -> Step {
        let path = word.hasSuffix("/") ? String(word.dropLast()) : word
        guard let id = NodeID(word) ?? NodeID("\(batch):\(path)") else {
            return Step(lines: ["\"\(word)\" names nothing."])
        }
        place = .part("\(id)", of: batch)
        return Step()
    }

    private mutating func settle(_ word: String, _ batch: BatchID) -> Step {
        place = .batch(batch)
        let retry = ["retry", "\(batch)"]
        func set(_ policy: ExistingFilePolicy) -> Step {
            Step(commands: [["set", "\(batch)", "--if-exists", policy.rawValue], retry])
        }
        switch word {
        case "o": return set(.replace)
        case "s": return set(.skip)
        case "t": return Step(commands: [retry])
        case "": return Step()
        default: return Step(lines: ["\"\(word)\" is none of the choices."])
        }
    }

    private mutating func inPart(_ word: String, _ name: String, _ batch: BatchID?, _ sight: Sight) -> Step {
        switch word {
        case "0", "q": place = batch.map { .batch($0) } ?? .top
        case "p": return pause([name], name, sight)
        case "g": return Step(commands: [["resume", name]])
        case "r": return Step(commands: [["retry", name]])
        case "w": return Step(commands: [["why", name]])
        case "x": askToCancel([name], name, sight)
        case "t": place = .limit(name, back: place)
        case "", "s", "l": return Step(commands: [[name.hasPrefix("t") ? "show" : "list", name]])
        default:
            return anywhere(
                word, sight,
                help:
                    "p pauses \(name), g lets it go on, x cancels it after a question, r tries again what failed, t limits its speed, w says why it does not move, l lists it, 0 goes back."
            )
        }
        return Step()
    }

    private mutating func inFilter(_ word: String, _ text: String, _ sight: Sight) -> Step {
        let which = ["--filter", text]
        switch word {
        case "0", "q": place = .top
        case "p": return pause(which, "all files that match \(text)", sight)
        case "g": return Step(commands: [["resume"] + which])
        case "r": return Step(commands: [["retry"] + which])
        case "x": askToCancel(which, "all files that match \(text)", sight)
        case "", "s", "l": return Step(commands: [["list"] + which])
        default:
            return anywhere(
                word, sight,
                help:
                    "All of it is done to every file that matches \(text): p pauses, g lets go on, x cancels after a question, r tries again, l lists them, 0 goes back."
            )
        }
        return Step()
    }

    private mutating func askToCancel(_ words: [String], _ what: String, _ sight: Sight) {
        let cost = StoppingCost(.cancel, bytes: sight.bytesAtRisk).map { $0.sentence(size) + ". " } ?? ""
        place = .sure(
            question: "\(cost)Cancel \(what)? What has arrived whole stays.", words: ["cancel"] + words,
            no: "Not cancelled.", back: place)
    }

    /// Pauses. The cost is told before it is done, and asked about when it is much.
    private mutating func pause(_ words: [String], _ what: String, _ sight: Sight) -> Step {
        let words = ["pause"] + words
        guard let cost = StoppingCost(.pause, bytes: sight.bytesAtRisk) else { return Step(commands: [words]) }
        let said = cost.sentence(size) + "."
        guard cost.bytes >= askLost else { return Step(lines: [said], commands: [words]) }
        place = .sure(question: "\(said) Pause \(what)?", words: words, no: "Not paused.", back: place)
        return Step()
    }

    /// `2M`, and of everything also `up 512K`, `down 8M`, `transfers 4`.
    private func limit(_ word: String, _ name: String?) -> Step {
        if let name { return Step(commands: [["set", name, "--limit", word]]) }
        let words = word.split(separator: " ", maxSplits: 1).map { String($0).trimmed }
        switch (words.first, words.count) {
        case ("up", 2), ("down", 2): return Step(commands: [["limit", words[1], "--\(words[0])"]])
        case ("transfers", 2): return Step(commands: [["limit", "--transfers", words[1]]])
        default: return Step(commands: [["limit", word]])
        }
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
