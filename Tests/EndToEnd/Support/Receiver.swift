import Glibc
import Testing
import TransferModel
import TestSupport

/// A throwaway certificate for this machine.
struct CertificateAuthority {
    /// What a client must be told to trust.
    let certificate: String
    /// The options with which a receiver speaks TLS.
    let options: [String]

    init(_ sandbox: Sandbox) throws {
        let folder = "\(sandbox.root)/authority"
        makeFolder(RawPath(folder))
        let outcome = try sandbox.start(
            "/bin/bash", ["-c", ". \"$0\" && DIR=$1 && tls", "\(Checkout.root)/Tests/Servers/lib/common.sh", folder]
        ).wait()
        guard outcome.status == 0 else { throw HarnessError("no certificate: \(outcome)") }
        certificate = "\(folder)/tls/ca.crt"
        options = ["--tls-cert", "\(folder)/tls/server.crt", "--tls-key", "\(folder)/tls/server.key"]
    }
}

/// `martlet receive` on loopback.
final class Receiver {
    let url: String
    let data: RawPath
    private(set) var process: ChildProgram
    private let sandbox: Sandbox
    private let options: [String]

    /// - Parameter access: who is let in; by default anybody, by its address with any port, as tests put proxies before it.
    init(
        _ sandbox: Sandbox, options: [String] = [], access: [String] = ["--open", "--host", "127.0.0.1"]
    ) throws {
        let options = options + access
        self.sandbox = sandbox
        self.options = options
        data = RawPath("\(sandbox.root)/received")
        makeFolder(data)
        (process, url) = try Self.start(sandbox, data, options)
    }

    private static func start(
        _ sandbox: Sandbox, _ data: RawPath, _ options: [String], fault: String? = nil
    ) throws -> (ChildProgram, String) {
        sandbox.environment += fault.map { ["MARTLET_FAULT=\($0)"] } ?? []
        defer { if fault != nil { sandbox.environment.removeLast() } }
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

    /// Starts it again where it was; with another token than before, or to end itself at a step, if one is named.
    func restart(token: String? = nil, fault: String? = nil) throws {
        if let token { try Self.write(token: token, sandbox) }
        process = try Self.start(sandbox, data, options + ["--listen", address], fault: fault).0
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
