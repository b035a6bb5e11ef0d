import FoundationEssentials
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Methods that change the queue. The order is always: durable in the queue, then the engine is told, then the answer.
extension TransferService {
    func add(_ request: BatchRequest) async throws -> BatchAdded {
        // Asked for again because its answer was lost: nothing that was forgotten since may refuse what is queued.
        if let known = try await queue.writer.batch(with: request.uuid) {
            try await goOn("a batch was queued")
            return try await answering { BatchAdded(batch: try await batch(known), existed: true) }
        }
        var request = request
        request.secrets = try await withKept(
            request.secrets, request.destination, at: Self.urls(of: request), request.options.s3)
        request.destination = nil
        request = try await queue.writer.withLogin(request)
        try Self.check(request)
        try await AuthoritiesFile.check(request.options.caFile)
        let added = try await queue.writer.add(request)
        // One that is asked for again, too: its first answer may have been lost with an engine that ended.
        try await goOn("a batch was queued")
        if !added.existed { await engine.batchAdded(added.batch) }
        return try await answering { BatchAdded(batch: try await batch(added.batch), existed: added.existed) }
    }

    private static func urls(of request: BatchRequest) -> [String] {
        switch request.work {
        case .upload(let sources, let destination): sources.isEmpty ? [] : [destination]
        case .download(let sources): sources.map(\.url)
        }
    }

    /// Refuses, by name and whoever asks, what this engine cannot do.
    private static func check(_ request: BatchRequest) throws(RequestError) {
        let urls = urls(of: request)
        if urls.isEmpty { throw RequestError(.usage, "the batch has no sources") }
        let isDownload = if case .download = request.work { true } else { false }
        for url in urls {
            guard let scheme = TransferScheme(of: url), !isDownload || scheme.downloads else {
                throw unsupported(url) { !isDownload || $0.downloads }
            }
            if scheme.facts.login.signsRequests, !request.secrets.opensS3 { throw noKeys }
        }
        try check(request.options.ifExists)
    }

    static func unsupported(_ url: String, _ isUsable: (TransferScheme) -> Bool) -> RequestError {
        let known = TransferScheme.allCases.filter(isUsable).map(\.rawValue).joined(separator: ", ")
        return RequestError(.usage, "\(url.prefix { $0 != ":" }): this scheme is not supported: use \(known)")
    }

    static func check(_ policy: ExistingFilePolicy) throws(RequestError) {
        if ExistingFilePolicy.built.contains(policy) { return }
        let built = ExistingFilePolicy.built.map(\.rawValue).joined(separator: ", ")
        throw RequestError(.usage, "ifExists \(policy.rawValue) is not built yet: use one of \(built)")
    }

    /// Changes nodes by one of the writer's calls, and has the engine break off what may not run any more.
    func change(
        _ request: NodesRequest, _ body: (QueueWriter, [NodeID]) async throws -> NodeChange
    ) async throws -> NodeResults {
        var results = NodeResults(results: [])
        var isEmpty = true
        var changed = 0
        do {
            try await eachPage(of: request) { nodes in
                isEmpty = false
                let change = try await body(queue.writer, nodes)
                changed += nodes.count
                try await carryOut(change, into: &results)
            }
        } catch {
            guard changed > 0, !Self.isEnding(error) else { throw error }
            // Pages that are done stay done, and the engine goes by them.
            await engine.queueChanged()
            var failure = Self.wireError(error)
            failure.message += "; this was done for the first \(changed) nodes"
            // The last page was changed, too, where only its answer failed: a second undo would take back the change before.
            if failure.requestError.code != .engineUnreachable { failure.message += ", ask again for the rest" }
            throw failure
        }
        if isEmpty, request.selector == nil, request.rows == nil {
            throw RequestError(.usage, "no node is named: give ids, rows or a selector")
        }
        await engine.queueChanged()
        if let selector = request.selector {
            results.results = try await answering {
                try await meant(results.results, by: selector, named: request.ids ?? [])
            }
        }
        return results
    }

    /// Has the engine follow what the queue changed, and adds it to the answer. All that one page asks of the engine is done here, so that a
    /// page which is refused later takes nothing of it back.
    func carryOut(_ change: NodeChange, into results: inout NodeResults) async throws {
        // The tasks under way are read first, because the engine ends them.
        let moving = change.stopped.isEmpty && change.begunAnew.isEmpty ? [] : await engine.live().tasks
        await engine.follow(change)
        // The engine has the new login before anything tries again with it.
        if !change.loginsGiven.isEmpty { try await queue.writer.requeueWaitingForLogin(change.loginsGiven) }
        if change.duties.contains(.goesOn) { _ = try? await goOn("something goes on") }
        if change.duties.contains(.limits) { try await answering { try await followLimits() } }
        results.operation = change.operation ?? results.operation
        results.undone = change.undone ?? results.undone
        if change.startsAgain { results.startsAgain = true }
        results.add(try await answering { try await withCosts(change, moving) })
        if change.duties.contains(.limits) { results.limits = try await answering { try await limits() } }
    }

    /// Makes the answer to a change that is durable. When that fails, the client is told that the change was made: any other error says that
    /// it was not, and whoever made it again would double a batch, or take back the change before.
    func answering<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch  where !Self.isEnding(error) {
            throw RequestError(
                .engineUnreachable,
                """
                the change was made, but how things stand now could not be read (\(Self.wireError(error).message)): \
                look at the list
                """)
        }
    }

    /// The next engine answers, and has what this one did.
    private static func isEnding(_ error: any Error) -> Bool {
        error is EngineLeaves || error as? QueueError == .closed
    }

    /// As `change`, for changes of which all pages are taken back together.
    func changeTogether(
        _ request: NodesRequest, _ body: (QueueWriter, [NodeID], _ joining: Int64?) async throws -> NodeChange
    ) async throws -> NodeResults {
        var operation: Int64?
        return try await change(request) { writer, nodes in
            let change = try await body(writer, nodes, operation)
            operation = operation ?? change.operation
            return change
        }
    }

    /// A selector means what something can be done to: batches that are over were not meant, nor were tasks that came to their end after
    /// they were found in a state that the selector names. They are no refusal.
    private func meant(
        _ results: [NodeResult], by selector: NodeSelector, named: [NodeID]
    ) async throws -> [NodeResult] {
        let named = Set(named)
        var kept: [NodeResult] = []
        for result in results {
            let changesNothing = result.result == .already || result.result == .refused && result.code == .refused
            if changesNothing, !named.contains(result.id), try await isOver(result.id, for: selector) { continue }
            kept.append(result)
        }
        return kept
    }

    private func isOver(_ node: NodeID, for selector: NodeSelector) async throws -> Bool {
        switch node {
        case .batch(let id): return try await queue.reader.batch(id)?.state.isTerminal == true
        case .task(let id):
            guard !selector.states.isEmpty, let state = try await queue.reader.task(id)?.state else { return false }
            return state.isTerminal && !selector.states.contains(state)
        case .folder: return false
        }
    }

    /// The results, with what each of them costs: what is on its way to servers that cannot resume is sent again.
    private func withCosts(_ change: NodeChange, _ moving: [LiveTask]) async throws -> [NodeResult] {
        let stopped = Set((change.stopped + change.begunAnew).map(\.task))
        let lost = moving.filter { $0.bytesAtRisk > 0 && stopped.contains($0.task) }
        if lost.isEmpty { return change.results }
        var folders: [FolderID: Set<FolderID>] = [:]
        for task in lost where folders[task.folder] == nil {
            folders[task.folder] = Set(try await queue.reader.chain(of: task.folder))
        }
        var results = change.results
        for index in results.indices where results[index].result == .done {
            let row = try await queue.reader.row(of: results[index].id)
            let below = lost.filter { task in
                switch row {
                case .batch(let batch): task.batch == batch
                case .task(_, let id): task.task == id
                case .folder(_, let folder): folders[task.folder]?.contains(folder) == true
                case .group, nil: false
                }
            }
            let bytes = ByteSum.of(below.lazy.map(\.bytesAtRisk))
            if bytes > 0 { results[index].bytesToRepeat = bytes }
        }
        return results
    }

    /// Named nodes one by one, in their order; a group of a screen as a whole.
    func move(_ request: MoveRequest) async throws -> NodeResults {
        let place: MovePlace =
            switch request.to {
            case .top: .top
            case .bottom: .bottom
            case .earlier: .earlier
            case .later: .later
            case .before:
                if let node = request.before {
                    .before(node)
                } else {
                    throw RequestError(.usage, "nodes.move: before is missing: give the node that the others go before")
                }
            }
        var results = NodeResults(results: [])
        var named = request.ids ?? []
        var groups: [RowID] = []
        for row in request.rows ?? [] {
            if case .group = row { groups.append(row) } else { named += try await queue.reader.nodes(in: row) }
        }
        named = named.unique
        for row in groups {
            var moved: TaskID?
            var operation: Int64?
            var page = try await queue.reader.nodes(in: row)
            while !page.isEmpty {
                let change = try await queue.writer.move(page, to: place, asOne: true, with: moved, joining: operation)
                try await carryOut(change, into: &results)
                // A page of which every file has ended meanwhile moves nothing.
                moved = change.moved ?? moved
                operation = operation ?? change.operation
                guard page.count == 1000, case .task(let last)? = page.last else { break }
                page = try await queue.reader.nodes(in: row, after: last)
            }
        }
        if !named.isEmpty { try await carryOut(try await queue.writer.move(named, to: place), into: &results) }
        if results.results.isEmpty, request.rows == nil {
            throw RequestError(.usage, "no node is named: give ids, rows or a selector")
        }
        await engine.queueChanged()
        return results
    }

    /// Starts nodes now. "Now" means the hosts, too, that are left alone for a while.
    func runNow(_ request: NodesRequest) async throws -> NodeResults {
        let results = try await changeTogether(request) { try await $0.runNow($1, joining: $2) }
        if results.didAny { try await goOn("something is to start now") }
        await engine.connectivityChanged()
        return results
    }

    func undoable() async throws -> UndoSteps {
        UndoSteps(steps: try await queue.writer.undoSteps(now: Timestamp(milliseconds: WallClock.milliseconds)))
    }

    func undo(_ request: UndoRequest, by client: String?) async throws -> NodeResults {
        // Whoever asks the next engine once more after this one has done it would take back the change before.
        if ending.isLeaving { throw EngineLeaves() }
        let results = try await undo(request)
        let what = results.undone.map { "\($0.noun) " } ?? ""
        return try await logging("\(what)taken back", by: client) { results }
    }

    private func undo(_ request: UndoRequest) async throws -> NodeResults {
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let nodes = NodesRequest(ids: request.ids, rows: request.rows, selector: request.selector)
        guard nodes == NodesRequest() else {
            return try await change(nodes) { try await $0.undo(.nodes($1), now: now) }
        }
        var results = NodeResults(results: [])
        let choice = request.operation.map { UndoneChange.operation($0) } ?? .last
        try await carryOut(try await queue.writer.undo(choice, now: now), into: &results)
        await engine.queueChanged()
        return results
    }
}
