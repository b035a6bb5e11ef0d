import MartletKit

/// Reasons that were told why something does not move, so that a person reads each once and not once a second. Pure.
struct WaitNotices {
    private struct Said {
        var reasons: Set<String>
        /// The progress at that time.
        var progress: Int64
    }

    private var said: [NodeID: Said] = [:]

    /// True when the reason is new: it was not said since the node came further.
    /// - Parameter progress: grows with each file and byte that has arrived.
    mutating func isNew(_ because: String, of id: NodeID, progress: Int64) -> Bool {
        // "after 3 ms" is no other reason than "after 4 ms".
        let key = String(because.filter { !$0.isNumber })
        var known = said[id] ?? Said(reasons: [], progress: progress)
        if progress > known.progress { known = Said(reasons: [], progress: progress) }
        let isNew = known.reasons.insert(key).inserted
        said[id] = known
        return isNew
    }
}

extension WhyAnswer {
    /// `b3 waits: nobody answers at 10.0.0.9:22; tried again at 14:05:00: martlet retry b3 tries at once`. For a log: the time is the
    /// clock's. `nil`: nothing holds it.
    func notice(of id: NodeID, time: (Timestamp) -> String) -> String? {
        guard let because else { return nil }
        let cure = remedy.written()
        let again = retryAt.map { "; tried again at \(time($0))" } ?? ""
        return "\(id) \(waits(because))\(again)\(cure.isEmpty ? "" : ": \(cure)")"
    }

    /// Without the words of a library, which say it again.
    var shortBecause: String? { becauseInShort ?? because }

    /// `waits for mains power`, `waits: nas cannot be found`
    var waitsInShort: String? { shortBecause.map(waits) }

    /// `waits for mains power`, `waits: no byte has moved`.
    private func waits(_ because: String) -> String { "waits\(becauseIsClause == true ? "" : ":") \(because)" }
}

extension [WhyAnswer] {
    /// The numbers of batches by how they stand, those that wait with their reasons: `1 running, 3 wait (nas cannot be found), 1 over`.
    func states(of batches: Int64) -> String {
        let stuck = filter { $0.because != nil }
        let others = filter { $0.because == nil }
        let paused = others.count { $0.state == .paused }
        let held = others.count { $0.state == .created }
        let running = others.count - paused - held
        var words: [String] = []
        if running > 0 { words.append("\(running) running") }
        if !stuck.isEmpty {
            var known: Set<String> = []
            let reasons = stuck.compactMap(\.shortBecause).filter { known.insert($0).inserted }
            let more = reasons.count > 2 ? ["and \(reasons.count - 2) other reasons: see martlet why"] : []
            words.append(
                "\(stuck.count) \(stuck.count == 1 ? "waits" : "wait") "
                    + "(\((reasons.prefix(2) + more).joined(separator: "; ")))")
        }
        if paused > 0 { words.append("\(paused) paused") }
        if held > 0 { words.append("\(held) held") }
        let over = Swift.max(0, batches - Int64(count))
        if over > 0 { words.append("\(over) over") }
        return words.joined(separator: ", ")
    }
}
