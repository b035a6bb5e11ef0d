import TransferModel

@testable import TransferQueue

/// The queue's rules in a few lines, over dictionaries: what random sequences of calls are compared with.
struct QueueModel {
    struct Task: Equatable {
        var state: TransferState = .queued
        var claimed = false
        var ownPaused = false
        var waits = false
        /// When a waiting task is due; `nil`: never by itself.
        var retryAt: Timestamp?
        var runs = 0
        var folder: [String]
        var accepted: Int64 = 0
    }

    struct Batch: Equatable {
        var held = false
        var paused = false
        var pausedFolders: Set<[String]> = []
        var tasks: [TaskID: Task] = [:]

        var isOver: Bool { tasks.values.allSatisfy(\.state.isTerminal) }

        func isPausedFolder(_ folder: [String]) -> Bool {
            (1...max(1, folder.count)).contains { pausedFolders.contains(Array(folder.prefix($0))) }
        }
    }

    /// A change that can be taken back.
    struct Step {
        enum Deed {
            case cancel(Set<TaskID>)
            case pause
            case resume(held: Bool, paused: Bool)
            case purge(BatchID, Batch)
        }

        let node: NodeID
        let at: Timestamp
        let operation: Int
        let deed: Deed
    }

    var batches: [BatchID: Batch] = [:]
    var steps: [Step] = []
    var operations = 0
    /// Facts that are not committed: a kill loses them.
    var gathered: [(TaskID, TaskFact)] = []

    func batch(of task: TaskID) -> BatchID? { batches.first { $0.value.tasks[task] != nil }?.key }

    func tasks(of node: NodeID) -> (BatchID, [TaskID])? {
        switch node {
        case .batch(let id): return batches[id].map { (id, $0.tasks.keys.sorted()) }
        case .task(let id): return batch(of: id).map { ($0, [id]) }
        case .folder(let id, let path):
            let prefix = path.displayed.split(separator: "/").map(String.init)
            return batches[id].map { batch in
                (id, batch.tasks.filter { $0.value.folder.starts(with: prefix) }.keys.sorted())
            }
        }
    }

    // MARK: The engine

    mutating func flush() {
        for (place, (id, change)) in gathered.enumerated() {
            // A completion makes earlier checkpoints of the same commit pointless, even one that comes too late itself.
            if case .checkpoint = change, gathered[place...].contains(where: { $0.0 == id && $0.1.isCompletion }) {
                continue
            }
            if let batch = batch(of: id), var task = batches[batch]?.tasks[id] {
                Self.apply(change, &task)
                batches[batch]?.tasks[id] = task
            }
        }
        gathered = []
    }

    private static func apply(_ change: TaskFact, _ task: inout Task) {
        switch change {
        case .running: if task.claimed, task.state == .queued { task.state = .running }
        case .finishing: if task.claimed { task.state = .finishing }
        case .checkpoint(_, let accepted, _): if task.state != .completed { task.accepted = accepted }
        case .resumedAtOffset(let offset, _): if task.state != .completed { task.accepted = offset }
        case .restarted: if task.state != .completed { task.accepted = 0 }
        case .waiting(_, let retryAt, _):
            guard task.claimed else { return }
            task.state = .waiting
            task.claimed = false
            task.waits = true
            task.retryAt = retryAt
        case .requeued:
            guard task.claimed else { return }
            task.state = .queued
            task.claimed = false
        case .completed(let completion): end(&task, .completed, completion.size)
        case .failed: end(&task, .failed, task.accepted)
        case .sizeKnown, .response, .sent, .guess, .forgotten, .untouched: break
        }
    }

    private static func end(_ task: inout Task, _ state: TransferState, _ accepted: Int64) {
        if task.state.isTerminal { return }
        task.state = state
        task.claimed = false
        task.waits = false
        task.retryAt = nil
        task.accepted = accepted
    }

    mutating func claim(_ batch: BatchID, limit: Int) -> [TaskID] {
        flush()
        guard let here = batches[batch], !here.held, !here.paused else { return [] }
        let ids = here.tasks.filter { $0.value.state == .queued && !$0.value.claimed }.keys.sorted().prefix(limit)
        for id in ids { batches[batch]?.tasks[id]?.claimed = true }
        return Array(ids)
    }

    mutating func restart(killed: Bool) {
        if killed { gathered = [] } else { flush() }
        change { task, _ in
            task.claimed = false
            if task.state.isActive { task.state = .queued }
        }
    }

    mutating func wakeDue(_ now: Timestamp) {
        flush()
        change { task, _ in
            guard let retryAt = task.retryAt, retryAt <= now else { return }
            task.retryAt = nil
            task.waits = false
            if task.state == .waiting { task.state = .queued }
        }
    }

    private mutating func change(_ body: (inout Task, Batch) -> Void) {
        for (id, batch) in batches {
            for task in batch.tasks.keys { body(&batches[id]!.tasks[task]!, batch) }
        }
    }

    // MARK: People

    mutating func pause(_ node: NodeID, _ now: Timestamp) -> NodeResult.Outcome {
        let outcome = pause(node)
        note(node, .pause, now, outcome)
        return outcome
    }

    private mutating func note(_ node: NodeID, _ deed: Step.Deed, _ now: Timestamp, _ outcome: NodeResult.Outcome) {
        operations += 1
        if outcome == .done { steps.append(Step(node: node, at: now, operation: operations, deed: deed)) }
    }

    private mutating func pause(_ node: NodeID) -> NodeResult.Outcome {
        flush()
        guard let (id, tasks) = tasks(of: node), let batch = batches[id] else { return .refused }
        switch node {
        case .task(let task):
            guard let row = batch.tasks[task], !row.state.isTerminal else { return .refused }
            if row.ownPaused { return .already }
            batches[id]?.tasks[task]?.ownPaused = true
            batches[id]?.tasks[task]?.state = .paused
            batches[id]?.tasks[task]?.claimed = false
        case .batch:
            if batch.paused { return .already }
            if batch.isOver { return .refused }
            batches[id]?.paused = true
            for task in tasks where batch.tasks[task]!.claimed {
                batches[id]?.tasks[task]?.claimed = false
                batches[id]?.tasks[task]?.state = .queued
            }
        case .folder(_, let path):
            let folder = path.displayed.split(separator: "/").map(String.init)
            if batch.pausedFolders.contains(folder) { return .already }
            if tasks.allSatisfy({ batch.tasks[$0]!.state.isTerminal }) { return .refused }
            batches[id]?.pausedFolders.insert(folder)
            for task in tasks where !batch.tasks[task]!.state.isTerminal {
                batches[id]?.tasks[task]?.claimed = false
                batches[id]?.tasks[task]?.state = .paused
            }
        }
        return .done
    }

    mutating func resume(_ node: NodeID, _ now: Timestamp) -> NodeResult.Outcome {
        var before = (held: false, paused: true)
        if case .batch(let id) = node, let batch = batches[id] { before = (batch.held, batch.paused) }
        let outcome = resume(node)
        if outcome == .already, resumeBelow(node, now) { return .done }
        note(node, .resume(held: before.held, paused: before.paused), now, outcome)
        return outcome
    }

    /// Resumes what is paused by itself in a batch or a folder that is not paused as a whole.
    private mutating func resumeBelow(_ node: NodeID, _ now: Timestamp) -> Bool {
        let id: BatchID
        let prefix: [String]
        switch node {
        case .batch(let batch): (id, prefix) = (batch, [])
        case .folder(let batch, let path):
            (id, prefix) = (batch, path.displayed.split(separator: "/").map(String.init))
        case .task: return false
        }
        guard let batch = batches[id] else { return false }
        let folders = batch.pausedFolders.filter { $0.starts(with: prefix) }
            .map { NodeID.folder(id, path: RawPath($0.joined(separator: "/"))) }
        let tasks = batch.tasks
            .filter { $0.value.ownPaused && $0.value.state == .paused && $0.value.folder.starts(with: prefix) }
            .keys.map { NodeID.task($0) }
        let done = (folders + tasks).filter { resume($0) == .done }
        if done.isEmpty { return false }
        operations += 1
        steps += done.map { Step(node: $0, at: now, operation: operations, deed: .resume(held: false, paused: true)) }
        return true
    }

    private mutating func resume(_ node: NodeID) -> NodeResult.Outcome {
        flush()
        guard let (id, tasks) = tasks(of: node), let batch = batches[id] else { return .refused }
        switch node {
        case .batch:
            if !batch.held, !batch.paused { return .already }
            batches[id]?.held = false
            batches[id]?.paused = false
        case .folder(_, let path):
            let folder = path.displayed.split(separator: "/").map(String.init)
            guard batch.pausedFolders.contains(folder) else {
                return batch.paused || batch.held || batch.isPausedFolder(folder) ? .refused : .already
            }
            batches[id]?.pausedFolders.remove(folder)
            for task in tasks { unpause(task, in: id) }
        case .task(let task):
            guard batch.tasks[task]!.ownPaused else {
                let row = batch.tasks[task]!
                let isHeldBack = batch.held && !row.claimed && !row.state.isTerminal
                return batch.paused || isHeldBack || batch.isPausedFolder(row.folder) ? .refused : .already
            }
            batches[id]?.tasks[task]?.ownPaused = false
            unpause(task, in: id)
        }
        return .done
    }

    private mutating func unpause(_ task: TaskID, in id: BatchID) {
        guard let batch = batches[id], let row = batch.tasks[task], row.state == .paused, !row.ownPaused,
            !batch.isPausedFolder(row.folder)
        else { return }
        batches[id]?.tasks[task]?.state = row.waits ? .waiting : .queued
    }

    mutating func cancel(_ nodes: [NodeID], _ now: Timestamp) -> [NodeResult.Outcome] {
        flush()
        operations += 1
        return nodes.map { node in
            guard let (id, tasks) = tasks(of: node), let batch = batches[id] else { return .refused }
            let open = tasks.filter { !batch.tasks[$0]!.state.isTerminal }
            if open.isEmpty { return tasks.allSatisfy { batch.tasks[$0]!.state == .cancelled } ? .already : .refused }
            for task in open {
                batches[id]?.tasks[task]?.state = .cancelled
                batches[id]?.tasks[task]?.claimed = false
                batches[id]?.tasks[task]?.waits = false
                batches[id]?.tasks[task]?.retryAt = nil
            }
            steps.append(Step(node: node, at: now, operation: operations, deed: .cancel(Set(open))))
            return .done
        }
    }

    mutating func undo(_ now: Timestamp) -> Int {
        flush()
        let recent = steps.filter { $0.at.advanced(by: .seconds(10)) >= now }
        guard let operation = recent.map(\.operation).max() else { return 0 }
        let chosen = recent.filter { $0.operation == operation }
        steps.removeAll { $0.operation == operation }
        // The newest first.
        for step in chosen.reversed() { takeBack(step) }
        return chosen.count
    }

    private mutating func takeBack(_ step: Step) {
        switch step.deed {
        case .cancel(let tasks): for task in tasks { runAgain(task, from: [.cancelled]) }
        case .purge(let id, let batch): batches[id] = batch
        case .pause:
            if case .batch(let id) = step.node { batches[id]?.paused = false } else { _ = resume(step.node) }
        case .resume(let held, let paused):
            if paused { _ = pause(step.node) }
            guard held, case .batch(let id) = step.node else { return }
            batches[id]?.held = true
            for (task, row) in batches[id]?.tasks ?? [:] where row.claimed {
                batches[id]?.tasks[task]?.claimed = false
                batches[id]?.tasks[task]?.state = .queued
            }
        }
    }

    private mutating func runAgain(_ task: TaskID, from states: Set<TransferState>) {
        guard let id = batch(of: task), let batch = batches[id], let row = batch.tasks[task], states.contains(row.state)
        else { return }
        let isPaused = row.ownPaused || batch.isPausedFolder(row.folder)
        batches[id]?.tasks[task]?.state = isPaused ? .paused : .queued
        if row.state.isTerminal { batches[id]?.tasks[task]?.runs += 1 }
        batches[id]?.tasks[task]?.waits = false
        batches[id]?.tasks[task]?.retryAt = nil
    }

    mutating func retry(_ node: NodeID) -> NodeResult.Outcome {
        flush()
        guard let (id, tasks) = tasks(of: node), let batch = batches[id] else { return .refused }
        if case .task(let task) = node {
            switch batch.tasks[task]!.state {
            case .failed, .cancelled, .waiting: runAgain(task, from: [.failed, .cancelled, .waiting])
            case .completed: return .refused
            default: return .already
            }
            return .done
        }
        for states: Set<TransferState> in [[.failed, .waiting], [.cancelled]] {
            if states == [.cancelled], !tasks.allSatisfy({ batch.tasks[$0]!.state.isTerminal }) { break }
            let chosen = tasks.filter { states.contains(batch.tasks[$0]!.state) }
            for task in chosen { runAgain(task, from: states) }
            if !chosen.isEmpty { return .done }
        }
        return tasks.allSatisfy { batch.tasks[$0]!.state.isTerminal } ? .refused : .already
    }

    mutating func purge(_ batch: BatchID, _ now: Timestamp) -> NodeResult.Outcome {
        flush()
        guard let known = batches[batch], known.isOver else { return .refused }
        batches[batch] = nil
        note(.batch(batch), .purge(batch, known), now, .done)
        return .done
    }

    // MARK: What a reader sees

    func shown(_ id: BatchID) -> [TaskID: TransferState] {
        guard let batch = batches[id] else { return [:] }
        return batch.tasks.mapValues { task in
            if [.queued, .waiting].contains(task.state), batch.paused { return .paused }
            return task.state == .queued && batch.held ? .created : task.state
        }
    }
}

extension TaskFact {
    var isCompletion: Bool { if case .completed = self { true } else { false } }
}
