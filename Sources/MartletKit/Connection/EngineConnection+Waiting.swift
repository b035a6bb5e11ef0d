public import TransferModel

/// The result of a wait.
public struct WaitOutcome: Sendable, Hashable {
    /// The nodes that are there, as they were last seen.
    public var rows: [NodeID: NodeRow]
    /// Asked for and not there (any more).
    public var missing: [NodeID]
    /// Nodes left that need a person: `auth`, `hostKey`, paused or held. Empty: everything is over.
    public var stuck: [NodeID]

    /// True when everything asked for is over and nothing failed or was cancelled.
    public var isSuccess: Bool {
        stuck.isEmpty && missing.isEmpty
            && rows.values.allSatisfy { $0.counts.failed == 0 && $0.counts.cancelled == 0 }
    }
}

extension EngineConnection {
    /// Waits until all nodes are over, or, unless `patient`, until all that is left needs a person. Cancel the task to
    /// give up. Survives a restart of the engine as far as the connection's options allow.
    public nonisolated func wait(for ids: [NodeID], patient: Bool) async throws(RequestError) -> WaitOutcome {
        try await connect()
        var outcome = WaitOutcome(rows: [:], missing: [], stuck: [])
        var named: Set<NodeID> = []
        let ids = ids.filter { named.insert($0).inserted }
        // One view watches up to 1000 nodes. Only what is not over yet is looked at again.
        for start in stride(from: 0, to: ids.count, by: 1000) {
            let part = Array(ids[start..<min(start + 1000, ids.count)])
            try await wait(for: part, patient: patient, &outcome)
        }
        return outcome
    }

    private nonisolated func wait(
        for ids: [NodeID], patient: Bool, _ outcome: inout WaitOutcome
    ) async throws(RequestError) {
        let view = await view()
        view.show(nodes: ids, totals: false)
        defer { view.cancel() }
        var seen: [NodeID: NodeRow?] = [:]
        let states = await states()
        let watch = Task { [options] in
            // Without reconnects the view would wait for ever for an engine that has gone.
            if options.reconnects { return }
            for await state in states { if case .lost = state { return view.cancel() } }
        }
        defer { watch.cancel() }
        for await update in view {
            seen.merge(update.nodes) { $1 }
            guard seen.count == ids.count else { continue }
            let left = ids.filter { seen[$0]?.map { !$0.isOver } ?? false }
            guard left.isEmpty || !patient && left.allSatisfy({ seen[$0]?.map(\.needsPerson) ?? false }) else {
                continue
            }
            for id in ids {
                if let row = seen[id] ?? nil { outcome.rows[id] = row } else { outcome.missing.append(id) }
            }
            outcome.stuck += left
            return
        }
        throw Task.isCancelled ? Self.cancelled : Self.lost
    }
}

extension NodeRow {
    /// True when nothing of it will move again by itself or otherwise.
    /// A batch whose files are over runs on while its server is asked whether they are there.
    fileprivate var isOver: Bool { state.isTerminal && !scanning && counts.active == 0 && counts.unstarted == 0 }

    /// True when nothing of it can move before a person does something.
    fileprivate var needsPerson: Bool {
        if effectivelyPaused { return counts.active == 0 }
        return !scanning && counts.active == 0 && counts.queued == 0
            && (counts.waiting == 0 || !waitReasons.isEmpty && waitReasons.allSatisfy(\.needsPerson))
    }
}
