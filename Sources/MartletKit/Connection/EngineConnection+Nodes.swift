import ServiceWire
public import TransferModel

/// The nodes that an action is for.
public enum NodeChoice: Sendable, Hashable {
    case ids([NodeID])
    /// As a screen shows them; a group means the tasks of that state in that folder.
    case rows([RowID])
    case matching(NodeSelector)
}

extension EngineConnection {
    /// Pauses. Each result is durable when this returns; so for all of these.
    public nonisolated func pause(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesPause, PauseRequest(nodes.request)).results
    }

    /// Takes back a pause, and starts held batches.
    public nonisolated func resume(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesResume, nodes.request).results
    }

    /// Cancels what is not over. Nothing of the user's is removed.
    public nonisolated func cancel(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesCancel, nodes.request).results
    }

    /// A new run of what failed or was cancelled; what waits tries again now.
    public nonisolated func retry(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesRetry, nodes.request).results
    }

    /// Takes back the last change, of these nodes or (`nil`) of any, within its grace time.
    public nonisolated func undo(_ nodes: NodeChoice? = nil) async throws(RequestError) -> [NodeResult] {
        try await takeBack(nodes.map { .nodes($0) } ?? .last).results
    }

    /// Forgets what is over: rows, events, secrets; never a file.
    public nonisolated func purge(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesPurge, nodes.request).results
    }

    /// Forgets every batch that is over.
    public nonisolated func purgeFinished() async throws(RequestError) -> [NodeResult] {
        try await call(Methods.nodesPurge, NodesRequest()).results
    }

    /// Everything that uploads have left at servers without having succeeded. Starts an engine.
    public nonisolated func leftovers() async throws(RequestError) -> [Leftover] {
        var found: [Leftover] = []
        var pager = Pager<TaskID>()
        while true {
            let page = try await call(Methods.leftoversList, LeftoversRequest(after: pager.after))
            found += page.leftovers
            guard let next = page.next else { return found }
            try pager.move(to: next)
        }
    }

    /// Takes away what failed or cancelled uploads have left; each result is known when its server has answered.
    /// - Parameter forgets: says nothing to the servers: what is there stays, and is not known any more.
    public nonisolated func abortLeftovers(
        of tasks: [TaskID], forgets: Bool = false
    ) async throws(RequestError) -> [NodeResult] {
        var results: [NodeResult] = []
        var rest = tasks[...]
        // The engine tells the results of so many one by one.
        while !rest.isEmpty {
            let some = Array(rest.prefix(1000))
            rest = rest.dropFirst(1000)
            let request = LeftoversAbortRequest(tasks: some, forget: forgets ? true : nil)
            results += try await call(Methods.leftoversAbort, request).results
        }
        return results
    }

    /// Uploads that were begun in a bucket of S3 and not finished, by whomever. Starts an engine.
    /// - Parameters:
    ///   - url: `s3://bucket/prefix`.
    ///   - keys: `nil`: those that the engine keeps for the destination.
    ///   - uploads: IDs of those that are taken away; the answer says what came of it.
    public nonisolated func bucketUploads(
        at url: String, place: S3Place?, keys: S3Keys?, destination: String? = nil, aborting uploads: [String] = []
    ) async throws(RequestError) -> BucketUploads {
        let request = LeftoverSearchRequest(
            url: url, s3: place, keys: keys, destination: destination, abort: uploads.isEmpty ? nil : uploads)
        let answer = try await call(Methods.leftoversSearch, request)
        return BucketUploads(answer.uploads, isWhole: answer.more != true)
    }

    /// The reasons why a node, or (`nil`) anything, does not move. Empty: nothing waits.
    public nonisolated func why(_ id: NodeID? = nil) async throws(RequestError) -> [WhyAnswer] {
        try await call(Methods.why, WhyRequest(id: id)).answers
    }
}

extension NodeChoice {
    var request: NodesRequest {
        switch self {
        case .ids(let ids): NodesRequest(ids: ids)
        case .rows(let rows): NodesRequest(rows: rows)
        case .matching(let selector): NodesRequest(selector: selector)
        }
    }
}
