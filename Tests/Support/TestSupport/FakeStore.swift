import LinuxSystem

/// A small web server that keeps files in memory: PUT (and POST, as it), GET with ranges, HEAD, strong tags, `If-None-Match`, `If-Range`, a little WebDAV. A test may step in
/// before any answer.
package final class FakeStore: Sendable {
    package struct File: Sendable {
        package var bytes: [UInt8]
        package var tag: String
        package var modified: String
    }

    /// What becomes of a request instead of the ordinary answer.
    package enum Fate: Sendable {
        case ordinary
        /// Reads the body, stores nothing, answers so.
        case answer(String, fields: [String] = [])
        /// Answers without reading the body.
        case answerEarly(String, _ body: String = "", fields: [String] = [])
        /// Reads so much of the body, then ends the connection with RST.
        case resetAfter(Int)
        /// Does the work, and ends the connection instead of answering.
        case loseAnswer
        /// Of a GET: sends so many bytes of the body, then ends the connection with RST.
        case cutAnswer(Int)
        /// Of a GET: sends so many bytes of the body, waits for the milestone, then goes on.
        case holdAnswer(Int, Milestone)
        /// Reads so much of the body, waits for the milestone, then goes on.
        case holdBody(Int, Milestone)
        /// Done when the whole body has come, before it is stored.
        case afterBody(@Sendable () -> Void)
    }

    /// The request, and how many of the same method and path came before it.
    package typealias Plan = @Sendable (ScriptedServer.Request, Int) -> Fate

    fileprivate struct State {
        var files: [String: File] = [:]
        var counts: [String: Int] = [:]
        var lastTag = 0
        /// Files whose length is not told, as by servers that make pages on the fly.
        var unmeasured: Set<String> = []
        /// Files that lists leave out.
        var hidden: Set<String> = []
        /// Sent as `Repr-Digest` to who asks for it.
        var digest: String?
    }

    private let state: StateBox
    package let server: ScriptedServer

    /// So that the script, made before `self`, can reach it.
    private final class StateBox: Sendable {
        let mutex = Mutex(State())
    }

    package init(port: UInt16 = 0, _ plan: @escaping Plan = { _, _ in .ordinary }) throws {
        let state = StateBox()
        self.state = state
        server = try ScriptedServer(port: port) { connection in
            while true { try Self.serve(connection, state, plan) }
        }
    }

    package func url(_ path: String) -> String { server.url(path) }
    package func stop() { server.stop() }

    /// The contents of a file; `nil`: there is none.
    package subscript(path: String) -> [UInt8]? {
        state.mutex.withLock { $0.files[path]?.bytes }
    }

    package var paths: Set<String> { state.mutex.withLock { Set($0.files.keys) } }

    /// Puts a file there, as somebody else would.
    package func put(_ path: String, _ bytes: [UInt8], modified: String? = nil) {
        _ = state.mutex.withLock { $0.store(path, bytes, modified) }
    }

    /// Leaves a file out of lists from now on.
    package func hide(_ path: String) { state.mutex.withLock { _ = $0.hidden.insert(path) } }

    /// Tells this digest of every file from now on.
    package func offerDigest(_ value: String) { state.mutex.withLock { $0.digest = value } }

    /// Takes a file away, as somebody else would.
    package func remove(_ path: String) { state.mutex.withLock { $0.files[path] = nil } }

    /// Requests of a method for a path so far.
    package func count(_ method: String, _ path: String) -> Int {
        server.requests.count { $0.method == method && $0.target == path }
    }

    // MARK: Serving

    private static func serve(_ connection: ServerConnection, _ state: StateBox, _ plan: Plan) throws {
        let request = try connection.readHead()
        let key = request.method + " " + request.target
        let earlier = state.mutex.withLock { state in
            defer { state.counts[key, default: 0] += 1 }
            return state.counts[key] ?? 0
        }
        let fate = plan(request, earlier)
        if case .answerEarly(let status, let body, let fields) = fate {
            try connection.answer(status, body, fields: fields + ["Connection: close"])
            throw EndOfConnection()
        }
        switch request.method {
        case "PUT", "POST": try put(request, fate, connection, state)
        case "MOVE", "MKCOL", "PROPFIND", "DELETE":
            if request.length > 0 { try connection.readBody(request.length) }
            if case .answer(let status, let fields) = fate { return try connection.answer(status, fields: fields) }
            let (status, body) = state.mutex.withLock { $0.dav(request) }
            try connection.answer(status, body)
        default: try get(request, fate, connection, state)
        }
    }

    private static func put(
        _ request: ScriptedServer.Request, _ fate: Fate, _ connection: ServerConnection, _ state: StateBox
    ) throws {
        let exists = state.mutex.withLock { $0.files[request.target] }
        let refuses =
            exists != nil
            && (request.fields["if-none-match"] == "*" || request.fields["if-match"].map { $0 != exists?.tag } == true)
        if refuses, case .ordinary = fate {
            // As servers do that look at the head first; without Expect the body is on its way all the same.
            if request.fields["expect"] == nil { try connection.readBody(request.length) }
            try connection.answer("412 Precondition Failed")
            if request.fields["expect"] != nil { throw EndOfConnection() }
            return
        }
        if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
        var body: [UInt8] = []
        switch fate {
        case .resetAfter(let count):
            try connection.readBody(min(count, request.length))
            connection.reset()
            throw EndOfConnection()
        case .holdBody(let count, let milestone):
            body = try connection.readBody(min(count, request.length))
            milestone.waitBlocking()
        default: break
        }
        body += try connection.readBody(request.length - body.count)
        if case .afterBody(let deed) = fate { deed() }
        if case .answer(let status, let fields) = fate { return try connection.answer(status, fields: fields) }
        let tag = state.mutex.withLock { $0.store(request.target, body, nil) }
        if case .loseAnswer = fate {
            connection.reset()
            throw EndOfConnection()
        }
        try connection.answer(exists == nil ? "201 Created" : "204 No Content", fields: ["ETag: \(tag)"])
    }

    private static func get(
        _ request: ScriptedServer.Request, _ fate: Fate, _ connection: ServerConnection, _ state: StateBox
    ) throws {
        if case .answer(let status, let fields) = fate { return try connection.answer(status, fields: fields) }
        guard let file = state.mutex.withLock({ $0.files[request.target] }) else {
            return try connection.answer("404 Not Found")
        }
        let date = "Date: \(HTTPClock.now())"
        let digest = request.fields["want-repr-digest"] == nil ? nil : state.mutex.withLock { $0.digest }
        let fields =
            ["ETag: \(file.tag)", "Last-Modified: \(file.modified)", date]
            + (digest.map { ["Repr-Digest: \($0)"] } ?? [])
        var body = file.bytes[...]
        var status = "200 OK"
        var range: [String] = []
        let isWanted = request.fields["if-range"].map { $0 == file.tag || $0 == file.modified } ?? true
        if let from = request.fields["range"].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) }), isWanted {
            guard from < file.bytes.count else {
                let unsatisfied = "Content-Range: bytes */\(file.bytes.count)"
                return try connection.answer("416 Range Not Satisfiable", fields: fields + [unsatisfied])
            }
            body = file.bytes[from...]
            status = "206 Partial Content"
            range = ["Content-Range: bytes \(from)-\(file.bytes.count - 1)/\(file.bytes.count)"]
        }
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + fields + range
        try connection.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        if request.method == "HEAD" { return }
        switch fate {
        case .cutAnswer(let count):
            try connection.send(Array(body.prefix(count)))
            connection.finishSending()
            throw EndOfConnection()
        case .holdAnswer(let count, let milestone):
            try connection.send(Array(body.prefix(count)))
            milestone.waitBlocking()
            try connection.send(Array(body.dropFirst(count)))
        default: try connection.send(Array(body))
        }
    }
}

extension FakeStore.State {
    /// WebDAV as far as uploads need it. Every folder is there that a file lies in, and those above.
    fileprivate mutating func dav(_ request: ScriptedServer.Request) -> (status: String, body: String) {
        let path = request.target
        switch request.method {
        case "DELETE": return files.removeValue(forKey: path) == nil ? ("404 Not Found", "") : ("204 No Content", "")
        case "MKCOL": return ("201 Created", "")
        case "MOVE":
            let named = request.fields["destination"] ?? ""
            let target =
                named.hasPrefix("http") ? "/" + named.split(separator: "/").dropFirst(2).joined(separator: "/") : named
            if files[target] != nil, request.fields["overwrite"] == "F" { return ("412 Precondition Failed", "") }
            guard let file = files.removeValue(forKey: path) else { return ("404 Not Found", "") }
            files[target] = file
            return ("201 Created", "")
        default:
            let own = files[path].map { [(path, $0)] } ?? []
            let isFolder = path.hasSuffix("/")
            let within = files.filter {
                isFolder && !hidden.contains($0.key) && $0.key.hasPrefix(path)
                    && !$0.key.dropFirst(path.count).contains("/")
            }
            guard !own.isEmpty || isFolder else { return ("404 Not Found", "") }
            var responses = own.map { Self.response($0.0, $0.1) }
            if isFolder {
                responses.append(
                    "<d:response><d:href>\(path)</d:href><d:propstat><d:prop><d:resourcetype><d:collection/></d:resourcetype>"
                        + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>")
                if request.fields["depth"] == "1" {
                    responses += within.sorted { $0.key < $1.key }.map { Self.response($0.key, $0.value) }
                }
            }
            return ("207 Multi-Status", "<d:multistatus xmlns:d=\"DAV:\">\(responses.joined())</d:multistatus>")
        }
    }

    private static func response(_ path: String, _ file: FakeStore.File) -> String {
        "<d:response><d:href>\(path)</d:href><d:propstat><d:prop><d:resourcetype/><d:getcontentlength>\(file.bytes.count)"
            + "</d:getcontentlength><d:getetag>\(file.tag)</d:getetag><d:getlastmodified>\(file.modified)</d:getlastmodified>"
            + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    }

    @discardableResult
    fileprivate mutating func store(_ path: String, _ bytes: [UInt8], _ modified: String?) -> String {
        lastTag += 1
        let tag = "\"v\(lastTag)\""
        files[path] = FakeStore.File(bytes: bytes, tag: tag, modified: modified ?? HTTPClock.now())
        return tag
    }
}
