import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Moves in a batch, where files share a place or have little room between them") struct SharedPlaceTests {
    /// A batch with the files 1 and 2, and a moved folder whose files 3, 4 and 5 share its place.
    private func bench() async throws -> (ChangeBench, BatchID) {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 2, folders: ["a": 3])
        try await bench.move(.folder(batch, path: RawPath("photos/a")), to: .bottom)
        return (bench, batch)
    }

    @Test(
        "a file of a moved folder goes where it is told among the others of the folder",
        arguments: [
            ("top", 4, [4, 1, 2, 3, 5]), ("bottom", 4, [1, 2, 3, 5, 4]), ("earlier", 5, [1, 2, 3, 5, 4]),
            ("earlier", 4, [1, 2, 4, 3, 5]), ("later", 3, [1, 2, 4, 3, 5]), ("later", 4, [1, 2, 3, 5, 4]),
            ("later", 2, [1, 3, 2, 4, 5]), ("before 4", 5, [1, 2, 3, 5, 4]), ("before 3", 5, [1, 2, 5, 3, 4]),
            ("before 5", 1, [2, 3, 4, 1, 5]),
        ])
    func inFolder(place: String, file: Int64, order: [Int64]) async throws {
        let (bench, batch) = try await bench()
        let to: MovePlace =
            switch place {
            case "top": .top
            case "bottom": .bottom
            case "earlier": .earlier
            case "later": .later
            default: .before(bench.task(Int64(place.dropFirst("before ".count)) ?? 0))
            }
        let result = try await bench.queue.writer.move([bench.task(file)], to: to)
        #expect(result.results.map(\.result) == [.done])
        #expect(try bench.line(of: batch) == order)
        #expect(try await bench.queue.claimAll().map(\.id.rawValue) == order)
        try await bench.close()
    }

    @Test("what stands at its place is not moved", arguments: [true, false])
    func already(isShared: Bool) async throws {
        let (bench, batch) = try await bench()
        if !isShared { try await bench.move(bench.task(5), to: .earlier) }
        let order = try bench.line(of: batch)
        let writer = bench.queue.writer
        func result(_ file: Int64, _ place: MovePlace) async throws -> [NodeResult.Outcome] {
            try await writer.move([bench.task(file)], to: place).results.map(\.result)
        }
        #expect(try await result(order[0], .top) == [.already])
        #expect(try await result(order[0], .earlier) == [.already])
        #expect(try await result(order[4], .bottom) == [.already])
        #expect(try await result(order[4], .later) == [.already])
        #expect(try await result(order[2], .before(bench.task(order[3]))) == [.already])
        #expect(try await result(order[2], .before(bench.task(order[2]))) == [.already])
        #expect(try await result(order[2], .before(.folder(batch, path: RawPath("photos/a")))) == [.already])
        #expect(try bench.line(of: batch) == order)
        try await bench.close()
    }

    @Test("the number of files before one counts those that share its place")
    func ahead() async throws {
        let (bench, _) = try await bench()
        var ahead: [Int64?] = []
        for file: Int64 in [1, 2, 3, 4, 5] {
            ahead.append(try await bench.queue.reader.standing(of: bench.task(file))?.aheadInBatch)
        }
        #expect(ahead == [0, 1, 2, 3, 4])
        try await bench.close()
    }

    @Test("a file that is paused or waits keeps its turn, and others pass it one by one", arguments: [true, false])
    func resting(isPaused: Bool) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 4)
        if isPaused {
            try await bench.pause(bench.task(2), bench.task(3))
        } else {
            try await bench.delay(bench.task(2), bench.task(3), by: 100)
        }
        try await bench.move(bench.task(4), to: .earlier)
        #expect(try bench.line(of: batch) == [1, 2, 4, 3])
        try await bench.move(bench.task(1), to: .later)
        #expect(try bench.line(of: batch) == [2, 1, 4, 3])
        try await bench.move(bench.task(4), bench.task(1), to: .top)
        #expect(try bench.line(of: batch) == [4, 1, 2, 3])
        try await bench.move(bench.task(2), to: .bottom)
        #expect(try bench.line(of: batch) == [4, 1, 3, 2])
        try await bench.close()
    }

    @Test("a paused folder is put in order as one that runs")
    func pausedFolder() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(folders: ["a": 4])
        try await bench.pause(.folder(batch, path: RawPath("photos/a")))
        try await bench.move(bench.task(3), bench.task(4), to: .top)
        #expect(try bench.line(of: batch) == [3, 4, 1, 2])
        try await bench.close()
    }

    /// Gives all files of the batch other places, in the same order.
    private func renumber(_ bench: ChangeBench, _ files: Int64...) async throws {
        let last = bench.task(files.last ?? 0)
        for _ in 0..<30 { for file in files.dropLast() { try await bench.move(bench.task(file), to: .before(last)) } }
    }

    @Test("a move is taken back to where it was after all files were given other places")
    func takenBack() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 13)
        try await bench.queue.complete(Array(try await bench.queue.claimAll().prefix(5)))
        let first = try await bench.move(bench.task(10), to: .top)
        try await renumber(bench, 12, 13, 7)
        #expect(try bench.line(of: batch) == [10, 6, 12, 13, 7, 8, 9, 11])
        try await bench.undo(first)
        #expect(try bench.line(of: batch) == [6, 12, 13, 7, 8, 9, 10, 11])
        try await bench.close()
    }

    @Test("a group stands together though all files were given other places between two of its pages")
    func betweenPages() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 9)
        let first = try await bench.queue.writer.move(
            [TaskID(rawValue: 7), TaskID(rawValue: 8)].map { .task($0) }, to: .before(bench.task(3)), asOne: true)
        try await renumber(bench, 4, 5, 6)
        _ = try await bench.queue.writer.move(
            [bench.task(9)], to: .before(bench.task(3)), asOne: true, with: first.moved, joining: first.operation)
        #expect(try bench.line(of: batch) == [1, 2, 7, 8, 9, 3, 4, 5, 6])
        try await bench.close()
    }

    @Test("a failed file that is tried again has its turn after all files were given other places")
    func retried() async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 6)
        let claimed = try await bench.queue.claimAll()
        for task in claimed {
            let isBad = task.id.rawValue == 4
            bench.queue.writer.record(isBad ? .failed(TransferError(.http, "no")) : .requeued, for: task.claim)
        }
        try await bench.queue.writer.commit()
        try await renumber(bench, 1, 2, 6)
        _ = try await bench.queue.writer.retry([bench.task(4)])
        #expect(try bench.line(of: batch) == [3, 4, 5, 1, 2, 6])
        try await bench.close()
    }

    @Test(
        "what is found in a moved folder follows it after all files were given other places", arguments: [false, true])
    func foundLater(isTakenBack: Bool) async throws {
        let bench = try ChangeBench()
        let batch = try await bench.queue.writer.add(.directory()).batch
        let top = try await bench.queue.topToWalk(of: batch)
        var chunk = WalkedChunk(folder: top.folder, isLast: true)
        chunk.files = (1...10).map { WalkedFile("\($0)") }
        chunk.folders = [RawPath("deep")]
        let deep = try #require(try await bench.queue.writer.insert(walked: [chunk]).folders.last)
        var more = WalkedChunk(folder: deep.folder, isLast: false)
        more.files = [WalkedFile("11"), WalkedFile("12")]
        try await bench.queue.writer.insert(walked: [more])
        try await bench.queue.complete(Array(try await bench.queue.claimAll().prefix(4)))
        let folder = NodeID.folder(batch, path: RawPath("photos/deep"))
        try await bench.move(folder, to: .before(bench.task(8)))
        if isTakenBack { try await bench.move(folder, to: .top) }
        try await renumber(bench, 5, 6, 10)
        if isTakenBack { try await bench.undo(folder) }
        more.files = [WalkedFile("13")]
        try await bench.queue.writer.insert(walked: [more])
        #expect(try bench.line(of: batch) == [7, 11, 12, 13, 8, 9, 5, 6, 10])
        try await bench.close()
    }

    @Test(
        "many files that are moved together are given room once, whatever their number",
        arguments: [MovePlace.earlier, .later, .before(.task(TaskID(rawValue: 2)))])
    func cost(place: MovePlace) async throws {
        func steps(_ count: Int64) async throws -> Int64 {
            let bench = try ChangeBench()
            let batch = try await bench.queue.addTree(files: Int(count) + 2)
            let before = await bench.queue.writer.virtualMachineSteps()
            let files = place == .later ? Array(1...count) : Array(3...count + 2)
            let change = try await bench.queue.writer.move(files.map { bench.task($0) }, to: place)
            let done = await bench.queue.writer.virtualMachineSteps() - before
            #expect(change.results.map(\.result).contains(.done))
            let rest: [Int64] =
                switch place {
                case .later: [count + 1] + files + [count + 2]
                default: [1] + files + [2]
                }
            #expect(try bench.line(of: batch) == rest)
            try await bench.close()
            return done
        }
        let (few, many) = (try await steps(100), try await steps(800))
        #expect(many < 10 * few, "\(many) steps for 800 files, \(few) for 100")
    }

    @Test("a line of files is what the same moves make of a list", arguments: 1...20 as ClosedRange<UInt64>)
    func list(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bench = try ChangeBench()
        let batch = try await bench.queue.addTree(files: 4, folders: ["a": 3, "b": 3])
        let all = Array(1...10 as ClosedRange<Int64>)
        let folders: [String: [Int64]] = ["a": [5, 6, 7], "b": [8, 9, 10]]
        var list = all
        var log: [String] = []
        for _ in 0..<120 {
            let some = all.shuffled(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: _ = try await bench.queue.writer.pause([bench.task(some[0])])
            case 1: _ = try await bench.queue.writer.resume([bench.task(some[0])])
            case 2: try await bench.delay(bench.task(some[0]), by: 100)
            case 3:
                if let file = try await bench.queue.claimAll(limit: 2, now: bench.now).randomElement(using: &random) {
                    bench.queue.writer.record(.requeued, for: file.claim)
                    try await bench.queue.writer.commit()
                }
            default: break
            }
            let name = ["a", "b"].randomElement(using: &random) ?? ""
            let size = [1, 1, 1, 2, 3].randomElement(using: &random) ?? 1
            let isFolder = Int.random(in: 0..<4, using: &random) == 0
            let unit = isFolder ? folders[name] ?? [] : Array(some[..<size])
            func path(_ name: String) -> NodeID { .folder(batch, path: RawPath("photos/\(name)")) }
            let nodes = isFolder ? [path(name)] : unit.map { bench.task($0) }
            let places = unit.compactMap { list.firstIndex(of: $0) }
            let (first, last) = (places.min() ?? 0, places.max() ?? 0)
            let place: MovePlace
            var index: Int?
            switch Int.random(in: 0..<7, using: &random) {
            case 0: (place, index) = (.top, 0)
            case 1: (place, index) = (.bottom, list.count)
            case 2: (place, index) = (.earlier, first > 0 ? first - 1 : nil)
            case 3: (place, index) = (.later, last + 1 < list.count ? last + 2 : nil)
            case 4:
                let other = ["a", "b"].randomElement(using: &random) ?? ""
                place = .before(path(other))
                index = isFolder && other == name ? nil : list.firstIndex { folders[other]?.contains($0) == true }
            default:
                // Often the same one, so that the room before it comes to its end.
                let other = some[size] > 5 ? 4 : some[size]
                place = .before(bench.task(other))
                index = !isFolder && unit.contains(other) ? nil : list.firstIndex(of: other)
            }
            var expected = list
            if let index {
                let before = list[..<index].filter { !unit.contains($0) }
                expected = before + unit.sorted() + list[index...].filter { !unit.contains($0) }
            }
            log.append("\(nodes) \(place)")
            let change = try await bench.queue.writer.move(nodes, to: place, asOne: !isFolder)
            try #require(try bench.line(of: batch) == expected, "seed \(seed): \(log.suffix(12)) of \(list)")
            let isAlready = index == nil || unit.count == 1 && expected == list
            let result: NodeResult.Outcome = isAlready ? .already : .done
            #expect(change.results.map(\.result) == nodes.map { _ in result }, "\(log.suffix(3)) of \(list)")
            list = expected
        }
        try await bench.close()
    }
}
