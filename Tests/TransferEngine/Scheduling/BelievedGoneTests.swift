import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

/// Uploads that are taken for gone by a gateway's word: what is known of them until their server has shown that it is there.
@Suite(.timeLimit(.minutes(2))) struct BelievedGoneTests {
    private static let part: Int64 = 5 << 20

    /// A server that takes the first part of the first upload and no other, loses that upload behind a gateway, and meets `created` with the
    /// next request for an upload.
    /// - Parameter held: what follows the next request for an upload waits for it.
    private func server(
        held: Milestone? = nil, created: @escaping @Sendable (ServerConnection) throws -> Void
    ) throws -> ScriptedServer {
        let begun = SharedValue(0)
        return try ScriptedServer { connection in
            while true {
                let request = try connection.readHead()
                if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
                let body = try connection.readBody(request.length)
                if begun.withLock({ $0 }) == 2 { held?.waitBlocking() }
                switch request.method {
                case "POST" where request.target.contains("uploads"):
                    let number = begun.withLock { count in
                        count += 1
                        return count
                    }
                    if number == 2 { try created(connection) }
                    let id = "<UploadId>upload-\(number)</UploadId>"
                    try connection.answer(
                        "200 OK", "<InitiateMultipartUploadResult>\(id)</InitiateMultipartUploadResult>")
                case "POST":
                    try connection.answer(
                        "200 OK",
                        "<CompleteMultipartUploadResult><ETag>\"x-3\"</ETag></CompleteMultipartUploadResult>")
                case "PUT" where request.target.contains("upload-1") && !request.target.contains("partNumber=1&"):
                    try connection.answer("503 Slow Down")
                case "PUT": try connection.answer("200 OK", fields: ["ETag: \"part-\(body.count)\""])
                case "DELETE": try connection.answer("204 No Content")
                default: try connection.answer("404 Not Found")
                }
            }
        }
    }

    private func add(_ server: ScriptedServer, to harness: EngineHarness) async throws -> BatchID {
        try harness.sandbox.write("f", pattern(Int(3 * Self.part)))
        let source = UploadSource(path: RawPath(harness.sandbox.path("f")), placement: .named(RawPath("f")))
        var request = BatchRequest(work: .upload([source], to: "s3://bucket/in/"))
        request.options.s3 = S3Place(endpoint: server.url(""), region: "us-east-1")
        request.options.verify = VerificationWish.none
        request.options.chunkBytes = Self.part
        request.secrets.s3 = S3Keys(accessKeyID: "key", secretAccessKey: "secret")
        return try await harness.add(request)
    }

    private static func begun(_ server: ScriptedServer) -> Int {
        server.requests.count { $0.method == "POST" && $0.target.contains("uploads") }
    }

    private func stored(_ harness: EngineHarness) async throws -> ResumePoint {
        try await harness.queue.writer.commit()
        let remains = try await harness.queue.writer.remains(in: [.waiting, .queued, .running], claimed: true)
        return try #require(remains.first?.task.resumePoint.flatMap { ResumePoint(encoded: $0) })
    }

    private func uploads(_ points: [ResumePoint]) -> [String] {
        points.map { $0.content(S3ResumePoint.self)?.uploadID ?? $0.kind }
    }

    @Test("a kill before the answer to the new beginning leaves the upload that was taken for gone, and how far it was")
    func killBetween() async throws {
        let answered = try Milestone()
        let server = try server { _ in answered.waitBlocking() }
        let harness = try await EngineHarness(knowsStore: false)
        let batch = try await add(server, to: harness)
        try await until { Self.begun(server) == 2 }
        let point = try await stored(harness)
        #expect(uploads([point]) == ["upload-1"] && uploads(point.left) == [""])
        let asking = try #require(try await harness.tasks(batch).first)
        #expect(asking.bytesAccepted == Self.part && asking.restarts == 0)
        answered.reach()
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 1 && task.bytesRepeated >= Self.part)
        // It may be there all the same, and its parts cost money.
        try await until { server.requests.contains { $0.method == "DELETE" && $0.target.contains("upload-1") } }
        await harness.stop()
        server.stop()
    }

    @Test(
        "a new beginning whose answer was lost is left over where the upload that was taken for gone is asked for again"
    )
    func lostAnswer() async throws {
        let held = try Milestone()
        let server = try server(held: held) { connection in
            connection.reset()
            throw EndOfConnection()
        }
        let harness = try await EngineHarness(knowsStore: false)
        _ = try await add(server, to: harness)
        try await until { Self.begun(server) == 2 }
        // The next attempt asks for its parts, and hears nothing yet.
        try await until { server.requests.count { $0.method == "GET" } == 2 }
        let point = try await stored(harness)
        #expect(uploads([point]) == ["upload-1"] && uploads(point.left) == [""])
        held.reach()
        await harness.stop()
        server.stop()
    }

    // MARK: Nextcloud

    /// A Nextcloud that takes the first chunk and, until `isWell`, no other. A gateway that does not find it answers 404 to everything while
    /// `isAway`: until the attempt after the one that also tried to send the whole file.
    private final class FakeNextcloud: Sendable {
        struct State {
            var isAway = false
            var wasAskedForWholeFile = false
            var isWell = false
            /// The next list of chunks is a gateway's 404, and all is well from then on.
            var losesOne = false
            /// So many are not done, and not answered.
            var lostMoves = 0
            /// Bytes, by path.
            var files: [String: Int] = [:]
            var folders: Set<String> = []
        }

        let state: SharedValue<State>
        let server: ScriptedServer

        init() throws {
            let state = SharedValue(State())
            self.state = state
            server = try ScriptedServer { connection in while true { try Self.serve(connection, state) } }
        }

        func count(_ method: String, _ part: String) -> Int {
            server.requests.count { $0.method == method && $0.target.contains(part) }
        }

        private static func serve(_ connection: ServerConnection, _ state: SharedValue<State>) throws {
            let request = try connection.readHead()
            let path = request.target.split(separator: "?").first.map(String.init) ?? ""
            let isGateway = state.withLock { state in
                if state.isAway, request.method == "PUT", path.contains("/files/") { state.wasAskedForWholeFile = true }
                let asksForChunks = request.method == "PROPFIND" && path.contains("/uploads/")
                if asksForChunks, state.wasAskedForWholeFile { (state.isAway, state.isWell) = (false, true) }
                guard state.losesOne, asksForChunks else { return state.isAway }
                (state.losesOne, state.isWell) = (false, true)
                return true
            }
            if isGateway {
                try connection.answer("404 Not Found", fields: ["Connection: close"])
                throw EndOfConnection()
            }
            if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
            let body = try connection.readBody(request.length)
            switch request.method {
            case "MKCOL":
                let isNew = state.withLock { $0.folders.insert(path).inserted }
                try connection.answer(isNew ? "201 Created" : "405 Method Not Allowed")
            case "PUT":
                let isTaken = state.withLock { state in
                    if state.isWell || path.hasSuffix("00001") { state.files[path] = body.count }
                    return state.files[path] != nil
                }
                try connection.answer(isTaken ? "201 Created" : "503 Service Unavailable")
            case "MOVE":
                let isLost = state.withLock { state in
                    state.lostMoves -= 1
                    if state.lostMoves >= 0 { return true }
                    let chunks = state.files.filter { $0.key.hasPrefix(path.dropLast(".file".count)) }
                    for chunk in chunks.keys { state.files[chunk] = nil }
                    let target = request.fields["destination"] ?? ""
                    let start = target.firstRange(of: "/remote.php")?.lowerBound ?? target.startIndex
                    state.files[String(target[start...])] = chunks.values.reduce(0, +)
                    return false
                }
                if isLost { throw EndOfConnection() }
                try connection.answer("201 Created")
            case "DELETE": try connection.answer("204 No Content")
            case "PROPFIND":
                let (files, isFolder) = state.withLock { state in
                    (
                        state.files.filter { $0.key == path || $0.key.hasPrefix(path + "/") },
                        state.folders.contains(path)
                    )
                }
                guard isFolder || !files.isEmpty else { return try connection.answer("404 Not Found") }
                let listed = files.map { name, size in
                    "<d:response><d:href>\(name)</d:href><d:propstat><d:prop><d:getcontentlength>\(size)</d:getcontentlength>"
                        + "</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
                }
                let all = "<d:multistatus xmlns:d=\"DAV:\">\(listed.joined())</d:multistatus>"
                try connection.answer("207 Multi-Status", all, fields: ["Content-Type: application/xml"])
            default: try connection.answer("405 Method Not Allowed")
            }
        }
    }

    private func add(_ cloud: FakeNextcloud, _ name: String = "f", to harness: EngineHarness) async throws -> BatchID {
        try harness.sandbox.write(name, pattern(Int(3 * Self.part)))
        let source = UploadSource(path: RawPath(harness.sandbox.path(name)), placement: .named(RawPath(name)))
        let url = "dav" + cloud.server.url("/remote.php/dav/files/u/in/").dropFirst("http".count)
        var request = BatchRequest(work: .upload([source], to: url))
        request.options.verify = VerificationWish.none
        request.options.chunkBytes = Self.part
        (request.secrets.user, request.secrets.password) = ("u", "p")
        return try await harness.add(request)
    }

    @Test("a file that waits until its server has put it together tries no login for the others")
    func waitsForServer() async throws {
        let cloud = try FakeNextcloud()
        cloud.state.withLock { ($0.isWell, $0.lostMoves) = (true, 1) }
        let first = try await EngineHarness(knowsStore: false)
        let waiting = try await add(cloud, to: first)
        try await until { cloud.count("MOVE", "/uploads/") == 1 }
        await first.stop()
        let asked = cloud.count("PROPFIND", "/files/u/in/f")
        let second = try await EngineHarness(sandbox: first.sandbox, knowsStore: false)
        try await until { cloud.count("PROPFIND", "/files/u/in/f") > asked }
        try await second.finished(try await add(cloud, "g", to: second))
        #expect(try await second.queue.reader.batch(waiting)?.state.isTerminal == false)
        await second.stop()
        cloud.server.stop()
    }

    @Test("chunks that a gateway does not find are not given up for a whole file that it does not take either")
    func chunksBehindGateway() async throws {
        let cloud = try FakeNextcloud()
        let harness = try await EngineHarness(knowsStore: false)
        let batch = try await add(cloud, to: harness)
        try await until { cloud.state.withLock { $0.files.count == 1 } && cloud.count("PUT", "00002") > 0 }
        cloud.state.withLock { $0.isAway = true }
        try await harness.finished(batch)
        // It has tried to make another folder, and to send the file without one, and told what stopped it.
        #expect(cloud.count("PUT", "/files/") == 1)
        let told = TransferError.absent(at: "127.0.0.1")
        #expect(try await harness.events(.waiting).contains { $0.payload.error?.code == told.code })
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 0, "\(String(describing: task.error))")
        #expect(cloud.count("PUT", "00001") == 1 && cloud.count("DELETE", "/uploads/") == 0)
        await harness.stop()
        cloud.server.stop()
    }

    @Test("a folder of chunks that is there after all is gone on with")
    func folderIsThere() async throws {
        let cloud = try FakeNextcloud()
        let harness = try await EngineHarness(knowsStore: false)
        let batch = try await add(cloud, to: harness)
        try await until { cloud.state.withLock { $0.files.count == 1 } && cloud.count("PUT", "00002") > 0 }
        cloud.state.withLock { $0.losesOne = true }
        try await harness.finished(batch)
        let task = try #require(try await harness.tasks(batch).first)
        #expect(task.state == .completed && task.restarts == 0, "\(String(describing: task.error))")
        #expect(task.resumedFrom.last == Self.part && cloud.count("PUT", "00001") == 1)
        #expect(cloud.count("DELETE", "/uploads/") == 0 && cloud.count("MKCOL", "/uploads/") == 2)
        await harness.stop()
        cloud.server.stop()
    }
}
