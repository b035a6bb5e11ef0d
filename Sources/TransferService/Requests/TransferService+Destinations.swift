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
            throw RequestError(.usage, "there is nothing to keep for \(request.name)")
        }
        try await queue.writer.keep(request.secrets, destination: request.name)
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

    func test(_ request: DestinationTestRequest) async throws -> DestinationTested {
        guard TransferScheme(of: request.url) != nil else {
            throw RequestError(.usage, "\(request.url.prefix { $0 != ":" }): this scheme is not supported")
        }
        let secrets = try await withKept(request.secrets ?? TransferSecrets(), request.destination)
        if TransferScheme(of: request.url) == .s3, !secrets.opensS3 { throw Self.noKeys }
        return DestinationTested(
            report: await engine.test(request.url, request.options ?? TransferOptions(), secrets))
    }

    /// The secrets with what is kept for a destination where they say nothing themselves.
    func withKept(_ given: TransferSecrets, _ destination: String?) async throws -> TransferSecrets {
        guard let destination else { return given }
        let isGiven = given.password != nil || given.passwordCommand != nil || given.netrcFile != nil || given.s3 != nil
        if isGiven { return given }
        guard let kept = try await queue.writer.secrets(destination: destination) else {
            throw RequestError(
                .refused,
                "no login is kept for the destination \(destination): "
                    + "give it again with martlet destination add --replace")
        }
        // Somebody else logs in, without a password of ours: by the keys of ssh.
        if let user = given.user, let other = kept.user, user != other { return given }
        var secrets = given
        secrets.user = kept.user ?? given.user
        secrets.password = kept.password
        secrets.s3 = kept.s3
        return secrets
    }

    static let noKeys = RequestError(
        .usage, "S3 wants keys: queue it by martlet upload, which finds AWS_ACCESS_KEY_ID or AWS_PROFILE")
}
