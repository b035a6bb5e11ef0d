import CommandLine
import Configuration
import FoundationEssentials
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("Configured servers")
struct DestinationTests {
    let sandbox: Sandbox
    private let engine = FakeEngine()

    init() throws {
        sandbox = try Sandbox()
        try sandbox.file("a.txt")
    }

    private var path: String { String(decoding: sandbox.path, as: UTF8.self) + "/config/destinations.conf" }

    private func bench(password: String? = nil, environment: [String: String] = [:]) -> Bench {
        let (folder, path) = (sandbox.path, path)
        return Bench(engine) { surroundings in
            surroundings.currentDirectory = folder
            surroundings.destinationsPath = path
            surroundings.environment = environment
            surroundings.askPassword = { _ in password }
        }
    }

    private var text: String {
        (try? String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)) ?? ""
    }

    @Test("what is added is listed, used as NAME:path, and removed")
    func life() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "nas", "sftp://ana@nas.local/backup") == .done, "\(bench.error)")
        #expect(text == "[nas]\nurl = sftp://nas.local/backup/\nuser = ana\n")
        #expect(await bench.run("destination", "list") == .done)
        #expect(bench.output.contains("nas: added; use it as nas:PATH"))
        #expect(bench.output.contains("sftp://nas.local/backup/"))
        #expect(await bench.run("upload", "a.txt", "nas:My photos/?100%/") == .done, "\(bench.error)")
        let request = try #require(engine.requests.last)
        guard case .upload(_, let to) = request.work else {
            Issue.record("something else: \(request.work)")
            return
        }
        #expect(to == "sftp://nas.local/backup/My%20photos/%3F100%25/")
        #expect(request.secrets.user == "ana" && request.destination == nil)
        #expect(await bench.run("download", "nas:x.iso", "./") == .done, "\(bench.error)")
        guard case .download(let sources)? = engine.requests.last?.work else {
            Issue.record("something else: \(engine.requests.last?.work)")
            return
        }
        #expect(sources.map(\.url) == ["sftp://nas.local/backup/x.iso"])
        #expect(await bench.run("destination", "remove", "nas", "none") == .noSuchObject)
        #expect(text.isEmpty || !text.contains("[nas]"))
        #expect(bench.output.contains("nas: removed"))
        #expect(!engine.asked.contains("forget nas"))
    }

    @Test("a password goes to the engine and never into the file")
    func passwords() async throws {
        let bench = bench(password: "s3cret")
        #expect(await bench.run("destination", "add", "cloud", "davs://ana@cloud.example/dav/") == .done)
        #expect(engine.asked == ["keep cloud"])
        #expect(engine.state.withLock(\.logins)["cloud"]?.password == "s3cret")
        #expect(engine.state.withLock(\.loginServers)["cloud"] == ["davs://cloud.example/dav/", nil])
        #expect(text.contains("login = kept") && !text.contains("s3cret"))
        #expect(await bench.run("upload", "a.txt", "cloud:in/") == .done, "\(bench.error)")
        #expect(engine.requests.last?.destination == "cloud")
        #expect(engine.requests.last?.secrets.password == nil)
        // A login that is given for one batch counts more.
        #expect(await bench.run("upload", "--user", "bob", "--password-command", "p", "a.txt", "cloud:in/") == .done)
        #expect(engine.requests.last?.secrets.user == "bob")
        #expect(await bench.run("destination", "add", "two", "https://ana:pw@h/") == .done)
        #expect(!text.contains("pw@"))
        #expect(await bench.run("destination", "remove", "cloud") == .done)
        #expect(engine.asked.last == "forget cloud")
    }

    @Test("options that are added are the defaults of what is sent there")
    func defaults() async throws {
        let bench = bench()
        #expect(
            await bench.run(
                "destination", "add", "a", "https://h/x/", "--if-exists", "skip", "--limit", "8M", "--protocol", "tus",
                "--ca", "ca.pem", "--verify", "size") == .done, "\(bench.error)")
        #expect(await bench.run("upload", "a.txt", "a:") == .done, "\(bench.error)")
        var options = try #require(engine.requests.last?.options)
        #expect(options.ifExists == .skip && options.bytesPerSecond == 8 << 20 && options.uploadBy == .tus)
        #expect(options.limitOf == "a", "one limit for all that goes there")
        #expect(options.caFile == RawPath(sandbox.path + Array("/ca.pem".utf8)) && options.verify == .size)
        #expect(await bench.run("upload", "--if-exists", "replace", "--limit", "off", "a.txt", "a:") == .done)
        options = try #require(engine.requests.last?.options)
        #expect(options.ifExists == .replace && options.bytesPerSecond == nil && options.limitOf == nil)
    }

    @Test("S3 takes keys from the destination's profile, and its own endpoint")
    func s3() async throws {
        try sandbox.write("credentials", "[home]\naws_access_key_id = ID\naws_secret_access_key = KEY\n")
        let file = String(decoding: sandbox.path, as: UTF8.self) + "/credentials"
        let bench = bench(environment: [
            "AWS_SHARED_CREDENTIALS_FILE": file, "AWS_ACCESS_KEY_ID": "other", "AWS_SECRET_ACCESS_KEY": "other",
        ])
        #expect(
            await bench.run(
                "destination", "add", "p", "s3://photos/2024/", "--profile", "home", "--endpoint", "https://s3.local",
                "--region", "eu-1") == .done, "\(bench.error)")
        #expect(await bench.run("upload", "a.txt", "p:x/") == .done, "\(bench.error)")
        let request = try #require(engine.requests.last)
        #expect(request.secrets.s3 == S3Keys(accessKeyID: "ID", secretAccessKey: "KEY"))
        #expect(request.options.s3 == S3Place(endpoint: "https://s3.local", region: "eu-1"))
        #expect(request.secrets.s3Origin == .profile("home"))
        #expect(await bench.run("upload", "a.txt", "s3://photos/x/") == .done, "\(bench.error)")
        #expect(
            engine.requests.last?.secrets.s3?.accessKeyID == "other"
                && engine.requests.last?.secrets.s3Origin == .surroundings)
        // Keys that are renewed come from where they came from.
        var batch = BatchSnapshot.sample(7, .waiting)
        batch.keysProfile = "home"
        engine.state.withLock { $0.batches = [batch, .sample(8, .waiting)] }
        #expect(await bench.run("set", "b7", "--s3-keys") == .done, "\(bench.error)")
        var renewed = engine.state.withLock(\.renewed)
        #expect(renewed?.s3?.accessKeyID == "ID" && renewed?.s3Origin == .profile("home"))
        #expect(await bench.run("set", "b8", "--s3-keys") == .done, "\(bench.error)")
        renewed = engine.state.withLock(\.renewed)
        #expect(renewed?.s3?.accessKeyID == "other" && renewed?.s3Origin == .surroundings)
    }

    @Test("keys of S3 that are nowhere are asked for and kept by the engine, never in the file")
    func s3Keys() async throws {
        let bench = bench(password: "typed")
        #expect(await bench.run("destination", "add", "p", "s3://photos/") == .done, "\(bench.error)")
        #expect(engine.state.withLock(\.logins)["p"]?.s3 == S3Keys(accessKeyID: "typed", secretAccessKey: "typed"))
        #expect(engine.state.withLock(\.logins)["p"]?.s3Origin == .typed)
        #expect(engine.state.withLock(\.loginServers)["p"] == ["s3://photos/", nil])
        #expect(text == "[p]\nurl = s3://photos/\nuser = typed\nlogin = kept\n")
        #expect(await bench.run("upload", "a.txt", "p:x/") == .done, "\(bench.error)")
        #expect(engine.requests.last?.destination == "p" && engine.requests.last?.secrets.s3 == nil)
        // The engine has them for a look into the bucket, too.
        #expect(await bench.run("leftovers", "list", "--in", "p:x") == .done, "\(bench.error)")
        #expect(engine.asked.last == "search s3://photos/x of p")
        #expect(await bench.run("leftovers", "abort", "--in", "p:x", "--upload", "u2") == .noSuchObject)
        #expect(engine.asked.last == "search s3://photos/x of p u2")
        // Found in the environment they are taken from there each time, and nothing is kept.
        let other = self.bench(environment: ["AWS_ACCESS_KEY_ID": "ID", "AWS_SECRET_ACCESS_KEY": "KEY"])
        #expect(await other.run("destination", "add", "p", "s3://photos/", "--replace") == .done, "\(other.error)")
        #expect(engine.asked.last == "forget p" && text == "[p]\nurl = s3://photos/\n")
        // Nobody is there to be asked: it is said, and the keys may come later.
        let silent = self.bench()
        #expect(await silent.run("destination", "add", "q", "s3://photos/") == .done)
        #expect(silent.error.contains("q: no keys of S3 were found"))
        #expect(await silent.run("destination", "add", "r", "s3://photos/", "--profile", "none") == .usage)
        #expect(
            silent.error.hasSuffix(
                "martlet: destination add: no keys were found in the AWS profile none: write them into "
                    + "~/.aws/credentials, or give --user ID, whose secret key is asked for\n"))
    }

    @Test("keys of S3 are kept for the service that an upload goes to: the destination's, else the environment's")
    func s3Service() async throws {
        let bench = bench(password: "typed", environment: ["AWS_ENDPOINT_URL": "https://set:9000"])
        #expect(await bench.run("destination", "add", "p", "s3://photos/", "--user", "ID") == .done, "\(bench.error)")
        #expect(engine.state.withLock(\.loginServers)["p"] == ["s3://photos/", "https://set:9000"])
        #expect(await bench.run("upload", "a.txt", "p:x/") == .done, "\(bench.error)")
        #expect(engine.requests.last?.options.s3?.endpoint == "https://set:9000")
        let words = ["destination", "add", "q", "s3://photos/", "--user", "ID", "--endpoint", "https://own:9000"]
        #expect(await bench.run(words.map { Argument($0) }) == .done, "\(bench.error)")
        #expect(engine.state.withLock(\.loginServers)["q"] == ["s3://photos/", "https://own:9000"])
    }

    @Test("a service of S3 that cannot be meant is refused, and what may be a password in it is not shown")
    func wrongService() async {
        for (variables, said) in [
            (
                ["AWS_ENDPOINT_URL": "ftp://h"],
                "the S3 endpoint is not a URL of http or https: write https://HOST in AWS_ENDPOINT_URL"
            ),
            (
                ["AWS_ENDPOINT_URL": "https://ID:KEY@h"],
                "the S3 endpoint has more in it than host and path: write https://HOST in AWS_ENDPOINT_URL, "
                    + "and give the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            ),
            (
                ["AWS_REGION": "eu central"],
                "the S3 region has characters in it that no region has, or too many: "
                    + "write one such as eu-central-1 in AWS_REGION, in the profile or in the destination"
            ),
        ] {
            let bench = bench(environment: variables)
            #expect(await bench.run("upload", "a.txt", "s3://photos/x/") == .usage)
            #expect(bench.error == "martlet: upload: \(said)\n")
        }
    }

    @Test("a password command gives the secret key of S3")
    func s3Command() async throws {
        let bench = bench()
        let login = ["--user", "ID", "--password-command", "pass s3"]
        #expect(await bench.run((["destination", "add", "p", "s3://b/"] + login).map { Argument($0) }) == .done)
        #expect(text.contains("password-command = pass s3"))
        #expect(await bench.run("upload", "a.txt", "p:x/") == .done, "\(bench.error)")
        let secrets = try #require(engine.requests.last?.secrets)
        #expect(secrets.s3 == nil && secrets.user == "ID" && secrets.passwordCommand == "pass s3")
    }

    @Test("what was removed comes back with its login for a day")
    func restoring() async throws {
        let bench = bench(password: "s3cret")
        #expect(await bench.run("destination", "restore") == .noSuchObject)
        #expect(
            bench.error.contains(
                "no destination was removed in the last 24 h: martlet destination add configures one\n"))
        #expect(await bench.run("destination", "add", "one", "https://ana@h/") == .done)
        #expect(await bench.run("destination", "add", "two", "https://other/", "--limit", "1M") == .done)
        let before = text
        #expect(await bench.run("destination", "remove", "one", "two") == .done)
        #expect(
            bench.output.contains("two: removed; what is queued goes on (martlet destination restore two takes it back")
        )
        #expect(!text.contains("["))
        #expect(await bench.run("destination", "restore", "one") == .done, "\(bench.error)")
        #expect(engine.asked.last == "restore one" && engine.state.withLock(\.logins)["one"]?.password == "s3cret")
        #expect(await bench.run("destination", "restore") == .done, "\(bench.error)")
        #expect(text == before)
        #expect(await bench.run("destination", "restore") == .noSuchObject)
        // One of that name that came since is not replaced.
        #expect(await bench.run("destination", "remove", "two") == .done)
        #expect(await bench.run("destination", "add", "two", "https://third/") == .done)
        #expect(await bench.run("destination", "restore", "two") == .refused)
        #expect(bench.error.contains("there is another destination \"two\" by now: remove that one first\n"))
        #expect(await bench.run("download", "one:a", "two:b", "./") == .usage)
        #expect(
            bench.error.hasSuffix(
                "martlet: download: the URLs are of different destinations: queue one batch for each\n"))
        // Its login is gone: it comes back without.
        #expect(await bench.run("destination", "remove", "one") == .done)
        engine.state.withLock { $0.forgotten = [:] }
        #expect(await bench.run("destination", "restore", "one") == .done)
        #expect(bench.error.contains("one: its password is gone") && !text.contains("kept"))
    }

    @Test("what cannot be meant is refused by name, with the status of the contract")
    func refusals() async {
        let bench = bench()
        #expect(await bench.run("upload", "a.txt", "nas:x/") == .noSuchObject)
        #expect(bench.error.contains("there is no destination \"nas\""))
        #expect(await bench.run("destination", "add", "a b", "https://h/") == .usage)
        #expect(await bench.run("destination", "add", "sftp", "https://h/") == .usage)
        #expect(await bench.run("destination", "add", "x", "htp://h/") == .usage)
        #expect(await bench.run("destination", "add", "x", "https://h/?token=abc") == .usage)
        #expect(await bench.run("destination", "add", "x", "s3://b/", "--endpoint", "https://k:s@h") == .usage)
        #expect(text.isEmpty)
        #expect(await bench.run("destination", "add", "x", "https://ana@h/") == .usage)
        #expect(
            bench.error.hasSuffix(
                "martlet: destination add: there is no terminal to ask for the password of ana: "
                    + "give --password-command, --netrc or --profile\n"))
        #expect(await bench.run("destination", "add", "x", "https://h/") == .done)
        #expect(await bench.run("destination", "add", "x", "https://other/") == .refused)
        #expect(
            bench.error.hasSuffix(
                "martlet: destination add: there is a destination \"x\": give --replace to put this one in its place\n")
        )
        #expect(await bench.run("destination", "add", "x", "https://other/", "--replace") == .done)
        #expect(await bench.run("destination", "test", "y") == .noSuchObject)
        #expect(await bench.run("destination", "import", "rclone") == .usage)
        let importing = String(bench.error.split(separator: "\n").last ?? "")
        #expect(importing == "martlet: the command destination import is not built yet: use destination add for each")
    }

    @Test("a test says in one sentence what works, or why not and the cure")
    func testing() async {
        let bench = bench()
        _ = await bench.run("destination", "add", "nas", "sftp://nas.local/backup/")
        engine.state.withLock {
            $0.report = DestinationReport(
                ok: true, milliseconds: 84, protocol: "sftp", login: .ok, exists: false, freeBytes: 3 << 30)
        }
        #expect(await bench.run("destination", "test", "nas") == .done)
        #expect(
            bench.output.contains(
                "nas answered in 84 ms: login ok, the folder is not there yet and will be made, 3.0G free.\n"))
        engine.state.withLock {
            $0.report = DestinationReport(ok: true, milliseconds: 6, protocol: "put", login: .notAsked)
        }
        #expect(await bench.run("destination", "test", "nas") == .done)
        #expect(bench.output.contains("nas answered in 6 ms: no password asked for so far, uploads go by put.\n"))
        engine.state.withLock { $0.report = DestinationReport(ok: true, milliseconds: 6) }
        #expect(await bench.run("destination", "test", "nas") == .done)
        #expect(bench.output.contains("nas answered in 6 ms.\n"))
        engine.state.withLock {
            $0.report = DestinationReport(
                ok: false, milliseconds: 9,
                error: TransferError(.http, "h answered 401", .login(), httpStatus: 401))
        }
        #expect(await bench.run("destination", "test", "nas") == .refused)
        #expect(
            bench.output.contains(
                "nas cannot be used: h answered 401: check user and password in the screen's page of servers (D), "
                    + "or add its key to ssh-agent (ssh-add).\n"
            ))
        engine.state.withLock {
            let refused = TransferError(.cannotConnectToHost, "h refuses", .again("check the port"))
            $0.report = DestinationReport(ok: false, milliseconds: 9, error: refused)
        }
        #expect(await bench.run("destination", "test", "nas") == .refused)
        #expect(bench.output.contains("nas cannot be used: h refuses: check the port.\n"))
    }

    @Test("lines of the file that do not count are said, and the others count")
    func problems() async throws {
        try sandbox.directory("config")
        try sandbox.write("config/destinations.conf", "[a]\nurl = https://h/\ncolour = red\n")
        let bench = bench()
        #expect(await bench.run("destination", "list", "--json") == .done)
        #expect(bench.error.contains("destinations.conf line 3: colour is no key of a destination"))
        #expect(
            bench.output == #"{"login":"none","name":"a","scheme":"https","url":"https://h/","user":null}"# + "\n")
        // What was misspelt may be whom it trusts.
        let refused = self.bench()
        #expect(await refused.run("destination", "test", "a") == .usage)
        #expect(
            refused.error.contains(
                "a is not used, as one of its lines does not count: destinations.conf line 3: colour is no key of a "
                    + "destination"), "\(refused.error)")
    }
}
