import ServiceWire
public import TransferModel

/// Leftovers: all that uploads have left at servers.
extension EngineConnection {
    /// Everything that uploads have left at servers beside their files, whatever became of the uploads. Starts an engine.
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

    /// Takes away what uploads that are over have left; each result is known when its server has answered.
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
}
