public import TransferModel

extension EngineConnection {
    /// Waits until all nodes are over, or, unless `patient`, until all that is left needs a person. Cancel the task to
    /// give up. Survives a restart of the engine as far as the connection's options allow.
    public nonisolated func wait(for ids: [NodeID], patient: Bool) async throws(RequestError) -> WaitOutcome {
        try await connect()
        var outcome = WaitOutcome(rows: [:], missing: [], stuck: [])
        var named: Set<NodeID> = []
        let ids = ids.filter { named.insert($0).inserted }
        // One view watches up to 1000 nodes. An end may be taken back while another part is waited for, so all are over only when every part,
        // one after the other, was found over at its first look.
        let parts = stride(from: 0, to: ids.count, by: 1000).map { Array(ids[$0..<min($0 + 1000, ids.count)]) }
        var outcomes = parts.map { _ in WaitOutcome(rows: [:], missing: [], stuck: []) }
        var (part, settled) = (0, 0)
        while settled < parts.count {
            let wasOver: Bool
            (outcomes[part], wasOver) = try await wait(for: parts[part], patient: patient)
            settled = wasOver ? settled + 1 : 1
            part = (part + 1) % parts.count
        }
        for found in outcomes {
            outcome.rows.merge(found.rows) { $1 }
            outcome.missing += found.missing
            outcome.stuck += found.stuck
        }
        return outcome
    }

    /// - Returns: the outcome, and whether it stood so at the first look.
    private nonisolated func wait(
        for ids: [NodeID], patient: Bool
    ) async throws(RequestError) -> (WaitOutcome, wasOver: Bool) {
        var outcome = WaitOutcome(rows: [:], missing: [], stuck: [])
        var isFirst = true
        let view = await view()
        view.show(nodes: ids, totals: false)
        defer { view.cancel() }
        var seen: [NodeID: NodeRow?] = [:]
        for await update in view {
            seen.merge(update.nodes) { $1 }
            guard seen.count == ids.count else { continue }
            let left = ids.filter { seen[$0]?.map { !$0.isOver } ?? false }
            guard left.isEmpty || !patient && left.allSatisfy({ seen[$0]?.map(\.needsPerson) ?? false }) else {
                isFirst = false
                continue
            }
            for id in ids {
                if let row = seen[id] ?? nil { outcome.rows[id] = row } else { outcome.missing.append(id) }
            }
            outcome.stuck += left
            return (outcome, isFirst)
        }
        throw Task.isCancelled ? Self.cancelled : view.failure ?? Self.lost
    }
}

extension NodeRow {
    /// True when nothing of it will move again by itself or otherwise.
    /// A batch whose files are over runs on while its server is asked whether they are there.
    fileprivate var isOver: Bool { state.isTerminal && !scanning && counts.active == 0 && counts.unstarted == 0 }

    /// True when nothing of it can move before a person does something.
    fileprivate var needsPerson: Bool {
        counts.active == 0 && state.needsPerson(waitReasons, pausedUntil: pausedUntil)
    }
}
