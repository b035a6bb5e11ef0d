import TestSupport
import Testing
import TransferModel
import TransferProtocols
import WireOperations

/// A file that was written a moment ago, at a server that tells nothing of its version but a time in whole seconds.
@Suite struct GetSettlingTests {
    private let size: Int64 = 5 << 20

    private func begun(_ verify: VerificationWish? = nil) -> GetDownload {
        var download = GetDownload(GetPlan(address: HTTPAddress("http://h/f.bin")!, verify: verify))
        _ = download.handle(.began(at: noon))
        return download
    }

    private func told(
        _ download: inout GetDownload, _ id: Int, _ lines: [String], at time: Timestamp = noon
    ) -> [String] {
        words(
            download.handle(
                .answered(ExchangeID(rawValue: id), HTTPAnswer(status: 200, headers: fields(lines)), at: time)))
    }

    @Test("what was written in this second is waited for, once, and read from its beginning")
    func waits() {
        let fresh = ["Content-Length: \(size)", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        var download = begun()
        #expect(told(&download, 1, fresh) == ["abandon 1", "wake probeAgain 2.0 seconds"])
        #expect(words(download.handle(.timerFired(.probeAgain))) == ["2 GET http://h/f.bin"])
        #expect(told(&download, 2, fresh) == ["persist f.bin 0 -", "open 2 at 0 skip 0 of \(size)"])
    }

    @Test("the server's own clock decides; without one, ours")
    func clocks() {
        let modified = ["Content-Length: \(size)", "Last-Modified: \(noonText)"]
        let open = "open 1 at 0 skip 0 of \(size)"
        var download = begun()
        #expect(told(&download, 1, modified).last == "wake probeAgain 2.0 seconds")
        download = begun()
        #expect(told(&download, 1, modified, at: noon.advanced(by: .seconds(2))).last == open)
        download = begun()
        #expect(told(&download, 1, modified + ["Date: \(elevenText)"]).last == open)
    }

    @Test("nobody waits for what is told by more than its time, comes in one go, or is compared with nothing")
    func goesOn() {
        let fresh = ["Last-Modified: \(noonText)", "Date: \(noonText)"]
        let long = fresh + ["Content-Length: \(size)"]
        for lines in [long + ["ETag: \"a\""], fresh, fresh + ["Content-Length: \(1 << 20)"]] {
            var download = begun()
            #expect(told(&download, 1, lines).last?.hasPrefix("open 1") == true)
        }
        let digest = "Repr-Digest: sha-256=:\(String(repeating: "A", count: 43))=:"
        var download = begun()
        #expect(told(&download, 1, long + [digest]).last?.hasPrefix("open 1") == true)
        download = begun(VerificationWish.none)
        #expect(told(&download, 1, long).last?.hasPrefix("open 1") == true)
    }
}
