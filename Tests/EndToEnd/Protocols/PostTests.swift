import Glibc
import Testing
import TransferModel

/// POST and forms: what the server said is kept, and a POST that may have happened is never sent again by itself.
@Suite(.inLane) struct PostTests {
    let sandbox: Sandbox
    let server: FormServer
    let source: RawPath

    init() throws {
        sandbox = try Sandbox()
        server = try FormServer(sandbox)
        source = RawPath("\(sandbox.root)/a \"film\".mov")
        try write(SeededBytes.bytes(3_000_000, seed: 41), to: source)
    }

    /// How a file is posted: its bytes alone, or in a form.
    enum Way: CaseIterable {
        case post, form

        var options: [String] {
            switch self {
            case .post: ["--method", "POST"]
            case .form: ["--form", "file", "--field", "album=Kyōto", "--field", "note=two words"]
            }
        }
    }

    private func send(_ way: Way, to path: String, by address: String? = nil, _ more: [String] = []) throws -> String {
        let url = "http://\(address ?? server.address)/\(path)"
        return try sandbox.queue("upload", way.options + more + [source.displayed, url], #_sourceLocation)
    }

    /// Waits for a batch that must be in doubt, with as many POSTs done as are said.
    private func expectDoubt(_ batch: String, done: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let ended = try sandbox.wait(batch)
        #expect(ended.status == 1, "\(ended)", sourceLocation: sourceLocation)
        let task = try sandbox.task(batch)
        #expect(task["state"].text == "failed", "\(task)", sourceLocation: sourceLocation)
        #expect(task["error"]["code"].text == "unknownOutcome", "\(task)", sourceLocation: sourceLocation)
        #expect(task["error"]["retryable"].bool == false, "\(task)", sourceLocation: sourceLocation)
        #expect(try server.done().count == done, sourceLocation: sourceLocation)
    }

    /// The bytes between the lines of a form's parts, by their names.
    private func parts(_ done: JSON) throws -> [String: (head: String, body: [UInt8])] {
        let boundary = try #require(done["Content-Type"].text?.split(separator: "boundary=").last)
        let mark = Array("--\(boundary)".utf8)
        let bytes = try readBytes(RawPath(try #require(done["file"].text)))
        var found: [String: (head: String, body: [UInt8])] = [:]
        var pieces = bytes[...].split(separator: mark)
        #expect(pieces.popLast().map(Array.init) == Array("--\r\n".utf8), "the form ends")
        for piece in pieces {
            let gap = try #require(piece.firstRange(of: Array("\r\n\r\n".utf8)))
            let head = String(decoding: piece[..<gap.lowerBound], as: UTF8.self)
            let name = head.split(separator: "name=\"").dropFirst().first?.prefix { $0 != "\"" } ?? ""
            found[String(name)] = (head, Array(piece[gap.upperBound...].dropLast(2)))
        }
        return found
    }

    @Test(arguments: Way.allCases)
    func `what the server answers is kept: status, headers, body`(way: Way) throws {
        let batch = try send(way, to: "upload")
        #expect(try sandbox.wait(batch).status == 0)
        let done = try server.done()
        #expect(done.count == 1)
        let task = try sandbox.task(batch)
        #expect(task["verified"].text == "none", "nobody can ask what a POST has made: \(task)")
        let id = try #require(task["id"].text)
        let response = try sandbox.succeed("show", id, "--response", "--json").json["response"]
        #expect(response["status"].integer == 201, "\(response)")
        #expect(response["body"].text?.contains("stored") == true, "\(response)")
        #expect("\(response["headers"])".contains("r-1"), "\(response)")
        let shown = try sandbox.succeed("show", id, "--response").output
        for word in ["201", "X-Request-Id", "r-1", "stored"] {
            #expect(shown.lowercased().contains(word.lowercased()), "\(word): \(shown)")
        }
        guard way == .form else {
            #expect(try done[0]["sha256"].text == digest(of: source))
            return
        }
        let parts = try parts(done[0])
        #expect(parts["album"]?.body == Array("Kyōto".utf8))
        #expect(parts["note"]?.body == Array("two words".utf8))
        #expect(try parts["file"]?.body == readBytes(source))
        #expect(parts["file"]?.head.contains("filename=\"a %22film%22.mov\"") == true, "\(parts["file"]?.head ?? "")")
    }

    @Test(arguments: Way.allCases)
    func `an engine that is killed while a POST is under way sends it no second time`(way: Way) throws {
        let batch = try send(way, to: "slow/upload")
        try waitUntil("it has happened") { try server.done().count == 1 }
        try sandbox.killEngine()
        try expectDoubt(batch, done: 1)
        #expect(try sandbox.succeed("why", batch).output.contains("may have happened"))
        // A person looked, and wants it sent again.
        try server.turn("go", "")
        try sandbox.succeed("retry", batch)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try server.done().count == 2)
    }

    @Test(arguments: Way.allCases)
    func `an answer that is lost on the way leaves a question`(way: Way) throws {
        let proxy = try FaultProxy(sandbox, before: server, rules: "unanswered first=1")
        try expectDoubt(send(way, to: "upload", by: proxy.address), done: 1)
        try expectDoubt(send(way, to: "lost/upload"), done: 2)
    }

    @Test func `a POST that was cut in the middle may have happened, too`() throws {
        let proxy = try FaultProxy(sandbox, before: server, rules: "rst up 1M first=1")
        try expectDoubt(send(.post, to: "upload", by: proxy.address), done: 0)
        #expect(try server.requests().count == 1)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 504, 507])
    func `an error after the body was taken leaves a question`(status: Int) throws {
        try expectDoubt(send(.post, to: "answer/\(status)/x"), done: 1)
    }

    @Test func `what was refused unread is tried again by itself`() throws {
        let batch = try send(.form, to: "refuse/503/1")
        try waitUntil("it waits") { try sandbox.task(batch)["state"].text == "waiting" }
        #expect(try sandbox.task(batch)["error"]["httpStatus"].integer == 503)
        try waitUntil("it tries again") { try server.requests().count >= 2 }
        try sandbox.succeed("cancel", batch)
        #expect(try server.done().isEmpty)
    }

    @Test func `with a key of the user's by which the server knows it again it may be repeated`() throws {
        let batch = try send(.post, to: "answer/503/x", ["--header", "Idempotency-Key: 7"])
        try waitUntil("it is sent again") { try server.done().count >= 2 }
        try sandbox.succeed("cancel", batch)
        let keys = try server.done().map { $0["Idempotency-Key"].text ?? "" }
        #expect(Set(keys).count == 1 && keys[0].hasPrefix("7-"), "\(keys)")
    }

    @Test func `a refusal is told with the server's words`() throws {
        let batch = try send(.post, to: "answer/422/x")
        #expect(try sandbox.wait(batch).status == 1)
        let task = try sandbox.task(batch)
        #expect(task["error"]["code"].text == "http", "\(task)")
        let id = try #require(task["id"].text)
        let response = try sandbox.succeed("show", id, "--response", "--json").json["response"]
        #expect(response["status"].integer == 422, "\(response)")
        #expect(response["body"].text == "answer 422\n", "\(response)")
    }

    @Test func `303 is the answer, 307 sends it elsewhere`() throws {
        let seen = try send(.post, to: "see/upload")
        #expect(try sandbox.wait(seen).status == 0)
        let id = try #require(try sandbox.task(seen)["id"].text)
        #expect(try sandbox.succeed("show", id, "--response", "--json").json["response"]["status"].integer == 303)
        #expect(try server.requests().count == 1, "the result is not fetched")
        let moved = try send(.form, to: "elsewhere/upload")
        #expect(try sandbox.wait(moved).status == 0)
        #expect(try server.done().last?["path"].text == "/upload")
    }

    @Test func `a POST survives a kill at every persisted step, and happens once at most`() throws {
        var reached = 0
        for step in ["queue.committed", "engine.answered"] {
            for number in 1...20 {
                let before = try server.done().count
                let doomed = try sandbox.startDoomedEngine("\(step):\(number)")
                let batch = try send(number.isMultiple(of: 2) ? .form : .post, to: "upload")
                let isReached = try sandbox.awaitDoom(of: doomed, or: batch)
                let ended = try sandbox.wait(batch)
                let happened = try server.done().count - before
                switch ended.status {
                case 0: #expect(happened == 1, "\(step):\(number)")
                default:
                    #expect(happened <= 1, "\(step):\(number)")
                    #expect(try sandbox.task(batch)["error"]["code"].text == "unknownOutcome", "\(step):\(number)")
                }
                try sandbox.killEngines()
                guard isReached else { break }
                reached += 1
            }
        }
        #expect(reached >= 5, "the steps were met")
    }
}
