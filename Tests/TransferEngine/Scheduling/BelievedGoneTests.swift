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
    private func server(created: @escaping @Sendable (ServerConnection) throws -> Void) throws -> ScriptedServer {
        let begun = SharedValue(0)
        return try ScriptedServer { connection in
            while true {
                let request = try connection.readHead()
                if request.fields["expect"] != nil { try connection.send("HTTP/1.1 100 Continue\r\n\r\n") }
                let body = try connection.readBody(request.length)
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
        let server = try server { connection in
            connection.reset()
            throw EndOfConnection()
        }
        let harness = try await EngineHarness(knowsStore: false)
        let batch = try await add(server, to: harness)
        try await until { Self.begun(server) == 2 }
        try await harness.task(of: batch) { $0.state == .waiting || $0.state == .completed }
        let point = try await stored(harness)
        #expect(uploads([point]) == ["upload-1"] && uploads(point.left) == [""])
        await harness.stop()
        server.stop()
    }
}
