import LinuxSystem
package import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Asking a server whether it can be used, without anything being queued or written.
extension TransferEngine {
    /// Time that a server has to answer each question; a password command is over before that.
    private static let patience = Duration.seconds(60)

    /// Ends with the task that asks; only a password command runs to its end.
    package func test(
        _ url: String, _ options: TransferOptions, _ secrets: TransferSecrets
    ) async -> DestinationReport {
        let begun = timeline.nanoseconds
        func report(
            _ findings: PlaceFindings, _ error: TransferError?, after nanoseconds: Int64? = nil,
            login: DestinationReport.Login? = nil
        ) -> DestinationReport {
            DestinationReport(
                ok: error == nil, milliseconds: ((nanoseconds ?? timeline.nanoseconds) - begun) / 1_000_000,
                protocol: findings.protocolName, login: login, exists: findings.exists, writable: findings.writable,
                freeBytes: findings.freeBytes, error: error)
        }
        let question = url.firstIndex(of: "?")
        let order = BatchOrder(
            asking: String(url[..<(question ?? url.endIndex)]),
            query: question.map { String(url[url.index(after: $0)...]) }, options, secrets)
        let context = makeContext(order)
        await fetchCredentials(context)
        if let error = context.credentials.failure { return report(PlaceFindings(), error) }
        if Task.isCancelled { return report(PlaceFindings(), .stoppedLooking) }
        guard phase == .running, let place = context.destination,
            let probe = place.probe(options, facts: facts(place, place.address.askedServer))
        else {
            return report(
                PlaceFindings(), TransferError(.unsupported, "this URL cannot be asked", .step("check its spelling")))
        }
        var (findings, error, mayShowOtherwise) = await ask(probe, at: place, context)
        if mayShowOtherwise { (findings, error, mayShowOtherwise) = await ask(probe, at: place, context) }
        let answered = timeline.nanoseconds
        let login = error == nil ? await login(probe, at: place, order) : nil
        return report(findings, error, after: answered, login: login)
    }

    /// Finds out whether the name and the password let us in; `nil`: none were shown. HTTP takes any where it asks nobody for them,
    /// so it is asked once more without them.
    private func login(
        _ probe: PlaceProbe, at place: RemotePlace, _ order: BatchOrder
    ) async -> DestinationReport.Login? {
        let kind = place.scheme.facts.login
        if kind.source != nil { return .ok }
        guard order.secrets.source.showsWhoAsks || !order.secrets.headers.isEmpty else { return nil }
        guard kind.isOptional else { return .ok }
        var nobody = order
        nobody.secrets = TransferSecrets()
        let stranger = makeContext(nobody)
        await readAuthorities(stranger)
        let (_, refusal, _) = await ask(probe, at: place, stranger)
        return refusal?.httpStatus == 401 || refusal?.httpStatus == 403 ? .ok : .notAsked
    }

    private func ask(
        _ probe: PlaceProbe, at place: RemotePlace, _ context: BatchContext
    ) async -> (PlaceFindings, TransferError?, mayShowOtherwise: Bool) {
        let (error, attempt) = await inquire(
            .probe, probe, at: place, context, place.address.askedServer, despiteRefusal: true
        ) { attempt in
            _ = timeline.clock.schedule(after: Self.patience) { [self] in
                guard attempt.phase != .over else { return }
                endSideJob(
                    attempt,
                    TransferError(
                        .timedOut, "the server did not answer in time", .step("check the address and the line")))
            }
        }
        return ((attempt.machine as? PlaceProbe)?.found ?? PlaceFindings(), error, attempt.side.mayShowOtherwise)
    }
}
