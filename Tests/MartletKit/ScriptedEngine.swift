import FoundationEssentials
import LinuxSystem
@testable import MartletKit
import ServiceWire
import TransferModel

/// An engine made of a script: answers each request of each connection as a test says. Its directory goes with it.
final class ScriptedEngine: Sendable {
    /// What to do about a request.
    enum Move: Sendable {
        case answer(any Codable & Sendable)
        case refuse(RequestError)
        /// Answer, and tell of a change after it.
        case answerAndTell(any Codable & Sendable, ViewChange)
        /// Answer nothing (now).
        case silence
        /// Answer, and end the connection at once.
        case answerAndHangUp(any Codable & Sendable)
        /// End the connection without an answer.
        case hangUp
    }

    typealias Script = @Sendable (_ connection: Int, _ method: MethodName, _ line: [UInt8]) -> Move

    let home: String
    let places: Places
    private let listener: OwnedDescriptor
    private let loop: EventLoop
    private let script: Script
    private let state = Mutex(State())

    private struct State {
        var requests: [(connection: Int, method: MethodName)] = []
        var count = 0
    }

    /// Every method but `hello` goes to the script; `hello` too when `handshakes` is false.
    init(handshakes: Bool = true, _ script: @escaping Script) throws {
        let name = try System.randomBytes(8).map { String($0, radix: 16) }.joined()
        home = "/tmp/martlet-kit-\(name)"
        places = try Places(environment: ["MARTLET_HOME": home], currentDirectory: "/")
        try System.mkdirs(Array(places.socketDirectory.utf8))
        listener = try UnixSocket.listen(in: Array(places.socketDirectory.utf8), name: Places.socketName)
        loop = try EventLoop(name: "scripted engine")
        self.script = { connection, method, line in
            if handshakes, method == .hello { return .answer(Welcome(engineVersion: "scripted", pid: 4711)) }
            return script(connection, method, line)
        }
        let peers = Peers(self, loop: loop, listener: listener)
        Task { await peers.start() }
    }

    deinit {
        loop.stop()
        try? FileManager.default.removeItem(atPath: home)
    }

    /// A connection to this engine.
    func connect(reconnects: Bool = false) throws -> EngineConnection {
        try EngineConnection(ConnectionOptions(launching: .never, reconnects: reconnects), places: places)
    }

    /// What was asked, in order, without handshakes.
    var requests: [MethodName] { state.withLock { $0.requests.map(\.method) }.filter { $0 != .hello } }
    /// Connections so far.
    var connections: Int { state.withLock { $0.count } }

    fileprivate func nextConnection() -> Int {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    fileprivate func move(_ connection: Int, _ method: MethodName, _ line: [UInt8]) -> Move {
        state.withLock { $0.requests.append((connection, method)) }
        return script(connection, method, line)
    }
}

/// The connections of a scripted engine, on its loop.
private actor Peers {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private weak var engine: ScriptedEngine?
    private let listener: OwnedDescriptor
    private var sockets: [Int: OwnedDescriptor] = [:]
    private var framers: [Int: LineFramer] = [:]
    private var registrations: [Int: Registration] = [:]

    init(_ engine: ScriptedEngine, loop: EventLoop, listener: OwnedDescriptor) {
        self.engine = engine
        self.loop = loop
        self.listener = listener
    }

    func start() {
        _ = try? loop.register(listener.rawValue, .read) { _ in self.assumeIsolated { $0.accept() } }
    }

    private func accept() {
        guard let engine, let socket = try? System.accept(listener.rawValue) else { return }
        let number = engine.nextConnection()
        sockets[number] = socket
        framers[number] = LineFramer()
        registrations[number] = try? loop.register(socket.rawValue, .read) { _ in
            self.assumeIsolated { $0.read(number) }
        }
    }

    private func read(_ number: Int) {
        guard let socket = sockets[number] else { return }
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = try? chunk.withUnsafeMutableBytes { bytes throws(Errno) in
            try System.receive(socket.rawValue, into: bytes)
        }
        guard let count else { return }
        guard count > 0, let lines = try? framers[number]?.append(chunk[..<count]) else {
            return hangUp(number)
        }
        for line in lines { take(line, number) }
    }

    private func take(_ line: [UInt8], _ number: Int) {
        guard let engine, let socket = sockets[number],
            let head = try? WireCoding.value(WireRequestHead.self, from: line), let id = head.id,
            let method = MethodName(rawValue: head.method)
        else { return hangUp(number) }
        switch engine.move(number, method, line) {
        case .answer(let value): send(Self.line(id, value), socket)
        case .answerAndHangUp(let value):
            send(Self.line(id, value), socket)
            hangUp(number)
        case .answerAndTell(let value, let change):
            send(Self.line(id, value), socket)
            send((try? WireCoding.line(Notification(method: .viewChanged, params: change))) ?? [], socket)
        case .refuse(let error):
            send((try? WireCoding.line(ErrorAnswer(id: id, error: WireError(error)))) ?? [], socket)
        case .silence: break
        case .hangUp: hangUp(number)
        }
    }

    private static func line(_ id: RequestIdentifier, _ value: some Codable) -> [UInt8] {
        (try? WireCoding.line(WireAnswer(id: id, result: value))) ?? []
    }

    private func send(_ line: [UInt8], _ socket: OwnedDescriptor) {
        _ = try? line.withUnsafeBytes { bytes throws(Errno) in try System.send(socket.rawValue, bytes) }
    }

    private func hangUp(_ number: Int) {
        if let registration = registrations.removeValue(forKey: number) { loop.cancel(registration) }
        sockets.removeValue(forKey: number)?.close()
    }
}

/// What a line asks for.
struct Asked<P: Decodable>: Decodable {
    var params: P
    static func of(_ line: [UInt8]) throws -> P { try WireCoding.value(Asked<P>.self, from: line).params }
}

extension BatchSnapshot {
    /// A batch as an engine would show it after adding.
    static func sample(_ number: Int64, uuid: UUID) -> BatchSnapshot {
        BatchSnapshot(
            id: BatchID(rawValue: number), uuid: uuid, session: .default, name: "n", direction: .upload,
            state: .running, scanning: true, paused: false, priority: .normal, createdAt: Timestamp(milliseconds: 0),
            finishedAt: nil, destination: "http://h/", counts: FileCounts(), bytes: ByteCounts(), waitReasons: [],
            causes: [])
    }
}
