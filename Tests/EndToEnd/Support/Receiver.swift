import Glibc
import Testing
import TransferModel

/// `martlet receive` on loopback.
final class Receiver {
    let url: String
    let data: RawPath
    private(set) var process: ChildProgram
    private let sandbox: Sandbox
    private let options: [String]

    init(_ sandbox: Sandbox, options: [String] = []) throws {
        self.sandbox = sandbox
        self.options = options
        data = RawPath("\(sandbox.root)/received")
        makeFolder(data)
        (process, url) = try Self.start(sandbox, data, options)
    }

    private static func start(
        _ sandbox: Sandbox, _ data: RawPath, _ options: [String]
    ) throws -> (ChildProgram, String) {
        let process = try sandbox.start("martlet", ["receive", data.displayed] + options)
        var line = ""
        try waitUntil("martlet receive says ready") {
            guard process.status == nil else { throw HarnessError("martlet receive ended: \(process.soFar)") }
            line = process.soFar.lines.first ?? ""
            return line.hasPrefix("ready ") && process.soFar.output.contains("\n")
        }
        let said = String(line.dropFirst("ready ".count))
        return (process, said.hasSuffix("/") ? said : said + "/")
    }

    /// `127.0.0.1:PORT`
    var address: String { String(url.dropLast().split(separator: "/").last ?? "") }

    /// Ends it, as a power cut would.
    func crash() throws {
        process.signal(SIGKILL)
        try process.wait()
    }

    /// Starts it again where it was; with another token than before, if one is named.
    func restart(token: String? = nil) throws {
        if let token { try Self.write(token: token, sandbox) }
        process = try Self.start(sandbox, data, options + ["--listen", address]).0
    }

    /// The options with which it asks for a token.
    static func asking(for token: String, _ sandbox: Sandbox) throws -> [String] {
        try write(token: token, sandbox)
        return ["--token-file", "\(sandbox.root)/receiver-token"]
    }

    private static func write(token: String, _ sandbox: Sandbox) throws {
        let path = "\(sandbox.root)/receiver-token"
        try EndToEndTests.write(token + "\n", to: path)
        chmod(path, 0o600)
    }
}
