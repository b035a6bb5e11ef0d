import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Takes over what a person has changed of batches that are at hand: limits, whom they trust, and what lets them in.
extension TransferEngine {
    package func settingsChanged() async {
        do {
            try await adoptSettings()
        } catch {
            // A person waits for the answer, and what was set is durable: it holds from when the queue can be read.
            inBackground { [self] in await durably(.settings) { try await adoptSettings() } }
        }
    }

    private func adoptSettings() async throws {
        adopt(try await queue.writer.limits())
        for batch in credentials.contexts.keys {
            guard let order = try await queue.writer.order(of: batch), let context = credentials.contexts[batch]
            else {
                continue
            }
            let generation = context.credentials.generation
            context.adopt(order)
            if order.options.ifExists != .replace, order.options.heedsExistingFiles { await requeueReplacing(context) }
            if context.trust.pathToRead != nil { inBackground { [self] in await readAuthorities(context) } }
            if context.credentials.generation == generation { continue }
            // A login that a person has given is tried, even the one that was refused before.
            for lane in lanes.all where lane.summary.batch == batch {
                login(context, lane.summary.origin).tryAgain()
            }
        }
        tryLooksAgain()
        schedulePump()
    }

    /// Gives back the uploads of a batch that were begun to replace what is there, which they may not any more: a server that has been told so
    /// cannot be told otherwise. The next attempts go on where they stood, if they can. Downloads ask at their end.
    private func requeueReplacing(_ context: BatchContext) async {
        let running = attempts.values.filter { attempt in
            attempt.context === context && attempt.upload?.subject.ifExists == .replace
                && (attempt.phase == .running || attempt.phase == .finishing)
        }
        if !running.isEmpty { await breakOff(running) }
    }
}
