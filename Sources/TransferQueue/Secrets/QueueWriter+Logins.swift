package import TransferModel

/// Logins in the store of secrets: of batches, and of configured servers.
extension QueueWriter {
    // MARK: Of batches

    /// Puts what lets batches in in the place of what did. Durable on return.
    package func replaceSecrets(of nodes: [NodeID], by secrets: TransferSecrets) throws(QueueError) -> NodeChange {
        try change { try store.logins.replaceSecrets(of: nodes, by: secrets) }
    }

    /// The servers that would be shown a login of these batches.
    package func loginServers(of nodes: [NodeID]) throws(QueueError) -> Set<LoginServer> {
        try look { try store.logins.servers(of: nodes) }
    }

    /// The AWS profile that a batch's keys are of, where one was named for its server.
    package func keysProfile(of batch: BatchID) throws(QueueError) -> String? {
        try look { try store.logins.keysProfile(of: batch) }
    }

    /// Those of these nodes that are no batches which are over.
    package func unfinished(_ nodes: [NodeID]) throws(QueueError) -> [NodeID] {
        try look { try store.logins.unfinished(nodes) }
    }

    /// Requeues every task of these batches that waits for credentials.
    package func requeueWaitingForLogin(_ batches: [BatchID]) throws(QueueError) {
        try change { try store.logins.requeueWaiting(batches) }
    }

    /// The request with what lets the batch in that it does again.
    package func withLogin(_ request: BatchRequest) throws(QueueError) -> BatchRequest {
        guard request.like != nil else { return request }
        return try look { try store.logins.withLogin(request) }
    }

    // MARK: Of configured servers

    /// Keeps one, in the place of an earlier one of that name. Durable on return.
    package func keep(_ login: DestinationLogin, destination name: String) throws(QueueError) {
        try look { try store.secrets.keep(login, destination: name) }
    }

    /// The login and the server that it was kept for; one that was kept for none is for `server` from now on.
    /// - Parameter user: who logs in; with another one's login nothing is done.
    /// - Returns: `nil`: none is kept.
    package func login(
        destination name: String, at server: LoginServer, user: String?
    ) throws(QueueError) -> DestinationLogin? {
        try look { try store.secrets.login(destination: name, at: server, user: user) }
    }

    /// Forgets the login of a destination for a person; false: there was none. Queued batches keep their own. It can be restored for a day.
    /// - Parameter now: milliseconds since 1970.
    package func forget(destination name: String, at now: Int64) throws(QueueError) -> Bool {
        try look { try store.secrets.forget(destination: name, at: now) }
    }

    /// Restores a forgotten login. One that was kept since is not replaced. Returns true when there is one now.
    package func restore(destination name: String, at now: Int64) throws(QueueError) -> Bool {
        try look { try store.secrets.restore(destination: name, at: now) }
    }
}
