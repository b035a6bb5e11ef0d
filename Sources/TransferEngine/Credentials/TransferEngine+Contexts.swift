import LinuxSystem
import TransferModel
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

    /// As `context(for:)`, for a batch that may be over.
    func contextForRemoval(of batch: BatchID) async throws -> BatchContext? {
        if let context = credentials.contexts[batch] {
            await fetchCredentials(context)
            return context
        }
        guard let order = try await queue.writer.order(of: batch) else { return nil }
        let context = makeContext(order)
        await fetchCredentials(context)
        return context
    }

    func fetchCredentials(_ context: BatchContext) async {
        await readAuthorities(context)
        renewAuthorities(context)
        context.forgetKeys(at: timeline.now)
        let asking: Task<CredentialSource.Found, Never>
        switch context.credentials {
        case .asking(let task): asking = task
        case .unknown:
            let secrets = context.order.secrets
            asking = Task { await CredentialSource.find(secrets) }
            context.credentials = .asking(asking)
        case .none, .user, .netrc, .s3, .failed: return
        }
        let generation = context.keysGeneration
        let found = await asking.value
        // A person gave others meanwhile.
        guard context.keysGeneration == generation else { return await fetchCredentials(context) }
        switch found {
        case .notNow:
            let batch = context.order.batch
            report(
                .error,
                "the credentials of \(batch) cannot be read: this machine has no file descriptor left; raise the limit (ulimit -n)"
            )
            if case .asking(asking) = context.credentials { context.credentials = .unknown }
            await pause(.seconds(1))
            if phase == .running || phase == .draining { await fetchCredentials(context) }
        case .user(let user, let password): context.credentials = .user(user, password: password)
        case .netrc(let netrc): context.credentials = .netrc(netrc)
        case .s3(let keys): context.credentials = .s3(keys)
        case .failed(let error): context.credentials = .failed(error)
        }
    }

    func makeContext(_ order: BatchOrder) -> BatchContext {
        BatchContext(order, userAgent: settings.userAgent, receivers: credentials.receivers)
    }
}
