import LinuxSystem
import TestSupport

/// A small tus server that keeps uploads in memory. A test may step in before any answer.
final class FakeTusServer: Sendable {
    /// What becomes of a request instead of the ordinary answer.
    enum Fate: Sendable {
        case ordinary
        case answer(String)
        /// Of OPTIONS: the ordinary answer and one more field.
        case announce(String)
        /// Of a PATCH: reads so much of the body, forgets it, ends the connection with RST.
        case loseAfter(Int)
        /// Of a PATCH: reads so much of the body, keeps it, ends the connection with RST.
        case keepAfter(Int)
        /// As a gateway that does not find its server.
        case gateway(String)
        /// Reads what comes, waits, and answers in the ordinary way.
        case hold(Milestone)
    }

    /// The request, and how many of the same method came before it.
    typealias Plan = @Sendable (ScriptedServer.Request, Int) -> Fate

    private struct State {
        var uploads: [String: (bytes: [UInt8], length: Int)] = [:]
        var counts: [String: Int] = [:]
    }

    private final class StateBox: Sendable { let mutex = Mutex(State()) }

    let server: ScriptedServer
    private let state: StateBox

    /// - Parameter extensions: what it announces.
    init(extensions: String = "creation,termination", _ plan: @escaping Plan = { _, _ in .ordinary }) throws {
        let state = StateBox()
        self.state = state
        server = try ScriptedServer { connection in
            while true { try Self.serve(connection, state, extensions, plan) }
        }
    }

    func url(_ path: String) -> String { "tus+" + server.url(path) }
    func count(_ method: String) -> Int { server.requests.count { $0.method == method } }

    /// All bytes of each upload that is there.
    var contents: [[UInt8]] { state.mutex.withLock { $0.uploads.sorted { $0.key < $1.key }.map(\.value.bytes) } }

    private static func serve(
        _ connection: ServerConnection, _ state: StateBox, _ extensions: String, _ plan: Plan
    ) throws {
        let request = try connection.readHead()
        let earlier = state.mutex.withLock { state in
            defer { state.counts[request.method, default: 0] += 1 }
            return state.counts[request.method] ?? 0
        }
        if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        let fate = plan(request, earlier)
        if case .loseAfter(let count) = fate {
            _ = try connection.readBody(min(count, request.length))
            connection.reset()
            throw EndOfConnection()
        }
        if case .keepAfter(let count) = fate {
            let bytes = try connection.readBody(min(count, request.length))
            state.mutex.withLock { $0.uploads[request.target]?.bytes += bytes }
            connection.reset()
            throw EndOfConnection()
        }
        let body = try connection.readBody(request.length)
        if case .gateway(let status) = fate { return try connection.answer(status) }
        if case .hold(let milestone) = fate { milestone.waitBlocking() }
        let version = "Tus-Resumable: 1.0.0"
        if case .answer(let status) = fate { return try connection.answer(status, fields: [version]) }
        let known = state.mutex.withLock { $0.uploads[request.target] }
        switch request.method {
        case "OPTIONS":
            let more = if case .announce(let field) = fate { [field] } else { [String]() }
            try connection.answer(
                "204 No Content", fields: [version, "Tus-Version: 1.0.0", "Tus-Extension: \(extensions)"] + more)
        case "POST":
            let name = "/up/\(earlier + 1)"
            let length = request.fields["upload-length"].flatMap { Int($0) } ?? 0
            state.mutex.withLock { $0.uploads[name] = ([], length) }
            try connection.answer("201 Created", fields: [version, "Location: \(name)"])
        case "PATCH":
            guard known != nil else { return try connection.answer("404 Not Found", fields: [version]) }
            let offset = state.mutex.withLock { state in
                state.uploads[request.target]?.bytes += body
                return state.uploads[request.target]?.bytes.count ?? 0
            }
            try connection.answer("204 No Content", fields: [version, "Upload-Offset: \(offset)"])
        case "HEAD":
            guard let known else { return try connection.answer("404 Not Found", fields: [version]) }
            try connection.answer(
                "200 OK",
                fields: [version, "Upload-Offset: \(known.bytes.count)", "Upload-Length: \(known.length)"])
        case "DELETE":
            _ = state.mutex.withLock { $0.uploads.removeValue(forKey: request.target) }
            try connection.answer(known == nil ? "404 Not Found" : "204 No Content", fields: [version])
        default: try connection.answer("405 Method Not Allowed")
        }
    }
}
