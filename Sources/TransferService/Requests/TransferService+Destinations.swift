import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Configured servers: their logins, and whether they can be used.
extension TransferService {
    func keep(_ request: DestinationKeepRequest) async throws -> Nothing {
        guard !request.name.isEmpty, request.name.utf8.count <= 200 else {
            throw RequestError(.usage, "a destination's name has 1 to 200 bytes")
        }
        guard !request.secrets.isEmpty else {
            throw RequestError(.usage, "there is nothing to keep for \(request.name): give a password or keys")
        }
        let server = request.url.map { LoginServer(of: $0, request.s3) }
        if case .some(nil) = server { throw Self.noServer }
        try await queue.writer.keep(DestinationLogin(request.secrets, for: server ?? nil), destination: request.name)
        return Nothing()
    }

    func forget(_ request: DestinationForgetRequest) async throws -> DestinationForgotten {
        DestinationForgotten(
            existed: try await queue.writer.forget(destination: request.name, at: WallClock.milliseconds))
    }

    func restore(_ request: DestinationForgetRequest) async throws -> DestinationForgotten {
        DestinationForgotten(
            existed: try await queue.writer.restore(destination: request.name, at: WallClock.milliseconds))
    }

    func test(_ request: DestinationTestRequest, for client: ServiceClient) async throws -> DestinationTested {
        guard let scheme = TransferScheme(of: request.url) else {
            throw Self.unsupported(request.url) { _ in true }
        }
        let secrets = try await withKept(
            request.secrets ?? TransferSecrets(), request.destination, at: [request.url], request.options?.s3)
        if scheme.facts.login.signsRequests, !secrets.opensS3 { throw Self.noKeys }
        return DestinationTested(
            report: try await ask(.test, for: client) { [engine] in
                await engine.test(request.url, request.options ?? TransferOptions(), secrets)
            })
    }

    /// The secrets with what is kept for a destination where they say nothing themselves. A login is shown to the server alone that it
    /// was kept for, whatever the client calls it.
    /// - Parameter urls: all that will be shown the secrets; none: nothing is added.
    func withKept(
        _ given: TransferSecrets, _ destination: String?, at urls: [String], _ s3: S3Place?
    ) async throws -> TransferSecrets {
        guard let destination, !urls.isEmpty else { return given }
        if given.source.isComplete || given.s3 != nil { return given }
        let servers = Set(urls.map { LoginServer(of: $0, s3) })
        guard let first = servers.first, let server = first else { throw Self.noServer }
        guard servers.count == 1 else {
            throw RequestError(
                .usage, "a kept login is for one server, and the URLs are of several: queue one batch for each")
        }
        let name = RawPath(destination).displayed
        guard let kept = try await queue.writer.login(destination: destination, at: server, user: given.user) else {
            let add = AdvisedCommand("destination add", [], [destination, "URL", "--replace"])
            throw RequestError(
                .refused, "no login is kept for the destination \(name): give it again with \(add.text)")
        }
        // Somebody else logs in, without a password of ours: by the keys of ssh.
        if kept.isOfAnother(than: given.user) { return given }
        guard kept.server == server else {
            throw RequestError(
                .refused,
                "the login of \(name) was kept for \(kept.server?.displayed ?? "another server"), not for "
                    + "\(server.displayed): give it again with martlet destination add \(name) URL --replace")
        }
        var secrets = given
        secrets.user = kept.secrets.user ?? given.user
        secrets.password = kept.secrets.password
        (secrets.s3, secrets.s3Origin) = (kept.secrets.s3, kept.secrets.s3 == nil ? nil : .typed)
        return secrets
    }

    private static let noServer = RequestError(
        .usage, "there is no server that a login could be for: give a URL with a host and without user info")

    static let noKeys = RequestError(
        .usage, "S3 wants keys: queue it by martlet upload, which finds AWS_ACCESS_KEY_ID or AWS_PROFILE")
}
