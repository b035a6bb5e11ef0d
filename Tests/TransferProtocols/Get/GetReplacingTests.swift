import TestSupport
import Testing
import TransferModel
@testable import TransferProtocols
import WireOperations

/// What is here is thrown away when the answer that takes its place has come, and not for the word of a page or of a HEAD.
@Suite struct GetReplacingTests {
    private let size: Int64 = 5 << 20
    private let page = ["Content-Type: text/html; charset=utf-8", "Content-Length: 900", "ETag: \"page\""]
    private let byte = "GET http://h/f.bin | Range: bytes=0-0"

    private var archive: [String] { ["Content-Type: application/zip", "Content-Length: \(size)", "ETag: \"a\""] }
    private var other: [String] { ["Content-Type: application/zip", "Content-Length: \(size)", "ETag: \"b\""] }

    /// A download that was begun at the server of `lines`, and is here as a whole.
    private func whole(
        _ lines: [String], _ plan: GetPlan = GetPlan(address: HTTPAddress("http://h/f.bin")!)
    ) -> GetDownload {
        var download = GetDownload(plan)
        _ = download.handle(.began(at: noon))
        #expect(told(&download, 1, lines).last == "open 1 at 0 skip 0 of \(size)")
        let end = ExchangeEnd(
            answer: HTTPAnswer(status: 200), bytesWritten: size, at: noon.advanced(by: .seconds(9)))
        #expect(words(download.handle(.ended(ExchangeID(rawValue: 1), end))) == ["2 HEAD http://h/f.bin"])
        return download
    }

    private func told(_ download: inout GetDownload, _ id: Int, _ lines: [String]) -> [String] {
        let answer = HTTPAnswer(status: 200, headers: fields(lines))
        return words(download.handle(.answered(ExchangeID(rawValue: id), answer, at: noon)))
    }

    /// The words after answers to the looks.
    private func looked(_ lines: [String], _ heads: (Int, [String])...) -> [String] {
        var download = whole(lines)
        var said: [String] = []
        for (number, head) in heads.enumerated() {
            if said == ["wake probeAgain 3.0 seconds"] { said = words(download.handle(.timerFired(.probeAgain))) }
            if number > 0 { #expect(said.last == "\(number + 2) \(byte)") }
            said = words(download.handle(.ended(ExchangeID(rawValue: number + 2), answered(head.0, head.1))))
        }
        return said
    }

    @Test("a page at the last look says nothing of the file: the session ran out while it came")
    func pageAtTheLook() {
        #expect(looked(archive, (200, page), (200, page)) == ["finish \(size) size"])
        #expect(looked(archive, (403, []), (200, page)) == ["finish \(size) size"])
        // A file that was a page may be another page.
        let first = ["Content-Type: text/html", "Content-Length: \(size)", "ETag: \"a\""]
        #expect(looked(first, (200, page)).last == "3 \(byte)")
    }

    @Test("a page in the place of a changed file replaces nothing, nor do an error and a silence")
    func pageInstead() {
        var download = whole(archive)
        for id in [2, 3] { _ = download.handle(.ended(ExchangeID(rawValue: id), answered(200, other))) }
        var signedOut = download
        #expect(told(&signedOut, 4, page) == ["abandon 4", "wait auth http"])
        var gone = download
        let missing = HTTPAnswer(status: 404, headers: [])
        #expect(
            words(gone.handle(.answered(ExchangeID(rawValue: 4), missing, at: noon))) == ["abandon 4", "fail http 404"])
        var silent = download
        #expect(
            words(silent.handle(.ended(ExchangeID(rawValue: 4), unanswered(lost, sent: 0))))
                == ["wait backoff networkConnectionLost"])
        #expect(
            told(&download, 4, other)
                == ["over: changed at the server", "persist f.bin 0 \"b\"", "open 4 at 0 skip 0 of \(size)"])
    }

    @Test("the second reading of a fresh file that is refused, or a page, leaves the first one")
    func secondReading() {
        let fresh = ["Content-Type: application/zip", "Content-Length: \(size)"]
        let dates = ["Last-Modified: \(noonText)", "Date: \(noonText)"]
        func second(_ status: Int, _ lines: [String], _ policy: ChangedSourcePolicy = .restart) -> [String] {
            var plan = GetPlan(address: HTTPAddress("http://h/f.bin")!)
            plan.ifChanged = policy
            var download = whole(fresh + dates, plan)
            _ = download.handle(.ended(ExchangeID(rawValue: 2), answered(200, fresh + dates)))
            #expect(words(download.handle(.timerFired(.probeAgain))) == ["3 GET http://h/f.bin"])
            let answer = HTTPAnswer(status: status, headers: fields(lines))
            return words(download.handle(.answered(ExchangeID(rawValue: 3), answer, at: noon)))
        }
        #expect(second(200, page) == ["abandon 3", "finish \(size) size"])
        #expect(second(403, []) == ["abandon 3", "finish \(size) size"])
        #expect(second(404, []) == ["abandon 3", "persist f.bin \(size) -", "fail http 404"])
        #expect(second(503, []) == ["abandon 3", "wait hostBackoff http"])
        let later = fresh + ["Last-Modified: Sat, 21 Nov 2026 12:00:01 GMT"]
        #expect(second(200, later).first == "over: was written to right before it was read, or meanwhile")
        #expect(second(200, later, .fail).last == "fail sourceChanged")
        #expect(second(200, fresh + dates, .fail).last == "open 3 at 0 skip 0 of \(size)")
    }

    @Test("what was seen to be of another version is asked for anew by each later attempt, and never finished")
    func seenChanged() throws {
        var download = whole(archive)
        _ = download.handle(.ended(ExchangeID(rawValue: 2), answered(200, other)))
        let asked = download.handle(.ended(ExchangeID(rawValue: 3), answered(200, other)))
        guard case .persist(let kept)? = asked.first else { return #expect(Bool(false), "\(asked)") }
        let point = try #require(ResumePoint(encoded: kept.encoded)?.content(GetResumePoint.self))
        var later = GetDownload(GetPlan(address: HTTPAddress("http://h/f.bin")!, resume: point))
        #expect(words(later.handle(.began(at: noon))) == ["1 GET http://h/f.bin"])
        var signedOut = later
        #expect(told(&signedOut, 1, page) == ["abandon 1", "wait auth http"])
        let opened = later.handle(
            .answered(ExchangeID(rawValue: 1), HTTPAnswer(status: 200, headers: fields(other)), at: noon))
        #expect(words(opened).first == "over: changed at the server")
        for case .persist(let fresh) in opened {
            #expect(fresh.content(GetResumePoint.self)?.isOutdated == nil)
        }
    }

    @Test(
        "after a HEAD that shows another version nothing that says nothing lets the file be finished, at a later attempt either"
    )
    func doubted() throws {
        var download = whole(archive)
        let asked = download.handle(.ended(ExchangeID(rawValue: 2), answered(200, other)))
        guard case .persist(let kept)? = asked.first else { return #expect(Bool(false), "\(asked)") }
        let point = try #require(ResumePoint(encoded: kept.encoded)?.content(GetResumePoint.self))
        #expect(words(download.handle(.ended(ExchangeID(rawValue: 3), answered(403)))).last == "4 GET http://h/f.bin")
        var later = GetDownload(GetPlan(address: HTTPAddress("http://h/f.bin")!, resume: point))
        #expect(words(later.handle(.began(at: noon))) == ["1 HEAD http://h/f.bin"])
        var same = later
        #expect(words(same.handle(.ended(ExchangeID(rawValue: 1), answered(200, archive)))) == ["finish \(size) size"])
        for id in 1...2 { _ = later.handle(.ended(ExchangeID(rawValue: id), answered(403))) }
        #expect(told(&later, 3, other).first == "over: changed at the server")
    }

    @Test("where nothing tells versions apart, the part is kept until the file comes again")
    func unrecognisable() {
        var version = RemoteVersion(total: 1000)
        version.type = "application/zip"
        let point = GetResumePoint(version: version, offset: 400, name: RawPath("f.bin"))
        var download = GetDownload(GetPlan(address: HTTPAddress("http://h/f.bin")!, resume: point))
        #expect(words(download.handle(.began(at: noon))) == ["1 GET http://h/f.bin"])
        var signedOut = download
        #expect(told(&signedOut, 1, page) == ["abandon 1", "wait auth http"])
        #expect(told(&download, 1, archive).first == "over: the server gave nothing to recognise the version by")
    }

    @Test("a page whose first bytes came is no page in the place of something")
    func beginningAnew() {
        let nothing = GetResumePoint(version: RemoteVersion(), offset: 0, name: RawPath("f.bin"))
        var download = GetDownload(GetPlan(address: HTTPAddress("http://h/f.bin")!, resume: nothing))
        _ = download.handle(.began(at: noon))
        #expect(told(&download, 1, page).last == "open 1 at 0 skip 0 of 900")
    }

    @Test("servers of a group that have the same strong tag have the same file, whatever its date")
    func group() {
        let first = archive + ["Last-Modified: \(elevenText)", "Date: \(noonText)"]
        let second = archive + ["Last-Modified: \(noonText)", "Date: Sat, 21 Nov 2026 12:30:00 GMT"]
        #expect(looked(first, (200, second)) == ["finish \(size) size"])
    }

    @Test("a HEAD that tells another length or tag than the GET throws nothing away")
    func headSaysOther() {
        let empty = ["Content-Length: 0", "ETag: \"a\""]
        let same = ["Content-Range: bytes 0-0/\(size)", "ETag: \"a\""]
        #expect(looked(archive, (200, empty), (206, same)) == ["finish \(size) size"])
        #expect(looked(archive, (200, other), (206, same)) == ["finish \(size) size"])
        // What only a HEAD has told, and a GET does not deny, is believed.
        #expect(looked(archive, (200, other), (403, [])) == ["persist f.bin \(size) \"a\"", "4 GET http://h/f.bin"])
    }

    @Test(
        "a file that is another one at each look is waited for",
        .tells("if that goes on, cancel it and queue it with --verify none, which takes the file as it comes"))
    func restless() {
        var download = whole(archive)
        var last: [String] = []
        var id = 2
        var before = "a"
        for tag in ["b", "c", "d"] {
            let now = ["Content-Length: \(size)", "ETag: \"\(tag)\""]
            for _ in 0..<2 {
                last = words(download.handle(.ended(ExchangeID(rawValue: id), answered(200, now))))
                id += 1
            }
            guard tag != "d" else { break }
            #expect(last == ["persist f.bin \(size) \"\(before)\"", "\(id) GET http://h/f.bin"])
            #expect(told(&download, id, now).first == "over: changed at the server")
            before = tag
            let end = ExchangeEnd(
                answer: HTTPAnswer(status: 200), bytesWritten: size, at: noon.advanced(by: .seconds(9)))
            last = words(download.handle(.ended(ExchangeID(rawValue: id), end)))
            id += 1
        }
        #expect(last == ["over: changed at the server", "wait backoff badServerResponse"])
    }

    @Test("a program that dates each answer anew is asked again after a pause; what it made is taken as it came")
    func datedAnew() {
        func made(_ time: String, _ more: String...) -> [String] {
            ["Content-Length: \(size)", "Last-Modified: \(time)", "Date: \(time)"] + more
        }
        let first = "Sat, 21 Nov 2026 11:59:59 GMT"
        let (second, third) = ("Sat, 21 Nov 2026 12:10:00 GMT", "Sat, 21 Nov 2026 12:10:03 GMT")
        for mark in ["Cache-Control: private, no-store", "Content-Disposition: attachment; filename=f.bin"] {
            #expect(
                looked(
                    made(first, mark), (200, made(second, mark)), (200, made(second, mark)), (200, made(third, mark)))
                    == ["finish \(size) none"])
            // Another length, or a date that stays behind, is another file.
            let longer = ["Content-Length: \(size + 1)", "Last-Modified: \(third)", "Date: \(third)", mark]
            #expect(
                looked(made(first, mark), (200, made(second, mark)), (200, made(second, mark)), (200, longer))
                    == ["persist f.bin \(size) -", "5 GET http://h/f.bin"])
            let settled = ["Content-Length: \(size)", "Last-Modified: \(second)", "Date: \(third)", mark]
            #expect(
                looked(made(first, mark), (200, made(second, mark)), (200, made(second, mark)), (200, settled))
                    == ["persist f.bin \(size) -", "5 GET http://h/f.bin"])
        }
        // Of a file nobody says so.
        #expect(
            looked(made(first), (200, made(second)), (200, made(second))) == [
                "persist f.bin \(size) -", "4 GET http://h/f.bin",
            ])
        let tagged = made(second, "Cache-Control: no-store", "ETag: \"x\"")
        #expect(
            looked(made(first), (200, tagged), (200, tagged)) == ["persist f.bin \(size) -", "4 GET http://h/f.bin"])
    }
}
