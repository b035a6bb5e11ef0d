import CurlTransport
import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite("Tokens of receivers on this machine")
struct ReceiverTokenTests {
    private let state: RawPath

    init() throws {
        let suffix = try System.randomBytes(6).map { String($0, radix: 16) }.joined()
        state = RawPath("/tmp/receiver-tokens-\(suffix)")
        try System.mkdirs(state.bytes + Array("/receive".utf8))
    }

    private func cleaned(_ body: () throws -> Void) throws {
        defer {
            try? System.unlink(file(8080))
            try? System.rmdir(state.bytes + Array("/receive".utf8))
            try? System.rmdir(state.bytes)
        }
        try body()
    }

    private func file(_ port: Int) -> [UInt8] { state.bytes + Array("/receive/\(port).token".utf8) }

    private func keep(_ token: String, mode: UInt32 = 0o600) throws {
        let file = try System.open(file(8080), flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try Array((token + "\n").utf8).withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
        try System.fchmod(file.rawValue, mode: mode)
    }

    private func token(_ url: String) throws -> String? {
        ReceiverTokens(in: state).token(for: try #require(HTTPAddress(url)))
    }

    @Test("one is found by its port, for this machine's own addresses alone")
    func found() throws {
        try cleaned {
            #expect(try token("http://127.0.0.1:8080/") == nil)
            try keep("secret")
            for url in [
                "http://127.0.0.1:8080/x", "https://localhost:8080", "http://[::1]:8080/", "http://127.9.9.9:8080/",
            ] {
                #expect(try token(url) == "secret")
            }
            for url in ["http://127.0.0.1:8081/", "http://192.0.2.1:8080/", "http://localhost.example:8080/"] {
                #expect(try token(url) == nil)
            }
        }
    }

    @Test("a file or folder that others may write or read is not believed")
    func untrusted() throws {
        try cleaned {
            try keep("secret", mode: 0o640)
            #expect(try token("http://127.0.0.1:8080/") == nil)
            try keep("secret")
            try System.chmod(state.bytes, mode: 0o755)
            #expect(try token("http://127.0.0.1:8080/") == nil)
            try System.chmod(state.bytes, mode: 0o700)
            try System.chmod(state.bytes + Array("/receive".utf8), mode: 0o770)
            #expect(try token("http://127.0.0.1:8080/") == nil)
        }
    }

    @Test("after a refusal another token is looked for, once")
    func renewed() throws {
        try cleaned {
            let tokens = ReceiverTokens(in: state)
            let address = try #require(HTTPAddress("http://127.0.0.1:8080/"))
            #expect(tokens.token(for: address) == nil && !tokens.isRenewed(for: address))
            try keep("first")
            #expect(tokens.isRenewed(for: address) && !tokens.isRenewed(for: address))
            try keep("second")
            #expect(tokens.isRenewed(for: address) && tokens.token(for: address) == "second")
        }
    }

    @Test("it goes with requests of a batch that brings no login, to a program of this user, through no proxy")
    func requests() throws {
        try cleaned {
            try keep("secret")
            func request(_ url: String, _ configure: (inout TransferSecrets) -> Void = { _ in }) throws
                -> [String: [String]]
            {
                var (options, secrets) = (TransferOptions(), TransferSecrets())
                options.proxies = ["all_proxy": "http://proxy.example:3128"]
                configure(&secrets)
                let order = BatchOrder(
                    batch: BatchID(rawValue: 1), session: .default, priority: .normal, options: options,
                    secrets: secrets, destination: url, destinationQuery: nil)
                let context = BatchContext(order, userAgent: "test", receivers: ReceiverTokens(in: state))
                let exchange = HTTPExchange(.get, try #require(HTTPAddress(url)))
                let made = context.request(exchange, body: .none, at: Timestamp(milliseconds: 0))
                let shown = made.fields.filter { $0.name.lowercased() == "authorization" }.map(\.value)
                let isOwn = made.connection.onlyToOwnListener
                return ["shown": shown, "own": [isOwn ? "yes" : "no"], "proxy": ["\(made.connection.proxy)"]]
            }
            let made = try request("http://127.0.0.1:8080/")
            #expect(made["shown"] == ["Bearer secret"] && made["own"] == ["yes"] && made["proxy"] == ["none"])
            let elsewhere = try request("http://192.0.2.1:8080/")
            #expect(elsewhere["shown"] == [] && elsewhere["own"] == ["no"])
            let given = try request("http://127.0.0.1:8080/") {
                $0.headers = [HeaderField("authorization", "Bearer mine")]
            }
            #expect(given["shown"] == ["Bearer mine"] && given["own"] == ["no"])
            #expect(try request("http://127.0.0.1:8080/") { ($0.user, $0.password) = ("ana", "x") }["shown"] == [])
        }
    }
}
