import Digests
import LinuxSystem
import TestSupport

/// A small S3 that keeps objects in memory, with the marks and the tags that a real one gives them. It can lose the answer to what it stored.
final class FakeS3Server: Sendable {
    private struct Object {
        var bytes: [UInt8]
        var tag: String
        /// Fields of the upload that HEAD tells again.
        var marks: [String: String]
    }

    private struct State {
        var objects: [String: Object] = [:]
        var parts: [String: [Int: [UInt8]]] = [:]
        var marks: [String: [String: String]] = [:]
        var stored = 0
        var shown = 0
    }

    private final class StateBox: Sendable { let mutex = Mutex(State()) }

    let server: ScriptedServer
    private let state: StateBox

    /// - Parameter loses: called when an object is stored, with how many were before it; true ends the connection instead of answering.
    init(loses: @escaping @Sendable (Int) -> Bool) throws {
        let state = StateBox()
        self.state = state
        server = try ScriptedServer { connection in
            while true { try Self.serve(connection, state, loses) }
        }
    }

    /// The bytes of an object, by bucket and key; `nil`: there is none.
    subscript(path: String) -> [UInt8]? { state.mutex.withLock { $0.objects[path]?.bytes } }

    /// Objects that were stored so far, replaced ones among them.
    var storedCount: Int { state.mutex.withLock { $0.stored } }
    /// Answers to HEAD that told of an object.
    var shownCount: Int { state.mutex.withLock { $0.shown } }

    private static func serve(
        _ connection: ServerConnection, _ state: StateBox, _ loses: @Sendable (Int) -> Bool
    ) throws {
        let request = try connection.readHead()
        if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        let body = try connection.readBody(request.length)
        let halves = request.target.split(separator: "?", maxSplits: 1).map(String.init)
        let path = halves[0]
        let query = halves.count > 1 ? halves[1] : ""
        let upload = value("uploadId", in: query)
        switch request.method {
        case "HEAD":
            let object = state.mutex.withLock { state in
                state.shown += state.objects[path] == nil ? 0 : 1
                return state.objects[path]
            }
            guard let object else { return try connection.answer("404 Not Found") }
            let fields = object.marks.map { "\($0): \($1)" } + ["ETag: \(object.tag)"]
            let lines = ["HTTP/1.1 200 OK", "Content-Length: \(object.bytes.count)"] + fields
            try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        case "POST" where upload == nil:
            let id = state.mutex.withLock { state in
                let id = "upload-\(state.marks.count + 1)"
                state.marks[id] = marks(of: request)
                return id
            }
            let told = "<UploadId>\(id)</UploadId>"
            try connection.answer(
                "200 OK", "<InitiateMultipartUploadResult>\(told)</InitiateMultipartUploadResult>")
        case "POST":
            let tag = try store(path, connection, state, loses) { state in
                let parts = state.parts[upload ?? ""].map { $0.sorted { $0.key < $1.key }.map(\.value) } ?? []
                let sums = parts.reduce(into: [UInt8]()) { $0 += DigestAlgorithm.md5.digest(of: $1).bytes }
                let tag = "\"\(DigestAlgorithm.md5.digest(of: sums).hex)-\(parts.count)\""
                return Object(
                    bytes: parts.reduce(into: []) { $0 += $1 }, tag: tag, marks: state.marks[upload ?? ""] ?? [:])
            }
            let told = "<ETag>\(tag)</ETag>"
            try connection.answer(
                "200 OK", "<CompleteMultipartUploadResult>\(told)</CompleteMultipartUploadResult>")
        case "PUT":
            if let upload, let number = value("partNumber", in: query).flatMap({ Int($0) }) {
                state.mutex.withLock { $0.parts[upload, default: [:]][number] = body }
                return try connection.answer("200 OK", fields: ["ETag: \(tag(of: body))"])
            }
            let tag = try store(path, connection, state, loses) { _ in
                Object(bytes: body, tag: Self.tag(of: body), marks: Self.marks(of: request))
            }
            try connection.answer("200 OK", fields: ["ETag: \(tag)"])
        default: try connection.answer("204 No Content")
        }
    }

    private static func store(
        _ path: String, _ connection: ServerConnection, _ state: StateBox, _ loses: (Int) -> Bool,
        _ make: (State) -> Object
    ) throws -> String {
        let (stored, earlier) = state.mutex.withLock { state in
            let object = make(state)
            state.objects[path] = object
            state.stored += 1
            return (object.tag, state.stored - 1)
        }
        guard loses(earlier) else { return stored }
        connection.reset()
        throw EndOfConnection()
    }

    private static func tag(of bytes: [UInt8]) -> String { "\"\(DigestAlgorithm.md5.digest(of: bytes).hex)\"" }

    private static func marks(of request: ScriptedServer.Request) -> [String: String] {
        request.fields.filter { $0.key.hasPrefix("x-amz-meta-") }
    }

    private static func value(_ name: String, in query: String) -> String? {
        query.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
