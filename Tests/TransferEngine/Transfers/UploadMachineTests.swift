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
