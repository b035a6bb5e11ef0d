import Glibc
import LinuxSystem
import TestSupport

/// A script of `Tests/Servers`, running for one test on a free port of loopback.
final class ServerScript {
    struct Failure: Error, CustomStringConvertible { let description: String }

    let sandbox: Sandbox
    let folder: String
    private(set) var port = 0
    /// A server that this one stands before.
    var keeps: ServerScript?
    private let script: String
    private let settings: [String]

    /// `settings` are the script's environment, `NAME=VALUE`.
    init(_ name: String, _ sandbox: Sandbox, folder: String? = nil, port: Int = 0, _ settings: String...) throws {
        script = Checkout.server(name)
        self.sandbox = sandbox
        self.folder = String(decoding: sandbox.path(folder ?? name), as: UTF8.self)
        self.settings = settings
        try start(port: port)
    }

    deinit { _ = try? run("crash", folder) }

    func crash() throws { _ = try run("crash", folder) }

    func restart() throws { try start(port: port) }

    private func start(port: Int) throws {
        let output = try run("start", folder, String(port))
        guard let url = output.split(separator: "\n").last(where: { $0.hasPrefix("ready ") }),
            let number = Int(url.drop { $0 != ":" }.dropFirst().drop { $0 != ":" }.dropFirst().prefix { $0 != "/" })
        else { throw Failure(description: "\(script): \(output)") }
        self.port = number
    }

    /// Runs the script with these words, and gives back what it printed.
    @discardableResult
    func run(_ words: String...) throws -> String {
        let output = "output-\(words[0])"
        let file = try System.open(
            sandbox.path(output), flags: O_RDWR | O_CREAT | O_TRUNC, mode: 0o600)
        let path = System.environment("PATH").map { "PATH=" + String(decoding: $0, as: UTF8.self) } ?? "PATH=/bin"
        let home = System.environment("HOME").map { "HOME=" + String(decoding: $0, as: UTF8.self) } ?? "HOME=/"
        var program = ChildProgram(script, words, environment: settings + [path, home])
        program.standardOutput = file.rawValue
        program.standardError = file.rawValue
        _ = try ChildProcess(program).wait()
        return String(decoding: sandbox.read(output) ?? [], as: UTF8.self)
    }

    /// A file of those that it serves; nil when there is none.
    func stored(_ name: String) -> [UInt8]? { read("data/\(name)") }

    func read(_ name: String) -> [UInt8]? {
        guard let opened = try? System.open(Array("\(folder)/\(name)".utf8)),
            let status = try? System.fstat(opened.rawValue)
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = (try? bytes.withUnsafeMutableBytes { try System.preadAll(opened.rawValue, $0, at: 0) }) ?? 0
        return Array(bytes.prefix(count))
    }

    func store(_ name: String, _ bytes: [UInt8]) throws {
        let file = try System.open(
            Array("\(folder)/data/\(name)".utf8), flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try bytes.withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
    }
}

extension ScriptedServer {
    /// A control connection that lets everybody in.
    /// - Parameter answer: to a command that the test is about; `nil`: it knows none such. An error ends the connection.
    static func ftp(
        data: ScriptedServer, _ answer: @escaping @Sendable (_ command: String) throws -> String?
    ) throws -> ScriptedServer {
        try ScriptedServer { connection in
            try connection.send("220 hello\r\n")
            while true {
                switch try connection.readCommand() {
                case "USER": try connection.send("331 go on\r\n")
                case "PASS": try connection.send("230 welcome\r\n")
                case "PWD": try connection.send("257 \"/\"\r\n")
                case "EPSV": try connection.send("229 here (|||\(data.port)|)\r\n")
                case "TYPE": try connection.send("200 so be it\r\n")
                case let command: try connection.send("\(try answer(command) ?? "502 unknown")\r\n")
                }
            }
        }
    }
}
