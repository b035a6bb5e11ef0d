import Glibc
import Testing
import TransferModel

/// A server of `Tests/Servers` that runs for one test, on a free port.
class Server {
    /// Ends in a slash.
    fileprivate(set) var url = ""
    let folder: String
    private let script: String
    private let sandbox: Sandbox
    private let settings: [String]

    fileprivate init(_ name: String, _ sandbox: Sandbox, folder: String, settings: [String]) throws {
        self.sandbox = sandbox
        self.settings = settings
        self.folder = "\(sandbox.root)/\(folder)"
        script = "\(Sandbox.tests)/Servers/\(name)"
        try start(port: "0")
    }

    deinit { _ = try? run(["crash", folder]) }

    private func start(port: String) throws {
        let outcome = try run(["start", folder, port])
        guard outcome.status == 0, let line = outcome.lines.last, line.hasPrefix("ready ") else {
            throw HarnessError("\(script): \(outcome)")
        }
        url = String(line.dropFirst("ready ".count))
    }

    var port: String { String(url.dropLast().split(separator: ":").last ?? "") }
    /// `127.0.0.1:PORT`
    var address: String { "127.0.0.1:\(port)" }

    /// Ends it, as a power cut would.
    func crash() throws { try run(["crash", folder]) }
    /// Starts it again where it was.
    func restart() throws { try start(port: port) }

    @discardableResult
    fileprivate func run(_ words: [String]) throws -> Outcome {
        // `env` carries the settings, so that they are the script's alone.
        try sandbox.start("/usr/bin/env", settings + [script] + words).wait()
    }
}

/// nginx that takes PUT and serves ranged GET.
final class Nginx: Server {
    init(_ sandbox: Sandbox, folder: String = "nginx", tls: Bool = false, authenticated: Bool = false) throws {
        try super.init(
            "nginx", sandbox, folder: folder, settings: (tls ? ["TLS=1"] : []) + (authenticated ? ["AUTH=1"] : []))
    }

    /// What it stores and serves.
    var data: RawPath { RawPath("\(folder)/data") }
    var certificateAuthority: String { "\(folder)/tls/ca.crt" }

    /// One line of the access log.
    struct Answer: CustomStringConvertible {
        let status: Int
        let method: String
        let range: String
        let ifRange: String
        let bytesSent: Int
        let path: String
        var description: String {
            "\(method) \(path) → \(status), range \(range), if-range \(ifRange), \(bytesSent) bytes"
        }
        var succeeded: Bool { (200..<300).contains(status) }
    }

    /// Every answer that it gave, in order.
    func answers() throws -> [Answer] {
        try readText("\(folder)/access.tsv").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 7, let status = Int(fields[0]), let bytes = Int(fields[4]) else { return nil }
            return Answer(
                status: status, method: fields[1], range: fields[2], ifRange: fields[3], bytesSent: bytes,
                path: fields[6])
        }
    }

    /// How often each path below `folder` was stored by a PUT.
    func timesStored(below folder: String) throws -> [RawPath: Int] {
        let prefix = Array((folder.isEmpty ? "/" : "/\(folder)/").utf8)
        return try answers().filter { $0.method == "PUT" && $0.succeeded }.reduce(into: [:]) { counts, answer in
            let path = percentDecoded(answer.path)
            if path.starts(with: prefix) { counts[RawPath(Array(path.dropFirst(prefix.count))), default: 0] += 1 }
        }
    }
}

/// A proxy before a server that breaks connections as told. `log()` says what ended connections carried and suffered.
final class FaultProxy: Server {
    init(_ sandbox: Sandbox, before server: Server, rules: String...) throws {
        try super.init("faultproxy", sandbox, folder: "faultproxy", settings: ["TARGET=\(server.address)"])
        try run(["rules", folder] + rules)
    }

    /// Sets the rules for connections from now on; none: a plain proxy.
    func set(_ rules: String...) throws { try run(["rules", folder] + rules) }

    /// The ended connections: `n up down fault seconds`.
    func log() throws -> [JSON] {
        let path = "\(folder)/connections"
        guard fileExists(path) else { return [] }
        return try readText(path).split(separator: "\n").map { try JSON(parsing: String($0)) }
    }
}

/// `martlet receive` on loopback.
final class Receiver {
    let url: String
    let data: RawPath
    let process: ChildProgram

    init(_ sandbox: Sandbox, options: [String] = []) throws {
        data = RawPath("\(sandbox.root)/received")
        makeFolder(data)
        let process = try sandbox.start("martlet", ["receive", data.displayed] + options)
        self.process = process
        var line = ""
        try waitUntil("martlet receive says ready") {
            guard process.status == nil else { throw HarnessError("martlet receive ended: \(process.soFar)") }
            line = process.soFar.lines.first ?? ""
            return line.hasPrefix("ready ") && process.soFar.output.contains("\n")
        }
        let said = String(line.dropFirst("ready ".count))
        url = said.hasSuffix("/") ? said : said + "/"
    }
}

/// A terminal of a fixed size that runs a program; what it shows can be read.
final class TerminalScreen {
    private let sandbox: Sandbox
    private let folder: String
    private let script = "\(Sandbox.tests)/Servers/tmux-screen"

    init(
        _ sandbox: Sandbox, size: String, name: String = "terminal", program: String = "martlet", _ arguments: String...
    ) throws {
        self.sandbox = sandbox
        folder = "\(sandbox.root)/\(name)"
        let outcome = try sandbox.start(
            script,
            ["start", folder, size, program.hasPrefix("/") ? program : "\(Sandbox.programs)/\(program)"] + arguments
        )
        .wait()
        guard outcome.status == 0 else { throw HarnessError("no terminal: \(outcome)") }
    }

    deinit { _ = try? sandbox.start(script, ["stop", folder]).wait() }

    func text() throws -> String { try sandbox.start(script, ["text", folder]).wait().output }

    /// Keys as tmux names them: `q`, `Down`, `C-c`.
    func press(_ keys: String...) throws { _ = try sandbox.start(script, ["keys", folder] + keys).wait() }

    /// Waits until the text is on the screen.
    func awaitText(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let outcome = try sandbox.start(script, ["wait", folder, text, "120"]).wait(sourceLocation: sourceLocation)
        guard outcome.status == 0 else {
            Issue.record("hung: \(outcome)", sourceLocation: sourceLocation)
            throw HarnessError("\"\(text)\" is not on the screen")
        }
    }

    /// Waits until one row shows all of these.
    func awaitRow(_ texts: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        try waitUntil("a row shows \(texts)", sourceLocation: sourceLocation) {
            try text().split(separator: "\n").contains { row in texts.allSatisfy { row.contains($0) } }
        }
    }

    func resize(_ size: String) throws { _ = try sandbox.start(script, ["size", folder, size]).wait() }

    /// The program's exit status, once it has ended.
    var status: Int32? {
        guard fileExists("\(folder)/rc"), let text = try? readText("\(folder)/rc") else { return nil }
        return text.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Waits for the program's end and gives its status.
    func awaitEnd(sourceLocation: SourceLocation = #_sourceLocation) throws -> Int32 {
        try waitUntil("the program in the terminal has ended", sourceLocation: sourceLocation) { status != nil }
        return status ?? -1
    }
}

private func percentDecoded(_ text: String) -> [UInt8] {
    var decoded: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
            let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        {
            decoded.append(value)
            rest = rest.dropFirst(2)
        } else {
            decoded.append(byte)
        }
    }
    return decoded
}
