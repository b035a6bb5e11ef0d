import LinuxSystem

/// Facts on their way to the writer.
final class FactInbox: Sendable {
    enum Reaction {
        case nothing
        /// The first: a commit has to come.
        case begin
        /// Enough for a commit now.
        case flush
    }

    /// Held for an append or a swap only.
    private let facts = Mutex<[RecordedFact]>([])

    func append(_ fact: RecordedFact) -> Reaction {
        facts.withLock { facts in
            facts.append(fact)
            if facts.count == 1 { return .begin }
            return facts.count == QueueWriter.groupSize ? .flush : .nothing
        }
    }

    func take() -> [RecordedFact] {
        facts.withLock { facts in
            defer { facts = [] }
            return facts
        }
    }
}
