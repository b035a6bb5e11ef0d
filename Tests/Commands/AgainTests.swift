import CommandLine
import LinuxSystem
import MartletKit
import Testing

@testable import Commands

@Suite("again queues the uploads of a batch once more")
struct AgainTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try sandbox.file("a.txt")
        try sandbox.directory("photos")
    }

    private func path(_ name: String) -> RawPath { RawPath(sandbox.path + Array("/\(name)".utf8)) }

    /// What the engine tells of b7.
    private var order: BatchRequest {
        var order = BatchRequest(
            session: SessionName(rawValue: "nightly") ?? .default, name: BatchName(rawValue: "holiday"),
            work: .upload(
                [
                    UploadSource(path: path("a.txt"), placement: .named(RawPath("a.txt"))),
                    UploadSource(path: path("photos"), placement: .contents),
                ], to: "tus+https://nas.exmaple/in/"), priority: .high, like: BatchID(rawValue: 7))
        order.options.ifExists = .skip
        order.options.exclude = ["*.tmp"]
        order.options.insecure = true
        order.options.bytesPerSecond = 1000
        return order
    }

    private func bench(_ order: BatchRequest) -> Bench {
        let path = sandbox.path
        return Bench(FakeEngine { $0.orders = [BatchID(rawValue: 7): order] }) { $0.currentDirectory = path }
    }

    private func request(_ words: String...) async throws -> BatchRequest {
        let bench = bench(order)
        #expect(await bench.run(words.map { Argument($0) }) == .done, "\(bench.error)")
        return try #require(bench.engine.requests.first)
    }

    @Test("the same sources go to the same place with the same options, and the engine adds the login")
    func same() async throws {
        let request = try await request("again", "b7")
        #expect(request.work == order.work)
        #expect(request.like == BatchID(rawValue: 7))
        #expect(request.secrets == TransferSecrets())
        #expect(request.name?.rawValue == "holiday")
        #expect(request.session == order.session)
        #expect(request.priority == .high)
        #expect(request.uuid != order.uuid)
        var options = order.options
        options.umask = request.options.umask
        #expect(request.options == options)
    }

    @Test("another path at the same server has the login and all options, too")
    func samePlace() async throws {
        let request = try await request("again", "b7", "https://nas.exmaple:443/other/", "--if-exists", "replace")
        #expect(request.like == BatchID(rawValue: 7))
        #expect(request.options.insecure)
        #expect(request.options.ifExists == .replace)
    }

    @Test("another user at the same server reaches it in the same way, with a login of their own")
    func otherUser() async throws {
        var order = order
        guard case .upload(let sources, _) = order.work else { return #expect(Bool(false)) }
        order.work = .upload(sources, to: "sftp://nas:2222/in/")
        order.options.sshCommand = "ssh -F cfg"
        let bench = bench(order)
        #expect(await bench.run("again", "b7", "sftp://root@nas:2222/other/") == .done, "\(bench.error)")
        let request = try #require(bench.engine.requests.first)
        #expect(request.like == nil && request.secrets.user == "root")
        #expect(request.options.sshCommand == "ssh -F cfg")
    }

    @Test("another server gets what the person chose, and nothing that was for the first one")
    func elsewhere() async throws {
        let request = try await request("again", "b7", "https://nas.example/in/", "--name", "second try")
        #expect(request.like == nil)
        #expect(!request.options.insecure)
        #expect(request.options.ifExists == .skip)
        #expect(request.options.exclude == ["*.tmp"])
        #expect(request.options.bytesPerSecond == 1000)
        #expect(request.name?.rawValue == "second try")
        guard case .upload(_, let destination) = request.work else { return #expect(Bool(false)) }
        #expect(destination == "https://nas.example/in/")
    }

    @Test("a source that is gone is refused by name, and nothing is queued")
    func gone() async throws {
        var order = order
        order.work = .upload([UploadSource(path: path("b.txt"), placement: .exactly)], to: "https://nas.exmaple/b.txt")
        let bench = bench(order)
        #expect(await bench.run("again", "b7") == .usage)
        #expect(bench.error.contains("b.txt"))
        #expect(bench.engine.requests == [])
    }

    @Test("downloads and other IDs are refused")
    func refused() async throws {
        var order = order
        order.work = .download([])
        let bench = bench(order)
        #expect(await bench.run("again", "b7") == .usage)
        #expect(
            bench.error == "martlet: again: b7 is no batch of uploads: queue its URLs with martlet download\n")
        #expect(await bench.run("again", "t7") == .usage)
        #expect(await bench.run("again", "b8") == .noSuchObject)
    }

    @Test("a form keeps its field; a scheme that says the protocol needs no form")
    func form() async throws {
        var order = order
        order.work = .upload(
            [UploadSource(path: path("a.txt"), placement: .named(RawPath("a.txt")))], to: "https://h/x/")
        (order.options.uploadBy, order.options.form) = (.form, UploadForm(fileField: "attachment"))
        let same = bench(order)
        #expect(await same.run("again", "b7") == .done, "\(same.error)")
        #expect(same.engine.requests.first?.options.form == UploadForm(fileField: "attachment"))
        let other = bench(order)
        #expect(await other.run("again", "b7", "tus+https://h/x/") == .done, "\(other.error)")
        #expect(other.engine.requests.first?.options.uploadBy == nil)
        #expect(other.engine.requests.first?.like == BatchID(rawValue: 7))
    }
}
