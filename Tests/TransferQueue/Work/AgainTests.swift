import Testing
import TransferModel

@testable import TransferQueue

@Suite("A batch of uploads done again") struct AgainTests {
    private func upload(to destination: String) -> BatchRequest {
        var request = BatchRequest(
            name: BatchName(rawValue: "holiday"),
            work: .upload(
                [
                    UploadSource(path: RawPath("/src/a"), placement: .named(RawPath("a"))),
                    UploadSource(path: RawPath([0x2F, 0xFF]), placement: .contents),
                ], to: destination), priority: .low)
        request.options.exclude = ["*.tmp"]
        request.options.notBefore = Timestamp(milliseconds: 5)
        request.secrets.user = "ana"
        request.secrets.password = "XpasswordX"
        request.secrets.headers = [HeaderField("X-Token", "XtokenX")]
        request.secrets.proxies = ["http_proxy": "http://u:p@office:3128"]
        return request
    }

    @Test("its request names the same sources and place, no time, and no secret")
    func told() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let given = upload(to: "https://host/in/?sig=XqueryX")
        let batch = try await queue.writer.add(given).batch
        let order = try #require(try await queue.reader.request(repeating: batch))
        let sources: [UploadSource] = if case .upload(let all, _) = given.work { all } else { [] }
        #expect(!sources.isEmpty && order.work == .upload(sources, to: "https://host/in/"))
        #expect(order.name?.rawValue == "holiday")
        #expect(order.priority == .low)
        #expect(order.options.exclude == ["*.tmp"])
        #expect(order.options.notBefore == nil)
        #expect(order.secrets == TransferSecrets())
        #expect(order.like == batch)
        #expect(try await queue.reader.request(repeating: BatchID(rawValue: 99)) == nil)
        let download = try await queue.writer.add(.downloads(["https://host/a"])).batch
        await #expect(throws: QueueError.self) { try await queue.reader.request(repeating: download) }
        try await queue.close()
    }

    @Test(
        "its login goes to the same server only",
        arguments: [
            ("https://host/in/", true), ("https://host:443/other/", true), ("tus+https://HOST/x/", true),
            ("davs://host/x/", true), ("https://host.evil/in/", false), ("https://host:444/in/", false),
            ("http://host:443/in/", false), ("sftp://host/in/", false),
        ])
    func login(destination: String, isLent: Bool) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let batch = try await queue.writer.add(upload(to: "https://host/in/?sig=XqueryX")).batch
        var again = BatchRequest(
            work: .upload([UploadSource(path: RawPath("/src/a"), placement: .named(RawPath("a")))], to: destination),
            like: batch)
        again.secrets.headers = [HeaderField("x-token", "other")]
        let whole = try await queue.writer.withLogin(again)
        #expect((whole.secrets.password == "XpasswordX") == isLent)
        #expect(whole.secrets.proxies == [:], "those of where it is queued now")
        #expect(whole.secrets.headers == [HeaderField("x-token", "other")], "what is given counts more")
        guard case .upload(_, let to) = whole.work else { return #expect(Bool(false)) }
        #expect(to.contains("XqueryX") == (destination == "https://host/in/"))
        try await queue.close()
    }

    @Test("nothing goes out without the login that it was to have, when the batch that has it was forgotten")
    func forgotten() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var again = upload(to: "https://host/in/")
        (again.secrets, again.like) = (TransferSecrets(), BatchID(rawValue: 7))
        let error = await #expect(throws: QueueError.self) { try await queue.writer.withLogin(again) }
        #expect(
            error?.finding.message
                == "batch b7, whose login this is to have, was forgotten meanwhile: queue its files with 'martlet upload'"
        )
        try await queue.close()
    }

    @Test("keys of S3 go to the same service, whatever the bucket")
    func keys() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var first = upload(to: "s3://photos/in/")
        first.options.s3 = S3Place(endpoint: "https://one.example")
        let batch = try await queue.writer.add(first).batch
        var again = first
        (again.secrets, again.like) = (TransferSecrets(), batch)
        again.work = .upload([], to: "s3://other/")
        #expect(try await queue.writer.withLogin(again).secrets.password == "XpasswordX")
        again.options.s3 = S3Place(endpoint: "https://two.example")
        #expect(try await queue.writer.withLogin(again).secrets.password == nil)
        try await queue.close()
    }
}
