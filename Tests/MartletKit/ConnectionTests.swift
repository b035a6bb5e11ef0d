import FoundationEssentials
import Glibc
import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferModel

@testable import MartletKit

/// The connection against an engine made of a script.
@Suite struct ConnectionTests {
    private let request = BatchRequest(
        work: .upload([UploadSource(path: RawPath("/a"), placement: .contents)], to: "http://h/"))

    @Test func `without an engine, what only looks says so and starts none`() async throws {
        let places = try Places(
            environment: ["MARTLET_HOME": "/tmp/martlet-nothing-\(UUID().uuidString)"], currentDirectory: "/")
        let connection = try EngineConnection(ConnectionOptions(launching: .never), places: places)
        #expect(try await !connection.isEngineRunning())
        #expect(try await connection.status() == nil)
        #expect(try await connection.stopEngine(finishRunning: false) == .notRunning)
        let error = await #expect(throws: RequestError.self) { try await connection.totals() }
        #expect(error?.code == .engineUnreachable)
    }

    @Test func `whoever is no engine, or no engine of ours, is told as that`() async throws {
        let engine = try ScriptedEngine { _, method, _ in method == .totals ? .answer("no totals") : .hangUp }
        let connection = try engine.connect()
        let odd = await #expect(throws: RequestError.self) { try await connection.totals() }
        #expect(odd?.message.hasPrefix("the engine's answer to totals is not understood: ") == true)
        let gone = await #expect(throws: RequestError.self) { try await connection.purgeFinished() }
        #expect(
            gone?.message
                == "the engine went away before it answered, and a change may have been made: look at the list, then try again"
        )
        let long = String(repeating: "x", count: LineFramer.limit)
        let tooLong = await #expect(throws: RequestError.self) {
            try await connection.find(long)
        }
        #expect(tooLong?.message == "the request has 8388719 bytes, more than one may have: split it")
        await connection.close()
        let closed = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(closed?.message == "this connection was closed")
        let stranger = try ScriptedEngine(handshakes: false) { _, _, _ in .answer("hello") }
        let none = await #expect(throws: RequestError.self) { try await stranger.connect().totals() }
        #expect(none?.message.hasPrefix("whoever answers at \(stranger.places.socketFile) is no engine: ") == true)
    }

    @Test func `a socket that leads nowhere is told`() async throws {
        let home = "/tmp/martlet-loop-\(UUID().uuidString)"
        let places = try Places(environment: ["MARTLET_HOME": home], currentDirectory: "/")
        try System.mkdirs(Array(places.stateDirectory.utf8))
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.createSymbolicLink(
            atPath: places.socketDirectory, withDestinationPath: places.socketDirectory)
        let connection = try EngineConnection(ConnectionOptions(launching: .never), places: places)
        let error = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(
            error?.message
                == "the engine's socket \(places.socketFile) cannot be used (Too many levels of symbolic links): check its owner"
        )
    }

    /// The kernel lets a connection wait for some seconds before it gives up.
    @Test func `whoever listens and takes nobody in is told, with what ends that`() async throws {
        let home = "/tmp/martlet-full-\(UUID().uuidString)"
        let places = try Places(environment: ["MARTLET_HOME": home], currentDirectory: "/")
        let folder = Array(places.socketDirectory.utf8)
        try System.mkdirs(folder)
        defer { try? FileManager.default.removeItem(atPath: home) }
        let listener = try UnixSocket.listen(in: folder, name: Places.socketName, backlog: 0)
        let first = try UnixSocket.connect(in: folder, name: Places.socketName)
        let connection = try EngineConnection(ConnectionOptions(launching: .never), places: places)
        let error = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(
            error?.message
                == "whoever listens at \(places.socketFile) takes nobody in: look with 'fuser' who it is, "
                + "let it go on with kill -CONT, or end it")
        first.close()
        listener.close()
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: geteuid() == 0, "only root can be another user"))
    func `a socket of another user is not used`() async throws {
        let home = "/tmp/martlet-other-\(UUID().uuidString)"
        let places = try Places(environment: ["MARTLET_HOME": home], currentDirectory: "/")
        try System.mkdirs(Array(places.socketDirectory.utf8))
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: places.socketDirectory)
        let script = """
            import os, socket, sys
            os.chdir(sys.argv[1])
            os.setuid(65534)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[2])
            listener.listen()
            print("listens", flush=True)
            sys.stdin.read()
            """
        let (input, output) = (try System.pipe(), try System.pipe())
        var program = ChildProgram(
            "/usr/bin/python3", ["-c", script, places.socketDirectory, Places.socketName], environment: [])
        program.standardInput = input.read.rawValue
        program.standardOutput = output.write.rawValue
        let child = try ChildProcess(program)
        output.write.close()
        #expect(try System.poll(output.read.rawValue, .read, timeout: .seconds(60)))
        let connection = try EngineConnection(ConnectionOptions(launching: .never), places: places)
        let error = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(error?.code == .engineUnreachable)
        #expect(error?.message == "the socket \(places.socketFile) belongs to another user")
        input.write.close()
        #expect(try child.wait() == .exited(0))
    }

    /// A start has ten seconds.
    @Test func `an engine that starts and does not say that it is ready is told, with where to look`() async throws {
        let home = "/tmp/martlet-dumb-\(UUID().uuidString)"
        let (engine, number) = ("\(home)/engine", "\(home)/pid")
        try System.mkdirs(Array(home.utf8))
        defer { try? FileManager.default.removeItem(atPath: home) }
        try Data("#!/bin/sh\necho $$ >\(number)\nexec sleep 1000\n".utf8).write(to: URL(filePath: engine))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: engine)
        let places = try Places(environment: ["MARTLET_HOME": home, "MARTLET_ENGINE": engine], currentDirectory: "/")
        let connection = try EngineConnection(ConnectionOptions(), places: places)
        let error = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(error?.code == .engineUnreachable)
        #expect(
            error?.message
                == "the engine \(engine) was started but is not ready after 10 s: see its log with 'martlet log', "
                + "or run it in a terminal to see what it does")
        let started = try String(contentsOfFile: number, encoding: .utf8)
        kill(try #require(pid_t(started.split(separator: "\n").first ?? "")), SIGKILL)
    }

    @Test func `a file that was queued by itself and is not there any more is told by its batch`() async throws {
        let id = BatchID(rawValue: 7)
        var row = NodeRow(id: .batch(id), name: "n", state: .queued, counts: FileCounts(), bytes: ByteCounts())
        row.counts.queued = 1
        let engine = try ScriptedEngine { [row] _, method, line in
            switch method {
            case .viewSet:
                let view = try? Asked<ViewRequest>.of(line).view
                return .answerAndTell(
                    Nothing(), ViewChange(view: view ?? 0, nodes: [WatchedNode(id: .batch(id), node: row)]))
            case .taskList: return .answer(TaskPage(tasks: [], next: nil))
            default: return .hangUp
            }
        }
        let task = TransferTask(node: .batch(id), batch: id, connection: try engine.connect())
        let error = await #expect(throws: RequestError.self) { try await task.snapshot }
        #expect(error?.code == .noSuchObject && error?.message == "batch b7 has no task")
    }

    @Test func `what an engine refuses without a word, and what is not there, is told to whoever has a handle of it`()
        async throws
    {
        let batch = BatchSnapshot.sample(7, uuid: UUID())
        let engine = try ScriptedEngine { _, method, _ in
            switch method {
            case .batchShow: .answer(BatchShown(batch: batch))
            case .nodesPause:
                .answer(NodeResults(results: [NodeResult(id: .batch(batch.id), result: .refused)]))
            default: .answer(Nothing())
            }
        }
        let connection = try engine.connect()
        let refused = await #expect(throws: RequestError.self) {
            try await connection.single(connection.pause, .batch(batch.id))
        }
        #expect(refused?.message == "the engine refused it")
        let row = NodeRow(
            id: .batch(batch.id), name: "n", state: .queued, counts: FileCounts(), bytes: ByteCounts())
        let node = await #expect(throws: RequestError.self) {
            try await ProgressNode(row: row, connection: connection).pause()
        }
        #expect(node?.message == "the engine refused it")
        let session = try await TransferSession(
            configuration: .background(withIdentifier: "photos"), connection: connection)
        let address = try #require(URL(string: "http://h/f"))
        let elsewhere = await #expect(throws: RequestError.self) {
            try await session.uploadTask(with: address, fromFile: address)
        }
        #expect(elsewhere?.message == "http://h/f is no absolute file URL")
        let unnamed = #expect(throws: RequestError.self) {
            try TransferSessionConfiguration.background(withIdentifier: "")
        }
        #expect(unnamed?.message == "a session's name has 1 to 200 bytes and no control characters")
    }

    @Test func `many requests at once each get their own answer`() async throws {
        let engine = try ScriptedEngine { _, method, line in
            guard method == .batchShow, let asked = try? Asked<BatchShowRequest>.of(line), let id = asked.batch else {
                return .hangUp
            }
            return .answer(BatchShown(batch: .sample(id.rawValue, uuid: UUID())))
        }
        let connection = try engine.connect()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...100 {
                group.addTask {
                    let id = BatchID(rawValue: Int64(number))
                    return try await connection.batch(id).id == id
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(engine.connections == 1)
    }

    @Test func `a refusal keeps its code and message`() async throws {
        let engine = try ScriptedEngine { _, _, _ in .refuse(RequestError(.noSuchObject, "there is no batch b9")) }
        let error = try await #require(throws: RequestError.self) {
            try await engine.connect().batch(BatchID(rawValue: 9))
        }
        #expect(error == RequestError(.noSuchObject, "there is no batch b9"))
    }

    @Test func `a lost answer of batch add is asked for again and gives the same batch`() async throws {
        let uuid = request.uuid
        let engine = try ScriptedEngine { connection, _, line in
            guard (try? Asked<BatchRequest>.of(line).uuid) == uuid else { return .refuse(RequestError(.usage, "no")) }
            // The first time it is queued and the answer is lost.
            return connection == 1 ? .hangUp : .answer(BatchAdded(batch: .sample(7, uuid: uuid), existed: true))
        }
        let added = try await engine.connect().add(request)
        #expect(added.batch.id == BatchID(rawValue: 7))
        #expect(added.existed)
        #expect(engine.requests == [.batchAdd, .batchAdd])
    }

    @Test func `when even that cannot be found out, the message carries the UUID`() async throws {
        let engine = try ScriptedEngine { _, _, _ in .hangUp }
        let error = try await #require(throws: RequestError.self) { try await engine.connect().add(request) }
        #expect(error.code == .engineUnreachable)
        #expect(error.message.contains(request.uuid.uuidString.lowercased()))
    }

    @Test func `a reader of events that is cancelled while it waits is at its end`() async throws {
        let engine = try ScriptedEngine { _, _, _ in .silence }
        let connection = try engine.connect()
        let reading = Task {
            for try await _ in connection.events(after: EventSequence(rawValue: 0)) {}
        }
        try await until { !engine.requests.isEmpty }
        reading.cancel()
        try await reading.value
    }

    @Test func `a batch whose answer nobody waited for may be queued, and that is said`() async throws {
        let engine = try ScriptedEngine { _, _, _ in .silence }
        let connection = try engine.connect()
        let adding = Task { try await connection.add(request) }
        try await until { !engine.requests.isEmpty }
        adding.cancel()
        let error = try await #require(throws: RequestError.self) { try await adding.value }
        #expect(error.code == .engineUnreachable)
        #expect(error.message.contains(request.uuid.uuidString.lowercased()))
        #expect(engine.requests == [.batchAdd])
    }

    @Test func `an engine that is killed right behind its welcome is followed by the next one`() async throws {
        let engine = try ScriptedEngine(handshakes: false) { connection, method, _ in
            let welcome = Welcome(engineVersion: "scripted", pid: 1)
            if method == .hello { return connection <= 3 ? .answerAndHangUp(welcome) : .answer(welcome) }
            return .answer(BatchShown(batch: .sample(7, uuid: UUID())))
        }
        #expect(try await engine.connect().batch(BatchID(rawValue: 7)).id == BatchID(rawValue: 7))
        #expect(engine.connections == 4)
    }

    @Test func `a batch that is refused is not asked for again`() async throws {
        let engine = try ScriptedEngine { _, _, _ in .refuse(RequestError(.usage, "no such scheme")) }
        let error = try await #require(throws: RequestError.self) { try await engine.connect().add(request) }
        #expect(error.code == .usage)
        #expect(engine.requests == [.batchAdd])
    }

    @Test func `an engine of another major version is named and not used`() async throws {
        let engine = try ScriptedEngine(handshakes: false) { _, method, _ in
            let version = ProtocolVersion(major: 9, minor: 0)
            return method == .hello ? .answer(Welcome(protocolVersion: version, engineVersion: "9", pid: 1)) : .hangUp
        }
        let error = try await #require(throws: RequestError.self) { try await engine.connect().totals() }
        #expect(error.code == .engineUnreachable)
        #expect(error.message.contains("protocol 9.0"))
    }

    @Test func `a cancelled request ends at once, and its late answer disturbs nobody`() async throws {
        let engine = try ScriptedEngine { _, method, _ in method == .totals ? .answer(QueueTotals()) : .silence }
        let connection = try engine.connect()
        let waiting = Task { try await connection.limits() }
        try await until { !engine.requests.isEmpty }
        waiting.cancel()
        let error = await #expect(throws: RequestError.self) { try await waiting.value }
        #expect(error?.message == "the request was cancelled, and a change may have been made")
        _ = try await connection.totals()
    }

    @Test func `numbers of a hostile engine come within bounds, and their sums do not overflow`() async throws {
        let engine = try ScriptedEngine { _, _, _ in
            var totals = QueueTotals()
            totals.bytesPerSecondUp = .max
            totals.bytesPerSecondDown = .max
            totals.counts.running = .max
            totals.counts.queued = .max
            totals.counts.failed = .min
            totals.bytes.sent = -1
            return .answer(totals)
        }
        let totals = try await engine.connect().totals()
        #expect(totals.bytesPerSecondUp + totals.bytesPerSecondDown == 2 * FileSize.largest)
        #expect(totals.counts.total == 2 * FileSize.largest)
        #expect(totals.counts.failed == 0)
        #expect(totals.bytes.sent == 0)
    }

    @Test func `the state tells of the loss, and a retry of the way back`() async throws {
        let engine = try ScriptedEngine { connection, _, _ in
            connection == 1 ? .hangUp : .answer(QueueTotals())
        }
        let connection = try engine.connect()
        let states = await connection.states()
        // What is no question is not asked again.
        _ = try? await connection.purgeFinished()
        for await state in states where state.isLost { break }
        await connection.retryNow()
        let identity = EngineIdentity(pid: 4711, version: "scripted", protocolVersion: "1.0")
        for await state in await connection.states() where state.isConnected {
            #expect(state == .connected(identity))
            break
        }
        async let end: Void = { for await _ in await connection.states() {} }()
        await connection.close()
        await end
    }

    @Test func `a view is asked for again after a reconnect, and closed when it is cancelled`() async throws {
        let wanted = Mutex<[ViewRequest]>([])
        let engine = try ScriptedEngine { connection, method, line in
            guard method == .viewSet, let asked = try? Asked<ViewRequest>.of(line) else { return .hangUp }
            wanted.withLock { $0.append(asked) }
            return .answer(Nothing())
        }
        let connection = try engine.connect(reconnects: true)
        try await connection.connect()
        let view = await connection.view()
        view.show([SectionRequest(parent: nil, limit: 7)])
        try await until { wanted.withLock { $0.count } == 1 }
        // What is no question is not asked again.
        _ = try? await connection.purgeFinished()
        try await until {
            await connection.retryNow()
            return wanted.withLock { $0.count } == 2
        }
        #expect(wanted.withLock { $0[0] == $0[1] })
        view.cancel()
        try await until { wanted.withLock { $0.count } == 3 }
        #expect(wanted.withLock { $0.last?.sections } == nil)
        #expect(await view.makeAsyncIterator().next() == nil)
    }

    @Test func `events go on behind the last one when the engine was away`() async throws {
        let engine = try ScriptedEngine { connection, method, line in
            guard method == .eventsRead, let asked = try? Asked<EventsReadRequest>.of(line) else { return .hangUp }
            let after = asked.after?.rawValue ?? 0
            // Two events a page; the connection breaks behind the fourth and the eighth.
            if after == 4, connection == 1 || after == 8 && connection == 2 { return .hangUp }
            let events = (after + 1...after + 2).map {
                TransferEvent(
                    seq: EventSequence(rawValue: $0), at: Timestamp(milliseconds: 0), session: nil, batch: nil,
                    task: nil, type: .engineStarted, payload: EventPayload())
            }
            let last = EventSequence(rawValue: after + 2)
            return .answer(EventPage(events: events, next: last, last: last))
        }
        var seen: [Int64] = []
        for try await event in try engine.connect().events() {
            seen.append(event.seq.rawValue)
            if seen.count == 11 { break }
        }
        #expect(seen == Array(1...11))
    }

    @Test func `a wait that the engine refuses to serve fails, and does not last for ever`() async throws {
        let engine = try ScriptedEngine { _, _, _ in .refuse(RequestError(.refused, "a client has up to 1000 views")) }
        let connection = try engine.connect()
        let node = NodeID.batch(BatchID(rawValue: 1))
        await #expect(throws: RequestError(.refused, "a client has up to 1000 views")) {
            try await connection.wait(for: [node], patient: true)
        }
        await #expect(throws: RequestError(.refused, "a client has up to 1000 views")) {
            for try await _ in ProgressChanges(node: node, connection: connection) {}
        }
    }
}

extension ConnectionState {
    fileprivate var isLost: Bool {
        if case .lost = self { true } else { false }
    }
}

/// What waits in a mailbox for a slow reader.
@Suite struct ViewMailboxTests {
    private func section(_ parent: RowID?, _ total: Int64) -> TreeSection {
        TreeSection(parent: parent, rows: [], total: total)
    }

    @Test func `what a slow reader has not taken is merged, the newest of each part`() async {
        let mailbox = ViewMailbox()
        let (a, b) = (NodeID.batch(BatchID(rawValue: 1)), NodeID.batch(BatchID(rawValue: 2)))
        mailbox.put(ViewUpdate(sections: [section(nil, 1)], nodes: [a: NodeRow?.none]))
        mailbox.put(ViewUpdate(sections: [section(.batch(BatchID(rawValue: 1)), 5)], totals: QueueTotals()))
        mailbox.put(ViewUpdate(sections: [section(nil, 2)], nodes: [b: NodeRow?.none]))
        let update = await mailbox.next()
        #expect(update?.sections == [section(nil, 2), section(.batch(BatchID(rawValue: 1)), 5)])
        #expect(update?.nodes.keys.count == 2)
        #expect(update?.totals != nil)
    }

    @Test func `a reader that waits gets the next update, and the end when it is cancelled or finished`() async {
        let mailbox = ViewMailbox()
        async let first = mailbox.next()
        mailbox.put(ViewUpdate(sections: [section(nil, 1)]))
        #expect(await first?.sections.count == 1)
        let waiting = Task { await mailbox.next() }
        waiting.cancel()
        #expect(await waiting.value == nil)
        mailbox.finish()
        #expect(await mailbox.next() == nil)
    }
}
