import MartletKit
import Wording

/// The answers that the line mode understands: a line leads to a command, a question, or another place.
extension LineDialogue {
    mutating func answer(_ line: String, _ queue: QueueState) -> Reply {
        let word = line.trimmed
        if word == "0", let reply = goBack() { return reply }
        switch place {
        case .top, .batch, .part, .filter: return choose(word, queue)
        case .sure(_, let words, let no, let back):
            place = back
            return word == "y" ? Reply(commands: [words]) : Reply(lines: [no])
        case .limit(let name, let back):
            place = back
            return word.isEmpty ? Reply() : limit(word, name)
        case .findingPart(let batch):
            place = .batch(batch)
            return word.isEmpty ? Reply() : findPart(word, batch)
        case .existing(let batch): return settle(word, batch)
        case .filtering:
            place = .top
            if word.isEmpty { return Reply() }
            place = .filter(word)
            return Reply(commands: [["list", "--filter", word]])
        case .elsewhere(let batch):
            place = .batch(batch)
            let named = named(word, queue)
            return named.isEmpty ? Reply() : Reply(elsewhere: Elsewhere(batch: batch, destination: named))
        case .sources, .links, .destination, .folder: return adding(word, queue)
        }
    }

    /// Goes back from a question at the answer 0, as at an empty line. At a limit 0 is a value: `nil`.
    private mutating func goBack() -> Reply? {
        switch place {
        case .top: return Reply(lines: ["Nothing is further back; q leaves."])
        case .sources, .links, .destination, .folder, .filtering: place = .top
        case .findingPart(let batch), .elsewhere(let batch), .existing(let batch): place = .batch(batch)
        case .batch, .part, .filter, .sure, .limit: return nil
        }
        return Reply()
    }

    /// From what to where: two questions.
    private mutating func adding(_ word: String, _ queue: QueueState) -> Reply {
        guard !word.isEmpty else {
            place = .top
            return Reply()
        }
        switch place {
        case .destination(let sources):
            place = .top
            return Reply(commands: [["upload"] + sources + [named(word, queue)]])
        case .folder(let urls):
            place = .top
            guard let folder = Self.words(word)?.joined(separator: " ") else {
                return Reply(lines: ["A quote is not closed."])
            }
            return Reply(commands: [["download"] + urls + [folder.hasSuffix("/") ? folder : folder + "/"]])
        default:
            guard let words = Self.words(word) else { return Reply(lines: ["A quote is not closed."]) }
            place = place == .links ? .folder(words) : .destination(words)
            return Reply()
        }
    }

    /// A number of the configured servers means its own folder.
    private func named(_ word: String, _ queue: QueueState) -> String {
        let names = said.destinations ?? Array(queue.destinations.prefix(Self.most))
        guard let number = Int(word), number > 0, names.indices.contains(number - 1) else { return word }
        return names[number - 1] + ":"
    }

    /// Goes to a place, which then says what can be answered there.
    mutating func go(to place: Place) -> Reply {
        self.place = place
        return Reply()
    }

    private mutating func choose(_ word: String, _ queue: QueueState) -> Reply {
        if let choice = menu(queue)?.choices.first(where: { $0.words.contains(word) }) {
            return choice.answer(&self, queue)
        }
        if place == .top {
            if let id = NodeID(word) { return go(to: id, word, queue) }
            let batches = said.batches ?? queue.batches.prefix(Self.most).map(\.id)
            if let number = Int(word), number > 0, batches.indices.contains(number - 1) {
                return go(to: .batch(batches[number - 1]), word, queue)
            }
        }
        return Reply(lines: ["\"\(word)\" is none of the choices."])
    }

    private mutating func go(to id: NodeID, _ word: String, _ queue: QueueState) -> Reply {
        if case .batch(let batch) = id {
            guard let known = queue.batches.first(where: { $0.id == batch }) else {
                return Reply(lines: ["There is no \(batch)."])
            }
            place = .batch(batch)
            return Reply(lines: [sentence(known)])
        }
        place = .part(word, of: nil)
        return Reply()
    }

    /// The batches of which something failed or waits.
    func problems(_ queue: QueueState) -> [String] {
        let found = queue.batches.filter { $0.filesFailed > 0 || !$0.waits.isEmpty || $0.state == .waiting }
        return found.isEmpty
            ? ["Nothing has failed, and nothing waits for you or a server."]
            : found.flatMap { batch in ["\(batch.id) \(sentence(batch))"] + waits(of: batch) }
    }

    /// The waits of its files, by cause: with the message where there is one, else with the reason.
    private func waits(of batch: BatchSnapshot) -> [String] {
        batch.waits.map { wait in
            let subject = wait.count == 1 ? "1 file waits" : "\(wait.count) files wait"
            guard !wait.message.isEmpty else { return "\(subject) for \(wait.reason.words)." }
            return "\(subject): \(wait.known.happening)."
        }
    }

    static let takesBack =
        "u takes the last change back within its grace time (grace under [engine] of the configuration, 10 seconds unless set); a cancel also later, from the beginning."

    /// `raw/2024`, `t31`, or the whole of it as commands name it.
    private mutating func findPart(_ word: String, _ batch: BatchID) -> Reply {
        let path = word.hasSuffix("/") ? String(word.dropLast()) : word
        guard let name = [path, "\(batch):\(path)"].first(where: { NodeID($0) != nil }) else {
            return Reply(lines: ["\"\(word)\" names nothing."])
        }
        place = .part(name, of: batch)
        return Reply()
    }

    private mutating func settle(_ word: String, _ batch: BatchID) -> Reply {
        place = .batch(batch)
        let retry = ["retry", "\(batch)"]
        func set(_ policy: ExistingFilePolicy) -> Reply {
            Reply(commands: [["set", "\(batch)", "--if-exists", policy.rawValue], retry])
        }
        switch word {
        case "o": return set(.replace)
        case "s": return set(.skip)
        case "t": return Reply(commands: [retry])
        case "": return Reply()
        default: return Reply(lines: ["\"\(word)\" is none of the choices."])
        }
    }

    /// Asks whether it is meant, with what it costs.
    mutating func askToCancel(_ words: [String], _ what: String, _ queue: QueueState) -> Reply {
        let cost = StoppingCost(.cancel, bytes: queue.bytesAtRisk).map { $0.sentence(size) + ". " } ?? ""
        return go(
            to: .sure(
                question: "\(cost)Cancel \(what)? What has arrived whole stays.", words: ["cancel"] + words,
                no: "Not cancelled.", back: place))
    }

    /// Pauses. The cost is told before it is done, and asked about when it is much.
    mutating func pause(_ words: [String], _ what: String, _ queue: QueueState) -> Reply {
        let words = ["pause"] + words
        guard let cost = StoppingCost(.pause, bytes: queue.bytesAtRisk) else { return Reply(commands: [words]) }
        let said = cost.sentence(size) + "."
        guard cost.bytes >= askLost else { return Reply(lines: [said], commands: [words]) }
        return go(to: .sure(question: "\(said) Pause \(what)?", words: words, no: "Not paused.", back: place))
    }

    /// `2M`, and of everything also `up 512K`, `down 8M`, `transfers 4`.
    private func limit(_ word: String, _ name: String?) -> Reply {
        if let name { return Reply(commands: [["set", name, "--limit", word]]) }
        let words = word.split(separator: " ", maxSplits: 1).map { String($0).trimmed }
        switch (words.first, words.count) {
        case ("up", 2), ("down", 2): return Reply(commands: [["limit", words[1], "--\(words[0])"]])
        case ("transfers", 2): return Reply(commands: [["limit", "--transfers", words[1]]])
        default: return Reply(commands: [["limit", word]])
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
