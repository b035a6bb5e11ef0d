import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Leftovers of unfinished uploads at servers.
extension TransferService {
    private static let standing: [TransferState] = [.queued, .waiting, .paused, .completed, .failed, .cancelled]

    func leftovers(_ request: LeftoversRequest) async throws -> LeftoverList {
        let limit = min(500, max(1, request.limit ?? 500))
        let found = try await queue.writer.remains(
            in: Self.standing, after: request.after ?? TaskID(rawValue: 0), limit: limit)
        var page: [Leftover] = []
        for remains in found {
            guard let task = try await queue.reader.task(remains.task.id, hidden: true), let name = remains.protocolName
            else {
                continue
            }
            page.append(
                Leftover(
                    task: task.id, batch: task.batch, state: task.state, protocol: name, destination: task.destination,
                    since: remains.finishedAt))
        }
        return LeftoverList(leftovers: page, next: found.count == limit ? found.last?.task.id : nil)
    }

    func abortLeftovers(_ request: LeftoversAbortRequest) async throws -> NodeResults {
        var results = NodeResults(results: [])
        for id in request.tasks.unique {
            results.add([try await abortLeftover(of: id, forgets: request.forget ?? false)])
        }
        // Its batch may have been waiting for that to be forgotten.
        await engine.queueChanged()
        return results
    }

    private func abortLeftover(of id: TaskID, forgets: Bool) async throws -> NodeResult {
        guard let task = try await queue.reader.task(id, hidden: true) else {
            return NodeResult(id: .task(id), result: .refused, code: .noSuchObject, message: "there is no task \(id)")
        }
        let before = TaskID(rawValue: id.rawValue - 1)
        var found: [Remains] = []
        for direction in [TransferDirection.upload, .download] {
            found += try await queue.writer.remains(of: direction, in: Self.standing, after: before, limit: 1)
        }
        guard let remains = found.first(where: { $0.task.id == id }) else {
            return NodeResult(id: .task(id), result: .already)
        }
        guard task.state.isTerminal else {
            return NodeResult(
                id: .task(id), result: .refused, code: .refused,
                message: "\(id) is \(task.state.rawValue) and goes on from it: cancel it first")
        }
        if forgets {
            guard try await queue.writer.forget(remains, keeping: remains.knowledge) else {
                return NodeResult(
                    id: .task(id), result: .refused, code: .refused, message: TransferError.takenBack.message)
            }
            return NodeResult(id: .task(id), result: .done)
        }
        guard let error = await engine.remove(remains, for: .cleanup) else {
            return NodeResult(id: .task(id), result: .done)
        }
        return NodeResult(id: .task(id), result: .refused, code: .refused, message: error.message)
    }

    // MARK: In a bucket

    /// Asks a bucket's service what lies there. Taken away is only what is named, and nothing that a task goes on from.
    func searchLeftovers(
        _ request: LeftoverSearchRequest, for client: ServiceClient
    ) async throws -> LeftoverSearchAnswer {
        var secrets = TransferSecrets()
        secrets.s3 = request.keys
        guard let keys = try await withKept(secrets, request.destination, at: [request.url], request.s3).s3 else {
            throw RequestError(.usage, "S3 wants keys: give them, or name a destination that has some")
        }
        let search = BucketSearch(url: request.url, place: request.s3, keys: keys)
        let found: FoundUploads
        // A service may answer for as long as it is asked.
        switch try await ask(.search, for: client, { [engine] in await engine.search(search) }) {
        case .success(let uploads): found = uploads
        case .failure(let error): throw RequestError(.refused, error.message)
        }
        let owners = try await ownersOfUploads()
        let named = Set(request.abort ?? [])
        var uploads: [BucketUpload] = []
        for upload in found.uploads {
            let task = upload.task ?? owners[upload.uploadID]
            var shown = BucketUpload(
                destination: upload.destination, uploadID: upload.uploadID, begun: upload.begun, task: task)
            if named.contains(upload.uploadID) {
                let refusal = try await takeAway(upload, of: task, search)
                shown.result = refusal == nil ? .done : .refused
                shown.message = refusal
            }
            uploads.append(shown)
        }
        return LeftoverSearchAnswer(uploads: uploads, more: found.isWhole ? nil : true)
    }

    /// Takes an upload away.
    /// - Returns: why it is still there; `nil`: it is gone.
    private func takeAway(_ upload: FoundUpload, of task: TaskID?, _ search: BucketSearch) async throws -> String? {
        guard let task else { return await engine.abort(upload, search)?.message }
        let result = try await abortLeftover(of: task, forgets: false)
        if result.result == .already { return "\(task) goes on from it: cancel it first" }
        return result.message
    }

    /// Tasks of this queue by the upload of S3 that they have left; those that run are the engine's to tell.
    private func ownersOfUploads() async throws -> [String: TaskID] {
        var owners: [String: TaskID] = [:]
        var last = TaskID(rawValue: 0)
        while true {
            let page = try await queue.writer.remains(
                in: Self.standing, claimed: true, after: last, limit: 500)
            for remains in page { for id in remains.bucketUploadIDs { owners[id] = remains.task.id } }
            guard page.count == 500, let end = page.last?.task.id else { return owners }
            last = end
        }
    }
}
