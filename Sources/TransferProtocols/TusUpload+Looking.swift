import TransferModel

/// A tus upload whose file may be there already: its own address is looked at, by the rules of a plain PUT.
extension TusUpload {
    /// The file may be there although it cannot be asked after as an upload.
    mutating func lookElsewhere(
        since: Timestamp?, _ ask: (inout PutUpload) -> [ProtocolAction]
    ) -> [ProtocolAction] {
        let subject = plan.subject
        var inner = PutUpload(
            PutPlan(
                address: plan.fileAddress, size: subject.size, ifExists: subject.ifExists, verify: subject.verify,
                begunBefore: since, resume: plan.stored), after: lastID)
        inner.onlyLooks = true
        let made = canTerminate ? parts.compactMap(\.url) : []
        inner.leftovers = made.map { TusMessages.terminate($0, endpoint: plan.endpoint) }
        let actions = ask(&inner)
        let abandoned = parts.compactMap { $0.exchange.map(ProtocolAction.abandon) }
        for index in parts.indices where parts[index].exchange != nil {
            parts[index].state = parts[index].url == nil ? .unmade : .unknown
        }
        return abandoned + forward(inner, actions)
    }

    mutating func forward(_ inner: PutUpload, _ actions: [ProtocolAction]) -> [ProtocolAction] {
        lastID = inner.lastID
        if inner.hasFoundNothing { return refusedWithoutReason() }
        state = .elsewhere(inner)
        // Whoever retries after that has looked there, and wants it sent.
        if case .fail(let error)? = actions.last, error.code == .unknownOutcome {
            return [.persist(ResumePoint(TusResumePoint()))] + actions
        }
        return actions
    }
}
