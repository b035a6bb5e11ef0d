import CommandLine
import Configuration
import FoundationEssentials
import Glibc
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

/// Changing what is configured while the engine or the disk does not answer: nothing is lost, and what is said is so.
@Suite("Configured servers, when something fails")
struct DestinationChangeTests {
    let sandbox: Sandbox
    private let engine = FakeEngine()

    init() throws {
        sandbox = try Sandbox()
        try sandbox.file("a.txt")
    }

    private var path: String { String(decoding: sandbox.path, as: UTF8.self) + "/config/destinations.conf" }

    private var text: String {
        (try? String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)) ?? ""
    }

    private func bench(password: String? = "s3cret") -> Bench {
        let (folder, path) = (sandbox.path, path)
        return Bench(engine) { surroundings in
            surroundings.currentDirectory = folder
            surroundings.destinationsPath = path
            surroundings.askPassword = { _ in password }
        }
    }

    private func login(_ name: String) -> String? { engine.state.withLock { $0.logins[name]?.password } }

    private func cut() {
        engine.state.withLock { $0.failure = RequestError(.engineUnreachable, "the engine cannot be reached") }
    }

    private func mend() { engine.state.withLock { $0.failure = nil } }

    @Test("a server whose login cannot be forgotten now stays, the others go, and the same can be asked again")
    func removing() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "one", "https://ana@h/") == .done)
        #expect(await bench.run("destination", "add", "two", "https://plain/") == .done)
        cut()
        #expect(await bench.run("destination", "remove", "one", "none", "two") == .unavailable)
        #expect(text.contains("[one]") && text.contains("login = kept") && !text.contains("[two]"))
        #expect(
            bench.error.contains(
                "martlet: one: it stays, because its login cannot be forgotten now: the engine cannot be reached\n"))
        #expect(bench.error.contains("martlet: none: there is no such destination: see martlet destination list\n"))
        #expect(bench.output.contains("two: removed"))
        let script = self.bench()
        #expect(await script.run("destination", "remove", "one", "--json") == .unavailable)
        #expect(script.output == #"{"code":"engineUnreachable","name":"one","result":"refused"}"# + "\n")
        mend()
        #expect(await bench.run("destination", "remove", "one") == .done)
        #expect(login("one") == nil && !text.contains("[one]"))
        cut()
        #expect(await bench.run("destination", "restore", "one") == .unavailable)
        #expect(!text.contains("[one]"))
        mend()
        #expect(await bench.run("destination", "restore", "one") == .done)
        #expect(login("one") == "s3cret" && text.contains("login = kept") && !bench.error.contains("is gone"))
    }

    @Test("where the file cannot be written the login is as before")
    func fullDisk() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "one", "https://ana@h/") == .done)
        let before = text
        try sandbox.directory("config/destinations.conf.removed")
        #expect(await bench.run("destination", "remove", "one") == .refused)
        #expect(bench.error.contains("destinations.conf cannot be written"))
        #expect(text == before && login("one") == "s3cret")
        let other = String(decoding: sandbox.path, as: UTF8.self) + "/folder/destinations.conf"
        try sandbox.directory("folder/destinations.conf")
        let blocked = Bench(engine) { surroundings in
            surroundings.destinationsPath = other
            surroundings.askPassword = { _ in "new" }
        }
        #expect(await blocked.run("destination", "add", "two", "https://ana@h/") == .refused)
        #expect(login("two") == nil)
    }

    @Test("a login that was replaced in vain is said to be gone, and the new one is not kept for the old server")
    func replacedInVain() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "one", "https://ana@h/") == .done)
        let before = text
        try sandbox.directory("config/destinations.conf.\(getpid()).new")
        #expect(await bench.run("destination", "add", "one", "https://ana@other/", "--replace") == .refused)
        #expect(bench.error.hasSuffix("; the password of one is forgotten: then add it again\n"))
        #expect(text == before && login("one") == nil)
    }

    @Test("what was made of a section that somebody has changed since is not written over it")
    func madeOfAnother() async throws {
        let changes = DestinationChanges(path, logins: engine, environment: [:], now: { 0 })
        try await changes.add(Destination(name: "one", url: "https://ana@h/"), password: "s3cret")
        let file = { DestinationsFile(bytes: Array(self.text.utf8)) }
        let read = try #require(file()["one"])
        var (theirs, ours) = (read, read)
        (theirs.limit, ours.url) = (RateLimit("2M"), "https://h/in/")
        _ = try await changes.edit(theirs, read: read)
        let before = text
        let errors = [
            await #expect(throws: RequestError.self) { try await changes.edit(ours, read: read) },
            await #expect(throws: RequestError.self) {
                try await changes.add(ours, password: "other", replaces: true, read: read)
            },
        ]
        let words = "one was changed elsewhere meanwhile, so nothing is saved: open it once more"
        #expect(errors.map { $0?.message } == [words, words])
        #expect(text == before && text.contains("limit = 2M") && login("one") == "s3cret")
        // Of what is there now it is.
        ours.limit = theirs.limit
        _ = try await changes.edit(ours, read: file()["one"])
        #expect(text.contains("https://h/in/") && text.contains("limit = 2M"))
    }

    @Test("a section with a line that does not count is not written anew without it, unless it is described anew")
    func faultyLine() async throws {
        let written = "[one]\nurl = https://h/\npinn = sha256//x\n"
        try sandbox.directory("config")
        try sandbox.write("config/destinations.conf", written)
        let changes = DestinationChanges(path, logins: engine, environment: [:], now: { 0 })
        let read = try #require(DestinationsFile(bytes: Array(text.utf8))["one"])
        let errors = [
            await #expect(throws: RequestError.self) { try await changes.edit(read, read: read) },
            await #expect(throws: RequestError.self) {
                try await changes.add(read, password: "other", replaces: true, read: read)
            },
            await #expect(throws: RequestError.self) { try await changes.remove("one") },
        ]
        let words = "nothing is changed, as a line of one would be lost: destinations.conf line 3: pinn is no key"
        #expect(errors.allSatisfy { $0?.message.hasPrefix(words) == true }, "\(errors)")
        #expect(text == written && login("one") == nil)
        try await changes.add(Destination(name: "one", url: "https://h/"), password: nil, replaces: true)
        #expect(text == "[one]\nurl = https://h/\n")
    }

    /// Keeps no login, and notes what the file says when it is asked to.
    private final class RefusingKeeper: LoginKeeper {
        let seen = Mutex<String?>(nil)
        let forgotten = Mutex<[String]>([])
        private let read: @Sendable () -> String

        init(_ read: @escaping @Sendable () -> String) { self.read = read }

        func keepLogin(
            _ secrets: TransferSecrets, of destination: String, at url: String, s3: S3Place?
        ) async throws(RequestError) {
            seen.withLock { $0 = read() }
            throw RequestError(.engineUnreachable, "its answer is lost")
        }

        func forgetLogin(of destination: String) async throws(RequestError) -> Bool {
            forgotten.withLock { $0.append(destination) }
            return true
        }

        func restoreLogin(of destination: String) async throws(RequestError) -> Bool { false }
    }

    @Test("a new section stands before its login is kept, and goes with it when that fails or nobody knows")
    func sectionFirst() async throws {
        let path = path
        let keeper = RefusingKeeper {
            (try? String(decoding: Data(contentsOf: URL(filePath: path)), as: UTF8.self)) ?? ""
        }
        let changes = DestinationChanges(path, logins: keeper, environment: [:], now: { 0 })
        let error = await #expect(throws: RequestError.self) {
            try await changes.add(Destination(name: "one", url: "https://ana@h/"), password: "s3cret")
        }
        #expect(error?.code == .engineUnreachable)
        #expect(keeper.seen.withLock { $0 }?.contains("login = kept") == true)
        #expect(!text.contains("[one]"))
        #expect(keeper.forgotten.withLock { $0 } == ["one"], "its answer alone may have been lost")
    }

    @Test("while another client changes what is configured nothing is decided by what the file said before")
    func locked() async throws {
        let held = try #require(try FileLock.take(path))
        #expect(try FileLock.take(path) == nil)
        let destination = Destination(name: "one", url: "https://h/")
        let changes = DestinationChanges(path, logins: engine, environment: [:], tries: 1, now: { 0 })
        let error = await #expect(throws: RequestError.self) { try await changes.add(destination, password: "s3cret") }
        #expect(error?.code == .refused)
        #expect(error?.message == "another martlet is changing destinations.conf: try again when it has ended")
        #expect(login("one") == nil && text.isEmpty)
        await #expect(throws: RequestError.self) { try await changes.remove("one") }
        withExtendedLifetime(held) {}
    }

    @Test("of two clients that add one name at once the second is refused, and its password is not kept")
    func atOnce() async throws {
        let (engine, path) = (engine, path)
        let results = await withTaskGroup(of: (String, Bool).self) { group in
            for number in 0..<8 {
                group.addTask {
                    let changes = DestinationChanges(path, logins: engine, environment: [:], now: { 0 })
                    let (one, own) = (
                        Destination(name: "one", url: "https://h/"), Destination(name: "n\(number)", url: "https://h/")
                    )
                    _ = try? await changes.add(own, password: nil)
                    let isFirst = (try? await changes.add(one, password: "pw\(number)")) != nil
                    return ("pw\(number)", isFirst)
                }
            }
            return await group.reduce(into: [(String, Bool)]()) { $0.append($1) }
        }
        let winners = results.filter(\.1)
        #expect(winners.count == 1 && login("one") == winners.first?.0)
        // Nothing of what the others wrote is lost.
        #expect((0..<8).allSatisfy { text.contains("[n\($0)]") })
    }

    @Test("a server is back even where it cannot be taken from what was removed")
    func restoredTwice() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "one", "https://ana@h/") == .done)
        #expect(await bench.run("destination", "remove", "one") == .done)
        try sandbox.directory("config/destinations.conf.removed.\(getpid()).new")
        #expect(await bench.run("destination", "restore", "one") == .done)
        #expect(login("one") == "s3cret" && text.contains("[one]"))
    }

    @Test("an engine that cannot be reached adds nothing that needs it")
    func adding() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "one", "https://ana@h/") == .done)
        let before = text
        cut()
        #expect(await bench.run("destination", "add", "two", "https://ana@h/") == .unavailable)
        // The old login would be left over.
        #expect(await bench.run("destination", "add", "one", "https://other/", "--replace") == .unavailable)
        #expect(text == before)
        #expect(await bench.run("destination", "add", "three", "https://plain/") == .done)
    }

    @Test("what the file's reader would not give back is refused by name, and the file stays as it is")
    func unwritable() async throws {
        let bench = bench()
        #expect(await bench.run("destination", "add", "one", "https://h/") == .done)
        let before = text
        for (option, value) in [
            ("--user", "ana\nlogin = kept"), ("--user", " ana"), ("--password-command", "pass\n[evil]\nurl = x://y"),
            ("--region", "eu\u{2028}\nx"), ("--ssh-command", "ssh \r"),
        ] {
            let words = ["destination", "add", "two", "https://h/", option, value]
            #expect(await bench.run(words.map { Argument($0) }) == .usage, "\(value)")
        }
        #expect(bench.error.contains("destination add: user cannot stand in destinations.conf as it is given"))
        #expect(text == before && engine.asked.isEmpty)
        for policy in ["rename", "resume"] {
            #expect(await bench.run("destination", "add", "two", "https://h/", "--if-exists", policy) == .usage)
            #expect(bench.error.contains("destination add: --if-exists \(policy) is not built yet"))
        }
        #expect(text == before)
    }

    @Test("a test asks for the password that nothing else gives, and says what to do where nobody can be asked")
    func asking() async throws {
        let bench = bench()
        try sandbox.directory("config")
        try sandbox.write("config/destinations.conf", "[web]\nurl = https://h/\nuser = ana\n")
        #expect(await bench.run("destination", "test", "web") == .done, "\(bench.error)")
        #expect(engine.requests.last?.secrets.user == "ana" && engine.requests.last?.secrets.password == "s3cret")
        #expect(await bench.run("destination", "test", "https://bob@h/") == .done)
        #expect(engine.requests.last?.secrets.user == "bob" && engine.requests.last?.secrets.password == "s3cret")
        // What needs none is not asked for.
        #expect(await bench.run("destination", "test", "sftp://bob@h/") == .done)
        #expect(engine.requests.last?.secrets.password == nil)
        let silent = self.bench(password: nil)
        let count = engine.requests.count
        #expect(await silent.run("destination", "test", "web") == .usage)
        #expect(
            silent.error
                == "martlet: destination test: there is no terminal to ask for the password of ana: "
                + "run it in one, or have the engine keep it: martlet destination add web --replace URL\n")
        #expect(engine.requests.count == count)
    }

    @Test("who is named for one batch logs in there, not the one whose login is kept")
    func named() async throws {
        let bench = bench()
        try sandbox.directory("config")
        try sandbox.write("config/destinations.conf", "[nas]\nurl = sftp://nas/\nuser = ana\nlogin = kept\n")
        #expect(await bench.run("upload", "a.txt", "nas:x/") == .done)
        #expect(engine.requests.last?.destination == "nas")
        #expect(await bench.run("upload", "--user", "bob", "a.txt", "nas:x/") == .done)
        #expect(engine.requests.last?.destination == nil && engine.requests.last?.secrets.user == "bob")
        #expect(await bench.run("download", "--user", "bob", "nas:x", "./") == .done)
        #expect(engine.requests.last?.destination == nil)
    }
}
