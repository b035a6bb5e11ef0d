import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Secrets") struct SecretTests {
    /// Whether any of a queue's files but the secrets store holds a text.
    private func isInQueue(_ text: String, _ sandbox: Sandbox) -> Bool {
        ["queue.sqlite", "queue.sqlite-wal", "queue.sqlite-shm", "queue.lock"].contains { name in
            sandbox.contents(name).firstRange(of: Array(text.utf8)) != nil
        }
    }

    private func rows(_ sandbox: Sandbox) throws -> Int64? {
        let database = try SQLiteConnection(path: sandbox.path("secrets.sqlite").bytes, access: .readOnly)
        return try database.integer("SELECT (SELECT count(*) FROM batch_secrets) + (SELECT count(*) FROM task_queries)")
    }

    @Test("passwords, header values and queries of URLs are given to the engine and stand nowhere in the queue")
    func separate() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var upload = BatchRequest(
            work: .upload(
                [UploadSource(path: RawPath("/src/a"), placement: .named(RawPath("a")))],
                to: "https://host/in/?sig=XqueryX#XfragmentX"))
        upload.secrets.user = "ana"
        upload.secrets.password = "XpasswordX"
        upload.secrets.headers = [HeaderField("Authorization", "Bearer XtokenX")]
        let batch = try await queue.writer.add(upload).batch
        let order = try await queue.writer.order(of: batch)
        #expect(order?.secrets == upload.secrets)
        #expect(order?.destination == "https://host/in/")
        #expect(order?.destinationQuery == "sig=XqueryX")

        let download = try await queue.writer.add(.downloads(["https://host/a?key=XdownloadX", "https://host/b"])).batch
        let claimed = try await queue.claimAll()
        let urls = claimed.map { if case .download(let url, _, _) = $0.work { url } else { "" } }
        #expect(urls == ["https://host/a?key=XdownloadX", "https://host/b"])
        #expect(try await queue.reader.tasks(batch: download, limit: 1)[0].source == "https://host/a")

        for secret in ["XqueryX", "XfragmentX", "XpasswordX", "XtokenX", "XdownloadX"] {
            #expect(!isInQueue(secret, sandbox), "\(secret)")
        }
        #expect(isInQueue("https://host/in/", sandbox))
        try await queue.close()
    }

    @Test("secrets go with the last row that needs them, and their bytes with them")
    func removed() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://host/a?key=XoneX", "https://host/b?key=XtwoX"])
        request.secrets.password = "XpasswordX"
        let batch = try await queue.writer.add(request).batch
        #expect(try rows(sandbox) == 3)
        let tasks = try await queue.claimAll()
        try await queue.complete(tasks)
        _ = try await queue.writer.purge([.task(tasks[0].id)])
        #expect(try rows(sandbox) == 2)
        #expect(sandbox.contents("secrets.sqlite").firstRange(of: Array("XoneX".utf8)) == nil)
        _ = try await queue.writer.purge([.batch(batch)])
        #expect(try rows(sandbox) == 2, "a purge can be taken back")
        sandbox.clock.advance(by: .seconds(11))
        _ = try await queue.writer.forgetPurged(now: sandbox.clock.now)
        #expect(try rows(sandbox) == 0)
        #expect(sandbox.contents("secrets.sqlite").firstRange(of: Array("XpasswordX".utf8)) == nil)
        try await queue.close()
    }

    @Test(
        "a power cut brings no earlier secrets back: the end of their journal is on the disk when they are told to be kept"
    )
    func journal() async throws {
        let sandbox = try Sandbox()
        let journal = sandbox.path("secrets.sqlite-journal").displayed
        ForgetfulDisk.watchRemovals(of: journal)
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://host/a"])
        request.secrets.password = "one"
        let batch = try await queue.writer.add(request).batch
        let added = ForgetfulDisk.removals(of: journal)
        #expect(!added.isEmpty && added.allSatisfy { $0 })
        var login = TransferSecrets()
        login.password = "two"
        let change = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: login)
        #expect(change.results.map(\.result) == [.done])
        let changed = ForgetfulDisk.removals(of: journal)
        #expect(changed.count > added.count && changed.allSatisfy { $0 })
        try await queue.close()
    }

    @Test("an upload URL that a server gave survives a kill in the secrets store alone, and goes when nothing needs it")
    func handles() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        _ = try await queue.addTree(files: 2)
        var tasks = try await queue.claimAll()
        for task in tasks {
            queue.writer.record(
                .checkpoint(resumePoint: [7], accepted: 0, secret: "XurlX\(task.id)"), for: task.id)
        }
        try await queue.writer.commit()
        #expect(!isInQueue("XurlX", sandbox))
        await queue.abandon()

        queue = try sandbox.open()
        tasks = try await queue.claimAll()
        #expect(tasks.map(\.resumeSecret) == tasks.map { "XurlX\($0.id)" })
        queue.writer.record(.completed(Completion(size: 100, verified: .size)), for: tasks[0].id)
        queue.writer.record(.restarted(reason: "gone", repeated: 0, identity: nil), for: tasks[1].id)
        queue.writer.record(.checkpoint(resumePoint: [8], accepted: 0, secret: "XnewX"), for: tasks[1].id)
        try await queue.writer.commit()
        #expect(sandbox.contents("secrets.sqlite").firstRange(of: Array("XurlX".utf8)) == nil)
        await queue.abandon()

        queue = try sandbox.open()
        tasks = try await queue.claimAll()
        #expect(tasks.map(\.resumeSecret) == ["XnewX"], "what a restart put in its place stays")
        try await queue.close()
    }

    @Test("what was learnt of a host is known after a restart, the newest alone")
    func hosts() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        try await queue.writer.remember(host: "https://h:443", facts: [1])
        try await queue.writer.remember(host: "https://h:443", facts: [2, 3])
        try await queue.close()
        queue = try sandbox.open()
        #expect(try await queue.writer.hosts() == ["https://h:443": [2, 3]])
        try await queue.close()
    }

    @Test("an S3 endpoint with a user or a query in it is refused and not shown")
    func endpoint() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        for endpoint in ["https://ana:XpasswordX@s3.example", "https://s3.example/?XpasswordX", "XpasswordX"] {
            var request = BatchRequest.downloads(["s3://bucket/key"])
            request.options.s3 = S3Place(endpoint: endpoint)
            let error = await #expect(throws: QueueError.self) { try await queue.writer.add(request) }
            #expect(!"\(try #require(error))".contains("X"))
        }
        #expect(!isInQueue("XpasswordX", sandbox))
        #expect(try await queue.reader.batches().isEmpty)
        try await queue.close()
    }

    private func hasProxies(_ queue: TransferQueue, _ batch: BatchID, _ proxies: [String: String]) async throws -> Bool
    {
        let order = try #require(try await queue.writer.order(of: batch))
        return order.options.proxies(with: order.secrets) == proxies
    }

    @Test("a proxy that names a user stands in the secrets store alone, and one that does not among the options")
    func proxies() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://host/a"])
        request.options.proxies = [
            "http_proxy": "http://ana:XpasswordX@proxy:3128", "all_proxy": "ana:XotherX@proxy",
            "https_proxy": "http://plain:8080", "no_proxy": "a@b",
        ]
        let batch = try await queue.writer.add(request).batch
        #expect(try await hasProxies(queue, batch, request.options.proxies))
        #expect(!isInQueue("XpasswordX", sandbox) && !isInQueue("XotherX", sandbox))
        #expect(isInQueue("plain:8080", sandbox))
        // They go on when what lets the batch in is given anew.
        var password = TransferSecrets()
        password.password = "new"
        _ = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: password)
        #expect(try await hasProxies(queue, batch, request.options.proxies))
        try await queue.close()
    }

    @Test("proxies that an earlier version left in the queue are moved at the start; its secrets are read as they are")
    func oldProxies() async throws {
        let sandbox = try Sandbox()
        var queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://host/a"])
        request.secrets.user = "ana"
        let batch = try await queue.writer.add(request).batch
        try await queue.close()
        do {
            let stored = try SQLiteConnection(path: sandbox.path("queue.sqlite").bytes, access: .readWrite)
            try stored.run("DELETE FROM meta WHERE name = 'proxies_hidden'")
            try stored.run(
                "UPDATE batches SET options = ?", .text(#"{"proxies":{"http_proxy":"http://ana:XpasswordX@proxy"}}"#))
            let secrets = try SQLiteConnection(path: sandbox.path("secrets.sqlite").bytes, access: .readWrite)
            try secrets.run(
                "UPDATE batch_secrets SET secrets = ?", .text(#"{"user":"ana","headers":[],"formFields":[]}"#))
        }
        queue = try sandbox.open()
        #expect(try await hasProxies(queue, batch, ["http_proxy": "http://ana:XpasswordX@proxy"]))
        #expect(try await queue.writer.order(of: batch)?.secrets.user == "ana")
        #expect(try await queue.writer.order(of: batch)?.options.proxies == [:])
        try await queue.close()
        let stored = try SQLiteConnection(path: sandbox.path("queue.sqlite").bytes, access: .readOnly)
        #expect(try stored.first("SELECT options FROM batches") { $0.text(0) }?.contains("XpasswordX") == false)
    }

    @Test("a login goes to one server: downloads from two with one are refused")
    func oneServer() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://a/x", "http://a/y"])
        request.secrets.user = "ana"
        let error = await #expect(throws: QueueError.self) { try await queue.writer.add(request) }
        #expect("\(try #require(error))".contains("go to one server"))
        #expect(try await queue.reader.batches().isEmpty)
        _ = try await queue.writer.add(.downloads(["https://a/x", "http://a/y"]))
        request.work = BatchRequest.downloads(["https://a/x", "HTTPS://A:443/y"]).work
        request.uuid = UUID()
        _ = try await queue.writer.add(request)
        try await queue.close()
    }

    @Test(
        "a login, or a field that stands for one, goes to one server: a batch of several gets none, neither when it is queued nor later",
        arguments: ["user", "password", "Authorization", "Cookie", "X-Auth-Token"])
    func oneServerLater(secret: String) async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var login = TransferSecrets()
        switch secret {
        case "user": login.user = "ana"
        case "password": login.password = "secret"
        default: login.headers = [HeaderField(secret, "secret")]
        }
        var request = BatchRequest.downloads(["https://a/x", "https://b/y"])
        request.secrets = login
        let error = await #expect(throws: QueueError.self) { try await queue.writer.add(request) }
        #expect("\(try #require(error))".contains("go to one server"))

        let batch = try await queue.writer.add(.downloads(["https://a/x", "https://b/y"])).batch
        let refused = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: login).results
        #expect(
            refused.first?.message
                == "its files come from 2 servers, and a login may go to one: give a netrc file with a login for each: "
                + "martlet set b1 --netrc FILE")
        #expect(try await queue.writer.order(of: batch)?.secrets == TransferSecrets())
        var harmless = TransferSecrets()
        harmless.headers = [HeaderField("Referer", "https://c/")]
        #expect(
            try await queue.writer.replaceSecrets(of: [.batch(batch)], by: harmless).results.map(\.result) == [.done])

        let one = try await queue.writer.add(.downloads(["https://a/x", "HTTPS://A:443/y"])).batch
        #expect(try await queue.writer.replaceSecrets(of: [.batch(one)], by: login).results.map(\.result) == [.done])
        try await queue.close()
    }

    @Test("keys of S3 take the place of no other login")
    func keysOfOthers() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["https://a/x"])
        request.secrets.user = "ana"
        request.secrets.password = "secret"
        let batch = try await queue.writer.add(request).batch
        var keys = TransferSecrets()
        keys.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        let refused = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: keys).results
        #expect(refused.first?.message == "it is no batch of S3: --s3-keys does not apply")
        #expect(try await queue.writer.order(of: batch)?.secrets == request.secrets)
        try await queue.close()
    }

    @Test("keys of another AWS profile than the one that was named for the server are refused")
    func keysOfProfile() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["s3://bucket/key"])
        request.options.s3 = S3Place()
        (request.secrets.s3, request.secrets.s3Origin) = (S3Keys(accessKeyID: "a", secretAccessKey: "b"), .surroundings)
        let plain = try await queue.writer.add(request).batch
        request.uuid = UUID()
        request.secrets.s3Origin = .typed
        let typed = try await queue.writer.add(request).batch
        request.uuid = UUID()
        request.secrets.s3Origin = .profile("lab")
        let lab = try await queue.writer.add(request).batch
        #expect(try await queue.writer.keysProfile(of: lab) == "lab")
        #expect(try await queue.writer.keysProfile(of: plain) == nil)
        func given(_ origin: S3KeysOrigin?, to batch: BatchID) async throws -> NodeResult? {
            var keys = TransferSecrets()
            (keys.s3, keys.s3Origin) = (S3Keys(accessKeyID: "c", secretAccessKey: "d"), origin)
            return try await queue.writer.replaceSecrets(of: [.batch(batch)], by: keys).results.first
        }
        #expect(
            try await given(.surroundings, to: lab)?.message
                == "its keys are of the AWS profile lab: give it new ones apart with martlet set \(lab) --s3-keys")
        #expect(
            try await given(.profile("lab"), to: plain)?.message
                == "its keys are of no AWS profile that was named for its server: give it new ones apart with "
                + "martlet set \(plain) --s3-keys")
        #expect(
            try await given(.surroundings, to: typed)?.message
                == "its keys were given by hand: give others with martlet set \(typed) --user ID")
        #expect(try await queue.writer.order(of: lab)?.secrets == request.secrets)
        #expect(try await given(.profile("lab"), to: lab)?.result == .done)
        #expect(try await given(.surroundings, to: plain)?.result == .done)
        #expect(try await queue.writer.order(of: lab)?.secrets.s3?.accessKeyID == "c")
        var both = TransferSecrets()
        (both.s3, both.s3Origin, both.user) = (S3Keys(accessKeyID: "c", secretAccessKey: "d"), .surroundings, "ID")
        #expect(
            try await queue.writer.replaceSecrets(of: [.batch(typed)], by: both).results.first?.message
                == "keys and a user are two logins: give one of them")
        // Keys that somebody gives by hand are meant, and are typed from then on.
        #expect(try await given(.typed, to: lab)?.result == .done)
        #expect(try await queue.writer.order(of: lab)?.secrets.s3Origin == .typed)
        #expect(try await given(nil, to: typed)?.result == .done)
        try await queue.close()
    }

    @Test("keys of S3 are not replaced by a netrc file, which S3 does not read: that is refused by name")
    func netrcOfS3() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        var request = BatchRequest.downloads(["s3://bucket/key"])
        request.options.s3 = S3Place()
        request.secrets.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        let batch = try await queue.writer.add(request).batch
        var new = TransferSecrets()
        new.netrcFile = RawPath("/n")
        let results = try await queue.writer.replaceSecrets(of: [.batch(batch)], by: new).results
        #expect(results.map(\.result) == [.refused])
        #expect(
            results.first?.message == "S3 takes no netrc file: give --s3-keys, or --user with --password-command")
        #expect(try await queue.writer.order(of: batch)?.secrets == request.secrets)
        new.netrcFile = nil
        new.passwordCommand = "pass"
        #expect(try await queue.writer.replaceSecrets(of: [.batch(batch)], by: new).results.map(\.result) == [.done])
        #expect(try await queue.writer.order(of: batch)?.secrets.s3 == nil)
        #expect(try await queue.writer.order(of: batch)?.secrets.user == "a")
        try await queue.close()
    }

    @Test("a batch of S3 and of another server takes a netrc file for the other one")
    func netrcBesideS3() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        func request(program: [String]?) -> BatchRequest {
            var request = BatchRequest.downloads(["s3://bucket/key", "https://h/f"])
            request.options.s3 = S3Place()
            request.secrets.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b")
            request.secrets.s3Command = program
            return request
        }
        let byHand = request(program: nil)
        let batch = try await queue.writer.add(byHand).batch
        var new = TransferSecrets()
        new.netrcFile = RawPath("/n")
        #expect(try await queue.writer.replaceSecrets(of: [.batch(batch)], by: new).results.map(\.result) == [.done])
        #expect(try await queue.writer.order(of: batch)?.secrets.s3 == byHand.secrets.s3)
        let byProgram = try await queue.writer.add(request(program: ["/bin/keys"])).batch
        let refused = try await queue.writer.replaceSecrets(of: [.batch(byProgram)], by: new).results
        let words =
            "of a netrc file and a program that prints keys of S3 only one is asked: queue one batch for each server"
        #expect(refused.first?.message == words)
        var keys = TransferSecrets()
        (keys.s3, keys.s3Command) = (byHand.secrets.s3, ["/bin/keys"])
        #expect(try await queue.writer.replaceSecrets(of: [.batch(batch)], by: keys).results.first?.message == words)
        var both = request(program: ["/bin/keys"])
        both.secrets.netrcFile = RawPath("/n")
        let error = await #expect(throws: QueueError.self) { try await queue.writer.add(both) }
        #expect("\(try #require(error))".contains("only one is asked"))
        try await queue.close()
    }

    @Test("without secrets there is no secrets store")
    func none() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        _ = try await queue.addTree(files: 1)
        try await queue.close()
        #expect(throws: Errno.noSuchFile) { try System.stat(sandbox.path("secrets.sqlite").bytes) }
    }

    @Test("user info in a URL is refused, and the message does not repeat it")
    func userInfo() async throws {
        let sandbox = try Sandbox()
        let queue = try sandbox.open()
        let error = await #expect(throws: QueueError.self) {
            try await queue.writer.add(.downloads(["https://ana:XpasswordX@host/a?XqueryX"]))
        }
        #expect("\(try #require(error))".contains("host/a"))
        #expect(!"\(try #require(error))".contains("X"))
        for url in [
            "https://ana:Xpa/ss@host/a", "https://ana:Xpa?ss@host/a", "ana:Xpw@host/a", "https://ana:X@Xs/w@host/a",
        ] {
            let error = await #expect(throws: QueueError.self) { try await queue.writer.add(.downloads([url])) }
            #expect(!"\(try #require(error))".contains("X"), "\(url)")
        }
        // However the marks stand.
        let pieces = ["https", "X", ":", "//", "://", "@", "?", "#", "/"]
        var urls = [""]
        for _ in 0..<5 {
            urls = urls.flatMap { url in pieces.map { url + $0 } }
            for url in urls where url.contains("@") && url.first == "h" {
                let shown = AddingStore.Plan.harmless(url)
                #expect(shown == "..." || !shown.contains("@"), "\(url)")
            }
        }
        #expect(try await queue.reader.batches().isEmpty)
        try await queue.close()
    }
}
