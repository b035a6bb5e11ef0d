import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Random sequences against a small model") struct ModelTests {
    @Test("states, counters and events agree after any sequence of calls, closes and kills", arguments: UInt64(1)...40)
    func randomSequence(seed: UInt64) async throws {
        var run = try Run(seed: seed)
        for step in 0..<120 {
            try await run.step()
            if step % 10 == 9 { try await run.compare() }
        }
        try await run.reopen(killed: true)
        try await run.compare()
        try await run.queue.close()
    }

    /// One sequence: every call is made to the queue and to the model.
    private struct Run {
        let sandbox: Sandbox
        var queue: TransferQueue
        var model = QueueModel()
        var random: SeededGenerator
        var log: [String] = []
        var names = 0

        init(seed: UInt64) throws {
            sandbox = try Sandbox()
            queue = try sandbox.open()
            random = SeededGenerator(seed: seed)
        }

        private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

        mutating func step() async throws {
            switch below(20) {
            case 0, 1: try await add()
            case 2...5: try await claim()
            case 6...10: recordFacts()
            case 11:
                try await people("pause") {
                    try await $0.pause([$1])
                } expecting: {
                    $0.pause($1, $2)
                }
            case 12:
                try await people("resume") {
                    try await $0.resume([$1])
                } expecting: {
                    $0.resume($1, $2)
                }
            case 13: try await cancel()
            case 14:
                try await people("retry") {
                    try await $0.retry([$1])
                } expecting: {
                    model, node, _ in
                    model.retry(node)
                }
            case 15: try await undo()
            case 16: try await wake()
            case 17: try await commit()
            case 18: try await purge()
            default: try await reopen(killed: below(3) > 0)
            }
        }

        private mutating func add() async throws {
            if model.batches.count > 3 { return }
            names += 1
            let isHeld = below(4) == 0
            model.flush()
            let batch = try await queue.addTree(
                "tree\(names)", files: below(4), folders: ["a": below(5), "b": below(3)], held: isHeld)
            log.append("add \(batch)")
            var modelled = QueueModel.Batch(held: isHeld)
            for task in try await queue.reader.tasks(batch: batch, limit: 1000) {
                modelled.tasks[task.id] = QueueModel.Task(folder: task.folder.split(separator: "/").map(String.init))
            }
            model.batches[batch] = modelled
        }

        private mutating func claim() async throws {
            guard let lane = try await queue.writer.lanes().randomElement(using: &random) else { return }
            let limit = below(6)
            let claimed = try await queue.writer.claim(lane.lane, limit: limit, now: sandbox.clock.now).map(\.id)
            log.append("claim \(lane.batch) \(limit) -> \(claimed)")
            #expect(claimed == model.claim(lane.batch, limit: limit), "\(log)")
        }

        /// Of tasks in hand, and now and then of one that is not: the engine learns of a cancel late.
        private mutating func recordFacts() {
            for (_, batch) in model.batches.sorted(by: { $0.key < $1.key }) {
                for (id, task) in batch.tasks.sorted(by: { $0.key < $1.key }) where task.claimed || below(20) == 0 {
                    let change = someFact(isClaimed: task.claimed)
                    log.append("record \(id) \(change)")
                    queue.writer.record(change, for: id)
                    model.gathered.append((id, change))
                }
            }
        }

        private mutating func someFact(isClaimed: Bool) -> TaskFact {
            let error = TransferError(.timedOut, "no answer")
            switch below(10) {
            case 0...2: return .running
            case 3: return .finishing
            case 4: return .checkpoint(resumePoint: [1, 2, 3], accepted: Int64(below(100)))
            case 5:
                let retryAt = below(2) == 0 ? sandbox.clock.now.advanced(by: .seconds(below(8))) : nil
                return .waiting(WaitReasons(.backoff), retryAt: retryAt, error: below(2) == 0 ? error : nil)
            case 6: return .requeued
            case 7 where isClaimed: return .failed(TransferError(.http, "404", httpStatus: 404))
            case 8 where isClaimed: return .restarted(reason: "it changed", repeated: 5, identity: nil)
            default: return isClaimed ? .completed(Completion(size: 100, verified: .size)) : .running
            }
        }

        private mutating func someNode() -> NodeID? {
            guard let batch = model.batches.keys.sorted().randomElement(using: &random) else { return nil }
            switch below(4) {
            case 0: return .batch(batch)
            case 1:
                // The tree's own folder, or one in it.
                let top = model.batches[batch]?.tasks.values.first?.folder.first ?? "tree"
                let path = [[top], [top, "a"], [top, "b"]][below(3)].joined(separator: "/")
                let node = NodeID.folder(batch, path: RawPath(path))
                // The model knows folders by their tasks.
                return model.tasks(of: node)?.1.isEmpty == false ? node : .batch(batch)
            default:
                return model.batches[batch]?.tasks.keys.sorted().randomElement(using: &random).map { .task($0) }
            }
        }

        private mutating func somePaused() -> NodeID? {
            var nodes: [NodeID] = []
            for (id, batch) in model.batches.sorted(by: { $0.key < $1.key }) {
                if batch.paused || batch.held { nodes.append(.batch(id)) }
                for path in batch.pausedFolders.sorted(by: { $0.joined() < $1.joined() }) {
                    nodes.append(.folder(id, path: RawPath(path.joined(separator: "/"))))
                }
                nodes += batch.tasks.filter(\.value.ownPaused).keys.sorted().map { .task($0) }
            }
            return nodes.randomElement(using: &random)
        }

        private mutating func people(
            _ name: String, _ call: (QueueWriter, NodeID) async throws -> NodeChange,
            expecting: (inout QueueModel, NodeID, Timestamp) -> NodeResult.Outcome
        ) async throws {
            guard let node = name == "resume" && below(2) == 0 ? somePaused() : someNode() else { return }
            let claimed = claimedTasks()
            let change = try await call(queue.writer, node)
            log.append("\(name) \(node) -> \(change.results.map(\.result))")
            model.flush()
            let before = claimed.intersection(claimedTasks())
            let expected = expecting(&model, node, sandbox.clock.now)
            #expect(change.results.map(\.result) == [expected], "\(log)")
            #expect(Set(change.stopped.map(\.task)) == before.subtracting(claimedTasks()), "\(log)")
        }

        private func claimedTasks() -> Set<TaskID> {
            Set(model.batches.values.flatMap { $0.tasks.filter(\.value.claimed).keys })
        }

        private mutating func cancel() async throws {
            let nodes = [someNode(), below(3) == 0 ? someNode() : nil].compactMap { $0 }
            let change = try await queue.writer.cancel(nodes)
            log.append("cancel \(nodes) -> \(change.results.map(\.result))")
            #expect(change.results.map(\.result) == model.cancel(nodes, sandbox.clock.now), "\(log)")
        }

        private mutating func undo() async throws {
            let change = try await queue.writer.undo(.last, now: sandbox.clock.now)
            log.append("undo -> \(change.results.map(\.id))")
            #expect(change.results.count == model.undo(sandbox.clock.now), "\(log)")
        }

        private mutating func wake() async throws {
            sandbox.clock.advance(by: .seconds(below(6)))
            try await queue.writer.wakeDue(now: sandbox.clock.now)
            log.append("wake")
            model.wakeDue(sandbox.clock.now)
        }

        private mutating func commit() async throws {
            try await queue.writer.commit()
            model.flush()
        }

        private mutating func purge() async throws {
            guard below(2) == 0, let batch = model.batches.keys.sorted().randomElement(using: &random) else { return }
            let change = try await queue.writer.purge([.batch(batch)])
            log.append("purge \(batch) -> \(change.results.map(\.result))")
            #expect(change.results.map(\.result) == [model.purge(batch, sandbox.clock.now)], "\(log)")
        }

        mutating func reopen(killed: Bool) async throws {
            log.append(killed ? "kill" : "close")
            if killed { await queue.abandon() } else { try await queue.close() }
            queue = try sandbox.open()
            model.restart(killed: killed)
        }

        /// What a reader sees is what the model says, and the queue's own check finds nothing.
        mutating func compare() async throws {
            try await commit()
            #expect(try await queue.reader.check() == [], "\(log)")
            let batches = try await queue.reader.batches()
            #expect(Set(batches.map(\.id)) == Set(model.batches.keys), "\(log)")
            for batch in batches {
                let tasks = try await queue.reader.tasks(batch: batch.id, limit: 1000)
                let shown = model.shown(batch.id)
                #expect(Dictionary(uniqueKeysWithValues: tasks.map { ($0.id, $0.state) }) == shown, "\(log)")
                let accepted = model.batches[batch.id]?.tasks.values.reduce(0) { $0 + $1.accepted }
                #expect(batch.bytesAccepted == accepted, "\(log)")
                #expect((batch.finishedAt != nil) == (model.batches[batch.id]?.isOver == true), "\(log)")
                let failed = shown.filter { $0.value == .failed }.count
                #expect(batch.causes.reduce(0) { $0 + $1.count } == failed, "\(log)")
            }
        }
    }
}
