import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

/// Two queues live the same life, but in one of them something is done and taken back, with the engine at work between.
@Suite("A change and its undo leave no trace") struct UndoPropertyTests {
    enum Deed: CaseIterable {
        case pause, pauseUntil, resume, cancel, move, priority, limit, notBefore, runNow, clear, purge
    }

    @Test("all is as if it had not been done, whatever the engine and others did meanwhile", arguments: Deed.allCases)
    func noTrace(_ deed: Deed) async throws {
        var done = 0
        for seed in UInt64(1)...12 {
            var twins = try Twins(seed)
            for _ in 0..<16 { try await twins.live() }
            if deed == .resume { try await twins.pauseSome() }
            if deed == .clear || deed == .purge { try await twins.endSome() }
            if try await twins.perform(deed) {
                done += 1
                for _ in 0..<6 { try await twins.liveApart(deed) }
                try await twins.undo()
                let (difference, findings) = try await twins.compare(waits: deed != .cancel && deed != .runNow)
                #expect(
                    difference == "" && findings == [],
                    "seed \(seed): \(difference)\n\(twins.log.joined(separator: "; "))")
            }
            try await twins.close()
        }
        #expect(done >= 6, "a test that does nothing proves nothing")
    }

    private struct Twins {
        /// The first one has the change.
        let sandboxes: [Sandbox]
        let queues: [TransferQueue]
        var random: SeededGenerator
        var log: [String] = []
        var operation: Int64?
        var names = 0

        init(_ seed: UInt64) throws {
            sandboxes = [try Sandbox(), try Sandbox()]
            queues = try sandboxes.map { try $0.open() }
            random = SeededGenerator(seed: seed)
        }

        private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
        private mutating func some<Value>(_ values: [Value]) -> Value? { values.randomElement(using: &random) }
        private var now: Timestamp { sandboxes[0].clock.now }

        func close() async throws { for queue in queues { try await queue.close() } }

        // MARK: The same in both

        mutating func live() async throws {
            switch below(12) {
            case 0...2: try await add()
            case 3...5: try await claim()
            case 6...8: try await record(late: false)
            case 9: try await wake()
            default: try await change(Deed.allCases[below(9)], in: queues[...])
            }
        }

        /// While the change stands: nothing that the change itself would make another thing of.
        mutating func liveApart(_ deed: Deed) async throws {
            switch below(7) {
            case 0: try await add()
            case 1, 2: try await claim()
            case 3, 4: try await record(late: deed == .pause || deed == .pauseUntil)
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
                let isLate = !inHand[0].contains(id)
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

        private mutating func someFact(isLate: Bool) -> TaskChange {
            switch isLate ? 3 + below(2) : below(7) {
            case 0: .running
            case 1: .checkpoint(resumePoint: [1, 2], accepted: Int64(below(100)))
            case 2: .waiting(WaitReasons(.backoff), retryAt: now.advanced(by: .seconds(1 + below(30))), error: nil)
            case 3: .completed(Completion(size: 100, verified: .size))
            case 4: .failed(TransferError(.http, "404", httpStatus: 404))
            case 5: .requeued
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
        mutating func endSome() async throws {
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

        mutating func pauseSome() async throws {
            for _ in 0..<3 { try await change(below(2) == 0 ? .pause : .pauseUntil, in: queues[...]) }
        }

        // MARK: What people do

        private mutating func someNode() async throws -> NodeID? {
            guard
                let batch = some(
                    try await queues[0].reader.batches().filter { !$0.state.isTerminal }.map(\.id).sorted())
            else { return nil }
            let tasks = try await queues[0].reader.tasks(batch: batch, limit: 100)
            switch below(4) {
            case 0: return .batch(batch)
            case 1:
                guard let top = tasks.first?.folder.split(separator: "/").first else { return .batch(batch) }
                return .folder(batch, path: RawPath([String(top), "\(top)/a", "\(top)/b"][below(3)]))
            default: return some(tasks.filter { !$0.state.isTerminal }).map { .task($0.id) }
            }
        }

        /// Does it in some of the queues.
        /// - Returns: what takes it back in the first of them; `nil`: nothing was done.
        @discardableResult
        private mutating func change(_ deed: Deed, in queues: ArraySlice<TransferQueue>) async throws -> Int64? {
            if deed == .limit, below(3) == 0 { return try await changeWideLimit(in: queues) }
            guard let node = try await someNode(), let other = try await someNode() else { return nil }
            let nodes = below(4) == 0 && other != node ? [node, other] : [node]
            let time = now.advanced(by: .seconds(1 + below(60)))
            let priority = TransferPriority.allCases[below(TransferPriority.allCases.count)]
            let place: MovePlace = [.top, .bottom, .earlier, .later, .before(other)][below(5)]
            let rate = Int64(below(3)) << 10
            let over = try await queues.first?.reader.batches().filter { $0.state.isTerminal }.map(\.id).sorted() ?? []
            let finished = below(2) == 0 ? over.prefix(2).map { NodeID.batch($0) } : []
            var operation: Int64?
            for (place0, queue) in queues.enumerated() {
                let change =
                    switch deed {
                    case .pause: try await queue.writer.pause(nodes)
                    case .pauseUntil: try await queue.writer.pause(nodes, until: time)
                    case .resume: try await queue.writer.resume(nodes)
                    case .cancel: try await queue.writer.cancel(nodes)
                    case .move: try await queue.writer.move(nodes, to: place)
                    case .priority: try await queue.writer.set(nodes, NodeSettings(priority: priority))
                    case .limit: try await queue.writer.set(nodes, NodeSettings(limit: rate))
                    case .notBefore: try await queue.writer.set(nodes, NodeSettings(notBefore: time))
                    case .runNow: try await queue.writer.runNow(nodes)
                    case .clear where finished.isEmpty: try await queue.writer.clearFinished()
                    case .clear: try await queue.writer.clear(finished)
                    case .purge where finished.isEmpty: try await queue.writer.purgeFinished()
                    case .purge: try await queue.writer.purge(finished)
                    }
                if place0 == 0 {
                    operation = change.operation
                    log.append(
                        "\(deed) \(deed == .move ? "\(place) " : "")\(change.results.map { "\($0.id) \($0.result)" })")
                }
            }
            return operation
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
                operation = try await change(deed, in: queues[..<1])
                if operation != nil { return true }
            }
            return false
        }

        mutating func undo() async throws {
            guard let operation else { return }
            let change = try await queues[0].writer.undo(.operation(operation), now: now)
            log.append("UNDO \(change.results.map { "\($0.id) \($0.result)" })")
            #expect(change.undone != nil && !change.results.contains { $0.result == .refused }, "\(log)")
        }

        func compare(waits: Bool) async throws -> (difference: String, findings: [String]) {
            for queue in queues { try await queue.writer.commit() }
            let dumps = try sandboxes.map { try QueueDump(try $0.database(), waits: waits) }
            let limits = [try await queues[0].writer.storedLimits(), try await queues[1].writer.storedLimits()]
            let difference = dumps[1].difference(to: dumps[0])
            return (
                limits[0] == limits[1] ? difference : difference + "\nlimits \(limits[1]) became \(limits[0])",
                try await queues[0].reader.check()
            )
        }
    }
}
