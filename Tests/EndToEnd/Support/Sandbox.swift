import Glibc
import LinuxSystem
import Testing
import TransferModel

/// A whole Martlet installation of its own: a temporary MARTLET_HOME, the debug programs that were built beside the test bundle, and every
/// process that the test starts. All of it ends with the last reference.
final class Sandbox {
    /// A temporary folder; `home`, `source` and the servers' folders are in it.
    let root: String
    let home: String
    /// More environment for `martlet`, on top of the sandbox's own.
    var environment: [String] = []
    private var outputs = 0

    /// `home` is MARTLET_HOME below the root; a long one must work too.
    init(home name: String = "home") throws {
        // Nobody else has made it, nor can put a link into it.
        var template = Array("/tmp/martlet-e2e.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw HarnessError("no folder for a sandbox: \(String(cString: strerror(errno)))")
        }
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Servers that run as another user have their folders below it.
        chmod(root, 0o755)
        home = "\(root)/\(name)"
        makeFolder(RawPath(home))
        makeFolder(RawPath("\(root)/outputs"))
    }

    deinit {
        killEverything()
        removeTree(RawPath(root))
    }

    // MARK: Programs

    /// The folder of the test bundle: the programs under test are built into the same.
    static let programs: String = {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer[..<max(0, length)], as: UTF8.self)
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }()

    private var fullEnvironment: [String] {
        [
            "MARTLET_HOME=\(home)", "HOME=\(root)", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG=C.UTF-8", "TZ=UTC", "TERM=xterm-256color", "USER=tester",
        ] + (getuid() == 0 ? [] : ["MARTLET_DUMPABLE=1"]) + environment
    }

    /// Starts a program of ours, or a script of `Tests/Servers` by its path, and does not wait for it.
    func start(_ program: String, _ arguments: [String], input: String = "/dev/null") throws -> ChildProgram {
        outputs += 1
        let path = program.hasPrefix("/") ? program : "\(Self.programs)/\(program)"
        guard access(path, X_OK) == 0 else { throw HarnessError("\(path) is not built") }
        return try ChildProgram(
            path, arguments, environment: fullEnvironment, input: input, outputPath: "\(root)/outputs/\(outputs)")
    }

    /// Runs `martlet` to its end.
    @discardableResult
    func martlet(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        try start("martlet", arguments).wait(sourceLocation: sourceLocation)
    }

    /// Runs `martlet`, which must succeed.
    @discardableResult
    func succeed(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        try succeed(arguments, sourceLocation: sourceLocation)
    }

    @discardableResult
    func succeed(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        let outcome = try start("martlet", arguments).wait(sourceLocation: sourceLocation)
        guard outcome.status == 0 else {
            Issue.record("martlet \(arguments.joined(separator: " ")): \(outcome)", sourceLocation: sourceLocation)
            throw HarnessError("martlet \(arguments.first ?? "") failed")
        }
        return outcome
    }

    /// Queues uploads by plain PUT, without a question before it that a test would have to reckon with, and gives the batch's ID.
    func upload(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try queue("upload", ["--protocol", "put"] + arguments, sourceLocation)
    }

    /// Queues uploads by whatever the destination means, and gives the batch's ID.
    func send(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try queue("upload", arguments, sourceLocation)
    }

    /// Queues downloads and gives the batch's ID.
    func download(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try queue("download", arguments, sourceLocation)
    }

    func queue(_ verb: String, _ arguments: [String], _ sourceLocation: SourceLocation) throws -> String {
        let outcome = try start("martlet", [verb, "--json"] + arguments).wait(sourceLocation: sourceLocation)
        guard outcome.status == 0, let id = try outcome.json["id"].text else {
            Issue.record("martlet \(verb): \(outcome)", sourceLocation: sourceLocation)
            throw HarnessError("martlet \(verb) failed")
        }
        return id
    }

    // MARK: What there is

    /// Asks the engine that runs; `nil`: none does, and a command would start it.
    private func asked(_ method: String, _ parameters: String = "{}") -> JSON? {
        EngineQuestion.ask(method, parameters, state: "\(home)/state")
    }

    func batch(_ id: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSON {
        if let told = asked("batch.show", #"{"batch":"\#(id)"}"#) { return told["batch"] }
        return try succeed("show", id, "--json", sourceLocation: sourceLocation).json
    }

    func batches(sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSON] {
        // Where nothing was ever queued no engine is started, and `{"running":false}` is the answer.
        try succeed("list", "--json", sourceLocation: sourceLocation).jsonLines.filter { $0["running"] == .null }
    }

    /// The tasks of a batch, all of them.
    func tasks(_ batch: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSON] {
        if let told = asked("task.list", #"{"batch":"\#(batch)"}"#), told["next"] == .null {
            return told["tasks"].array
        }
        return try succeed("list", batch, "--json", sourceLocation: sourceLocation).jsonLines
    }

    /// The only task of a batch of one, which is there as soon as the engine has looked at the source.
    func task(_ batch: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> JSON {
        var tasks: [JSON] = []
        try waitUntil("\(batch) has a task", sourceLocation: sourceLocation) {
            tasks = try self.tasks(batch, sourceLocation: sourceLocation)
            return !tasks.isEmpty
        }
        try #require(tasks.count == 1, "\(tasks)", sourceLocation: sourceLocation)
        return tasks[0]
    }

    /// What of uploads that are over is still at servers.
    func leftovers(sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSON] {
        if let told = asked("leftovers.list"), told["next"] == .null { return told["leftovers"].array }
        return try succeed("leftovers", "--json", sourceLocation: sourceLocation).jsonLines
    }

    /// Every stored event, oldest first.
    func events(sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSON] {
        try succeed("events", "--after", "0", "--json", sourceLocation: sourceLocation).jsonLines
    }

    /// Waits for a batch's end with `martlet wait`, and gives its outcome.
    @discardableResult
    func wait(_ ids: String..., sourceLocation: SourceLocation = #_sourceLocation) throws -> Outcome {
        try start("martlet", ["wait"] + ids).wait(sourceLocation: sourceLocation)
    }

    // MARK: The engine

    /// The engine's pid, or `nil` when none runs.
    func enginePid(sourceLocation: SourceLocation = #_sourceLocation) throws -> pid_t? {
        let told =
            try asked("engine.status") ?? succeed("engine", "status", "--json", sourceLocation: sourceLocation).json
        return told["pid"].integer.map(pid_t.init)
    }

    /// Starts an engine that ends itself at a step, as `MARTLET_FAULT` names it, and waits until it answers or has ended.
    func startDoomedEngine(_ step: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> ChildProgram {
        environment.append("MARTLET_FAULT=\(step)")
        defer { environment.removeLast() }
        while true {
            let engine = try start("martletd", [])
            try waitUntil("the engine answers", sourceLocation: sourceLocation) {
                // Some steps are passed while it starts, or while it is asked.
                if engine.status != nil { return true }
                return asked("engine.status")?["pid"].integer == Int64(engine.pid)
            }
            guard let status = engine.status, status != 128 + SIGKILL else { return engine }
            // Another one had the queue, and it never came to its step.
            guard status == Self.anotherRuns else {
                throw HarnessError("the engine that was to end at \(step) ended with \(status): \(engine.soFar)")
            }
            try killEngines(sourceLocation: sourceLocation)
        }
    }

    /// `EX_TEMPFAIL`: the status of an engine that finds another one at its queue.
    private static let anotherRuns: Int32 = 75

    /// Waits until a doomed engine has ended, or a batch has without having met its step. Whether it ended so.
    func awaitDoom(
        of engine: ChildProgram, or batch: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Bool {
        try waitUntil("the engine or \(batch) is over", sourceLocation: sourceLocation) {
            if engine.status != nil { return true }
            guard let told = asked("batch.show", #"{"batch":"\#(batch)"}"#) else { return false }
            return told["batch"]["finishedAt"] != .null
        }
        // The last commits may come after the last answer, on a busy machine long after it.
        for _ in 0..<10 where engine.status == nil { poll(nil, 0, 100) }
        return engine.status == 128 + SIGKILL
    }

    /// Kills the engine, all at once, and waits until it is gone. Gives its pid.
    @discardableResult
    func killEngine(sourceLocation: SourceLocation = #_sourceLocation) throws -> pid_t {
        let pid = try #require(
            try enginePid(sourceLocation: sourceLocation), "no engine runs", sourceLocation: sourceLocation)
        kill(pid, SIGKILL)
        try waitUntil("engine \(pid) is gone", sourceLocation: sourceLocation) { !isRunning(pid) }
        return pid
    }

    /// Kills every engine of this sandbox, also one that does not answer, and waits until they are gone: a doomed one that finds another there
    /// would end before it meets its step.
    func killEngines(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for pid in ownProcesses() where executable(of: pid)?.hasSuffix("/martletd") == true {
            kill(pid, SIGKILL)
            try waitUntil("engine \(pid) is gone", sourceLocation: sourceLocation) { !isRunning(pid) }
        }
    }

    /// Kills every program of ours that has to do with this sandbox: the engine is a daemon and nobody's child.
    func killEverything() {
        for pid in ownProcesses() { kill(pid, SIGKILL) }
    }

    /// Programs from the build folder whose environment or arguments name this sandbox.
    func ownProcesses() -> [pid_t] {
        names(in: RawPath("/proc")).compactMap { name in
            guard let pid = name.text.flatMap(pid_t.init), let program = executable(of: pid),
                program.hasPrefix(Self.programs + "/martlet"), pid != getpid()
            else { return nil }
            return ["environ", "cmdline"].contains { contains(try? readBytes(RawPath("/proc/\(pid)/\($0)"))) }
                ? pid : nil
        }
    }

    private func contains(_ bytes: [UInt8]?) -> Bool {
        String(decoding: bytes ?? [], as: UTF8.self).contains(root + "/")
    }
}

func isRunning(_ pid: pid_t) -> Bool {
    guard let status = try? readText("/proc/\(pid)/stat"), let end = status.lastIndex(of: ")") else { return false }
    // A zombie is gone, though nobody has collected it: the engine's parent may be a container's first process.
    return !status[end...].hasPrefix(") Z") && !status[end...].hasPrefix(") X")
}

private func executable(of pid: pid_t) -> String? { linkTarget("/proc/\(pid)/exe") }

func linkTarget(_ path: String) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let length = readlink(path, &buffer, buffer.count)
    return length > 0 ? String(decoding: buffer[..<length], as: UTF8.self) : nil
}
