import FoundationEssentials
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Methods that only look. All that they give back is the queue's, with what moves laid over it.
extension TransferService {
    func list(_ request: BatchListRequest) async throws -> BatchPage {
        let live = await engine.live()
        let states = Set(request.states ?? [])
        let limit = min(10_000, max(1, request.limit ?? 1000))
        let (batches, chains) = try await queue.reader.batches(
            session: request.session, limit: limit, live: live, chains: chains)
        self.chains = chains
        return BatchPage(batches: states.isEmpty ? batches : batches.filter { states.contains($0.state) })
    }

    func show(_ request: BatchShowRequest) async throws -> BatchShown {
        if let id = request.batch {
            var shown = BatchShown(batch: try await batch(id))
            if request.keys == true { shown.batch.keysProfile = try await queue.writer.keysProfile(of: id) }
            return shown
        }
        guard let uuid = request.uuid else { throw RequestError(.usage, "batch.show: batch or uuid is missing") }
        guard let id = try await queue.reader.batchID(uuid: uuid) else {
            throw RequestError(.noSuchObject, "no batch has the UUID \(uuid.uuidString.lowercased())")
        }
        return BatchShown(batch: try await batch(id))
    }

    func order(_ request: BatchOrderRequest) async throws -> BatchOrdered {
        guard let order = try await queue.reader.request(repeating: request.batch) else {
            throw Self.missing("batch \(request.batch)")
        }
        return BatchOrdered(order: order)
    }

    func batch(_ id: BatchID) async throws -> BatchSnapshot {
        let live = await engine.live()
        let (batch, chains) = try await queue.reader.batch(id, live: live, chains: chains)
        self.chains = chains
        guard let batch else { throw Self.missing("batch \(id)") }
        return batch
    }

    func list(_ request: TaskListRequest) async throws -> TaskPage {
        if let id = request.batch, try await queue.reader.batch(id) == nil { throw Self.missing("batch \(id)") }
        let live = await engine.live()
        let limit = min(1000, max(1, request.limit ?? 500))
        if let filter = request.filter { return try await list(request, filter, limit: limit) }
        let (tasks, chains) = try await queue.reader.tasks(request, limit: limit, live: live, chains: chains)
        self.chains = chains
        return TaskPage(tasks: tasks, next: tasks.count < limit ? nil : tasks.last?.id)
    }

    func show(_ request: TaskShowRequest) async throws -> TaskShown {
        let live = await engine.live()
        let (task, chains) = try await queue.reader.task(request, live: live, chains: chains)
        self.chains = chains
        guard var task else { throw Self.missing("task \(request.task)") }
        let parts = task.state.isActive ? await engine.parts(of: request.task) : []
        if !parts.isEmpty { task.parts = parts }
        if task.state.isActive { task.attempt = await engine.figures(of: request.task) }
        return TaskShown(task: task)
    }

    func show(_ request: NodeShowRequest) async throws -> NodeShown {
        var want = QueueLook.Want()
        want.nodes = [request.id]
        guard let row = try await look(want).nodes.first?.row else { throw Self.missing("\(request.id)") }
        return NodeShown(node: row)
    }

    func read(_ request: SectionRequest) async throws -> SectionRead {
        var want = QueueLook.Want()
        var request = request
        request.limit = min(1000, max(1, request.limit))
        want.sections = [request]
        guard let section = try await look(want).sections.first?.section else {
            throw Self.missing(request.parent.map { "\($0)" } ?? "root")
        }
        return SectionRead(section: section)
    }

    func totals() async throws -> QueueTotals {
        var want = QueueLook.Want()
        want.totals = true
        var totals = try await look(want).totals ?? QueueTotals()
        complete(&totals)
        return totals
    }

    private func look(_ want: QueueLook.Want) async throws -> LookedAt {
        let live = await engine.live()
        let (look, chains) = try await queue.reader.look([want], live: live, chains: chains)
        self.chains = chains
        return look.looked[0]
    }

    /// The answers for one node, or for every batch that is not over and does not run freely.
    func why(_ request: WhyRequest) async throws -> WhyAnswers {
        let live = await engine.live()
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        let (answers, chains) = try await queue.reader.why(
            request.id, live: live, chains: chains, limits: inForce.holding, grace: settings.grace, now: now)
        self.chains = chains
        if let id = request.id, answers.isEmpty { throw Self.missing("\(id)") }
        guard let trouble = queue.writer.health.trouble else { return WhyAnswers(answers: answers) }
        return WhyAnswers(answers: answers.map { $0.stopped(by: trouble.finding) })
    }

    func status() async throws -> EngineStatus {
        let statistics = try await queue.reader.statistics()
        let live = await engine.live()
        let (speeds, chains) = try await queue.reader.speeds(live: live, chains: chains)
        self.chains = chains
        var status = EngineStatus(
            pid: identity.pid, version: identity.version, uptime: startedAt.duration(to: .now).components.seconds,
            protocolVersion: "\(ProtocolVersion.current)", socket: identity.socketPath, queuePath: identity.queuePath,
            sessions: statistics.sessions, batches: statistics.batches, tasksActive: Int64(live.tasks.count),
            tasksWaiting: max(0, statistics.counts.unstarted + statistics.counts.active - Int64(live.tasks.count)),
            bytesPerSecondUp: speeds.up, bytesPerSecondDown: speeds.down, residentBytes: ProcessUse.residentBytes)
        status.stopping = live.isStopping
        return status
    }

    static func missing(_ what: String) -> RequestError {
        RequestError(.noSuchObject, "there is no \(what): see \(quoted: .list)")
    }
}

extension WhyAnswer {
    /// The answer, unless it is over, while nothing can be written down: nothing else counts then.
    fileprivate func stopped(by trouble: Finding) -> WhyAnswer {
        guard state?.isTerminal != true else { return self }
        var answer = self
        let subject = id.map { "\($0)" } ?? "everything"
        answer.sentence = "\(subject) stands still: \(trouble.happening)"
        answer.remedy = trouble.advice.isEmpty ? .idle("it is tried again each second") : Advice(trouble.advice)
        (answer.because, answer.becauseInShort, answer.becauseIsClause) = (trouble.happening, trouble.brief, nil)
        return answer
    }
}

/// Visits to the reader: everything of one answer is read, and what moves laid over it, in one go.
extension QueueReader {
    func batches(
        session: SessionName?, limit: Int, live: LiveSnapshot, chains: FolderChains
    ) throws -> ([BatchSnapshot], FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            let left = overlay.movingBatches.isEmpty ? [:] : try bytesLeft()
            var batches = try batches(session: session, limit: limit)
            for index in batches.indices { overlay.apply(to: &batches[index], left: left[batches[index].id]) }
            return (batches, chains)
        }
    }

    /// Bytes a second of the whole engine: the sums of what its batches show.
    func speeds(live: LiveSnapshot, chains: FolderChains) throws -> ((up: Int64, down: Int64), FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            return ((overlay.bytesPerSecondUp, overlay.bytesPerSecondDown), chains)
        }
    }

    func batch(_ id: BatchID, live: LiveSnapshot, chains: FolderChains) throws -> (BatchSnapshot?, FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            guard var batch = try batch(id) else { return (nil, chains) }
            overlay.apply(to: &batch, left: overlay.movingBatches.contains(id) ? try bytesLeft()[id] : nil)
            return (batch, chains)
        }
    }

    func tasks(
        _ request: TaskListRequest, limit: Int, live: LiveSnapshot, chains: FolderChains
    ) throws -> ([TransferModel.TaskSnapshot], FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            var tasks = try tasks(
                batch: request.batch, session: request.session, states: request.states ?? [], after: request.after,
                limit: limit)
            for index in tasks.indices { overlay.apply(to: &tasks[index]) }
            return (tasks, chains)
        }
    }

    func task(
        _ request: TaskShowRequest, live: LiveSnapshot, chains: FolderChains
    ) throws -> (TransferModel.TaskSnapshot?, FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            guard
                var task = try task(
                    request.task, history: request.history ?? false, response: request.response ?? false, rules: true)
            else { return (nil, chains) }
            overlay.apply(to: &task)
            return (task, chains)
        }
    }

    func why(
        _ id: NodeID?, live: LiveSnapshot, chains: FolderChains, limits: EngineLimits,
        grace: Duration, now: Timestamp
    ) throws -> ([WhyAnswer], FolderChains) {
        try together {
            var chains = chains
            let overlay = try overlay(live, &chains)
            let nodes = try id.map { [$0] } ?? batches().filter { !$0.state.isTerminal }.map { .batch($0.id) }
            let answers = try nodes.compactMap { node in
                try standing(of: node).map { standing in
                    let file = node.isTask ? try self.node(node, overlay) : nil
                    return WhySentence(
                        node: node, standing: standing, names: try names(of: [node] + standing.pausedBy, file),
                        file: file, live: overlay, engine: limits, grace: grace, now: now
                    ).answer
                }
            }
            return (answers, chains)
        }
    }

    /// The names of nodes, harmless to print.
    private func names(of nodes: [NodeID], _ file: NodeRow?) throws -> [NodeID: String] {
        var names: [NodeID: String] = [:]
        for node in nodes {
            names[node] =
                switch node {
                case .batch(let id): try row(.batch(id)).map { RawPath($0.name).displayed }
                case .folder(_, let path): "\(path.displayed)/"
                case .task: file.map { RawPath($0.name).displayed }
                }
        }
        return names
    }
}
