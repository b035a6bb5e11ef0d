import Glibc
import Testing
import TransferModel
import TestSupport

/// A server of `Tests/Servers` that runs for one test, on a free port.
class Server {
    /// Ends in a slash.
    private(set) var url = ""
    let folder: String
    private let script: String
    let sandbox: Sandbox
    private let settings: [String]

    /// - Parameter port: 0 for a free one.
    init(_ name: String, _ sandbox: Sandbox, folder: String, settings: [String] = [], port: String = "0") throws {
        self.sandbox = sandbox
        self.settings = ["SERVERS_CACHE=\(Self.cache)"] + settings
        self.folder = "\(sandbox.root)/\(folder)"
        script = Checkout.server(name)
        try start(port: port)
    }

    /// Where servers that are no Debian packages are kept from run to run: the sandbox's home is another one every time.
    private static let cache: String = {
        func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        return value("SERVERS_CACHE")
            ?? (value("XDG_CACHE_HOME") ?? (value("HOME") ?? "/root") + "/.cache") + "/martlet-servers"
    }()

    deinit { _ = try? run(["crash", folder]) }

    private func start(port: String, _ more: [String] = []) throws {
        let outcome = try run(["start", folder, port], more)
        guard outcome.status == 0, let line = outcome.lines.last, line.hasPrefix("ready ") else {
            // In one line, which is all that a report of a red run may keep of it.
            let said = (outcome.errors + outcome.output).split(separator: "\n").joined(separator: " | ")
            throw HarnessError("\(script) start ended with \(outcome.status): \(said)")
        }
        url = String(line.dropFirst("ready ".count))
    }

    /// `127.0.0.1:PORT`
    var address: String {
        let rest = url[(url.firstRange(of: "://")?.upperBound ?? url.startIndex)...]
        let authority = rest.prefix { $0 != "/" }
        return String(authority.split(separator: "@").last ?? authority)
    }
    var port: String { String(address.split(separator: ":").last ?? "") }

    /// Ends it, as a power cut would.
    func crash() throws { try run(["crash", folder]) }
    /// Starts it again where it was; with other settings for this once, if they are named.
    func restart(_ settings: [String] = []) throws { try start(port: port, settings) }

    @discardableResult
    func run(_ words: [String], _ more: [String] = []) throws -> Outcome {
        // `env` carries the settings, so that they are the script's alone.
        try sandbox.start("/usr/bin/env", settings + more + [script] + words).wait()
    }
}

/// nginx that takes PUT and serves ranged GET.
final class Nginx: Server {
    init(_ sandbox: Sandbox, folder: String = "nginx", tls: Bool = false, authenticated: Bool = false) throws {
        try super.init(
            "nginx", sandbox, folder: folder, settings: (tls ? ["TLS=1"] : []) + (authenticated ? ["AUTH=1"] : []))
    }

    /// Over TLS, with a certificate that is `expired` or for an `other` name.
    init(_ sandbox: Sandbox, badCertificate fault: String) throws {
        try super.init("nginx", sandbox, folder: "nginx-\(fault)", settings: ["TLS=\(fault)"])
    }

    /// It stands before another server, and keeps each body back until it is whole, unless it is told not to.
    init(_ sandbox: Sandbox, before address: String, buffering: Bool = true) throws {
        try super.init(
            "nginx", sandbox, folder: "nginx",
            settings: ["PROXY=\(address)"] + (buffering ? [] : ["BUFFERING=off"]))
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

    /// Every answer that it gave, in order, also one that was given just now: nginx logs an answer after it is sent.
    func answers() throws -> [Answer] {
        _ = try sandbox.start("/usr/bin/curl", ["-sk", "-o", "/dev/null", "-m", "20", url + "log-is-whole"]).wait()
        return try readText("\(folder)/access.tsv").split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 7, let status = Int(fields[0]), let bytes = Int(fields[4]) else { return nil }
            return Answer(
                status: status, method: fields[1], range: fields[2], ifRange: fields[3], bytesSent: bytes,
                path: fields[6])
        }
    }

    /// The answers to PUTs that stored something.
    func stored() throws -> [Answer] { try answers().filter { $0.method == "PUT" && $0.succeeded } }

    /// How often each path below `folder` was stored by a PUT.
    func timesStored(below folder: String) throws -> [RawPath: Int] {
        let prefix = Array((folder.isEmpty ? "/" : "/\(folder)/").utf8)
        return try stored().reduce(into: [:]) { counts, answer in
            let path = percentDecoded(answer.path)
            if path.starts(with: prefix) { counts[RawPath(Array(path.dropFirst(prefix.count))), default: 0] += 1 }
        }
    }
}

/// A terminal of a fixed size that runs a program; what it shows can be read.
final class TerminalScreen {
    private let sandbox: Sandbox
    private let folder: String
    private let script = Checkout.server("tmux-screen")

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

    /// Pastes text, as a terminal does that was asked to say so.
    func paste(_ text: String) throws {
        let file = "\(folder)/pasted"
        try write(text, to: file)
        _ = try sandbox.start(script, ["paste", folder, file]).wait()
    }

    /// Types letters, none of which is a key's name.
    func type(_ text: String) throws { _ = try sandbox.start(script, ["keys", folder, "-l", text]).wait() }

    /// Sends bytes as they are, as a terminal of another character set does.
    func send(_ bytes: [UInt8]) throws {
        _ = try sandbox.start(script, ["keys", folder, "-H"] + bytes.map { String($0, radix: 16) }).wait()
    }

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

    /// What the terminal was told: `alternate=1 cursor=0 mouse=1`.
    func modes() throws -> String { try line("modes") }

    /// The row that the cursor is on, from 0.
    func cursorRow() throws -> Int? { try Int(line("row")) }

    private func line(_ verb: String) throws -> String {
        let words = try sandbox.start(script, [verb, folder]).wait().output
        return String(words.prefix { $0 != "\n" })
    }

    /// A press and a release of the first button, as a terminal tells them; the first column and row are 1.
    func click(column: Int, row: Int) throws {
        for end in ["M", "m"] {
            try send(Array("\u{1b}[<0;\(column);\(row)\(end)".utf8))
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

func percentDecoded(_ text: String) -> [UInt8] {
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
