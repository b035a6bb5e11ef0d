import SQLiteConnection
package import TransferModel

extension QueueWriter {
    /// The request with what lets the batch in that it does again.
    package func withLogin(_ request: BatchRequest) throws(QueueError) -> BatchRequest {
        guard request.like != nil else { return request }
        return try look { try store.withLogin(request) }
    }
}

extension QueueStore {
    /// Adds the login of the batch in `like`; a given one takes precedence. A login is for the server it was given for: another gets none.
    fileprivate func withLogin(_ given: BatchRequest) throws -> BatchRequest {
        var request = given
        request.like = nil
        guard let like = given.like, case .upload(let sources, let to) = given.work,
            let uuid = try references.uuid(of: like)
        else { return request }
        let found = try database.first(
            "SELECT destination, options, kept_secrets FROM batches WHERE id = ?", .integer(like.rawValue)
        ) { ($0.text(0), StoredJSON.value(TransferOptions.self, $0.text(1)), KeptSecret.read($0.optionalText(2))) }
        guard let (destination, options, keeps) = found,
            Self.server(of: destination, options) == Self.server(of: to, request.options)
        else { return request }
        let kept = try secrets.secrets(of: uuid)
        request.secrets = (kept?.secrets ?? TransferSecrets()).renewed(by: given.secrets)
        // The proxies are those of where it is queued now.
        request.secrets.proxies = given.secrets.proxies
        let lost = keeps.subtracting(SecretStore.names(kept)).subtracting(request.secrets.kept)
        if lost.contains(where: \.isGivenAgain), !lost.contains(.any) || given.secrets.isEmpty {
            throw QueueError.badRequest(
                "\(KeptSecret.lostWords(lost, of: like)): give it with \(KeptSecret.options(lost))")
        }
        if to == destination, let query = kept?.destinationQuery {
            request.work = .upload(sources, to: "\(to)?\(query)")
        }
        return request
    }

    /// The server that is shown a login; `nil`: not a valid URL. Buckets of one service are one server.
    private static func server(of url: String, _ options: TransferOptions?) -> [String]? {
        guard let address = RemoteAddress(url) else { return nil }
        if TransferScheme(of: url) == .s3 { return ["s3", options?.s3?.endpoint ?? ""] }
        guard let name = TransferScheme(of: url)?.overHTTP, let colon = address.origin.firstRange(of: "://") else {
            return [address.origin]
        }
        return [name + address.origin[colon.lowerBound...]]
    }
}
