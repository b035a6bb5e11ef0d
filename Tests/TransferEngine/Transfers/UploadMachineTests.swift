import CurlTransport
import FoundationEssentials
import TestSupport
import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine
@testable import TransferQueue

/// The protocol that sends to a place.
struct UploadMachineTests {
    @Test(
        "the scheme, the option, the host's facts and what was begun choose the protocol, in that they overrule each other"
    )
    func choice() {
        func sender(
            _ destination: String, by way: HTTPUploadProtocol? = nil, host: String? = nil, resume: ResumePoint? = nil,
            size: Int64 = 100
        ) -> String {
            var options = TransferOptions()
            options.uploadBy = way
            let order = BatchOrder(
                batch: BatchID(rawValue: 1), session: .default, priority: .normal, options: options,
                secrets: TransferSecrets(), destination: destination, destinationQuery: nil)
            let context = BatchContext(order, userAgent: "test")
            var facts = HostFacts()
            if let host { facts.learn(uploadBy: host, at: Timestamp(milliseconds: 0)) }
            let subject = UploadSubject(
                name: RawPath("f"), size: size, token: .digits(String(repeating: "0", count: 32)))
            let machine = context.uploadMachine(subject, below: RawPath("d/f"), facts: facts, resume: resume)
            return machine.map { String(describing: type(of: $0)) } ?? "nobody"
        }
        #expect(sender("https://h/") == "NegotiatedUpload")
        #expect(sender("https://h/", host: "tus") == "TusUpload")
        #expect(sender("https://h/", host: "ietf") == "ResumableUpload")
        #expect(sender("https://h/", host: "put") == "PutUpload")
        #expect(sender("https://h/", by: .put, host: "tus") == "PutUpload")
        #expect(sender("https://h/", by: .form) == "PostUpload")
        #expect(sender("tus+https://h/", host: "put") == "TusUpload")
        #expect(sender("ietf+http://h/") == "ResumableUpload")
        #expect(sender("dav://h/") == "DavUpload")
        let cloud = "davs://h/remote.php/dav/files/ana/"
        #expect(sender(cloud) == "DavUpload")
        #expect(sender(cloud, size: 11 << 20) == "NextcloudUpload")
        // A file that went whole, and may have its name already.
        var whole = DavResumePoint(temporary: "/remote.php/dav/files/ana/.f")
        #expect(sender(cloud, resume: ResumePoint(whole), size: 11 << 20) == "NextcloudUpload")
        whole.publishing = true
        #expect(sender(cloud, resume: ResumePoint(whole), size: 11 << 20) == "DavUpload")
        #expect(sender("s3://bucket/") == "S3Upload")
        #expect(sender("sftp://h/") == "SFTPUpload")
        #expect(sender("ftpes://h/") == "FTPUpload")
        // A 104 to a plain PUT leaves an upload of the draft behind.
        let begun = ResumePoint(ResumableResumePoint(version: 8, length: 100, url: HTTPAddress("https://h/u/1")))
        #expect(sender("https://h/", host: "put", resume: begun) == "ResumableUpload")
    }

    private func made(
        _ destination: String, _ headers: [HeaderField], by way: HTTPUploadProtocol? = nil, keys: S3Keys? = nil
    ) -> BatchContext {
        var (options, secrets) = (TransferOptions(), TransferSecrets())
        options.uploadBy = way
        (secrets.headers, secrets.s3) = (headers, keys)
        let order = BatchOrder(
            batch: BatchID(rawValue: 1), session: .default, priority: .normal, options: options, secrets: secrets,
            destination: destination, destinationQuery: nil)
        return BatchContext(order, userAgent: "test")
    }

    @Test("a question that costs a server no work is answered within the time of a stall, and a digest within minutes")
    func patience() {
        let context = made("https://h/in/", [], by: .put)
        func answer(_ method: HTTPExchange.Method, _ headers: [HeaderField] = []) -> Duration {
            let exchange = HTTPExchange(method, HTTPAddress("https://h/in/f")!, headers: headers)
            return context.request(exchange, body: .none, at: Timestamp(milliseconds: 0)).timeouts.answer
        }
        #expect(answer(.options) == .seconds(60) && answer(.head) == .seconds(60))
        #expect(answer(.head, [HeaderField("Want-Repr-Digest", "sha-256=10")]) == .seconds(600))
        #expect(answer(.put) == .seconds(600) && answer(.get) == .seconds(600))
    }

    /// The fields of a request, as they go out.
    private func sent(_ exchange: HTTPExchange, by context: BatchContext) -> [HeaderField] {
        context.request(exchange, body: .none, at: Timestamp(milliseconds: 0)).fields
    }

    /// The key that the POST of a file shows.
    private func key(
        _ given: String, task: String = "0", size: Int64 = 1, modified: Int64 = 5, changes: Int = 0
    ) throws -> String {
        let context = made("https://h/in/", [HeaderField("idempotency-key", given)], by: .post)
        var resume = ResumePoint(PostResumePoint(token: "t", isSent: false))
        resume.sourceChanges = changes
        let subject = UploadSubject(
            name: RawPath("f"), size: size, modifiedNanoseconds: modified,
            token: .digits(String(repeating: task, count: 32)))
        var machine = try #require(
            context.uploadMachine(subject, below: RawPath("f"), facts: HostFacts(), resume: resume))
        for case .perform(_, .http(let exchange)) in machine.handle(.began(at: Timestamp(milliseconds: 0))) {
            let keys = sent(exchange, by: context).filter { $0.name.lowercased() == "idempotency-key" }
            #expect(keys.count == 1)
            return keys.first?.value ?? ""
        }
        return ""
    }

    @Test("no two files, and no two versions of one, show the same key for a POST; all attempts of one version do")
    func keys() throws {
        let first = try key("nov")
        #expect(first.hasPrefix("nov-") && first.count == 28)
        #expect(try key("nov") == first)
        let others = [
            try key("nov", task: "1"), try key("nov", size: 2), try key("nov", modified: 6), try key("nov", changes: 1),
        ]
        #expect(Set(others + [first]).count == 5)
        let quoted = try key("\"nov\"")
        #expect(quoted == "\"\(first)\"")
    }

    @Test("a key for POSTs goes with no request of another protocol")
    func otherProtocols() throws {
        let context = made("https://h/in/", [HeaderField("Idempotency-Key", "nov"), HeaderField("X-Team", "a")])
        let exchange = HTTPExchange(.put, try #require(HTTPAddress("https://h/in/f")))
        #expect(sent(exchange, by: context) == [HeaderField("User-Agent", "test"), HeaderField("X-Team", "a")])
    }

    @Test("a given field stands once: it takes the program's place, and leaves that of a protocol's own")
    func once() throws {
        let agent = HeaderField("user-agent", "Mozilla/5.0")
        let context = made("https://h/in/", [agent, HeaderField("range", "bytes=0-5")])
        let url = try #require(HTTPAddress("https://h/in/f"))
        let range = HeaderField("Range", "bytes=7-")
        #expect(sent(HTTPExchange(.get, url, headers: [range]), by: context) == [range, agent])
        // Another server is not shown what was meant for this one.
        let elsewhere = HTTPExchange(.get, url, headers: [range], mayCarrySecrets: false)
        #expect(sent(elsewhere, by: context) == [HeaderField("User-Agent", "test"), range])
    }

    @Test("given fields of an object are signed, and go with no request that S3 would refuse for them")
    func signed() throws {
        let context = made(
            "s3://bucket/in/", [HeaderField("x-amz-acl", "private"), HeaderField("Authorization", "Bearer x")],
            keys: S3Keys(accessKeyID: "a", secretAccessKey: "b"))
        func shown(_ method: HTTPExchange.Method) throws -> [String: [String]] {
            var exchange = HTTPExchange(method, try #require(HTTPAddress("https://h/bucket/in/f")))
            exchange.signing = RequestSigning(SignatureV4(region: .usual, payload: SignatureV4.emptyPayload))
            let fields = sent(exchange, by: context)
            return Dictionary(grouping: fields, by: { $0.name.lowercased() }).mapValues { $0.map(\.value) }
        }
        let put = try shown(.put)
        #expect(put["x-amz-acl"] == ["private"] && put["authorization"]?.count == 1)
        #expect(put["authorization"]?.first?.contains("SignedHeaders=host;x-amz-acl;x-amz-content-sha256") == true)
        #expect(try shown(.head)["x-amz-acl"] == nil)
    }

    @Test("two tasks' temporary files never have one name")
    func tokens() async throws {
        let harness = try await EngineHarness(started: false)
        for name in ["a", "b"] { try harness.sandbox.write(name, [1]) }
        let batch = try await harness.queue.writer.add(harness.request(upload: ["a", "b"])).batch
        try await harness.engine.start()
        try await harness.finished(batch)
        let ids = try await harness.tasks(batch).map(\.uuid)
        let tokens = ids.map { UploadToken.task($0).text }
        #expect(tokens[0].prefix(8) != tokens[1].prefix(8))
        #expect(tokens.allSatisfy { $0.count == 32 })
        await harness.stop()
    }
}
