import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Pause, resume, cancel and retry: what stops nodes and lets them go on.
extension TransferService {
    func cancel(_ request: NodesRequest, by client: String?) async throws -> NodeResults {
        let grace = WhySentence.span(settings.grace)
        return try await logging(
            "cancelled", by: client, "; what it leaves behind is removed in \(grace) unless it is undone"
        ) {
            try await changeTogether(request) { try await $0.cancel($1, joining: $2) }
        }
    }

    /// Retries nodes. "Now" means the hosts, too, that are left alone for a while.
    func retry(_ request: NodesRequest) async throws -> NodeResults {
        var results = try await change(request) { try await $0.retry($1) }
        if results.didAny { try await goOn("something is to be tried again") }
        let held = await engine.live().held
        await engine.tryAgain()
        guard !held.isEmpty else { return results }
        // Files in line for a host that was left alone have not failed, but are tried now.
        let stillHeld = await engine.live().held
        for index in results.results.indices where results.results[index].result == .already {
            guard let node = try await queue.reader.standing(of: results.results[index].id),
                held[node.batch] != nil, stillHeld[node.batch] == nil,
                node.pausedBy.isEmpty, !node.isHeld, node.counts.queued > 0
            else { continue }
            results.results[index].result = .done
        }
        return results
    }

    func pause(_ request: PauseRequest) async throws -> NodeResults {
        if let end = request.until, end <= Timestamp(milliseconds: WallClock.milliseconds) {
            throw RequestError(.usage, "until \(end) is over already: give a time that is to come")
        }
        // A decision about one node by its name is not changed by a word about all.
        let isNamed = request.selector == nil
        return try await changeTogether(request.nodes) {
            try await $0.pause($1, until: request.until, changesEnds: isNamed, joining: $2)
        }
    }

    func resume(_ request: NodesRequest) async throws -> NodeResults {
        let results = try await changeTogether(request) { try await $0.resume($1, joining: $2) }
        if results.didAny { try await goOn("something was resumed") }
        return results
    }
}
