package import Configuration
import ServiceWire
public import TransferModel

extension EngineConnection {
    /// Asks a server whether it can be used; nothing is written there.
    /// - Parameter request: an upload or download there, with its options and secrets; its sources do not matter.
    public nonisolated func test(_ request: BatchRequest) async throws(RequestError) -> DestinationReport {
        let url: String =
            switch request.work {
            case .upload(_, let destination): destination
            case .download(let sources): sources.first?.url ?? ""
            }
        return try await call(
            Methods.destinationTest,
            DestinationTestRequest(
                url: url, options: request.options, secrets: request.secrets, destination: request.destination)
        ).report
    }

    /// Has the engine keep the login of a configured server; durable on return.
    /// - Parameters:
    ///   - url: of the server, without user info: the engine shows the login to no other.
    ///   - s3: the service, where that is a bucket.
    public nonisolated func keepLogin(
        _ secrets: TransferSecrets, of destination: String, at url: String, s3: S3Place?
    ) async throws(RequestError) {
        let request = DestinationKeepRequest(name: destination, secrets: secrets, url: url, s3: s3)
        _ = try await call(Methods.destinationKeep, request)
    }

    /// Has the engine take back what it was told to forget within the last day.
    /// - Returns: whether it keeps one now.
    public nonisolated func restoreLogin(of destination: String) async throws(RequestError) -> Bool {
        try await call(Methods.destinationRestore, DestinationForgetRequest(name: destination)).existed
    }

    /// Has the engine forget it, in a day. Batches that are queued keep their own.
    /// - Returns: whether there was one.
    @discardableResult
    public nonisolated func forgetLogin(of destination: String) async throws(RequestError) -> Bool {
        try await call(Methods.destinationForget, DestinationForgetRequest(name: destination)).existed
    }
}

extension DestinationReport {
    /// All of it in one sentence, without a full stop: what works, or why not and the cure.
    /// - Parameters:
    ///   - name: what the person calls it.
    ///   - login: how it is given another login.
    ///   - url: the server's.
    package func sentence(
        _ name: String, _ units: ScreenConfiguration.Units, login: String, at url: String
    ) -> String {
        refusal(login: login, at: url).map { "\(name) cannot be used: \($0)" } ?? "\(name) \(facts(units))"
    }

    /// The reason why it cannot be used, and the cure. It was asked once: nothing is tried again, and there is no batch to be let in.
    package func refusal(login: String, at url: String) -> String? {
        guard let error, !ok else { return nil }
        guard error.finding.remedy?.command == .login else { return error.finding.messageWithoutPromise }
        let elsewhere = TransferScheme(of: url)?.facts.login.elsewhere.map { ", or \($0)" } ?? ""
        return "\(error.happening): \(login)\(elsewhere)"
    }

    /// The findings about the server, one after the other.
    package func facts(_ units: ScreenConfiguration.Units) -> String {
        var parts: [String] = []
        switch login {
        case .ok?: parts.append("login ok")
        case .notAsked?: parts.append("no password asked for so far")
        case nil: break
        }
        switch exists {
        case true?: parts.append("the folder is there")
        case false?: parts.append("the folder is not there yet and will be made")
        case nil: break
        }
        switch writable {
        case true?: parts.append("files may be written")
        case false?: parts.append("it says that files may not be written: ask who runs it")
        case nil: break
        }
        if let freeBytes { parts.append("\(units.size(freeBytes)) free") }
        if let way = self.protocol, ProtocolFacts.all.first(where: { $0.id == way })?.isWorthNaming != false {
            parts.append("uploads go by \(way)")
        }
        let answered = "answered in \(milliseconds) ms"
        return parts.isEmpty ? answered : "\(answered): \(parts.joined(separator: ", "))"
    }
}
