import TestSupport
import Testing
import TransferModel
import TransferProtocols
import WireOperations

private let strong = RemoteVersion(etag: "\"a\"", total: 1000)
private let dated = RemoteVersion(lastModified: elevenText, isDateStrong: true, total: 1000)

private func point(_ version: RemoteVersion, _ offset: Int64) -> GetResumePoint {
    GetResumePoint(version: version, offset: offset, name: RawPath("f.bin"))
}

private func plan(_ resume: GetResumePoint? = nil, verify: VerificationWish? = nil) -> GetPlan {
    GetPlan(address: HTTPAddress("http://h/f.bin")!, verify: verify, resume: resume)
}

/// A download that was begun, with the words of what it wants first.
private func begin(_ plan: GetPlan) -> (GetDownload, [String]) {
    var download = GetDownload(plan)
    let actions = download.handle(.began(at: noon))
    return (download, words(actions))
}

/// The words after heads that answer the requests one after the other.
private func run(_ plan: GetPlan, _ heads: (Int, [String])...) -> [String] {
    var download = GetDownload(plan)
    var actions = download.handle(.began(at: noon))
    for (status, lines) in heads {
        var id = 0
        for case .perform(let performed, _) in actions { id = performed.rawValue }
        let answer = HTTPAnswer(status: status, headers: fields(lines))
        actions = download.handle(.answered(ExchangeID(rawValue: id), answer, at: noon))
    }
    return words(actions)
}

@Suite struct GetDownloadTests {
    @Test("a first answer's version and name are durable before the gate opens")
    func fresh() {
        #expect(begin(plan()).1 == ["1 GET http://h/f.bin"])
        #expect(
            run(plan(), (200, ["Content-Length: 1000", "ETag: \"a\""]))
                == ["persist f.bin 0 \"a\"", "open 1 at 0 skip 0 of 1000"])
        #expect(run(plan(), (200, [])) == ["persist f.bin 0 -", "open 1 at 0 skip 0 of ?"])
        #expect(run(plan(), (206, ["Content-Range: bytes 0-999/1000"])).last == "open 1 at 0 skip 0 of 1000")
    }

    @Test("the request goes on with the strong tag, else with the date when there is no tag, else from zero")
    func validators() {
        #expect(
            begin(plan(point(strong, 400))).1 == ["1 GET http://h/f.bin | Range: bytes=400- | If-Range: \"a\""])
        #expect(
            begin(plan(point(dated, 400))).1
                == ["1 GET http://h/f.bin | Range: bytes=400- | If-Range: \(elevenText)"])
        let unquoted = RemoteVersion(etag: "abc", total: 1000)
        #expect(begin(plan(point(unquoted, 400))).1 == ["1 GET http://h/f.bin | Range: bytes=400-"])
        for weak in [
            RemoteVersion(etag: "W/\"a\"", total: 1000), RemoteVersion(lastModified: elevenText, total: 1000),
            RemoteVersion(etag: "W/\"a\"", lastModified: elevenText, isDateStrong: true, total: 1000),
            RemoteVersion(total: 1000),
            RemoteVersion(lastModified: elevenText, isDateStrong: true, total: 1000, coding: "gzip"),
        ] {
            let asked = begin(plan(point(weak, 400))).1
            #expect(asked == ["1 GET http://h/f.bin"])
            let told = run(plan(point(weak, 400)), (200, ["ETag: \"b\"", "Content-Length: 900"]))
            #expect(
                told == [
                    "over: the server gave nothing to recognise the version by", "persist f.bin 0 \"b\"",
                    "open 1 at 0 skip 0 of 900",
                ])
        }
    }

    @Test("a folder's page is no file, unless somebody names it")
    func folder() throws {
        let page = ["Content-Type: text/html; charset=utf-8", "Content-Length: 1000"]
        let address = try #require(HTTPAddress("http://h/pub/"))
        let refused = run(GetPlan(address: address), (200, page))
        #expect(refused.last?.contains("unsupported") == true && !refused.contains { $0.hasPrefix("persist") })
        var named = GetPlan(address: address)
        named.name = RawPath("index.html")
        #expect(run(named, (200, page)).last == "open 1 at 0 skip 0 of 1000")
        let offered = page + ["Content-Disposition: attachment; filename=a.html"]
        #expect(run(GetPlan(address: address), (200, offered)).first == "persist a.html 0 -")
        #expect(run(GetPlan(address: address), (200, ["Content-Length: 1000"])).first == "persist download 0 -")
        #expect(run(plan(), (200, page)).first == "persist f.bin 0 -")
    }

    @Test("of what was complete before a stop nobody knows how long it took: the server is asked once more")
    func complete() {
        #expect(begin(plan(point(strong, 1000))).1 == ["1 HEAD http://h/f.bin"])
        let nameless = RemoteVersion(total: 1000)
        #expect(begin(plan(point(nameless, 1000))).1 == ["finish 1000 size"])
    }

    @Test("a fitting 206 goes on; one that began earlier is cut to fit")
    func partial() {
        let resume = plan(point(strong, 400))
        #expect(
            run(resume, (206, ["Content-Range: bytes 400-999/1000", "ETag: \"a\""]))
                == ["resumed 400", "persist f.bin 400 \"a\"", "open 1 at 400 skip 0 of 1000"])
        #expect(
            run(resume, (206, ["Content-Range: bytes 300-999/1000", "ETag: \"a\""])).last
                == "open 1 at 400 skip 100 of 1000")
        #expect(
            run(resume, (206, ["Content-Range: bytes 400-999/*", "ETag: \"a\""])).last == "open 1 at 400 skip 0 of 1000"
        )
    }

    @Test(
        "a 206 of another version, or one that does not fit, begins again from zero",
        arguments: [
            (["Content-Range: bytes 400-999/1000", "ETag: \"b\""], "changed at the server"),
            (["Content-Range: bytes 400-999/1000", "ETag: W/\"a\""], "changed at the server"),
            (["Content-Range: bytes 400-1999/2000", "ETag: \"a\""], "changed at the server"),
            (["Content-Range: bytes 400-999/1000"], "changed at the server"),
            (["Content-Range: bytes 500-999/1000", "ETag: \"a\""], "the server's partial answer does not fit"),
            (["Content-Range: bytes 400-899/1000", "ETag: \"a\""], "the server's partial answer does not fit"),
            (
                ["Content-Range: bytes 400-999/1000", "ETag: \"a\"", "Content-Encoding: gzip"],
                "changed at the server"
            ),
            (
                ["Content-Type: multipart/byteranges; boundary=x", "ETag: \"a\""],
                "the server's partial answer cannot be placed"
            ),
            (["Content-Range: bytes 999-400/1000", "ETag: \"a\""], "the server's partial answer cannot be placed"),
        ])
    func misfit(lines: [String], reason: String) {
        let result = run(plan(point(strong, 400)), (206, lines))
        #expect(result == ["abandon 1", "2 GET http://h/f.bin"])
        let whole = (200, ["ETag: \"b\"", "Content-Length: 900"])
        #expect(run(plan(point(strong, 400)), (206, lines), whole).first == "over: \(reason)")
    }

    @Test("a 200 for the same version is asked once more without If-Range, then taken from zero")
    func ifRangeIgnored() {
        let resume = plan(point(strong, 400))
        let same = (200, ["ETag: \"a\"", "Content-Length: 1000"])
        #expect(run(resume, same) == ["abandon 1", "2 GET http://h/f.bin | Range: bytes=400-"])
        #expect(
            run(resume, same, same)
                == ["over: the server sends whole files only", "persist f.bin 0 \"a\"", "open 2 at 0 skip 0 of 1000"])
        #expect(run(resume, same, (206, ["Content-Range: bytes 400-999/1000", "ETag: \"a\""])).first == "resumed 400")
        #expect(
            run(resume, same, (206, ["Content-Range: bytes 400-999/1000", "ETag: \"b\""])).last
                == "3 GET http://h/f.bin")
    }

    @Test("a 200 for another version is taken from zero, under its own validator")
    func changed() {
        #expect(
            run(plan(point(strong, 400)), (200, ["ETag: \"b\"", "Content-Length: 900"]))
                == ["over: changed at the server", "persist f.bin 0 \"b\"", "open 1 at 0 skip 0 of 900"])
        #expect(
            run(plan(point(dated, 400)), (200, ["Last-Modified: \(noonText)"])).first == "over: changed at the server")
    }

    @Test("416 with our length is proved by HEAD, any other begins again")
    func outside() {
        let resume = plan(point(RemoteVersion(etag: "\"a\""), 400))
        #expect(run(resume, (416, ["Content-Range: bytes */400"])) == ["abandon 1", "2 HEAD http://h/f.bin"])
        #expect(run(resume, (416, ["Content-Range: bytes */300"])).last == "2 GET http://h/f.bin")
        #expect(run(resume, (416, [])).last == "2 GET http://h/f.bin")
        for (status, tag, last) in [
            (200, "\"a\"", "finish 400 size"), (200, "\"b\"", "3 GET http://h/f.bin"),
            (405, "\"a\"", "3 GET http://h/f.bin"), (503, "\"a\"", "wait hostBackoff http"),
        ] {
            var download = GetDownload(resume)
            _ = download.handle(.began(at: noon))
            let head = HTTPAnswer(status: 416, headers: fields(["Content-Range: bytes */400"]))
            _ = download.handle(.answered(ExchangeID(rawValue: 1), head, at: noon))
            let end = answered(status, ["ETag: \(tag)", "Content-Length: 400"])
            #expect(words(download.handle(.ended(ExchangeID(rawValue: 2), end))).last == last)
            guard status == 405 else { continue }
            let whole = HTTPAnswer(status: 200, headers: fields(["ETag: \"b\""]))
            let told = words(download.handle(.answered(ExchangeID(rawValue: 3), whole, at: noon)))
            #expect(told.first == "over: the server does not prove the version")
        }
    }

    @Test(
        "412 begins again; without a range both it and 416 are failures",
        .tells("its copy is not the one that was expected; look there"))
    func preconditions() {
        #expect(run(plan(point(strong, 400)), (412, [])).last == "2 GET http://h/f.bin")
        #expect(run(plan(), (412, [])) == ["abandon 1", "fail http 412"])
        #expect(run(plan(), (416, [])) == ["abandon 1", "fail http 416"])
    }

    @Test(
        "other answers decide as the contract's table says, and no error page reaches the file",
        .tells("h answered 204 No Content: this is not an answer to a transfer; check the address"),
        arguments: [
            (401, "wait auth http"), (403, "fail permissionDenied 403"), (404, "fail http 404"),
            (410, "fail http 410"), (429, "wait hostBackoff http"), (500, "wait backoff http"),
            (304, "fail badServerResponse 304"), (204, "fail badServerResponse 204"),
        ])
    func answers(status: Int, expected: String) {
        #expect(run(plan(), (status, [])) == ["abandon 1", expected])
    }

    @Test("403 after accepted bytes means that a permission ran out, and waits for a person")
    func revoked() {
        #expect(run(plan(point(strong, 400)), (403, [])) == ["abandon 1", "wait auth http"])
    }

    @Test("redirects are followed by hand from the original URL, with range and guard, without secrets elsewhere")
    func redirects() {
        #expect(
            run(plan(point(strong, 400)), (302, ["Location: https://cdn/x?sig=1"]))
                == ["abandon 1", "2 GET https://cdn/x?sig=1 | Range: bytes=400- | If-Range: \"a\" | bare"])
        #expect(run(plan(), (303, ["Location: /y"])) == ["abandon 1", "2 GET http://h/y"])
        #expect(run(plan(), (302, [])) == ["abandon 1", "fail badServerResponse 302"])
    }

    /// A download whose gate is open.
    private func receiving(_ lines: [String], verify: VerificationWish? = nil) -> GetDownload {
        var download = GetDownload(plan(verify: verify))
        _ = download.handle(.began(at: noon))
        let head = HTTPAnswer(status: 200, headers: fields(lines))
        _ = download.handle(.answered(ExchangeID(rawValue: 1), head, at: noon))
        return download
    }

    private func end(
        _ written: Int64, _ failure: ExchangeFailure? = nil, after time: Duration = .zero
    ) -> ProtocolEvent {
        .ended(
            ExchangeID(rawValue: 1),
            ExchangeEnd(
                answer: HTTPAnswer(status: 200), bytesWritten: written, failure: failure, at: noon.advanced(by: time)))
    }

    @Test(
        "what is synced is recorded; the end is believed only with every byte",
        .tells("h sent 999 of 1000 bytes: Martlet tries again by itself"))
    func body() {
        var download = receiving(["Content-Length: 1000", "ETag: \"a\""])
        #expect(words(download.handle(.synced(through: 300))) == ["persist f.bin 300 \"a\""])
        var short = download
        #expect(words(short.handle(end(999))) == ["wait backoff networkConnectionLost"])
        var cut = download
        #expect(words(cut.handle(end(500, .network(lost)))) == ["wait backoff networkConnectionLost"])
        #expect(words(download.handle(end(1000))) == ["finish 1000 size"])
        #expect(download.handle(end(1000)).isEmpty)
    }

    @Test("without a length only the clean end says that it is complete, and nothing is verified")
    func noLength() {
        var download = receiving([])
        #expect(words(download.handle(end(77))) == ["finish 77 none"])
    }

    @Test("a length that the server tells after an answer without one: what came is the file, or was cut")
    func laterLength() {
        func looked(_ length: Int64, _ byte: String...) -> [String] {
            var download = receiving(["ETag: \"a\""])
            #expect(words(download.handle(end(77, after: .seconds(2)))) == ["2 HEAD http://h/f.bin"])
            let head = answered(200, ["ETag: \"a\"", "Content-Length: \(length)"])
            let told = words(download.handle(.ended(ExchangeID(rawValue: 2), head)))
            guard told == ["3 GET http://h/f.bin | Range: bytes=0-0"] else { return told }
            let end = answered(206, ["ETag: \"a\""] + byte)
            return words(download.handle(.ended(ExchangeID(rawValue: 3), end)))
        }
        let cut = ["wait backoff networkConnectionLost"]
        #expect(looked(77) == ["finish 77 none"])
        #expect(looked(0) == ["finish 77 none"])
        #expect(looked(100, "Content-Range: bytes 0-0/100") == cut)
        // A server may tell another length to a HEAD than to a GET.
        #expect(looked(100, "Content-Range: bytes 0-0/77") == ["finish 77 none"])
        #expect(looked(100) == ["finish 77 none"])
    }

    @Test("a disk that cannot take it waits for room or fails, as the engine says")
    func sinkFailures() {
        let full = TransferError(.diskFull, "full")
        var download = receiving([])
        #expect(words(download.handle(end(77, .sink(full, waits: .diskSpace)))) == ["wait diskSpace diskFull"])
        download = receiving([])
        #expect(words(download.handle(end(77, .sink(full, waits: nil)))) == ["fail diskFull"])
    }

    @Test("an offered digest is checked by default, a demanded one must be there")
    func digests() {
        let offer = "Repr-Digest: sha-512=:AA==:, sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        var download = receiving(["Content-Length: 5", offer])
        #expect(words(download.handle(end(5))) == ["finish 5 digest"])
        download = receiving(["Content-Length: 5", offer], verify: .size)
        #expect(words(download.handle(end(5))) == ["finish 5 size"])
        download = receiving(["Content-Length: 5"], verify: .digest)
        #expect(words(download.handle(end(5))) == ["fail integrity"])
        download = receiving(["Content-Length: 5"], verify: VerificationWish.none)
        #expect(words(download.handle(end(5))) == ["finish 5 none"])
        for (verify, asks) in [(nil, true), (.digest, true), (.size, false), (VerificationWish.none, false)]
            as [(VerificationWish?, Bool)]
        {
            var download = GetDownload(plan(verify: verify))
            let asked = headers(download.handle(.began(at: noon)))
            #expect(asked == [asks ? ["Want-Repr-Digest: sha-256=10"] : []])
        }
        // Its forerunner, and the digest of a body that is the whole file; of a part it says nothing.
        let bytes = String(repeating: "A", count: 43) + "="
        for line in ["Digest: MD5=AA==, SHA-256=\(bytes)", "Content-Digest: sha-256=:\(bytes):"] {
            download = receiving(["Content-Length: 5", line])
            #expect(words(download.handle(end(5))) == ["finish 5 digest"])
        }
        let part = run(
            plan(point(strong, 400)),
            (206, ["Content-Range: bytes 400-999/1000", "ETag: \"a\"", "Content-Digest: sha-256=:\(bytes):"]))
        #expect(part.last == "open 1 at 400 skip 0 of 1000")
    }

    @Test("a digest that was offered stays with what was begun, and is compared when nothing is left to fetch")
    func keptDigest() throws {
        let bytes = String(repeating: "A", count: 43) + "="
        var download = GetDownload(plan(verify: .digest))
        _ = download.handle(.began(at: noon))
        let head = HTTPAnswer(
            status: 200, headers: fields(["Content-Length: 1000", "ETag: \"a\"", "Repr-Digest: sha-256=:\(bytes):"]))
        let actions = download.handle(.answered(ExchangeID(rawValue: 1), head, at: noon))
        guard case .persist(let stored)? = actions.first else { throw Lack() }
        var begun = try #require(ResumePoint(encoded: stored.encoded)?.content(GetResumePoint.self))
        #expect(begun.promised?.value == String(repeating: "0", count: 64))
        begun.offset = 1000
        #expect(begin(plan(begun, verify: .digest)).1 == ["finish 1000 digest"])
        // Another one for what has the same tag is another file.
        begun.offset = 400
        let other = "B" + String(repeating: "A", count: 42) + "="
        let changed = run(
            plan(begun), (206, ["Content-Range: bytes 400-999/1000", "ETag: \"a\"", "Repr-Digest: sha-256=:\(other):"]))
        #expect(changed == ["abandon 1", "2 GET http://h/f.bin"])
    }

    private struct Lack: Error {}

    @Test("after an answer that took its time the server is asked whether the file is still the same")
    func lookAgain() {
        let size: Int64 = 5 << 20
        let old = ["Content-Length: \(size)", "ETag: \"a\"", "Last-Modified: \(elevenText)", "Date: \(noonText)"]
        func looked(_ verify: VerificationWish? = nil, _ policy: ChangedSourcePolicy = .restart, _ end: ExchangeEnd)
            -> [String]
        {
            var asked = plan(verify: verify)
            asked.ifChanged = policy
            var download = GetDownload(asked)
            _ = download.handle(.began(at: noon))
            _ = download.handle(
                .answered(ExchangeID(rawValue: 1), HTTPAnswer(status: 200, headers: fields(old)), at: noon))
            #expect(words(download.handle(self.end(size))) == ["2 HEAD http://h/f.bin"])
            let told = words(download.handle(.ended(ExchangeID(rawValue: 2), end)))
            guard told.last == "3 GET http://h/f.bin | Range: bytes=0-0" else { return told }
            return words(download.handle(.ended(ExchangeID(rawValue: 3), end)))
        }
        #expect(looked(nil, .restart, answered(200, old)) == ["finish \(size) size"])
        // Another server of a group has another tag for the same file.
        let twin = ["Content-Length: \(size)", "ETag: \"z\"", "Last-Modified: \(elevenText)"]
        #expect(looked(nil, .restart, answered(200, twin)) == ["finish \(size) size"])
        let written = ["Content-Length: \(size)", "ETag: \"b\"", "Last-Modified: \(noonText)"]
        #expect(
            looked(nil, .restart, answered(200, written)) == ["persist f.bin \(size) \"a\"", "4 GET http://h/f.bin"])
        #expect(looked(nil, .fail, answered(200, written)) == ["over: changed at the server", "fail sourceChanged"])
        let broken = looked(nil, .restart, unanswered(lost, sent: 0))
        #expect(broken == ["persist f.bin \(size) \"a\"", "wait backoff networkConnectionLost"])
        // A checkpoint that comes to its end meanwhile says how much is on the disk, and not how long the file is.
        var behind = receiving(old)
        #expect(words(behind.handle(end(size))) == ["2 HEAD http://h/f.bin"])
        #expect(words(behind.handle(.synced(through: 300))) == ["persist f.bin 300 \"a\""])
        #expect(words(behind.handle(.ended(ExchangeID(rawValue: 2), answered(200, old)))) == ["finish \(size) size"])
        // Where there is nothing to tell versions by, or a digest says more, nobody is asked.
        var download = receiving(["Content-Length: \(size)"])
        #expect(words(download.handle(end(size))) == ["finish \(size) size"])
        let digest = "Repr-Digest: sha-256=:\(String(repeating: "A", count: 43))=:"
        download = receiving(old + [digest])
        #expect(words(download.handle(end(size))) == ["finish \(size) digest"])
    }

    @Test("a small file that came slowly is asked for again, too")
    func slowly() {
        let told = ["Content-Length: 1000", "ETag: \"a\""]
        for (time, last) in [
            (.milliseconds(900), "finish 1000 size"), (.milliseconds(1100), "2 HEAD http://h/f.bin"),
            // The clock was set back: how long it took is not known.
            (.seconds(-3600), "2 HEAD http://h/f.bin"),
        ] as [(Duration, String)] {
            var download = receiving(told)
            #expect(words(download.handle(end(1000, after: time))) == [last])
        }
    }

    @Test("the rest of a file that was begun before is asked for again, however short it is")
    func shortRest() {
        var download = GetDownload(plan(point(strong, 400)))
        _ = download.handle(.began(at: noon))
        let rest = HTTPAnswer(status: 206, headers: fields(["Content-Range: bytes 400-999/1000", "ETag: \"a\""]))
        _ = download.handle(.answered(ExchangeID(rawValue: 1), rest, at: noon))
        #expect(words(download.handle(end(600))) == ["2 HEAD http://h/f.bin"])
        let now = HTTPAnswer(status: 200, headers: fields(["Content-Length: 1000", "ETag: \"b\""]))
        #expect(
            words(download.handle(.ended(ExchangeID(rawValue: 2), ExchangeEnd(answer: now, at: noon))))
                == ["persist f.bin 1000 \"a\"", "3 GET http://h/f.bin | Range: bytes=0-0"])
        let byte = answered(206, ["Content-Range: bytes 0-0/1000", "ETag: \"b\""])
        #expect(
            words(download.handle(.ended(ExchangeID(rawValue: 3), byte)))
                == ["persist f.bin 1000 \"a\"", "4 GET http://h/f.bin"])
    }

    @Test("where HEAD says nothing of the file a GET of one byte does; a file that went away is not called whole")
    func lookByGet() {
        let size: Int64 = 5 << 20
        let old = ["Content-Length: \(size)", "ETag: \"a\"", "Last-Modified: \(elevenText)", "Date: \(noonText)"]
        func looked(_ head: Int, _ end: ExchangeEnd) -> [String] {
            var download = receiving(old)
            _ = download.handle(self.end(size))
            let asked = words(download.handle(.ended(ExchangeID(rawValue: 2), answered(head))))
            #expect(asked == ["3 GET http://h/f.bin | Range: bytes=0-0"])
            return words(download.handle(.ended(ExchangeID(rawValue: 3), end)))
        }
        let rest = ["ETag: \"a\"", "Last-Modified: \(elevenText)", "Content-Range: bytes 0-0/\(size)"]
        let other = ["ETag: \"b\"", "Last-Modified: \(noonText)", "Content-Range: bytes 0-0/\(size)"]
        for head in [400, 403, 404, 405, 501] {
            #expect(looked(head, answered(206, rest)) == ["finish \(size) size"])
            #expect(looked(head, answered(200, old)) == ["finish \(size) size"])
            #expect(looked(head, answered(206, other)) == ["persist f.bin \(size) \"a\"", "4 GET http://h/f.bin"])
            #expect(looked(head, answered(416)) == ["persist f.bin \(size) \"a\"", "4 GET http://h/f.bin"])
            #expect(looked(head, answered(403)) == ["finish \(size) size"])
            for gone in [404, 410] {
                #expect(looked(head, answered(gone)) == ["persist f.bin \(size) \"a\"", "fail http \(gone)"])
            }
        }
    }

    @Test("what is taken as it comes is not asked for again; without a length its length is")
    func asItComes() {
        let size: Int64 = 5 << 20
        var download = receiving(["Content-Length: \(size)", "ETag: \"a\""], verify: VerificationWish.none)
        #expect(words(download.handle(end(size))) == ["finish \(size) none"])
        download = receiving(["ETag: \"a\""], verify: VerificationWish.none)
        #expect(words(download.handle(end(size))) == ["2 HEAD http://h/f.bin"])
        var gone = download
        _ = gone.handle(.ended(ExchangeID(rawValue: 2), answered(404)))
        #expect(words(gone.handle(.ended(ExchangeID(rawValue: 3), answered(404)))) == ["finish \(size) none"])
        let other = answered(200, ["Content-Length: \(size)", "ETag: \"b\""])
        #expect(words(download.handle(.ended(ExchangeID(rawValue: 2), other))) == ["finish \(size) none"])
    }

    @Test("a server that never answers the look stops nothing, one that is away is waited for")
    func silentLook() {
        let size: Int64 = 5 << 20
        var stored = point(RemoteVersion(etag: "\"a\"", total: size), size)
        func looked(_ failure: TransferErrorCode) -> [String] {
            var download = GetDownload(plan(stored))
            #expect(words(download.handle(.began(at: noon))) == ["1 HEAD http://h/f.bin"])
            let error = TransferError(failure, "away")
            let actions = download.handle(.ended(ExchangeID(rawValue: 1), unanswered(error, sent: 0)))
            for case .persist(let kept) in actions { stored = kept.content(GetResumePoint.self) ?? stored }
            return words(actions)
        }
        for away in [TransferErrorCode.cannotConnectToHost, .notConnectedToInternet, .cannotFindHost] {
            for _ in 0..<3 { #expect(looked(away).last == "wait backoff \(away.rawValue)") }
        }
        #expect(looked(.networkConnectionLost).last == "wait backoff networkConnectionLost")
        #expect(looked(.cannotConnectToHost).last == "wait backoff cannotConnectToHost")
        #expect(looked(.timedOut) == ["finish \(size) size"])
    }

    @Test("what was received and looked at before a stop is finished as it was checked")
    func received() {
        var stored = point(RemoteVersion(etag: "\"a\""), 5 << 20)
        for (verified, last) in [(Verification.none, "none"), (.size, "size")] {
            stored.received = verified
            #expect(begin(plan(stored)).1 == ["finish \(5 << 20) \(last)"])
            #expect(begin(plan(stored, verify: .digest)).1.first?.contains("GET") == true)
        }
        stored.received = .digest
        stored.promised = TransferDigest(algorithm: "sha-256", value: String(repeating: "a", count: 64))
        #expect(begin(plan(stored)).1 == ["finish \(5 << 20) digest"])
        // What comes after another version is seen has been checked by nobody.
        stored.received = .size
        var download = GetDownload(plan(stored, verify: .digest))
        _ = download.handle(.began(at: noon))
        let range = "Content-Range: bytes \(5 << 20)-\(6 << 20)/\((6 << 20) + 1)"
        let head = HTTPAnswer(status: 206, headers: fields([range, "ETag: \"a\""]))
        for case .persist(let kept) in download.handle(.answered(ExchangeID(rawValue: 1), head, at: noon)) {
            #expect(kept.content(GetResumePoint.self)?.received == nil)
        }
    }

    @Test("a part that does not say where the file ends is not taken for the rest of it")
    func endlessPart() {
        let open = plan(point(RemoteVersion(etag: "\"a\""), 400))
        #expect(run(open, (206, ["Content-Range: bytes 400-499/*", "ETag: \"a\""])).last == "2 GET http://h/f.bin")
        #expect(run(plan(), (206, ["Content-Range: bytes 0-99/*"])).last == "wait backoff badServerResponse")
        // The length that was told before is enough.
        let known = plan(point(strong, 400))
        #expect(
            run(known, (206, ["Content-Range: bytes 400-999/*", "ETag: \"a\""])).last
                == "open 1 at 400 skip 0 of 1000")
        #expect(run(known, (206, ["Content-Range: bytes 400-499/*", "ETag: \"a\""])).last == "2 GET http://h/f.bin")
    }

    @Test("who wants the version that was begun is told of another one, and a retry takes that")
    func changedFails() {
        var resume = plan(point(strong, 400))
        resume.ifChanged = .fail
        let other = ["ETag: \"b\"", "Content-Length: 900"]
        let expected = ["abandon 1", "over: changed at the server", "persist f.bin 0 -", "fail sourceChanged"]
        #expect(run(resume, (200, other)) == expected)
        #expect(run(resume, (206, ["Content-Range: bytes 400-899/900", "ETag: \"b\""])) == expected)
        #expect(run(resume, (412, [])) == expected)
        #expect(run(resume, (416, ["Content-Range: bytes */300"])) == expected)
        // What is the same goes on.
        #expect(run(resume, (206, ["Content-Range: bytes 400-999/1000", "ETag: \"a\""])).first == "resumed 400")
    }

    @Test("a tag that names nothing is none", arguments: ["\"\"", "W/\"\"", "", "\"\u{FFFD}\"", "\"ä\""])
    func emptyTags(tag: String) {
        let version = RemoteVersion(HTTPAnswer(status: 200, headers: fields(["ETag: \(tag)", "Content-Length: 1000"])))
        #expect(version.etag == nil && version.strongTag == nil && !version.isResumable)
        #expect(RemoteVersion(etag: tag, total: 1000).strongTag == nil)
    }

    @Test(
        "a length that cannot be is refused before a byte is written",
        arguments: ["99999999999999999999999", "-5", "1,000", "x"])
    func impossibleLength(length: String) {
        #expect(run(plan(), (200, ["Content-Length: \(length)"])) == ["abandon 1", "fail badServerResponse 200"])
    }

    @Test(
        "a page that comes instead of the rest of a file replaces nothing of it",
        .tells("h answered with a page instead of the file"))
    func signInPage() {
        var begun = point(strong, 400)
        begun.version.type = "application/zip"
        let page = ["Content-Type: text/html; charset=utf-8", "Content-Length: 900"]
        #expect(run(plan(begun), (200, page)) == ["abandon 1", "wait auth http"])
        #expect(run(plan(begun), (302, ["Location: /login"]), (200, page)) == ["abandon 2", "wait auth http"])
        // Nothing tells what it was: then it was no page.
        begun.version.type = nil
        #expect(run(plan(begun), (200, page)) == ["abandon 1", "wait auth http"])
        // Of what was a page before another page may be the next version.
        begun.version.type = "text/html"
        #expect(run(plan(begun), (200, page)).first == "over: changed at the server")
    }

    @Test(
        "a folder's page that a redirect leads to is no file either",
        .tells("queue the URL of a file, or, to keep the page, give its path here"))
    func folderBehindRedirect() {
        let page = ["Content-Type: text/html", "Content-Length: 1000"]
        let address = HTTPAddress("http://h/pub")!
        #expect(run(GetPlan(address: address), (301, ["Location: /pub/"]), (200, page)).last == "fail unsupported")
    }

    @Test("a resume point survives being written and read, and damage or another version is no resume point")
    func resumePoints() {
        var point = point(dated, 7)
        point.partName = RawPath([0xff, 0x41])
        point.partInode = 12
        var stored = ResumePoint(point)
        stored.sourceChanges = 2
        let read = ResumePoint(encoded: stored.encoded)
        #expect(read == stored)
        #expect(read?.content(GetResumePoint.self) == point)
        #expect(read?.sourceChanges == 2)
        #expect(read?.content(StoredVersion.self) == nil, "another protocol's")
        for text in ["", "{}", "{\"v\":1,\"put\":{\"stored\":true}}", "{\"v\":2}", "nonsense"] {
            #expect(ResumePoint(encoded: Array(text.utf8)) == nil)
        }
        let damaged = ResumePoint(encoded: Array("{\"v\":2,\"kind\":\"get\",\"point\":\"{}\"}".utf8))
        #expect(damaged?.content(GetResumePoint.self) == nil)
    }
}
