import FoundationEssentials
import Glibc
import LinuxSystem
import ServiceWire
import Testing
import TransferModel

@testable import TransferService

/// One after another: a forced failure counts for the next file that is looked at.
@Suite("Files of authorities are looked at before anything is queued with them", .serialized)
struct AuthoritiesFileTests {
    @Test("authorities in a pipe that nobody fills are refused, and keep nobody waiting")
    func authorities() async throws {
        let harness = try await ServiceHarness()
        let batch = try await harness.add(1)
        let pipe = harness.home + "/authorities.pem"
        #expect(mkfifo(pipe, 0o600) == 0)
        let client = try await harness.client()
        let error = try await #require(throws: WireError.self) {
            try await client.call(
                Methods.nodesSet, SetRequest(ids: [.batch(batch)], settings: NodeSettings(caFile: RawPath(pipe))))
        }
        #expect(error.message == "--ca \(pipe) holds no certificate: name a PEM file of authorities")
        try await harness.end()
    }

    @Test("a file of authorities that is larger than what TLS takes is refused before anything is queued with it")
    func largeAuthorities() async throws {
        let path = "/tmp/martlet-ca-\(UUID().uuidString).pem"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let mark = Array("-----BEGIN CERTIFICATE-----\n".utf8)
        for (size, isTaken) in [(8_000_000, true), (8_000_001, false)] {
            try Data(mark + [UInt8](repeating: 0x0A, count: size - mark.count)).write(to: URL(filePath: path))
            do {
                try await AuthoritiesFile.check(RawPath(path))
                #expect(isTaken)
            } catch {
                #expect(!isTaken)
                #expect(error.message == "--ca \(path) is larger than 8 MB: name a file with fewer authorities")
            }
        }
    }

    @Test("one that cannot be read is told apart from one that cannot be read now")
    func unreadable() async throws {
        func refusal(_ path: RawPath) async -> String? {
            do throws(RequestError) { try await AuthoritiesFile.check(path) } catch { return error.message }
            return nil
        }
        let gone = "--ca /no/such.pem cannot be read (No such file or directory): check the name"
        #expect(await refusal(RawPath("/no/such.pem")) == gone)
        #expect(
            await refusal(RawPath(Array("/ca".utf8) + [0xFF]))
                == #"--ca /ca\xff: the name is not UTF-8: rename the file"#)
        #if DEBUG
            ForcedFailures.fail(.pthreadCreate, on: .path(containing: "authorities"), with: .wouldBlock)
            #expect(
                await refusal(RawPath("/no/such.pem"))
                    == "--ca /no/such.pem cannot be read now (Resource temporarily unavailable): try again later")
        #endif
    }
}
