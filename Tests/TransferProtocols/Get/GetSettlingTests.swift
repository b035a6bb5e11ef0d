import TestSupport
import Testing
import TransferModel
import TransferProtocols
import WireOperations

private let laterText = "Sat, 21 Nov 2026 12:30:00 GMT"

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

    /// Reads it whole; then the server shows it as it was.
    private func read(_ download: inout GetDownload, _ id: Int, _ lines: [String], again: [String]) -> [String] {
        let opened = told(&download, id, lines)
        #expect(opened.last == "open \(id) at 0 skip 0 of \(size)")
        let whole = ExchangeEnd(
            answer: HTTPAnswer(status: 200, headers: fields(lines)), bytesWritten: size,
            at: noon.advanced(by: .seconds(9)))
        let look = words(download.handle(.ended(ExchangeID(rawValue: id), whole)))
        #expect(look.last?.hasSuffix("HEAD http://h/f.bin") == true)
        let shown = ExchangeEnd(
            answer: HTTPAnswer(status: 200, headers: fields(again)), at: noon.advanced(by: .seconds(9)))
        return words(download.handle(.ended(ExchangeID(rawValue: id + 1), shown)))
    }

    @Test("what was written in this second is read once more when all of it is here, and its link still works")
    func again() {
        let fresh = ["Content-Length: \(size)", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        let settled = ["Content-Length: \(size)", "Last-Modified: \(noonText)", "Date: \(laterText)"]
        var download = begun()
        let reason = "over: was written to right before it was read, or meanwhile"
        #expect(read(&download, 1, fresh, again: settled) == ["3 GET http://h/f.bin"])
        var other = download
        #expect(told(&other, 3, settled).first == reason)
        #expect(read(&download, 3, settled, again: settled) == ["finish \(size) size"])
        // Not before its time tells; and where each answer is called fresh, not for ever.
        download = begun()
        #expect(read(&download, 1, fresh, again: fresh) == ["wake probeAgain 2.0 seconds"])
        #expect(words(download.handle(.timerFired(.probeAgain))) == ["3 GET http://h/f.bin"])
        #expect(read(&download, 3, fresh, again: fresh) == ["finish \(size) size"])
    }

    @Test("a later attempt, which finds all of it here, knows that it was fresh")
    func later() throws {
        let fresh = ["Content-Length: \(size)", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        var download = begun()
        let opened = download.handle(
            .answered(ExchangeID(rawValue: 1), HTTPAnswer(status: 200, headers: fields(fresh)), at: noon))
        guard case .persist(let kept)? = opened.first else { return #expect(Bool(false), "\(opened)") }
        var point = try #require(ResumePoint(encoded: kept.encoded)?.content(GetResumePoint.self))
        point.offset = size
        download = GetDownload(GetPlan(address: HTTPAddress("http://h/f.bin")!, resume: point))
        #expect(words(download.handle(.began(at: noon))).last?.hasSuffix("HEAD http://h/f.bin") == true)
        let shown = ExchangeEnd(
            answer: HTTPAnswer(status: 200, headers: fields(fresh)), at: noon.advanced(by: .seconds(9)))
        #expect(words(download.handle(.ended(ExchangeID(rawValue: 1), shown))) == ["wake probeAgain 2.0 seconds"])
    }

    @Test("a link that worked once has brought the file")
    func once() {
        let fresh = ["Content-Length: \(size)", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        var download = begun()
        _ = told(&download, 1, fresh)
        let whole = ExchangeEnd(
            answer: HTTPAnswer(status: 200, headers: fields(fresh)), bytesWritten: size, at: noon)
        _ = download.handle(.ended(ExchangeID(rawValue: 1), whole))
        for id in [2, 3] {
            let gone = ExchangeEnd(answer: HTTPAnswer(status: 403), at: noon)
            let said = words(download.handle(.ended(ExchangeID(rawValue: id), gone)))
            #expect(said == (id == 2 ? ["3 GET http://h/f.bin | Range: bytes=0-0"] : ["finish \(size) size"]))
        }
    }

    @Test(
        "what is told by more than its time, or was not written right then, or is compared with nothing, is read once")
    func settled() {
        let fresh = ["Last-Modified: \(noonText)", "Date: \(noonText)"]
        let long = fresh + ["Content-Length: \(size)"]
        let earlier = ["Last-Modified: \(elevenText)", "Date: \(noonText)", "Content-Length: \(size)"]
        for lines in [long + ["ETag: \"a\""], earlier] {
            var download = begun()
            #expect(read(&download, 1, lines, again: lines) == ["finish \(size) size"])
        }
        var download = begun(VerificationWish.none)
        _ = told(&download, 1, long)
        let whole = ExchangeEnd(
            answer: HTTPAnswer(status: 200), bytesWritten: size, at: noon.advanced(by: .seconds(9)))
        #expect(words(download.handle(.ended(ExchangeID(rawValue: 1), whole))) == ["finish \(size) none"])
    }
}
