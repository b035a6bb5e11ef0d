import CommandLine
import Configuration
import FoundationEssentials
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

/// A directory of its own for one test.
final class Sandbox {
    let path: [UInt8]

    init() throws {
        path = Array("\(FileManager.default.temporaryDirectory.path)/martlet-\(UUID().uuidString)".utf8)
        try System.mkdirs(path)
    }

    deinit { try? FileManager.default.removeItem(atPath: String(decoding: path, as: UTF8.self)) }

    func file(_ name: [UInt8]) throws {
        _ = try System.open(path + [UInt8(ascii: "/")] + name, flags: 0o101)
    }
    func file(_ name: String) throws { try file(Array(name.utf8)) }
    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: String(decoding: path, as: UTF8.self) + "/" + name))
    }
    func directory(_ name: String) throws { try System.mkdirs(path + Array("/\(name)".utf8)) }
}

@Suite("upload and download say at once what cannot be meant")
struct QueueingTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.file("a.txt")
        try sandbox.file("b.txt")
        try sandbox.file([0x66, 0xFF])
        try sandbox.directory("dir/sub")
    }

    private var bench: Bench {
        let path = sandbox.path
        return Bench { $0.currentDirectory = path }
    }

    private func request(_ words: String...) async throws -> BatchRequest {
        let bench = bench
        #expect(await bench.run(words.map { Argument($0) }) == .done, "\(bench.error)")
        return try #require(bench.engine.requests.first)
    }

    private func refusal(_ words: String...) async -> String { await refusal(words) }

    private func refusal(_ words: [String]) async -> String {
        let bench = bench
        #expect(await bench.run(words.map { Argument($0) }) == .usage)
        #expect(bench.engine.asked == [])
        return bench.error
    }

    private func below(_ name: String) -> RawPath { RawPath(sandbox.path + Array("/\(name)".utf8)) }

    @Test("sources arrive below a directory under their own names, and the id is all that is printed")
    func directory() async throws {
        let bench = bench
        #expect(await bench.run("upload", "a.txt", "./dir//sub/", "https://h/in/") == .done)
        #expect(bench.output == "b7\n")
        let request = try #require(bench.engine.requests.first)
        #expect(
            request.work
                == .upload(
                    [
                        UploadSource(path: below("a.txt"), placement: .named(RawPath("a.txt"))),
                        UploadSource(path: below("dir/sub"), placement: .named(RawPath("sub"))),
                    ], to: "https://h/in/"))
    }

    @Test("DIR/. and . mean the contents alone, and .. its own name")
    func contents() async throws {
        #expect(
            try await request("upload", "dir/.", "https://h/in/").work
                == .upload([UploadSource(path: below("dir"), placement: .contents)], to: "https://h/in/"))
        #expect(
            try await request("upload", ".", "https://h/in/").work
                == .upload([UploadSource(path: RawPath(sandbox.path), placement: .contents)], to: "https://h/in/"))
        let parent = try await request("upload", "dir/sub/..", "https://h/in/").work
        #expect(
            parent
                == .upload(
                    [UploadSource(path: below("dir/sub/.."), placement: .named(RawPath("dir")))], to: "https://h/in/"))
    }

    @Test("a single file arrives under exactly the destination's name")
    func exactly() async throws {
        #expect(
            try await request("upload", "a.txt", "http://h:8080/x.txt").work
                == .upload([UploadSource(path: below("a.txt"), placement: .exactly)], to: "http://h:8080/x.txt"))
    }

    @Test("a name that is not UTF-8 keeps its bytes")
    func rawName() async throws {
        let bench = bench
        #expect(await bench.run([Argument("upload"), Argument([0x66, 0xFF]), Argument("https://h/in/")]) == .done)
        let request = try #require(bench.engine.requests.first)
        guard case .upload(let sources, _) = request.work else {
            Issue.record("something else: \(request.work)")
            return
        }
        #expect(sources[0].path.bytes == sandbox.path + [0x2F, 0x66, 0xFF])
        #expect(sources[0].placement == .named(RawPath([0x66, 0xFF])))
    }

    @Test("a directory, or several sources, without the slash is refused with the fix")
    func missingSlash() async {
        #expect(
            await refusal("upload", "dir", "https://h/in")
                == "martlet: upload: dir is a directory, and DEST is not: end DEST in a slash: https://h/in/\n")
        #expect(
            await refusal("upload", "a.txt", "b.txt", "https://h/in")
                == "martlet: upload: several sources need a DEST that is a directory: end it in a slash: https://h/in/\n"
        )
        #expect(
            await refusal("upload", "a.txt", "https://h")
                == "martlet: upload: DEST has no path: end it in a slash: https://h/\n")
    }

    @Test("a missing operand is named with what it is")
    func missingOperand() async {
        #expect(
            await refusal("upload", "a.txt")
                == "martlet: upload: DEST is missing: give a URL such as https://nas.example/photos/\n")
    }

    @Test("a source that is missing or no file is refused by name, with its code in JSON")
    func sources() async {
        let bench = bench
        #expect(await bench.run("upload", "--json", "none\u{1B}", "https://h/in/") == .usage)
        #expect(
            bench.output.hasPrefix(
                "{\"error\":{\"code\":\"sourceMissing\",\"message\":\"upload: none\\\\x1b: No such file"))
        #expect(!bench.error.contains("\u{1B}"))
        #expect(await refusal("upload", "/dev/null", "https://h/in/").contains("neither a file nor a directory"))
        #expect(await refusal("upload", "-", "https://h/in/").contains("standard input (-) is not built yet"))
        #expect(
            await refusal("upload", "a.txt", "dir/../a.txt", "https://h/in/").contains("two sources are named a.txt"))
    }

    @Test(
        "a destination that cannot be meant is refused by name",
        arguments: [
            ("gopher://h/", "gopher:// is no protocol of Martlet"),
            ("photos/", "is not a URL"),
            ("https:///x/", "has no usable host"), ("https://h:99999/x/", "has no usable host"),
            ("https://[::1/x/", "has no usable host"), ("https://h/a b/", "has a blank in it"),
            ("https://h/50%/", "has a % without two digits"),
            ("https://u:geheim@:1/", "\"https://:1/\" has no usable host"),
            ("https://h/in/?sig=1", "has a query"),
            ("https://ana:geheim@nas/my file", "\"https://nas/...\" has a blank in it"),
            ("https://ana:ge/heim@host/", "\"https://...\" has no usable host"),
            ("https://ana:ge?heim@host/", "\"https://...\" has no usable host"),
            ("https://ana:geheim@nas/50%/", "\"https://nas/...\" has a % without two digits"),
            ("ana@h:geheim@host/x", "\"...\" is not a URL"),
            ("https:ana:geheim@h/x", "after https: a URL has two slashes"),
            ("ftp://ana%0D%0ADELE%20x:geheim@h/", "user or password of the URL has a control character in it"),
            ("ftp://ana:geheim%0aQUIT@h/", "user or password of the URL has a control character in it"),
            ("https://ana:geheim%00@h/", "user or password of the URL cannot be read"),
            ("https://ana%7f:geheim@h/", "user or password of the URL has a control character in it"),
            // A terminal takes it for the beginning of a command (OSC).
            ("https://ana%C2%9D52:geheim@h/", "user or password of the URL has a control character in it"),
        ])
    func destinations(url: String, message: String) async {
        let refusal = await refusal("upload", "a.txt", url)
        #expect(refusal.contains(message))
        #expect(!refusal.contains("geheim"))
    }

    @Test(
        "a server without its protocol is refused with the address to type",
        arguments: [
            ("example.org/files/", "does not say the protocol: write https://example.org/files/ (or http://"),
            ("example.org", "write https://example.org/ "), ("10.0.0.9/in/", "write https://10.0.0.9/in/ "),
            ("localhost:8080/in/", "write https://localhost:8080/in/ "), ("nas:8080", "there is no destination"),
            ("ana@nas:photos/", "does not say the protocol: write sftp://ana@nas/~/photos/"),
            ("nas.example:/srv/in/", "if that is a server, write sftp://nas.example/srv/in/"),
            ("nas:photos/", "there is no destination \"nas\": martlet destination list"),
            ("./out.d/", "is not a URL"), ("~/out/", "is not a URL"), ("/tmp/a.b/", "is not a URL"),
            ("ana:geheim@host.example/x", "there is no destination \"ana\": martlet destination list"),
            ("ana.b:geheim@host/x", "there is no destination \"ana.b\": martlet destination list"),
            ("ana@b:ge@heim.host/x", "is not a URL"),
        ])
    func withoutProtocol(address: String, message: String) async {
        let bench = bench
        let status = await bench.run("upload", "a.txt", address)
        #expect(
            status
                == (message.contains("there is no destination") || message.contains("if that") ? .noSuchObject : .usage)
        )
        #expect(bench.error.contains(message), "\(bench.error)")
        #expect(!bench.error.contains("geheim") && !bench.error.contains("heim.host"))
        #expect(bench.engine.requests.isEmpty)
    }

    @Test(
        "no message repeats a password, wherever its URL was put",
        arguments: [
            ["list", "https://ana:geheim@h/x"], ["https://ana:geheim@h/x"], ["undo", "b1", "https://ana:geheim@h/x"],
            ["limit", "https://ana:geheim@h/x"], ["upload", "--header", "geheim", "a.txt", "https://h/"],
            ["upload", "--field", "geheim", "a.txt", "https://h/"], ["upload", "--limit", "a:geheim@h", "a.txt", "b:"],
            ["upload", "https://ana:geheim@h/x", "https://h/"], ["upload", "ana:geheim@h/x", "https://h/"],
            ["download", "a.txt", "https://ana:geheim@h/x"], ["download", "ana:geheim@h/x", "https://ana:geheim@h/x"],
        ])
    func echoes(words: [String]) async {
        let bench = bench
        #expect(await bench.run((words + ["--json"]).map { Argument($0) }) != .done)
        #expect(!(bench.error + bench.output).contains("geheim"), "\(bench.error)")
    }

    @Test("user and password leave the URL and go to the secrets")
    func credentials() async throws {
        let request = try await request("upload", "a.txt", "https://ann:p%40ss:w@h/in/#x")
        #expect(
            request.work
                == .upload(
                    [UploadSource(path: below("a.txt"), placement: .named(RawPath("a.txt")))], to: "https://h/in/"))
        #expect(request.secrets.user == "ann")
        #expect(request.secrets.password == "p@ss:w")
    }

    @Test(
        "a # within a name is not cut off with what follows it",
        arguments: [
            "s3://b/C#/", "sftp://h/~/a#b", "ftp://h/C#/", "davs://h/C#/", "https://h/C#/", "https://h/a#b.txt",
        ])
    func hash(url: String) async {
        let bench = bench
        #expect(await bench.run("upload", "a.txt", url) == .usage)
        #expect(bench.error.contains("has a # in it, which ends an address: write %23 for a #"), "\(bench.error)")
        #expect(await bench.run("destination", "add", "hash", url) == .usage)
    }

    @Test("whatever a link's user says, the server that gets the password stands before it in one short line")
    func passwordOfLink() async throws {
        let user = String(repeating: "%20", count: 3000) + "Password%20for%20bank.example%2C%20user%20"
        let asked = Mutex("")
        let bench = Bench {
            $0.askPassword = { question in
                asked.withLock { $0 = question }
                return nil
            }
        }
        for name in [user + "ana", String(repeating: "x", count: 300)] {
            _ = await bench.run("download", "https://\(name)@evil.example/f", "out/")
            let question = asked.withLock { $0 }
            #expect(question.hasPrefix("Password for evil.example, user ") && question.utf8.count < 100, "\(question)")
        }
    }

    @Test("a password is asked for when only the user is known")
    func password() async throws {
        let path = sandbox.path
        let asked = Bench {
            $0.currentDirectory = path
            // A link's user may read like a question of ours: the server comes first.
            $0.askPassword = { $0 == "Password for h, user ann: " ? "secret" : nil }
        }
        #expect(await asked.run("upload", "--user", "ann", "a.txt", "https://h/in/") == .done)
        #expect(asked.engine.requests.first?.secrets.password == "secret")
        #expect(await refusal("upload", "--user", "ann", "a.txt", "https://h/in/").contains("no terminal to ask"))
        #expect(await refusal("upload", "--user", "ann:pw", "a.txt", "https://h/in/").contains("takes a name alone"))
    }

    @Test(
        "a user and a password go to one server alone, wherever they come from",
        arguments: [
            ["--user", "ana", "https://a/x", "http://b/y"], ["--user", "ana", "https://a/x", "http://a/y"],
            ["--user", "ana", "https://a/x", "https://a:444/y"], ["https://ana:geheim@h/x", "http://h/y"],
            ["http://h/y", "https://ana:geheim@h/x"], ["https://ana:geheim@h/x", "https://bob:geheim@h/y"],
            ["--password-command", "p", "https://a/x", "https://b/y"], ["--user", "ana", "s3://b/x", "https://b/y"],
        ])
    func oneServer(words: [String]) async {
        let refusal = await refusal(["download"] + words + ["./"])
        #expect(refusal.contains("one server, and") || refusal.contains("different users"), "\(refusal)")
        #expect(refusal.contains("queue one batch for each") && !refusal.contains("geheim"))
    }

    @Test("the same server in other words, and a netrc file, which tells to whom, are fine")
    func sameServer() async {
        let path = sandbox.path
        for words in [
            ["--user", "ana", "https://a/x", "HTTPS://A:443/y"], ["https://ana:pw@h/x", "https://h/y"],
            ["--netrc", "n", "https://a/x", "http://b/y"], ["http://a/x", "http://b/y"],
        ] {
            let asked = Bench {
                $0.currentDirectory = path
                $0.askPassword = { _ in "pw" }
            }
            let status = await asked.run((["download"] + words + ["./"]).map { Argument($0) })
            #expect(status == .done, "\(words): \(asked.error)")
        }
    }

    @Test("a name that no batch may have is refused before anything is asked", arguments: ["upload", "set"])
    func noName(command: String) async throws {
        for name in ["", String(repeating: "ä", count: 501)] {
            let bench = Bench()
            let words = command == "set" ? ["b1", "--name", name] : ["--name", name, "a.txt", "https://h/in/"]
            #expect(await bench.run(([command] + words).map { Argument($0) }) == .usage)
            #expect(bench.error.contains("--name") && bench.error.contains("1 to 1000 bytes"), "\(bench.error)")
            #expect(bench.error.utf8.count < 400)
        }
    }

    @Test("options reach the engine")
    func options() async throws {
        let request = try await request(
            "upload", "--session=photos", "--name", "N", "--hold", "--priority=high", "--if-exists=skip", "--limit",
            "2M",
            "--header", "X-A:  b ", "--not-before", "+1h", "--exclude", "*.tmp", "--give-up-after", "2d", "--insecure",
            "--ca", "ca.pem", "--verify", "size", "a.txt", "https://h/in/")
        #expect(request.session.rawValue == "photos")
        #expect(request.name?.rawValue == "N")
        #expect(request.held)
        #expect(request.priority == .high)
        #expect(request.options.ifExists == .skip)
        #expect(request.options.bytesPerSecond == 2 << 20)
        #expect(request.options.notBefore == Timestamp(milliseconds: 1_795_264_867_000 + 3_600_000))
        #expect(request.options.exclude == ["*.tmp"])
        #expect(request.options.giveUpAfterSeconds == 172_800)
        #expect(request.options.insecure)
        #expect(request.options.caFile == below("ca.pem"))
        #expect(request.options.verify == .size)
        #expect(request.secrets.headers == [HeaderField("X-A", "b")])
    }

    @Test("the way to send is said by the scheme or by options, and reaches the engine")
    func ways() async throws {
        #expect(try await request("upload", "a.txt", "https://h/in/").options.uploadBy == nil)
        #expect(try await request("upload", "--protocol", "tus", "a.txt", "https://h/in/").options.uploadBy == .tus)
        #expect(try await request("upload", "--method", "POST", "a.txt", "https://h/in/").options.uploadBy == .post)
        let form = try await request(
            "upload", "--form", "photo", "--field", "album=June=2", "--field", "by=@@ana", "--chunk", "16M", "a.txt",
            "https://h/in/")
        #expect(form.options.uploadBy == .form)
        #expect(form.options.form?.fileField == "photo")
        #expect(form.secrets.formFields == [HeaderField("album", "June=2"), HeaderField("by", "@ana")])
        #expect(form.options.chunkBytes == 16 << 20)
        for scheme in TransferScheme.allCases where !scheme.facts.urlNamesNoHost {
            let batch = try await request("upload", "a.txt", "\(scheme.rawValue)://h/in/")
            #expect(batch.destination == "\(scheme.rawValue)://h/in/")
        }
        #expect(
            await refusal("upload", "--protocol", "tus", "a.txt", "sftp://h/in/").contains("sftp:// says the protocol"))
        #expect(
            await refusal("upload", "--protocol", "tus", "--form", "f", "a.txt", "https://h/in/")
                .contains("--protocol tus and form exclude each other"))
        #expect(await refusal("download", "tus+https://h/x", "/tmp/").contains("tus+https:// only sends"))
    }

    @Test("the help names a URL of every protocol, and destinations.conf every protocol that a person can choose")
    func named() throws {
        let help = UploadCommand.command.details.joined()
        for schemes in Dictionary(grouping: TransferScheme.allCases, by: \.facts.id).values {
            #expect(schemes.contains { help.contains("\($0.rawValue)://") }, "\(schemes)")
        }
        let key = try #require(DestinationKey.all.first { $0.name == "protocol" })
        for way in HTTPUploadProtocol.allCases { #expect(key.allowed.contains(way.rawValue)) }
    }

    @Test("ssh logs in by itself: a user without a password is no question")
    func secureShell() async throws {
        let path = sandbox.path
        let bench = Bench {
            $0.currentDirectory = path
            $0.environment = ["MARTLET_SSH_COMMAND": "ssh -F f"]
        }
        #expect(await bench.run("upload", "a.txt", "sftp://ann@h:2222/~/in?/") == .done)
        let request = try #require(bench.engine.requests.first)
        #expect(request.destination == "sftp://h:2222/~/in%3F/")
        #expect(request.secrets.user == "ann")
        #expect(request.options.sshCommand == "ssh -F f")
    }

    @Test("S3 takes keys and place from the environment, else from the profile's files, else says what is missing")
    func simpleStorage() async throws {
        try sandbox.write("aws-keys", "[work]\naws_access_key_id = K2\naws_secret_access_key=S2/+=\n")
        try sandbox.write("aws-config", "[profile work]\nregion = eu-west-1\ns3 =\n  addressing_style = path\n")
        let path = sandbox.path
        func request(_ environment: [String: String]) async throws -> BatchRequest? {
            let bench = Bench {
                $0.currentDirectory = path
                $0.environment = environment
            }
            #expect(await bench.run("upload", "a.txt", "s3://bucket/in/") == .done)
            return bench.engine.requests.first
        }
        let given = try await request([
            "AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T",
            "AWS_ENDPOINT_URL": "http://h:9000", "AWS_REGION": "r",
        ])
        #expect(given?.secrets.s3 == S3Keys(accessKeyID: "K", secretAccessKey: "S", sessionToken: "T"))
        #expect(given?.options.s3 == S3Place(endpoint: "http://h:9000", region: "r"))
        let directory = String(decoding: path, as: UTF8.self)
        let stored = try await request([
            "AWS_PROFILE": "work", "AWS_SHARED_CREDENTIALS_FILE": directory + "/aws-keys",
            "AWS_CONFIG_FILE": directory + "/aws-config",
        ])
        #expect(stored?.secrets.s3 == S3Keys(accessKeyID: "K2", secretAccessKey: "S2/+="))
        #expect(stored?.options.s3 == S3Place(region: "eu-west-1"))
        #expect(await refusal("upload", "a.txt", "s3://bucket/in/").contains("no keys for S3 were found"))
    }

    @Test("what is known and not built is refused by name")
    func notBuilt() async {
        #expect(await refusal("upload", "--after", "b3", "a.txt", "https://h/in/").contains("--after is not built yet"))
        #expect(await refusal("upload", "--coalesce", "a.txt", "https://h/in/").contains("--coalesce is for downloads"))
        #expect(
            await refusal("upload", "--header", "nonsense", "a.txt", "https://h/in/").contains(
                "give a header field such as"))
    }

    @Test("what would overwrite a file in another way than it says is refused", arguments: ["rename", "resume"])
    func ifExists(policy: String) async {
        let message = "--if-exists \(policy) is not built yet: use fail, skip or replace"
        #expect(await refusal("upload", "--if-exists", policy, "a.txt", "https://h/in/").contains(message))
        #expect(await refusal("download", "--if-exists", policy, "https://h/1", "dir").contains(message))
    }

    @Test("downloads go into a directory, or one into a file")
    func downloads() async throws {
        let url = "https://h/x.iso?token=1"
        func source(_ directory: RawPath, _ name: RawPath?) -> BatchRequest.Work {
            .download([DownloadSource(url: url, directory: directory, fileName: name)])
        }
        #expect(try await request("download", url, "dir").work == source(below("dir"), nil))
        #expect(try await request("download", url, "new/").work == source(below("new"), nil))
        #expect(try await request("download", url, "dir/y.iso").work == source(below("dir"), RawPath("y.iso")))
        #expect(try await request("download", url, ".").work == source(RawPath(sandbox.path), nil))
    }

    @Test("downloads that cannot be placed are refused with the fix")
    func badDownloads() async {
        #expect(
            await refusal("download", "https://h/1", "https://h/2", "new")
                == "martlet: download: several URLs need a directory, and new is none: end it in a slash to have it made\n"
        )
        #expect(await refusal("download", "https://h/1", "none/x").contains("there is no directory"))
        #expect(await refusal("download", "https://h/1", "a.txt/").contains("is not a directory"))
        #expect(
            await refusal("download", "https://h/1", "https://h/2")
                == "martlet: download: the last operand is a local directory or file, and https://h/2 is at a server: "
                + "add a directory at the end, such as .\n")
        #expect(await refusal("download", "h/1", "dir").contains("is not a URL"))
        for folder in ["sftp://h/in/", "ftp://h", "davs://h/in/"] {
            let refusal = await refusal("download", folder, "dir")
            #expect(refusal.contains("is a folder, not a file: give the URL of each file"), "\(refusal)")
        }
        #expect(
            await refusal("download", "--user", "ana", "https://a/x", "http://b/y", "./")
                == "martlet: download: a user, a password and a token go to one server, and https://a:443 and http://b:80 are two: "
                + "queue one batch for each\n")
        #expect(
            await refusal("upload", "a.txt", "https://h/in/?x=1")
                == "martlet: upload: DEST is a directory and has a query (?…): leave the query out\n")
        #expect(
            await refusal("upload", "a.txt", "nas.example/in/")
                == "martlet: upload: DEST: \"nas.example/in/\" does not say the protocol: "
                + "write https://nas.example/in/ (or http://, davs://, sftp:// ... if it speaks that)\n")
        #expect(await refusal("download", "http:/h/1", "dir").contains("two slashes: write http://h/1"))
        #expect(await refusal("upload", "a.txt", "https:u:pw@h/").contains("two slashes: write https://HOST/PATH"))
        let digest = String(repeating: "a", count: 64)
        #expect(
            await refusal("download", "--sha256", digest, "https://h/1", "https://h/2", "dir")
                == "martlet: download: --sha256 is one file's digest: queue each URL by itself\n")
        #expect(
            await refusal("download")
                == "martlet: download: URL is missing: give a URL such as https://nas.example/photos/\n")
        #expect(
            await refusal("download", "https://u@h/1", "https://v@h/2", "dir")
                == "martlet: download: the URLs name different users: queue one batch for each\n")
    }

    @Test("a plan that is made without a question to a person says that a password is missing")
    func passwordMissing() throws {
        let plan = try UploadPlan([Array("a.txt".utf8)], to: "https://ana@h/in/", currentDirectory: sandbox.path)
        let fault = #expect(throws: QueueingFault.self) { try plan.request(environment: [:]) }
        #expect(fault?.what == "DEST names a user and no password")
        #expect(fault?.remedy == "write USER:PASSWORD@, or queue it by martlet upload, which asks")
    }

    @Test("an engine that cannot be reached is status 69, and the message says so")
    func unreachable() async {
        let path = sandbox.path
        let bench = Bench(FakeEngine { $0.failure = RequestError(.engineUnreachable, "no engine: install it") }) {
            $0.currentDirectory = path
        }
        #expect(await bench.run("upload", "a.txt", "https://h/in/") == .unavailable)
        #expect(bench.error == "martlet: no engine: install it\n")
        #expect(bench.output == "")
    }
}

extension BatchRequest {
    /// Where an upload goes.
    fileprivate var destination: String? {
        if case .upload(_, let destination) = work { destination } else { nil }
    }
}
