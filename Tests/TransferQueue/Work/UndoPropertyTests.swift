import FoundationEssentials
import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

/// Queues live the same life, but in one of them something is done and taken back, with the engine at work between.
@Suite("A change and its undo leave no trace") struct UndoPropertyTests {
    enum Deed: CaseIterable {
        case pause, pauseUntil, resume, cancel, move, priority, limit, notBefore, runNow, clear, purge

        /// The waits that it leaves with its tasks, or brings back when it is taken back; `nil`: all.
        var kept: WaitReasons? {
            switch self {
            case .cancel: WaitReasons(.notBefore)
            case .runNow:
                WaitReason.allCases.filter(\.needsPerson).reduce(WaitReasons(.notBefore)) { $0.union(WaitReasons($1)) }
            default: nil
            }
        }
    }

    /// `UNDO_SEEDS=1-1000` runs these.
    private static let seeds: ClosedRange<UInt64> = {
        let ends = ProcessInfo.processInfo.environment["UNDO_SEEDS"]?.split(separator: "-").compactMap { UInt64($0) }
        guard let ends, ends.count == 2, ends[0] <= ends[1] else { return 1...12 }
        return ends[0]...ends[1]
    }()

    @Test("all is as if it had not been done, whatever the engine and others did meanwhile", arguments: Deed.allCases)
    func noTrace(_ deed: Deed) async throws {
        var done = 0
        for seed in Self.seeds {
            var twins = try Twins(seed, queues: 2)
            try await twins.prepare(deed)
            if try await twins.perform(deed) {
                done += 1
                for _ in 0..<6 { try await twins.liveApart(deed) }
                try await twins.undo()
                try await expectSame(twins, 1, seed)
            }
            try await twins.close()
        }
        #expect(done >= 6, "a test that does nothing proves nothing")
    }

    // Not of a resume: that of a batch is noted by the names of what was paused in it.
    @Test(
        "what is left of a change that is taken back in part is what it would have been alone, and without a rest there is no trace",
        arguments: Deed.allCases.filter { $0 != .resume })
    func inPart(_ deed: Deed) async throws {
        var done = 0
        for seed in Self.seeds {
            var twins = try Twins(seed, queues: 3)
            try await twins.prepare(deed)
            if try await twins.performInParts(deed) {
                done += 1
                for _ in 0..<4 { try await twins.liveApart(deed) }
                try await twins.undoSome()
                // The places that are given depend on what else is moved.
                if deed != .move { try await expectSame(twins, 2, seed) }
                for _ in 0..<3 { try await twins.liveApart(deed) }
                try await twins.undo()
                try await expectSame(twins, 1, seed)
            }
            try await twins.close()
        }
        #expect(done >= 3, "a test that does nothing proves nothing")
    }

    /// Changes of settings of nodes: of the same one only the last counts.
    private static let settings: [Deed] = [.pause, .pauseUntil, .resume, .runNow, .priority, .limit, .notBefore]

    @Test(
        "an older change that is taken back leaves what newer ones set, and these then bring what was before all of them",
        arguments: settings)
    func older(_ deed: Deed) async throws {
        var done = 0
        for seed in Self.seeds {
            var twins = try Twins(seed, queues: 3)
            try await twins.prepare(deed)
            if try await twins.perform(deed), try await twins.performNewer(Self.settings) {
                done += 1
                try await twins.performMore(deed)
                try await twins.undo()
                try await expectSame(twins, 1, seed)
                while try await twins.undoNewer() { try await expectSame(twins, 1, seed) }
                try await expectSame(twins, 2, seed)
            }
            try await twins.close()
        }
        #expect(done >= 3, "a test that does nothing proves nothing")
    }

    private func expectSame(_ twins: Twins, _ other: Int, _ seed: UInt64) async throws {
        let (difference, findings) = try await twins.compare(with: other)
        #expect(
            difference == "" && findings == [],
            "seed \(seed), against \(other): \(difference)\n\(twins.log.joined(separator: "; "))")
    }

    /// A change that is made the same in several queues.
    private struct Order {
        let deed: Deed
        var nodes: [NodeID]
        let time: Timestamp
        let priority: TransferPriority
        let place: MovePlace
        let rate: Int64

        /// - Parameter joining: this is another page of that change; only of settings.
        func perform(on queue: TransferQueue, joining: Int64? = nil) async throws -> NodeChange {
            switch deed {
            case .pause: try await queue.writer.pause(nodes, joining: joining)
            case .pauseUntil: try await queue.writer.pause(nodes, until: time, joining: joining)
            case .resume: try await queue.writer.resume(nodes, joining: joining)
            case .cancel: try await queue.writer.cancel(nodes)
            case .move: try await queue.writer.move(nodes, to: place)
            case .priority: try await queue.writer.set(nodes, NodeSettings(priority: priority), joining: joining)
            case .limit: try await queue.writer.set(nodes, NodeSettings(limit: rate), joining: joining)
            case .notBefore: try await queue.writer.set(nodes, NodeSettings(notBefore: time), joining: joining)
            case .runNow: try await queue.writer.runNow(nodes, joining: joining)
            case .clear where nodes.isEmpty: try await queue.writer.clearFinished()
            case .clear: try await queue.writer.clear(nodes)
            case .purge where nodes.isEmpty: try await queue.writer.purgeFinished()
            case .purge: try await queue.writer.purge(nodes)
            }
        }
    }

    private struct Twins {
        /// The first one has the change, the second one never, the third one only that part of it which is not taken back first.
        let sandboxes: [Sandbox]
        let queues: [TransferQueue]
        var random: SeededGenerator
        var log: [String] = []
        var operation: Int64?
        /// The nodes of the change.
        var changed: [NodeID] = []
        /// Newer changes, with the numbers that they have in the first and the second one.
        var newer: [[Int64]] = []
        /// The nodes whose part is taken back first.
        var part: [NodeID] = []
        /// Tasks of which the change has ended waits for good.
        var ended: QueueDump.Ended?
        var names = 0

        init(_ seed: UInt64, queues count: Int) throws {
            sandboxes = try (0..<count).map { _ in try Sandbox() }
            queues = try sandboxes.map { try $0.open() }
            random = SeededGenerator(seed: seed)
        }

        private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        private mutating func some<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &random) }
        private var now: Timestamp { sandboxes[0].clock.now }

        func close() async throws { for queue in queues { try await queue.close() } }

        // MARK: The same in all

        /// A life before the change, in which that has something to do.
        mutating func prepare(_ deed: Deed) async throws {
            for _ in 0..<16 { try await live() }
            switch deed {
            case .resume: for _ in 0..<3 { try await change(below(2) == 0 ? .pause : .pauseUntil) }
            case .clear, .purge: try await endSome()
            case .cancel, .runNow, .notBefore: for _ in 0..<4 { try await delaySome() }
            default: break
            }
        }

        private mutating func live() async throws {
            switch below(12) {
            case 0...2: try await add()
            case 3...5: try await claim()
            case 6...8: try await record(late: false)
            case 9: try await wake()
            default: try await change(Deed.allCases[below(9)])
            }
        }

        /// While the change stands: nothing that the change itself would make another thing of.
        mutating func liveApart(_ deed: Deed) async throws {
            switch below(7) {
            case 0: try await add()
            case 1, 2: try await claim()
            case 3, 4: try await record(late: queues.count == 2 && (deed == .pause || deed == .pauseUntil))
            default: try await wake()
            }
        }

        private mutating func add() async throws {
            names += 1
            let (files, a, b, held) = (below(4), below(4), below(3), below(5) == 0)
            log.append("add tree\(names)")
            for queue in queues {
                _ = try await queue.addTree("tree\(names)", files: files, folders: ["a": a, "b": b], held: held)
            }
        }

        private mutating func claim() async throws {
            guard let batch = some(try await queues[1].reader.batches().map(\.id).sorted()) else { return }
            let limit = below(5)
            log.append("claim \(limit) of \(batch)")
            for queue in queues {
                for lane in try await queue.writer.lanes() where lane.batch == batch {
                    _ = try await queue.writer.claim(lane.lane, limit: limit, now: now)
                }
            }
        }

        /// - Parameter late: also ends of what is not in hand any more in the one with the change: the engine learns of it a little later.
        private mutating func record(late: Bool) async throws {
            let inHand = try queues.indices.map { Set(try claimed($0)) }
            for id in inHand[1].sorted() where below(3) == 0 {
                let isLate = inHand.contains { !$0.contains(id) }
                if isLate, !late { continue }
                let change = someFact(isLate: isLate)
                log.append("record \(id) \(change)")
                for queue in queues { queue.writer.record(change, for: id) }
            }
            for queue in queues { try await queue.writer.commit() }
        }

        private func claimed(_ place: Int) throws -> [TaskID] {
            try sandboxes[place].database().rows("SELECT id FROM tasks WHERE claimed = 1") {
                TaskID(rawValue: $0.integer(0))
            }
        }

        private mutating func someFact(isLate: Bool) -> TaskFact {
            switch isLate ? 3 + below(2) : below(8) {
            case 0: .running
            case 1: .checkpoint(resumePoint: [1, 2], accepted: Int64(below(100)))
            case 2: .waiting(WaitReasons(.backoff), retryAt: now.advanced(by: .seconds(1 + below(30))), error: nil)
            case 3: .completed(Completion(size: 100, verified: .size))
            case 4: .failed(TransferError(.http, "404", httpStatus: 404))
            case 5: .requeued
            case 6: .waiting(WaitReasons(.auth), retryAt: nil, error: nil)
            default: .finishing
            }
        }

        private mutating func wake() async throws {
            let step = Duration.seconds(below(2))
            log.append("wake after \(step)")
            for (sandbox, queue) in zip(sandboxes, queues) {
                sandbox.clock.advance(by: step)
                try await queue.writer.wakeDue(now: sandbox.clock.now)
            }
        }

        /// Batches that are over, in several ways.
        private mutating func endSome() async throws {
            for batch in try await queues[1].reader.batches() where below(2) == 0 {
                log.append("end \(batch.id)")
                let ways = (0..<200).map { _ in below(3) }
                for queue in queues {
                    _ = try await queue.writer.resume([.batch(batch.id)])
                    for (place, task) in try await queue.claimAll().enumerated()
                    where task.batch == batch.id && ways[place] > 0 {
                        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: task.id)
                    }
                    try await queue.writer.commit()
                    _ = try await queue.writer.cancel([.batch(batch.id)])
                }
            }
        }

        /// Gives tasks times of their own.
        private mutating func delaySome() async throws {
            guard let order = try await someOrder(.notBefore),
                let batch = order.nodes.first?.batch(in: try await tasks())
            else { return }
            let open = try await tasks().filter { $0.batch == batch && !$0.state.isTerminal }.map(\.id)
            guard let task = some(open) else { return }
            try await perform(
                Order(
                    deed: .notBefore, nodes: [.task(task)], time: now.advanced(by: .seconds(1 + below(60))),
                    priority: .normal, place: .top, rate: 0), in: queues[...])
        }

        // MARK: What people do

        private func tasks() async throws -> [TaskSnapshot] { try await queues[0].reader.tasks(limit: 10_000) }

        private mutating func someBatch() async throws -> BatchID? {
            some(try await queues[0].reader.batches().filter { !$0.state.isTerminal }.map(\.id).sorted())
        }

        private mutating func someNode(in batch: BatchID) async throws -> NodeID? {
            let tasks = try await queues[0].reader.tasks(batch: batch, limit: 100)
            switch below(4) {
            case 0: return .batch(batch)
            case 1:
                guard let top = tasks.first?.folder.split(separator: "/").first else { return .batch(batch) }
                return .folder(batch, path: RawPath([String(top), "\(top)/a", "\(top)/b"][below(3)]))
            default: return some(tasks.filter { !$0.state.isTerminal }).map { .task($0.id) }
            }
        }

        /// - Parameter count: the most nodes that it is of; they often lie in one batch.
        private mutating func someOrder(_ deed: Deed, of count: Int = 2) async throws -> Order? {
            guard let first = try await someBatch(), let second = try await someBatch() else { return nil }
            guard let node = try await someNode(in: first), let other = try await someNode(in: second) else {
                return nil
            }
            var nodes = [node]
            if deed == .clear || deed == .purge {
                let over = try await queues[0].reader.batches().filter { $0.state.isTerminal }.map(\.id).sorted()
                nodes = count > 2 || below(2) == 0 ? over.prefix(count).map { NodeID.batch($0) } : []
            } else if count > 2 {
                for _ in 0..<count {
                    let batch = below(3) > 0 ? first : second
                    if let more = try await someNode(in: batch), !nodes.contains(more) { nodes.append(more) }
                }
            } else if below(4) == 0, other != node {
                nodes.append(other)
            }
            return Order(
                deed: deed, nodes: nodes, time: now.advanced(by: .seconds(1 + below(60))),
                priority: TransferPriority.allCases[below(TransferPriority.allCases.count)],
                place: [.top, .bottom, .earlier, .later, .before(other)][below(5)], rate: Int64(below(3)) << 10)
        }

        /// Does it in some of the queues.
        /// - Returns: what the first of them says.
        @discardableResult
        private mutating func perform(_ order: Order, in queues: ArraySlice<TransferQueue>) async throws -> NodeChange?
        {
            var first: NodeChange?
            for queue in queues {
                let change = try await order.perform(on: queue)
                if first != nil { continue }
                first = change
                let place = order.deed == .move ? "\(order.place) " : ""
                log.append("\(order.deed) \(place)\(change.results.map { "\($0.id) \($0.result)" })")
            }
            return first
        }

        /// Does something in all queues.
        private mutating func change(_ deed: Deed) async throws {
            if deed == .limit, below(3) == 0 { return _ = try await changeWideLimit(in: queues[...]) }
            guard let order = try await someOrder(deed) else { return }
            try await perform(order, in: queues[...])
        }

        private mutating func changeWideLimit(in queues: ArraySlice<TransferQueue>) async throws -> Int64? {
            let (rate, isWhole, transfers) = (Int64(below(3)) << 10, below(2) == 0, 1 + below(5))
            log.append("limit \(isWhole ? "of all" : "of a host") \(rate)")
            let before = try await queues.first?.writer.undoSteps(now: now).first?.operation
            for queue in queues {
                if isWhole {
                    try await queue.writer.changeLimits(StoredLimits(up: "\(rate)", transfers: transfers))
                } else {
                    try await queue.writer.changeLimits(scoped: [.host("host"): rate])
                }
            }
            let last = try await queues.first?.writer.undoSteps(now: now).first?.operation
            return last == before ? nil : last
        }

        // MARK: In the first one alone

        mutating func perform(_ deed: Deed) async throws -> Bool {
            for _ in 0..<8 {
                log.append("DO")
                if deed == .limit, below(3) == 0 {
                    operation = try await changeWideLimit(in: queues[..<1])
                } else if let order = try await someOrder(deed) {
                    try await noteEnded(order)
                    operation = try await perform(order, in: queues[..<1])?.operation
                    changed = order.nodes
                }
                if operation != nil { return true }
            }
            return false
        }

        /// The third one gets a part of it.
        mutating func performInParts(_ deed: Deed) async throws -> Bool {
            for _ in 0..<8 {
                log.append("DO")
                guard var order = try await someOrder(deed, of: 4) else { continue }
                // A cancel ends a task once: of a file and its folder one part would have nothing to do.
                if deed == .cancel { order.nodes = outermost(order.nodes, try await tasks()) }
                try await noteEnded(order)
                guard let change = try await perform(order, in: queues[..<1]) else { continue }
                operation = change.operation
                let steps = change.results.filter { $0.result == .done }.compactMap(\.id)
                part = steps.filter { _ in below(2) == 0 }
                var rest = order
                rest.nodes = steps.filter { !part.contains($0) }
                if !rest.nodes.isEmpty { try await perform(rest, in: queues[2...]) }
                if part.isEmpty || rest.nodes.isEmpty {
                    // The change stays done, in all of them.
                    if part.isEmpty {
                        try await perform(order, in: queues[1..<2])
                    } else {
                        try await perform(order, in: queues[1...])
                    }
                    operation = nil
                    continue
                }
                return true
            }
            return false
        }

        /// Changes in the first two, mostly of the nodes that only the first has changed.
        /// - Returns: false where they are not the same in both, as with the resume of what only one of them has paused.
        mutating func performNewer(_ deeds: [Deed]) async throws -> Bool {
            for _ in 0...below(3) {
                try await liveApart(deeds[0])
                guard let deed = some(deeds), var order = try await someOrder(deed) else { continue }
                if below(3) > 0, let node = some(changed) { order.nodes = [node] }
                try await noteEnded(order)
                var changes: [NodeChange] = []
                for queue in queues[..<2] { changes += [try await order.perform(on: queue)] }
                log.append("\(deed) \(changes.map { $0.results.map { "\($0.id) \($0.result)" } })")
                if changes[0].results.map(\.result) != changes[1].results.map(\.result) { return false }
                let operations = changes.compactMap(\.operation)
                if operations.count < 2 { continue }
                // The resume of a batch or a folder lets go on what is paused in it only where it is not paused itself.
                let nodes = try zip(sandboxes, operations).map { sandbox, operation in
                    try sandbox.database().rows(
                        "SELECT node FROM undo WHERE operation = ? ORDER BY node", .integer(operation)
                    ) { $0.text(0) }
                }
                if nodes[0] != nodes[1] { return false }
                newer.append(operations)
            }
            return !newer.isEmpty
        }

        /// The change goes on with another page, in the first one alone, as if it had not come to its end before the newer ones.
        mutating func performMore(_ deed: Deed) async throws {
            guard below(2) == 0, let operation, var order = try await someOrder(deed) else { return }
            if below(3) > 0, let node = some(changed) { order.nodes = [node] }
            try await noteEnded(order)
            let change = try await order.perform(on: queues[0], joining: operation)
            log.append("MORE \(deed) \(change.results.map { "\($0.id) \($0.result)" })")
        }

        /// Takes one of the newer changes back, by its number.
        /// - Returns: false when there is none.
        mutating func undoNewer() async throws -> Bool {
            if newer.isEmpty { return false }
            let operations = newer.remove(at: below(newer.count))
            for (queue, operation) in zip(queues, operations) {
                let change = try await queue.writer.undo(.operation(operation), now: now)
                log.append("UNDO \(operation) \(change.results.map { "\($0.id) \($0.result)" })")
                #expect(change.undone != nil && !change.results.contains { $0.result == .refused }, "\(log)")
            }
            return true
        }

        private mutating func noteEnded(_ order: Order) async throws {
            guard let kept = order.deed.kept else { return }
            let covered = try await tasks().filter { task in order.nodes.contains { $0.covers(task) } }
            ended = QueueDump.Ended(
                tasks: Set(covered.map(\.id)).union(ended?.tasks ?? []),
                kept: ended.map { $0.kept.intersection(kept) } ?? kept)
        }

        private func outermost(_ nodes: [NodeID], _ tasks: [TaskSnapshot]) -> [NodeID] {
            func covered(_ node: NodeID) -> Set<TaskID> { Set(tasks.filter { node.covers($0) }.map(\.id)) }
            return nodes.reduce(into: []) { found, node in
                if found.allSatisfy({ covered($0).isDisjoint(with: covered(node)) }) { found.append(node) }
            }
        }

        mutating func undoSome() async throws {
            let change = try await queues[0].writer.undo(.nodes(part.shuffled(using: &random)), now: now)
            log.append("UNDO of \(change.results.map { "\($0.id) \($0.result)" })")
            #expect(change.undone != nil && change.results.allSatisfy { $0.result == .done }, "\(log)")
        }

        mutating func undo() async throws {
            guard let operation else { return }
            let change = try await queues[0].writer.undo(.operation(operation), now: now)
            log.append("UNDO \(change.results.map { "\($0.id) \($0.result)" })")
            #expect(change.undone != nil && !change.results.contains { $0.result == .refused }, "\(log)")
        }

        func compare(with other: Int) async throws -> (difference: String, findings: [String]) {
            for queue in queues { try await queue.writer.commit() }
            let dumps = try [0, other].map { try QueueDump(try sandboxes[$0].database(), ended) }
            let limits = [try await queues[0].writer.storedLimits(), try await queues[other].writer.storedLimits()]
            let difference = dumps[1].difference(to: dumps[0])
            return (
                limits[0] == limits[1] ? difference : difference + "\nlimits \(limits[1]) became \(limits[0])",
                try await queues[0].reader.check()
            )
        }
    }
}

extension NodeID {
    /// Returns true of a task that is this node, or in it.
    fileprivate func covers(_ task: TaskSnapshot) -> Bool {
        switch self {
        case .batch(let batch): task.batch == batch
        case .folder(let batch, let path):
            task.batch == batch && (task.folder == path.displayed || task.folder.hasPrefix(path.displayed + "/"))
        case .task(let id): task.id == id
        }
    }

    fileprivate func batch(in tasks: [TaskSnapshot]) -> BatchID? { tasks.first { covers($0) }?.batch }
}
