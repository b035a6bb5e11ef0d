import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Credentials of batches. They stand in the secrets store alone.
struct LoginStore: QueueSubject {
    let queue: QueueConnection
    let secrets: SecretStore
    let references: SecretReferences
    let finder: NodeFinder
    let waits: WaitStore

    /// The servers that the files of batches come from or go to; those of other nodes are none.
    func servers(of nodes: [NodeID]) throws -> Set<LoginServer> {
        var servers: Set<LoginServer> = []
        for case .batch(let batch) in nodes { servers.formUnion(try self.servers(of: batch)) }
        return servers
    }

    /// Those of these nodes that are no batches which are over.
    func unfinished(_ nodes: [NodeID]) throws -> [NodeID] {
        try nodes.filter { node in
            guard case .batch(let batch) = node else { return true }
            let over = try database.integer(
                "SELECT 1 FROM batches WHERE id = ? AND finished_at IS NOT NULL", .integer(batch.rawValue))
            return over == nil
        }
    }

    private func servers(of batch: BatchID) throws -> Set<LoginServer> {
        let found = try database.first(
            "SELECT direction, destination, options FROM batches WHERE id = ?", .integer(batch.rawValue)
        ) {
            (
                direction: TransferDirection(stored: $0.integer(0)), destination: $0.text(1),
                s3: StoredJSON.value(TransferOptions.self, $0.text(2))?.s3
            )
        }
        guard let found else { return [] }
        let urls =
            switch found.direction {
            case .upload: [found.destination]
            case .download:
                try database.rows(
                    "SELECT DISTINCT origin FROM lanes WHERE batch = ?", .integer(batch.rawValue)
                ) { $0.text(0) + "/" }
            }
        return Set(urls.compactMap { LoginServer(of: $0, found.s3) })
    }

    /// Replaces credentials. This cannot be undone: the old ones are gone. Every server of a batch's files would be shown its login: a
    /// batch with several of them gets none.
    /// Durable on return; what waits for a person stays so until `requeueWaiting`.
    func replaceSecrets(of nodes: [NodeID], by new: TransferSecrets) throws -> NodeChange {
        var change = try finder.forEach(nodes) { node, target, nodeChange in
            guard case .batch(let batch, _) = target else {
                return finder.refused(
                    node,
                    "its login is its batch's: give the same options to \(quoted: AdvisedCommand("set", [.batch(target.batch)]))"
                )
            }
            guard let uuid = try references.uuid(of: batch) else {
                nodeChange.loginsGiven.append(batch)
                return NodeResult(id: node, result: .already)
            }
            let servers = new.hasLogin ? try servers(of: batch) : []
            if servers.count > 1 {
                return finder.refused(
                    node,
                    "its files come from \(servers.count) servers, and a login may go to one: give a netrc file with a login for each: \(AdvisedCommand.set(.batch(batch), "--netrc", "FILE"))"
                )
            }
            let kept = try secrets.secrets(of: uuid)
            let old = kept?.secrets ?? TransferSecrets()
            if new.s3 != nil || new.s3Command != nil, old.s3 == nil, try !isOfS3(batch) {
                return finder.refused(node, "it is no batch of S3: --s3-keys does not apply")
            }
            if new.s3 != nil, new.user != nil || new.password != nil || new.passwordCommand != nil {
                return finder.refused(node, "keys and a user are two logins: give one of them")
            }
            if let words = new.s3 == nil ? nil : Self.refusal(of: new.keysOrigin, insteadOf: old, batch) {
                return finder.refused(node, words)
            }
            if new.netrcFile != nil, new.s3 == nil, let words = try refusalOfNetrc(batch, old) {
                return finder.refused(node, words)
            }
            var all = old.renewed(by: new)
            if new.s3 != nil, try self.servers(of: batch).allSatisfy(\.takesKeys) { all.netrcFile = nil }
            if all.netrcFile != nil, all.s3Command != nil, new.netrcFile != nil || new.s3Command != nil {
                return finder.refused(node, "\(TransferSecrets.oneIsAsked): queue one batch for each server")
            }
            nodeChange.loginsGiven.append(batch)
            if all == old, kept != nil { return NodeResult(id: node, result: .already) }
            if queue.notes.replaced[uuid] == nil { queue.notes.replaced[uuid] = .some(kept?.secrets) }
            try secrets.replace(all, of: uuid)
            let text = try database.first(
                "SELECT kept_secrets FROM batches WHERE id = ?", .integer(batch.rawValue)
            ) { $0.optionalText(0) }
            // What was lost and is not among it is missed as before.
            let names = KeptSecret.read(text ?? nil).union(all.kept)
            try database.run(
                "UPDATE batches SET kept_secrets = ? WHERE id = ?", .text(try KeptSecret.stored(names)),
                .integer(batch.rawValue))
            return NodeResult(id: node, result: .done)
        }
        change.duties.insert(.settings)
        return change
    }

    /// The refusal of keys that were found in another place than a batch's own are from: they may be another identity's. Those that somebody
    /// gives by hand are meant.
    private static func refusal(
        of origin: S3KeysOrigin?, insteadOf old: TransferSecrets, _ batch: BatchID
    ) -> Advice? {
        guard let origin, origin != .typed, let own = old.keysOrigin, own != origin else { return nil }
        let again = AdvisedCommand.set(.batch(batch), "--s3-keys")
        return switch own {
        case .typed:
            "its keys were given by hand: give others with \(AdvisedCommand.set(.batch(batch), "--user", "ID"))"
        case .profile(let name):
            "its keys are of the AWS profile \(RawPath(name).displayed): give it new ones apart with \(again)"
        case .surroundings:
            "its keys are of no AWS profile that was named for its server: give it new ones apart with \(again)"
        }
    }

    /// The refusal of a netrc file: S3 takes none, so it is for the other servers of the batch.
    private func refusalOfNetrc(_ batch: BatchID, _ old: TransferSecrets) throws -> Advice? {
        guard try old.s3 != nil || isOfS3(batch) else { return nil }
        guard try servers(of: batch).allSatisfy(\.takesKeys) else { return nil }
        return "S3 takes no netrc file: give --s3-keys, or --user with --password-command"
    }

    /// The AWS profile that a batch's keys are of, where one was named for its server.
    func keysProfile(of batch: BatchID) throws -> String? {
        try references.uuid(of: batch).flatMap { try secrets.secrets(of: $0) }?.secrets.keysOrigin?.profile
    }

    private func isOfS3(_ batch: BatchID) throws -> Bool {
        let text = try database.first("SELECT options FROM batches WHERE id = ?", .integer(batch.rawValue)) {
            $0.text(0)
        }
        return text.flatMap { StoredJSON.value(TransferOptions.self, $0) }?.s3 != nil
    }

    /// Requeues every task of these batches that waits for credentials.
    func requeueWaiting(_ batches: [BatchID]) throws {
        for batch in batches {
            try waits.clearWait(WaitReasons(.auth), batch: batch, origin: nil, because: "another login was given")
            queue.change.note(wholly: batch)
        }
        queue.change.loginsGiven.formUnion(batches)
        queue.change.mayRun = true
    }

    // MARK: Of another batch

    /// Adds the login of the batch in `like`; a given one takes precedence. A login is for the server it was given for: another gets none.
    func withLogin(_ given: BatchRequest) throws -> BatchRequest {
        var request = given
        request.like = nil
        guard let like = given.like, case .upload(let sources, let to) = given.work else { return request }
        guard let uuid = try references.uuid(of: like) else {
            throw QueueError.badRequest(
                "batch \(like), whose login this is to have, was forgotten meanwhile: queue its files with 'martlet upload'"
            )
        }
        let found = try database.first(
            "SELECT destination, options, kept_secrets FROM batches WHERE id = ?", .integer(like.rawValue)
        ) { ($0.text(0), StoredJSON.value(TransferOptions.self, $0.text(1)), KeptSecret.read($0.optionalText(2))) }
        guard let (destination, options, keeps) = found,
            let server = LoginServer(of: destination, options?.s3), server == LoginServer(of: to, request.options.s3)
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
}
