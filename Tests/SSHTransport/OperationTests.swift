import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import SSHTransport

/// Against OpenSSH's SFTP server as the child itself: no network, no login.
@Suite struct OperationTests {
    @Test("a file is written at exact offsets, asked after, renamed and removed")
    func wholeLife() async throws {
        try await SFTPBench.run { bench in
            let (client, source) = (bench.client, PatternSource())
            let part = bench.path("part")
            let handle = try await client.handle(.openForWriting(part))
            // The second half first.
            let ends = await client.perform(
                .write(handle, 600_000..<1_000_000), .write(handle, 0..<600_000), .sync(handle),
                .setModified(handle, 1_000_000_007), .handleStatus(handle), .close(handle),
                .rename(part, to: bench.path("final"), replaces: false), source: source)
            #expect(ends.map(\.writtenThrough) == [1_000_000, 600_000, nil, nil, nil, nil, nil])
            #expect(ends[4].outcome == .answered(.attributes(SFTPAttributes(size: 1_000_000, modified: 1_000_000_007))))
            for index in [0, 1, 2, 3, 5, 6] { #expect(ends[index].outcome == .answered(.done), "\(index)") }
            #expect(ends[0].features.isOpenSSH && ends[0].features.renamesOver && ends[0].features.syncs)
            #expect(bench.sandbox.read("final") == PatternSource.bytes(0..<1_000_000))
            let late = await client.perform(.handleStatus(handle))[0]
            guard case .broken = late.outcome else {
                Issue.record("a closed handle: \(late)")
                return
            }
            #expect(await client.perform(.remove(bench.path("final")))[0].outcome == .answered(.done))
            #expect(
                await client.perform(.status(bench.path("final")))[0].outcome
                    == .answered(.refused(.noSuchFile, "No such file")))
        }
    }

    @Test("opening for writing leaves what is there, and a plain rename refuses an existing target")
    func nothingIsLost() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            try bench.sandbox.write("a", [1, 2, 3])
            try bench.sandbox.write("b", [4])
            let handle = try await client.handle(.openForWriting(bench.path("a")))
            let status = await client.perform(.handleStatus(handle))[0]
            guard case .answered(.attributes(let found)) = status.outcome else {
                return #expect(status.outcome == .answered(.done))
            }
            #expect(found.size == 3)
            let (a, b) = (bench.path("a"), bench.path("b"))
            let refused = await client.perform(.rename(a, to: b, replaces: false))[0]
            #expect(refused.outcome == .answered(.refused(.failure, "Failure")))
            #expect(await client.perform(.rename(a, to: b, replaces: true))[0].outcome == .answered(.done))
            #expect(bench.sandbox.read("b") == [1, 2, 3])
            #expect(await client.perform(.setSize(handle, 2))[0].outcome == .answered(.done))
            #expect(bench.sandbox.read("b") == [1, 2])
        }
    }

    @Test("a folder is made with its parents; one that is there is fine, a file in its place is not")
    func folders() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            #expect(await client.perform(.makeFolders(bench.path("x/y/z")))[0].outcome == .answered(.done))
            #expect(await client.perform(.makeFolders(bench.path("x/y/z")))[0].outcome == .answered(.done))
            #expect(
                await client.perform(.makeFolders(RawPath("")), .makeFolders(RawPath("/"))).map(\.outcome) == [
                    .answered(.done), .answered(.done),
                ])
            let status = await client.perform(.status(bench.path("x/y/z")))[0]
            guard case .answered(.attributes(let found)) = status.outcome else {
                return #expect(status.outcome == .answered(.done))
            }
            #expect(found.isFolder)
            try bench.sandbox.write("file", [])
            for path in ["file", "file/below"] {
                let end = await client.perform(.makeFolders(bench.path(path)))[0]
                guard case .answered(.refused(_, let text)) = end.outcome else {
                    Issue.record("\(path): \(end)")
                    continue
                }
                #expect(text == (path == "file" ? "a file is where a folder should be" : "No such file"))
            }
        }
    }

    @Test("an operation that the server does not offer is refused without asking it")
    func notOffered() async throws {
        try await SFTPBench.run(ssh: "exec \(SFTPBench.server) -P fsync") { bench in
            let handle = try await bench.client.handle(.openForWriting(bench.path("f")))
            guard
                case .answered(.refused(.unsupported, let text)) = await bench.client.perform(.sync(handle))[0].outcome
            else {
                Issue.record("the server was asked")
                return
            }
            #expect(text == "the server does not offer it")
        }
    }

    @Test("free space is told")
    func space() async throws {
        try await SFTPBench.run { bench in
            let end = await bench.client.perform(.freeSpace(bench.path("")))[0]
            guard case .answered(.freeSpace(let bytes)) = end.outcome else {
                return #expect(end.outcome == .answered(.done))
            }
            #expect(bytes >= 0)
        }
    }

    @Test(
        "a read asks nothing before its gate is open, then brings the rest of the file in order",
        arguments: [true, false])
    func reading(knowsTotal: Bool) async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            let content = PatternSource.bytes(0..<3_000_001)
            try bench.sandbox.write("f", content)
            let handle = try await client.handle(.openForReading(bench.path("f")))
            let read = await client.start([.read(handle, from: 77)])[0]
            // The lane is closed, others are not.
            #expect(await client.perform(.status(bench.path("f")), owner: 2).count == 1)
            #expect(await client.progress(read)?.received == 0)
            let sink = RecordingSink()
            await client.openGate(read, sink, total: knowsTotal ? 3_000_001 : nil)
            let end = await client.end(of: read)
            #expect(end.outcome == .answered(.done) && end.bytesRead == 3_000_001 - 77)
            #expect(sink.bytes == Array(content[77...]))
        }
    }

    @Test("an empty file, and one that ends before its start, are read at once")
    func readingNothing() async throws {
        try await SFTPBench.run { bench in
            try bench.sandbox.write("f", [1, 2])
            let handle = try await bench.client.handle(.openForReading(bench.path("f")))
            for (from, total) in [(2, 2), (5, nil), (2, nil)] as [(Int64, Int64?)] {
                let read = await bench.client.start([.read(handle, from: from)])[0]
                await bench.client.openGate(read, RecordingSink(), total: total)
                #expect(await bench.client.end(of: read).outcome == .answered(.done))
            }
        }
    }

    @Test("a source that ends or fails, and a sink that fails, end their operation alone")
    func badEnds() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            let handle = try await client.handle(.openForWriting(bench.path("f")))
            let short = await client.perform(.write(handle, 0..<900_000), source: PatternSource(endsAt: 500_000))[0]
            #expect(short.outcome == .sourceEnded(at: 500_000) && short.writtenThrough == 500_000)
            let bad = await client.perform(.write(handle, 0..<900_000), source: PatternSource(failsAt: 300_000))[0]
            #expect(bad.outcome == .sourceFailed(.inputOutput) && bad.writtenThrough == 300_000)
            let reading = try await client.handle(.openForReading(bench.path("f")))
            let read = await client.start([.read(reading, from: 0)])[0]
            let sink = RecordingSink(failsAfter: 300_000)
            await client.openGate(read, sink)
            let end = await client.end(of: read)
            #expect(end.outcome == .sinkFailed(.noSpace) && Int(end.bytesRead) == sink.bytes.count)
            #expect(
                await client.perform(.close(reading), .close(handle)).map(\.outcome) == [
                    .answered(.done), .answered(.done),
                ])
        }
    }

    @Test("a write that the server refuses tells how far it came")
    func refusedWrite() async throws {
        try await SFTPBench.run { bench in
            try bench.sandbox.write("f", [1])
            let handle = try await bench.client.handle(.openForReading(bench.path("f")))
            let end = await bench.client.perform(.write(handle, 0..<5_000_000), source: PatternSource())[0]
            guard case .answered(.refused) = end.outcome else { return #expect(end.outcome == .answered(.done)) }
            #expect(end.writtenThrough == 0)
            #expect(await bench.client.perform(.close(handle))[0].outcome == .answered(.done))
        }
    }

    @Test("a folder is listed to its end, whatever the names in it")
    func lists() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            #expect(await client.perform(.makeFolders(bench.path("many/sub")))[0].outcome == .answered(.done))
            for number in 0..<250 {
                let handle = try await client.handle(.openForWriting(bench.path("many/a b\(number)")))
                #expect(await client.perform(.close(handle))[0].outcome == .answered(.done))
            }
            guard case .answered(.opened(let folder)) = await client.perform(.openFolder(bench.path("many")))[0].outcome
            else {
                Issue.record("not opened")
                return
            }
            var names: [SFTPName] = []
            while case .answered(.names(let some)) = await client.perform(.readFolder(folder))[0].outcome {
                names += some
            }
            guard case .answered(.refused(.endOfFile, _)) = await client.perform(.readFolder(folder))[0].outcome else {
                Issue.record("no end")
                return
            }
            #expect(names.count == 253 && Set(names.map(\.name)).count == 253)
            #expect(names.first { $0.name == RawPath("sub") }?.attributes.isFolder == true)
            #expect(names.first { $0.name == RawPath("a b7") }?.attributes.size == 0)
            #expect(await client.perform(.close(folder))[0].outcome == .answered(.done))
            guard case .answered(.refused) = await client.perform(.openFolder(bench.path("none")))[0].outcome else {
                Issue.record("a folder that is not there")
                return
            }
        }
    }

    @Test("an abandoned attempt leaves no open file and no operation behind")
    func abandoned() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            let handle = try await client.handle(.openForWriting(bench.path("f")))
            let ids = await client.start(
                [.write(handle, 0..<50_000_000), .handleStatus(handle), .openForWriting(bench.path("g"))],
                source: PatternSource())
            await client.abandon(ids[1])
            await client.abandonAll(of: 1)
            #expect(await client.activeCount == 0)
            // Another owner's work goes on; when it is answered, all before it is.
            #expect(await client.perform(.status(bench.path("f")), owner: 2).count == 1)
            let events = await client.events
            #expect(events.allSatisfy { !ids.contains($0.id) })
            let gone = await client.perform(.handleStatus(handle), owner: 2)[0]
            guard case .broken = gone.outcome else { return #expect(gone.outcome == .answered(.done)) }
        }
    }

    @Test("no more is read ahead of the server than the window holds, and all arrives when it goes on")
    func window() async throws {
        try await SFTPBench.run(ssh: "echo $$ >\"${0%/*}/pid\"; exec \(SFTPBench.server)") { settings in
            settings.window = 1 << 20
            settings.outstanding = 8
        } _: { bench in
            let client = bench.client
            let handle = try await client.handle(.openForWriting(bench.path("f")))
            let source = PatternSource()
            let digits = String(decoding: try #require(bench.sandbox.read("pid")), as: UTF8.self)
            let pid = try #require(Int32(digits.dropLast()))
            try System.kill(pid, signal: 19)
            let id = await client.start([.write(handle, 0..<6_000_000)], source: source)[0]
            await client.until { ($0.progress(id)?.sent ?? 0) >= LineWindow.least - 261_120 }
            // Whatever the loop does now, the window is full.
            for _ in 0..<50 { _ = await client.progress(id) }
            let progress = try #require(await client.progress(id))
            #expect(progress.sent <= LineWindow.least && progress.acknowledged == 0)
            try System.kill(pid, signal: 18)
            let end = await client.end(of: id)
            #expect(end.outcome == .answered(.done) && end.writtenThrough == 6_000_000)
            #expect(bench.sandbox.read("f") == PatternSource.bytes(0..<6_000_000))
        }
    }

    @Test("a speed limit holds writes and reads back, and lets them go on")
    func throttled() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            let handle = try await client.handle(.openForWriting(bench.path("f")))
            let up = Allowance(100_000)
            let id = await client.start([.write(handle, 0..<250_000)], source: PatternSource(), limit: up)[0]
            await client.until { $0.progress(id)?.acknowledged == 100_000 }
            #expect(up.taken == 100_000)
            await client.allow(150_000, up)
            #expect(await client.end(of: id).outcome == .answered(.done))
            #expect(up.taken == 250_000)
            let reading = try await client.handle(.openForReading(bench.path("f")))
            let down = Allowance(60_000, wait: .milliseconds(1))
            let read = await client.start([.read(reading, from: 0)], limit: down)[0]
            let sink = RecordingSink()
            await client.openGate(read, sink, total: 250_000)
            await client.until { $0.progress(read)?.received == 60_000 }
            await client.allow(190_000, down, asksItself: true)
            #expect(await client.end(of: read).outcome == .answered(.done))
            #expect(sink.bytes == PatternSource.bytes(0..<250_000))
        }
    }
}

extension SFTPClient {
    func allow(_ more: Int, _ allowance: Allowance, asksItself: Bool = false) {
        allowance.left += more
        if !asksItself { resumeThrottled() }
    }
}
