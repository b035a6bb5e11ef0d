import FoundationEssentials
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// What changes the queue. The order is always: durable in the queue, then the engine is told, then the answer.
extension TransferService {
    func add(_ request: BatchRequest) async throws -> BatchAdded {
        try Self.check(request)
        let added = try await queue.writer.add(request)
        if !added.existed { await engine.batchAdded(added.batch) }
        return BatchAdded(batch: try await batch(added.batch), existed: added.existed)
    }

    /// What this engine cannot do is refused here, by name, whoever asks.
    private static func check(_ request: BatchRequest) throws(RequestError) {
        let urls: [String] =
            switch request.work {
            case .upload(let sources, let destination): sources.isEmpty ? [] : [destination]
            case .download(let sources): sources.map(\.url)
            }
        if urls.isEmpty { throw RequestError(.usage, "the batch has no sources") }
        let isDownload = if case .download = request.work { true } else { false }
        for url in urls {
            let name = url.prefix { $0 != ":" }
            guard let scheme = TransferScheme(of: url), !isDownload || scheme.downloads else {
                let known = TransferScheme.allCases.filter { !isDownload || $0.downloads }.map(\.rawValue)
                throw RequestError(
                    .usage, "\(name): this scheme is not supported: use \(known.joined(separator: ", "))")
            }
            if scheme == .s3, request.secrets.s3 == nil {
                throw RequestError(
                    .usage, "S3 wants keys: queue it by martlet upload, which finds AWS_ACCESS_KEY_ID or AWS_PROFILE")
            }
        }
        let policy = request.options.ifExists
        if !ExistingFilePolicy.built.contains(policy) {
            let built = ExistingFilePolicy.built.map(\.rawValue).joined(separator: ", ")
            throw RequestError(.usage, "ifExists \(policy.rawValue) is not built yet: use one of \(built)")
        }
    }

    /// Changes nodes by one of the writer's calls, and has the engine break off what may not run any more.
    func change(
        _ request: NodesRequest, _ body: (QueueWriter, [NodeID]) async throws -> NodeChange
    ) async throws -> NodeResults {
        var results: [NodeResult] = []
        var isEmpty = true
        try await eachPage(of: request) { nodes in
            isEmpty = false
            let change = try await body(queue.writer, nodes)
            results += try await told(change)
            if !change.stopped.isEmpty { await engine.stop(change.stopped) }
        }
        if isEmpty, request.selector == nil, request.rows == nil { throw RequestError(.usage, "no node is named") }
        await engine.queueChanged()
        return NodeResults(results: results)
    }

    /// The results, with what each of them costs: what is on its way to servers that cannot resume is sent again.
    private func told(_ change: NodeChange) async throws -> [NodeResult] {
        if change.stopped.isEmpty { return change.results }
        let stopped = Set(change.stopped)
        let lost = await engine.live().tasks.filter { $0.bytesAtRisk > 0 && stopped.contains($0.task) }
        if lost.isEmpty { return change.results }
        var results = change.results
        for index in results.indices where results[index].result == .done {
            let bytes = try await self.lost(lost, below: results[index].id)
            if bytes > 0 { results[index].bytesToRepeat = bytes }
        }
        return results
    }

    private func lost(_ tasks: [LiveTask], below node: NodeID) async throws -> Int64 {
        var sum: Int64 = 0
        let row = try await queue.reader.row(of: node)
        for task in tasks {
            let isBelow =
                switch row {
                case .batch(let batch): task.batch == batch
                case .task(_, let id): task.task == id
                case .folder(_, let folder): try await queue.reader.chain(of: task.folder).contains(folder)
                case .group, nil: false
                }
            if isBelow { sum += task.bytesAtRisk }
        }
        return sum
    }

    /// Who says "now" means the hosts, too, that are left alone for a while.
    func retry(_ request: NodesRequest) async throws -> NodeResults {
        let results = try await change(request) { try await $0.retry($1) }
        await engine.connectivityChanged()
        return results
    }

    /// However many pages the request has: one undo takes all of it back.
    func cancel(_ request: NodesRequest) async throws -> NodeResults {
        var isMore = false
        return try await change(request) { writer, nodes in
            defer { isMore = true }
            return try await writer.cancel(nodes, joining: isMore)
        }
    }

    func undo(_ request: NodesRequest) async throws -> NodeResults {
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        guard request.ids == nil, request.rows == nil, request.selector == nil else {
            return try await change(request) { try await $0.undo($1, now: now) }
        }
        let change = try await queue.writer.undo([], now: now)
        await engine.queueChanged()
        return NodeResults(results: change.results)
    }

    /// Without any node: every batch that is over.
    func purge(_ request: NodesRequest) async throws -> NodeResults {
        guard request.ids == nil, request.rows == nil, request.selector == nil else {
            return try await change(request) { try await $0.purge($1) }
        }
        return NodeResults(results: try await queue.writer.purge(finishedBefore: nil).results)
    }

    /// The nodes of a request: those named, then those selected, a thousand at a time.
    private func eachPage(of request: NodesRequest, _ body: ([NodeID]) async throws -> Void) async throws {
        var named = request.ids ?? []
        for row in request.rows ?? [] {
            var page = try await queue.reader.nodes(in: row)
            while case .task(let last)? = page.last, page.count == 1000 {
                try await body(page)
                page = try await queue.reader.nodes(in: row, after: last)
            }
            named += page
        }
        if !named.isEmpty { try await body(named) }
        guard let selector = request.selector else { return }
        if let filter = selector.filter { return try await eachMatch(of: selector, filter, body) }
        var after: NodeID?
        while true {
            let nodes = try await queue.reader.nodes(matching: selector, after: after, limit: 1000)
            if !nodes.isEmpty { try await body(nodes) }
            guard nodes.count == 1000 else { return }
            after = nodes.last
        }
    }
}
