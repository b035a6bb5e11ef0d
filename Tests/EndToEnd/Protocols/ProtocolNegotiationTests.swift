import Testing
import TransferModel

/// `http://` without a protocol: the host is asked once what it takes, and that is remembered.
@Suite(.inLane) struct ProtocolNegotiationTests {
    let sandbox: Sandbox

    init() throws { sandbox = try Sandbox() }

    /// Sends one file after the other, with an engine that is killed between, and gives the protocols that were used.
    private func protocols(_ url: String) throws -> [String?] {
        try (0..<3).map { index in
            let source = "\(sandbox.root)/file-\(index)"
            try write(SeededBytes.bytes(50_000, seed: UInt64(index)), to: RawPath(source))
            let batch = try sandbox.send(source, url)
            let ended = try sandbox.wait(batch)
            #expect(ended.status == 0, "\(ended)")
            let word = try sandbox.task(batch)["protocol"].text
            if index == 1 { try sandbox.killEngine() }
            return word
        }
    }

    @Test func `a tus server is asked once, also by an engine that starts anew`() throws {
        let server = try TusServer(sandbox)
        #expect(try protocols(server.url) == ["tus", "tus", "tus"])
        #expect(try server.count("OPTIONS") == 1)
        #expect(try Set(server.uploads().map(\.path)) == Set((0..<3).map { RawPath("file-\($0)") }))
    }

    @Test func `a server that takes plain files is asked once, too`() throws {
        let nginx = try Nginx(sandbox)
        #expect(try protocols(nginx.url + "up/") == ["put", "put", "put"])
        let asked = try nginx.answers().filter { $0.method == "OPTIONS" }
        #expect(asked.count == 1, "\(asked)")
        #expect(try digests(below: nginx.data.appending(RawPath("up"))).count == 3)
    }

    @Test func `martlet receive is spoken to by a protocol that resumes`() throws {
        let receiver = try Receiver(sandbox)
        let words = try protocols(receiver.url)
        #expect(Set(words).count == 1)
        #expect(["tus", "ietf"].contains(words[0]), "\(words)")
        let there = try digests(below: receiver.data)
        #expect((0..<3).allSatisfy { there[RawPath("file-\($0)")] != nil }, "\(there.keys)")
    }
}
