import SQLiteConnection
import TestSupport
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Sections in the order that was asked for, the flat list, and names that are looked for") struct SortingTests {
    /// `/src/NAME` with files of these sizes directly in it and in folders.
    private func add(
        _ queue: TransferQueue, _ name: String, _ files: KeyValuePairs<String, Int64>,
        _ folders: KeyValuePairs<String, [Int64]> = [:]
    ) async throws -> BatchID {
        let batch = try await queue.writer.add(.directory(name)).batch
        let top = try await queue.topToWalk(of: batch)
        var chunk = WalkedChunk(folder: top.folder, isLast: true)
        chunk.files = files.map { WalkedFile($0.key, size: $0.value) }
        chunk.folders = folders.map { RawPath($0.key) }
        let below = try await queue.writer.insert(walked: [chunk]).folders
        try await queue.writer.insert(
            walked: below.map { place in
                var chunk = WalkedChunk(folder: place.folder, isLast: true)
                let sizes = folders.first { $0.key == place.relative.displayed }?.value ?? []
                chunk.files = sizes.enumerated().map { WalkedFile("\($0.offset).jpg", size: $0.element) }
                return chunk
            })
        try await queue.writer.finishScan(batch)
        return batch
    }

    private func names(_ section: TreeSection?) -> [String] {
        (section?.rows ?? []).map { row in
            if case .group(_, _, let fate) = row.id { "\(row.counts.total) \(fate)" } else { row.name }
        }
    }

    private func top(_ queue: TransferQueue, _ batch: BatchID) async throws -> RowID {
        try #require(try await queue.reader.section(SectionRequest(parent: .batch(batch), limit: 10))?.rows.first?.id)
    }

    @Test("a folder's rows by name, size, number, share and state, and each the other way round")
    func folder() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await add(
            queue, "photos", ["c": 30, "a": 10, "e": 50, "b": 20, "d": 40],
            ["x": [500, 1], "z": [7], "y": [1, 1, 1]])
        let folder = try await top(queue, batch)
        func sorted(_ by: TreeOrder.Key, reversed: Bool = false, limit: Int = 50) async throws -> [String] {
            let section = try await queue.reader.section(
                SectionRequest(parent: folder, limit: limit, order: TreeOrder(by, reversed: reversed)))
            #expect(section?.order == TreeOrder(by, reversed: reversed))
            #expect(section?.total == (by == .name || by == .size ? 8 : 4))
            return names(section)
        }
        #expect(try await sorted(.name) == ["x", "y", "z", "a", "b", "c", "d", "e"])
        #expect(try await sorted(.name, reversed: true) == ["z", "y", "x", "e", "d", "c", "b", "a"])
        #expect(try await sorted(.size) == ["x", "z", "y", "e", "d", "c", "b", "a"])
        #expect(try await sorted(.size, reversed: true) == ["y", "z", "x", "a", "b", "c", "d", "e"])
        #expect(try await sorted(.size, limit: 4) == ["x", "z", "e", "d"])
        #expect(try await sorted(.files) == ["y", "x", "z", "5 queued"])
        #expect(try await sorted(.queue, reversed: true) == ["z", "y", "x", "5 queued"])

        // The first claimed are the files of the folder itself, in the order in which they were found.
        let tasks = try await queue.claimAll(limit: 10)
        try await queue.complete(tasks.filter { $0.size == 7 })
        #expect(try await sorted(.done) == ["z", "x", "y", "5 queued"])
        #expect(try await sorted(.state) == ["x", "y", "z", "5 queued"])
        #expect(try await sorted(.state, reversed: true) == ["z", "x", "y", "5 queued"])
        let moving = MovingRows(folders: [try #require(try await id(queue, "y", in: folder))])
        let fast = try await queue.reader.section(
            SectionRequest(parent: folder, limit: 50, order: TreeOrder(.speed)), moving: moving)
        #expect(names(fast) == ["y", "x", "z", "5 queued"])
        try await queue.close()
    }

    private func id(_ queue: TransferQueue, _ name: String, in parent: RowID) async throws -> FolderID? {
        let rows = try await queue.reader.section(SectionRequest(parent: parent, limit: 50))?.rows ?? []
        guard case .folder(_, let id) = rows.first(where: { $0.name == name })?.id else { return nil }
        return id
    }

    @Test("an order that is kept is the one of what there is now")
    func kept() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await add(queue, "photos", ["a": 10, "b": 20], ["x": [9], "y": [5]])
        let folder = try await top(queue, batch)
        let request = SectionRequest(parent: folder, limit: 10, order: TreeOrder(.size))
        #expect(names(try await queue.reader.section(request)) == ["x", "y", "b", "a"])
        let tasks = try await queue.claimAll(limit: 10)
        let small = try #require(tasks.first { $0.size == 10 })
        queue.writer.record(.running, for: small.id)
        queue.writer.record(.sizeKnown(99), for: small.id)
        try await queue.writer.commit()
        #expect(names(try await queue.reader.section(request)) == ["x", "y", "a", "b"])
        try await queue.close()
    }

    @Test("batches by what they are, and a row that is wanted stands behind the others")
    func root() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let small = try await add(queue, "b-small", ["a": 1, "b": 1, "c": 1])
        let large = try await add(queue, "a-large", ["a": 900])
        let middle = try await add(queue, "c-middle", ["a": 40, "b": 60])
        func sorted(_ by: TreeOrder.Key, reversed: Bool = false) async throws -> [RowID] {
            try await queue.reader.section(
                SectionRequest(parent: nil, limit: 9, order: TreeOrder(by, reversed: reversed)),
                moving: MovingRows(batches: [middle]))?.rows.map(\.id) ?? []
        }
        #expect(try await sorted(.queue, reversed: true) == [.batch(middle), .batch(large), .batch(small)])
        #expect(try await sorted(.name) == [.batch(large), .batch(small), .batch(middle)])
        #expect(try await sorted(.size) == [.batch(large), .batch(middle), .batch(small)])
        #expect(try await sorted(.files) == [.batch(small), .batch(middle), .batch(large)])
        #expect(try await sorted(.speed) == [.batch(middle), .batch(small), .batch(large)])
        let one = try await queue.reader.section(
            SectionRequest(parent: nil, limit: 1, order: TreeOrder(.size), showing: .batch(small)))
        #expect(one?.rows.map(\.id) == [.batch(large), .batch(small)])
        #expect(one?.total == 3)
        try await queue.close()
    }

    @Test("the flat list has the files of all batches: what moves, then by state, or by size")
    func flat() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await add(queue, "one", ["a": 1, "b": 90], ["x": [50, 3]])
        _ = try await add(queue, "two", ["c": 7])
        let held = try await queue.addTree("held", files: 1, held: true)
        let tasks = try await queue.claimAll(limit: 1)
        queue.writer.record(.running, for: tasks[1].id)
        queue.writer.record(.failed(TransferError(.http, "no")), for: tasks[0].id)
        try await queue.writer.commit()
        func list(_ order: TreeOrder? = nil, limit: Int = 50, showing: RowID? = nil) async throws -> [String] {
            let section = try await queue.reader.section(
                SectionRequest(parent: nil, limit: limit, order: order, flat: true, showing: showing))
            #expect(section?.total == 6)
            #expect(section?.flat == true)
            return names(section)
        }
        #expect(try await list() == ["c", "a", "b", "0.jpg", "1.jpg", "file0"])
        #expect(try await list(TreeOrder(.queue, reversed: true)).last == "c")
        #expect(try await list(TreeOrder(.size)) == ["file0", "b", "0.jpg", "c", "1.jpg", "a"])
        #expect(try await list(limit: 2) == ["c", "a"])
        #expect(
            try await list(limit: 1, showing: .task(tasks[0].batch, tasks[0].id)) == ["c", "a"])
        _ = try await queue.writer.pause([.batch(held)])
        #expect(try await list()[2] == "file0")
        try await queue.close()
    }

    // MARK: Looking for names

    private func find(
        _ queue: TransferQueue, _ text: String, after: RowID? = nil, here: Bool = false, backwards: Bool = false,
        order: TreeOrder = TreeOrder(), filter: String? = nil, flat: Bool = false
    ) async throws -> FoundRow {
        var search = NameSearch(text, filter: try filter.map { try TransferFilter($0) })
        repeat { search = try await queue.reader.goOn(search) } while !search.isComplete
        return try await queue.reader.found(
            search, after: after, here: here, backwards: backwards, order: order, flat: flat)
    }

    @Test("a name is found wherever it is, and the way to it can be opened row by row")
    func looking() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let one = try await add(queue, "one", ["a": 1, "IMG_9": 1], ["img-old": [1], "zoo": [1, 1]])
        let two = try await add(queue, "two-img", ["c": 1, "d": 1, "e": 1, "f": 1, "img_5": 1])
        let all = try await find(queue, "img")
        #expect(all.matches == 5 && all.complete && !all.wrapped)
        #expect(all.way.count == 3)
        // From each to the next, round the end, every step opens.
        var seen: [RowID] = []
        var at: RowID?
        var opensGroup = false
        repeat {
            let found = try await find(queue, "img", after: at)
            let row = try #require(found.way.last)
            at = row
            #expect(found.wrapped == seen.contains(row))
            if seen.contains(row) { break }
            seen.append(row)
            opensGroup = opensGroup || found.way.contains { if case .group = $0 { true } else { false } }
            for (parent, child) in zip([nil] + found.way.map(Optional.some), found.way) {
                let section = try await queue.reader.section(SectionRequest(parent: parent, limit: 1, showing: child))
                #expect(section?.rows.contains { $0.id == child } == true, "\(parent.map { "\($0)" } ?? "root")")
            }
        } while true
        #expect(seen.count == 5)
        #expect(opensGroup)
        // And backwards the same.
        var back: [RowID] = []
        at = nil
        while back.count < 5 {
            let row = try #require(try await find(queue, "img", after: at, backwards: true).way.last)
            back.append(row)
            at = row
        }
        #expect(back == seen.reversed())
        #expect(try await find(queue, "img", after: seen[2], here: true).way.last == seen[2])
        #expect(try await find(queue, "nowhere").way.isEmpty)
        #expect(try await find(queue, "Img").matches == 0, "capitals count")
        #expect(try await find(queue, "two", after: .batch(two)).way.count == 2)
        #expect(try await find(queue, "img", filter: "batch:one").matches == 1)
        #expect(try await find(queue, "img", flat: true).matches == 2)
        _ = try await queue.writer.cancel([.batch(one)])
        _ = try await queue.writer.purge([.batch(one)])
        #expect(try await find(queue, "img").matches == 3)
        try await queue.close()
    }

    @Test("through any tree in any order every match is met once, forwards and backwards")
    func walks() async throws {
        for seed in 1..<9 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            let sandbox = try Sandbox()
            let queue = try sandbox.open()
            for number in 0..<3 {
                let folders = Dictionary(
                    uniqueKeysWithValues: ["p", "q", "file", "r1"].map { ($0, Int.random(in: 0...7, using: &dice)) })
                _ = try await queue.addTree(
                    "n\(number)", files: .random(in: 0...6, using: &dice), folders: folders)
            }
            for task in try await queue.claimAll(limit: 4) where Bool.random(using: &dice) {
                queue.writer.record(.failed(TransferError(.http, "no")), for: task.id)
            }
            try await queue.writer.commit()
            for order in [TreeOrder(), TreeOrder(.size, reversed: true), TreeOrder(.name)] {
                var search = NameSearch(["1", "file", "q"].randomElement(using: &dice) ?? "q")
                repeat { search = try await queue.reader.goOn(search) } while !search.isComplete
                for backwards in [false, true] {
                    var met: Set<RowID> = []
                    var at: RowID?
                    while true {
                        let found = try await queue.reader.found(
                            search, after: at, here: false, backwards: backwards, order: order, flat: false)
                        guard let row = found.way.last, met.insert(row).inserted else { break }
                        at = row
                    }
                    #expect(Int64(met.count) == search.count, "seed \(seed) \(order) backwards \(backwards)")
                }
            }
            try await queue.close()
        }
    }
}
