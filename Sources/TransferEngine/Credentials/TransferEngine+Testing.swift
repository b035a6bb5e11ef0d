import LinuxSystem
package import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Asking a server whether it can be used, without anything being queued or written.
extension TransferEngine {
    /// Time that a server has to answer each question; a password command is over before that.
    private static let patience = Duration.seconds(60)

    package func test(
        _ url: String, _ options: TransferOptions, _ secrets: TransferSecrets
    ) async -> DestinationReport {
        let begun = timeline.nanoseconds
        func report(
            _ findings: PlaceProbe.Findings, _ error: TransferError?, after nanoseconds: Int64? = nil,
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
        if case .failed(let error) = context.credentials { return report(PlaceProbe.Findings(), error) }
        guard phase == .running, let place = context.destination, let target = target(place, order) else {
            return report(
                PlaceProbe.Findings(), TransferError(.unsupported, "this URL cannot be asked: check its spelling"))
        }
        var (findings, error, answer) = await ask(target, at: place, context)
        // The server may want the password shown in another way.
        if error?.httpStatus == 401, context.triesAsAsked(answer) {
            (findings, error, answer) = await ask(target, at: place, context)
        }
        let answered = timeline.nanoseconds
        let login = error == nil ? await login(target, at: place, order) : nil
        return report(findings, error, after: answered, login: login)
    }

    /// Finds out whether the name and the password let us in; `nil`: none were shown. HTTP takes any where it asks nobody for them,
    /// so it is asked once more without them.
    private func login(
        _ target: PlaceProbe.Target, at place: RemotePlace, _ order: BatchOrder
    ) async -> DestinationReport.Login? {
        let secrets = order.secrets
        let isSomebody =
            secrets.user != nil || secrets.passwordCommand != nil || secrets.netrcFile != nil
            || !secrets.headers.isEmpty
        switch place.address {
        case .sftp, .s3: return .ok
        case .ftp: return isSomebody ? .ok : nil
        case .http:
            guard isSomebody else { return nil }
            var nobody = order
            nobody.secrets = TransferSecrets()
            let (_, refusal, _) = await ask(target, at: place, makeContext(nobody))
            return refusal?.httpStatus == 401 || refusal?.httpStatus == 403 ? .ok : .notAsked
        }
    }

    private func target(_ place: RemotePlace, _ order: BatchOrder) -> PlaceProbe.Target? {
        switch place.address {
        case .s3(let address): return .s3(address, facts(place, address.origin))
        case .ftp(let address): return .ftp(host: address.host, address.path)
        case .sftp(let host, _, let path): return .sftp(host: host, path)
        case .http(let address):
            switch place.scheme {
            case .dav, .davs: return .http(address, asks: .dav)
            case .tusHTTP, .tusHTTPS: return .http(address, asks: .tus)
            case .ietfHTTP, .ietfHTTPS: return .http(address, asks: .ietf)
            default:
                switch order.options.uploadBy {
                case .tus: return .http(address, asks: .tus)
                case .ietf: return .http(address, asks: .ietf)
                case .put, .post, .form: return .http(address, asks: .put)
                case nil: return .http(address, asks: .any)
                }
            }
        }
    }

    private func ask(
        _ target: PlaceProbe.Target, at place: RemotePlace, _ context: BatchContext
    ) async -> (PlaceProbe.Findings, TransferError?, HTTPAnswer?) {
        let (error, attempt) = await inquire(.probe, PlaceProbe(target), at: place, context, place.origin) { attempt in
            _ = timeline.clock.schedule(after: Self.patience) { [self] in
                guard attempt.phase != .over else { return }
                endSideJob(
                    attempt,
                    TransferError(.timedOut, "the server did not answer in time: check the address and the line"))
            }
        }
        return ((attempt.machine as? PlaceProbe)?.findings ?? PlaceProbe.Findings(), error, attempt.lastAnswer?.head)
    }
}

extension RemotePlace {
    /// The server's, for messages and for what was learnt of it.
    fileprivate var origin: String {
        switch address {
        case .http(let address): address.origin
        case .s3(let address): address.origin
        case .ftp(let address): "\(scheme.rawValue)://\(address.host)"
        case .sftp(let host, let port, _): "sftp://\(host)" + (port.map { ":\($0)" } ?? "")
        }
    }
}
