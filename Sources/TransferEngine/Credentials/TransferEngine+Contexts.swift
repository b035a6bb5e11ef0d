import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Contexts of batches: made when something of the batch is to move, with their credentials read.
extension TransferEngine {
    /// The context of a batch with tasks to claim, its credentials fetched; `nil`: the batch is gone.
    func context(for batch: BatchID) async throws -> BatchContext? {
        if credentials.contexts[batch] == nil {
            guard let order = try await queue.writer.order(of: batch) else { return nil }
            // It was queued with a limit, of which nobody has told us.
            if order.options.bytesPerSecond != nil { adopt(try await queue.writer.limits(), for: order) }
            // Another lane of the batch may have brought it meanwhile.
            if credentials.contexts[batch] == nil { credentials.contexts[batch] = makeContext(order) }
        }
        guard let context = credentials.contexts[batch] else { return nil }
        await fetchCredentials(context)
        return context
    }

    /// As `context(for:)`, for a batch that may be over. What its command has told is not asked for again by the next file.
    func contextForRemoval(of batch: BatchID) async throws -> BatchContext? {
        if let context = credentials.contexts[batch] {
            await fetchCredentials(context)
            return context
        }
        guard let order = try await queue.writer.order(of: batch) else { return nil }
        let context = credentials.overContext(of: batch, at: timeline.now) ?? makeContext(order)
        // A person may have given something else since.
        context.adopt(order)
        credentials.keep(over: context)
        await fetchCredentials(context)
        return context
    }

    func fetchCredentials(_ context: BatchContext) async {
        await readAuthorities(context)
        renewAuthorities(context)
        context.credentials.forgetKeys(at: timeline.now)
        guard context.credentials.isWanted else { return }
        let question = context.credentials.question(CredentialSource.question)
        let found = await question.value
        if context.credentials.take(found, from: question, at: timeline.now) { return }
        if case .notNow = found {
            let batch = context.order.batch
            report(
                .error,
                "the credentials of \(batch) cannot be read: this machine has no file descriptor left; raise the limit (ulimit -n)"
            )
            await sleep(for: .seconds(1))
            guard phase == .running || phase == .draining else { return }
        }
        await fetchCredentials(context)
    }

    /// Suspends the attempt's further actions until the credentials are known: without them a request would go out under nobody's name.
    func untilCredentialsAreKnown(_ attempt: Attempt) {
        if let error = attempt.context.credentials.failure { return wait(attempt, WaitDemand(.auth, error)) }
        suspend(attempt) { [self] in await fetchCredentials(attempt.context) }
    }

    func makeContext(_ order: BatchOrder) -> BatchContext {
        BatchContext(order, userAgent: settings.userAgent, receivers: credentials.receivers)
    }
}
