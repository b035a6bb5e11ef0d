import CurlTransport
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite("A batch's file of authorities", .timeLimit(.minutes(1))) struct AuthoritiesTests {
    @Test("one that nobody can read holds up its own batch alone, and nobody is trusted in its place")
    func pipe() async throws {
        let harness = try await EngineHarness()
        for name in ["a", "b"] { try harness.sandbox.write(name, pattern(10)) }
        // libcurl would wait for somebody to write into it.
        let pipe = harness.sandbox.path("pipe")
        try System.mkfifo(pipe, mode: 0o600)
        let held = try await harness.add(
            harness.request(upload: ["a"]) { request in
                request.options.caFile = RawPath(pipe)
                if case .upload(let sources, let url) = request.work {
                    request.work = .upload(sources, to: "https" + url.dropFirst("http".count))
                }
            })
        let task = try await harness.task(of: held) { $0.state == .failed || $0.state == .waiting }
        #expect(task.error?.code == .tlsFailure)
        let other = try await harness.add(harness.request(upload: ["b"]))
        #expect(try await harness.finished(other).filesCompleted == 1)
        await harness.stop()
    }

    @Test("certificates are read whole, and what is none is no file of them")
    func reading() async throws {
        let sandbox = try Sandbox("authorities")
        try sandbox.write("ca.pem", pattern(100_000))
        #expect(
            await AuthoritiesReader.read(RawPath(sandbox.path("ca.pem")))
                == .authorities(Authorities(bytes: pattern(100_000))))
        try System.mkfifo(sandbox.path("pipe"), mode: 0o600)
        for name in ["pipe", "nowhere", "."] {
            #expect(await AuthoritiesReader.read(RawPath(sandbox.path(name))) == .unusable)
        }
    }
}
