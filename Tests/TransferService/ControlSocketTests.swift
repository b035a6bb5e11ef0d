import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferModel

@testable import TransferService

/// Who gets in, and what a bad client costs the others.
@Suite struct ControlSocketTests {
    @Test func `the socket and its directory are the user's alone`() async throws {
        let harness = try await ServiceHarness()
        let directory = try System.stat(Array(harness.places.socketDirectory.utf8))
        let socket = try System.lstat(Array(harness.places.socketFile.utf8))
        #expect(directory.permissions == 0o700)
        #expect(socket.permissions == 0o600)
        #expect(socket.kind == .socket)
        try await harness.end()
        #expect(throws: Errno.noSuchFile) { try System.lstat(Array(harness.places.socketFile.utf8)) }
    }

    @Test func `a socket that a killed engine left is replaced`() async throws {
        let first = try await ServiceHarness()
        let places = first.places
        let second = try ControlSocket(places: places, handedOver: nil)
        let client = try UnixSocket.connect(in: Array(places.socketDirectory.utf8), name: Places.socketName)
        #expect(try System.accept(second.listener.rawValue) != nil, "whoever connects reaches the new one")
        client.close()
        try await first.end()
    }

    @Test func `a home longer than a socket's address works`() async throws {
        let long = String(repeating: "/" + String(repeating: "long-", count: 30), count: 4)
        let harness = try await ServiceHarness(below: long)
        let client = try await harness.client()
        #expect(try await client.call(Methods.engineStatus, Nothing()).socket.utf8.count > 600)
        try await harness.end()
    }

    @Test func `a process of another user is sent away without a word`() async throws {
        var settings = ServiceSettings(idleExit: nil)
        settings.mayConnect = { $0 != System.userID }
        let harness = try await ServiceHarness(settings: settings)
        let client = try await harness.client(greets: false)
        #expect(await client.line() == nil)
        try await harness.end()
    }

    @Test func `nothing is answered before the handshake, and another major version is told what to do`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client(greets: false)
        let early = try await #require(throws: WireError.self) { try await client.call(Methods.totals, Nothing()) }
        #expect(early.requestError.code == .refused)
        let hello = Hello(protocolVersion: ProtocolVersion(major: 99, minor: 0), client: "future 1")
        let other = try await #require(throws: WireError.self) { try await client.call(Methods.hello, hello) }
        #expect(other.requestError.code == .engineUnreachable)
        #expect(other.message.contains("99.0"))
        let welcome = try await client.call(Methods.hello, Hello(client: "now 1"))
        // For a front elsewhere: its countdowns go by this clock.
        #expect(welcome.now != nil && welcome.graceSeconds == 10)
        _ = try await client.call(Methods.totals, Nothing())
        try await harness.end()
    }

    @Test(arguments: [
        "{\"jsonrpc\":\"2.0\",", "\u{0}\u{1}\u{1b}[2J", "[]", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"totals\"}",
        "null",
    ])
    func `what is no request is answered once and costs the connection`(_ line: String) async throws {
        let harness = try await ServiceHarness()
        let good = try await harness.client()
        let bad = try await harness.client()
        await bad.send(line)
        let answer = try WireCoding.value(ErrorAnswer.self, from: try #require(await bad.line()))
        #expect(answer.id == nil)
        #expect([-32700, -32600].contains(answer.error.code))
        #expect(await bad.line() == nil)
        _ = try await good.call(Methods.totals, Nothing())
        try await harness.end()
    }

    @Test(arguments: [false, true])
    func `ten megabytes of garbage cost their sender the connection and nobody else anything`(
        _ greets: Bool
    ) async throws {
        let harness = try await ServiceHarness()
        let good = try await harness.client()
        let bad = try await harness.client(greets: greets)
        // No newline in it.
        let piece = try System.randomBytes(10_000).map { $0 | 0x80 }
        let garbage = [[UInt8]](repeating: piece, count: 1000).flatMap(\.self)
        await bad.send(garbage)
        let last = await bad.line()
        if let last {
            #expect(try WireCoding.value(ErrorAnswer.self, from: last).error.message.contains("bytes"))
            #expect(await bad.line() == nil)
        }
        _ = try await good.call(Methods.totals, Nothing())
        _ = try await harness.client().call(Methods.totals, Nothing())
        try await harness.end()
    }

    @Test func `a parameter that is wrong is named, and the connection stays`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        await client.send(#"{"jsonrpc":"2.0","id":5,"method":"batch.show","params":{"batch":"x7"}}"#)
        let wrong = try WireCoding.value(ErrorAnswer.self, from: try #require(await client.line()))
        #expect(wrong.id == .number(5))
        #expect(wrong.error.code == -32602)
        #expect(wrong.error.message.contains("batch"))
        await client.send(#"{"jsonrpc":"2.0","id":"six","method":"batch.fly"}"#)
        let unknown = try WireCoding.value(ErrorAnswer.self, from: try #require(await client.line()))
        #expect(unknown.id == .text("six"))
        #expect(unknown.error.code == -32601)
        _ = try await client.call(Methods.totals, Nothing())
        try await harness.end()
    }

    @Test func `requests sent at once are answered in their order`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        var ids: [Int64] = []
        for _ in 0..<200 { ids.append(try await client.post(Methods.totals, Nothing())) }
        for id in ids {
            let head = try WireCoding.value(AnswerHead.self, from: try #require(await client.line()))
            #expect(head.id == .number(id))
        }
        try await harness.end()
    }

    @Test func `an engine with nothing to do and nobody there asks to leave`() async throws {
        let harness = try await ServiceHarness(settings: ServiceSettings(idleExit: .zero))
        try await until { harness.stops.withLock { $0.last } == .idle }
        try await harness.end()
    }

    @Test func `whoever comes while the engine leaves of itself is not told that it was stopped`() async throws {
        let harness = try await ServiceHarness(settings: ServiceSettings(idleExit: .zero))
        try await until { harness.stops.withLock { $0.last } == .idle }
        let client = try await harness.client()
        try await harness.end()
        #expect(await client.line() == nil)
    }

    @Test func `an engine that is to remove something from a server stays until it is gone`() async throws {
        let harness = try await ServiceHarness(settings: ServiceSettings(idleExit: .zero), owing: 3)
        try await until { harness.stops.withLock { $0.last } == .idle }
        #expect(await harness.engine.owes == -1)
        try await harness.end()
    }

    @Test func `an engine with work stays, and leaves when the work is done`() async throws {
        let harness = try await ServiceHarness(settings: ServiceSettings(idleExit: .zero))
        // Whatever the first look found, from here on there is work.
        try await until { !harness.stops.withLock { $0.isEmpty } }
        harness.stops.withLock { $0 = [] }
        try await harness.add(2)
        let client = try await harness.client()
        _ = try await client.call(Methods.totals, Nothing())
        #expect(harness.stops.withLock { $0 } == [])
        try await harness.completeAll()
        client.socket.close()
        try await until { harness.stops.withLock { $0.last } == .idle }
        try await harness.end()
    }

    @Test func `engine stop is answered before the process is asked to end`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        _ = try await client.call(Methods.engineStop, EngineStopRequest(finishRunning: true))
        try await until { harness.stops.withLock { $0 } == [.asked(.finishingRunning)] }
        _ = try await client.call(Methods.engineStop, EngineStopRequest())
        try await until { harness.stops.withLock { $0.last } == .asked(.now) }
        try await harness.end()
    }
}
