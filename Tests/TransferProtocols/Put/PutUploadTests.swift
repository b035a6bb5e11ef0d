import Digests
import TestSupport
import Testing
import TransferModel
import TransferProtocols

private let wish = " | Want-Repr-Digest: sha-256=10"
private let put = "1 PUT http://h/f | If-None-Match: *" + wish
private let over = "over: the server refused the file, yet nothing of its name is there"

private func plan(
    ifExists: ExistingFilePolicy = .fail, verify: VerificationWish? = nil, begun: Timestamp? = nil,
    own: StoredVersion? = nil, size: Int64 = 1000
) -> PutPlan {
    var plan = PutPlan(
        address: HTTPAddress("http://h/f")!, size: size, ifExists: ifExists, verify: verify, begunBefore: begun,
        resume: own)
    plan.heedsConditions = true
    return plan
}

/// The same for a server of which nothing is known.
private func unknown(
    ifExists: ExistingFilePolicy = .fail, own: StoredVersion? = nil
) -> PutPlan {
    var plan = plan(ifExists: ifExists, own: own)
    plan.heedsConditions = false
    plan.absenceBelow = "/"
    return plan
}

/// Begins an upload and ends its exchanges one after the other; gives back the words of the last actions.
private func run(_ plan: PutPlan, _ ends: ExchangeEnd...) -> [String] { run(plan, ends) }

private func run(_ plan: PutPlan, _ ends: [ExchangeEnd]) -> [String] {
    var upload = PutUpload(plan)
    var actions = upload.handle(.began(at: noon))
    var id = 0
    for end in ends {
        for case .perform(let performed, _) in actions { id = performed.rawValue }
        if case .wake(.probeAgain, _)? = actions.first {
            actions = upload.handle(.timerFired(.probeAgain))
            for case .perform(let performed, _) in actions { id = performed.rawValue }
        }
        actions = upload.handle(.ended(ExchangeID(rawValue: id), end))
    }
    return words(actions)
}

@Suite struct PutUploadTests {
    @Test("an earlier version of ours that was taken away is no riddle: the file goes as if nothing had been there")
    func takenAway() {
        var plan = plan()
        plan.begunBefore = noon.advanced(by: .seconds(-60))
        plan.resume = StoredVersion(
            stored: true, etag: "\"a\"", version: NamedVersion(size: 1000, modified: 5), shown: nil)
        let absent = answered(404)
        #expect(run(plan, answered(412)) == ["2 HEAD http://h/f"])
        let again = run(plan, answered(412), absent)
        #expect(again.last?.hasPrefix("3 PUT http://h/f | If-None-Match: *") == true, "\(again)")
        #expect(run(plan, answered(412), absent, answered(201)) == ["finish 1000 none"])
        #expect(run(plan, answered(412), absent, answered(412)).last?.hasPrefix("4 HEAD") == true)
    }

    @Test(
        "a page that stands in the file's place is no yes; a program's answer is one",
        .tells("h answered PUT with the page that it shows in its place"))
    func pages() {
        func page(_ length: Int) -> ExchangeEnd {
            answered(200, ["Content-Type: text/html", "Content-Length: \(length)"])
        }
        #expect(run(plan(), page(5120)) == ["2 HEAD http://h/f" + wish])
        #expect(run(plan(), page(5120), page(5120)) == ["wait backoff badServerResponse"])
        // It is not sent so for ever.
        var counted = plan()
        counted.unanswered = 0
        #expect(run(counted, page(5120), page(5120)) == ["persist put", "wait backoff badServerResponse"])
        counted.unanswered = 2
        #expect(run(counted, page(5120), page(5120)) == ["fail unknownOutcome"])
        // It answered before all had gone out.
        var early = page(5120)
        early.bytesSent = 10
        #expect(run(plan(), early, page(5120)) == ["3 HEAD http://h/martlet--f"])
        #expect(run(plan(), early, page(5120), page(5120)) == ["wait backoff badServerResponse"])
        #expect(run(plan(verify: VerificationWish.none), page(5120)) == ["finish 1000 none"])
        #expect(run(plan(), page(40), page(5120)) == ["finish 1000 none"])
        #expect(run(plan(), page(40), answered(405)) == ["finish 1000 none"])
        #expect(run(plan(), answered(201, ["Content-Type: text/html"])) == ["finish 1000 none"])
    }

    @Test("the request refuses to replace a foreign file unless that was wanted")
    func condition() {
        #expect(run(plan()) == [put])
        #expect(run(plan(ifExists: .skip)) == [put])
        #expect(run(plan(ifExists: .replace)) == ["1 PUT http://h/f" + wish])
        #expect(run(plan(verify: .digest)) == [put])
        #expect(run(plan(verify: .size)) == ["1 PUT http://h/f | If-None-Match: *"])
        #expect(run(plan(verify: VerificationWish.none)) == ["1 PUT http://h/f | If-None-Match: *"])
    }

    @Test("a server that is not known to heed conditions is asked what has the name before a file is sent")
    func mayIgnoreConditions() {
        let send = "2 PUT http://h/f | If-None-Match: *" + wish
        let there = answered(200, ["Content-Length: 7"])
        var plan = unknown()
        #expect(run(plan) == ["1 HEAD http://h/f"])
        #expect(run(plan, answered(404)) == [send])
        // Those who read may be sent elsewhere, to the files or to a page for all.
        let moved = answered(302, ["Location: http://store/x"])
        let third = "3 PUT http://h/f | If-None-Match: *" + wish
        #expect(run(plan, moved) == ["2 HEAD http://store/x | bare"])
        #expect(run(plan, moved, there, there) == ["fail destinationExists 412"])
        #expect(run(plan, moved, answered(405)) == [third])
        for status in [404, 401, 403, 501] { #expect(run(plan, moved, answered(status)) == [third]) }
        #expect(run(plan, moved, answered(404, ["Server: AmazonS3"])) == [third], "that says nothing of who takes it")
        // A failure that passes says nothing of the name.
        #expect(run(plan, moved, answered(500)) == ["wait backoff http"])
        #expect(run(plan, moved, answered(503)) == ["wait hostBackoff http"])
        #expect(run(plan, moved, unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(run(plan, answered(302)) == [send])
        var skipping = plan
        skipping.ifExists = .skip
        #expect(run(skipping, moved, there, there) == ["fail destinationExists 412"], "a page is no file")
        // What an earlier attempt has left there is ours.
        skipping.begunBefore = noon
        skipping.tellsDigests = false
        #expect(run(skipping, moved, there) == ["3 HEAD http://store/x | bare"])
        #expect(run(skipping, moved, there, there) == ["4 GET http://store/x | Range: bytes=0-6 | bare"])
        #expect(run(plan, there, there) == ["fail destinationExists 412"])
        // What an earlier attempt may have left is looked into; an older file is somebody else's.
        plan.begunBefore = noon
        #expect(run(plan, there) == ["2 GET http://h/f | Range: bytes=0-6"])
        let older = answered(200, ["Content-Length: 7", "Last-Modified: \(elevenText)"])
        #expect(run(plan, older) == ["2 HEAD http://h/f"])
        plan.begunBefore = nil
        plan.ifExists = .skip
        #expect(run(plan, there) == ["finish 1000 none skipped"])
        plan.ifExists = .replace
        #expect(run(plan) == ["1 PUT http://h/f" + wish])
        // It would replace another's version by ours, too.
        plan = unknown(own: StoredVersion(stored: true, etag: "\"a\""))
        #expect(run(plan) == ["1 HEAD http://h/f"])
        #expect(run(plan, answered(200, ["ETag: \"a\""])) == ["2 PUT http://h/f | If-Match: \"a\"" + wish])
        // One that is known to heed the condition is asked no more.
        let known = answered(404, ["Server: AmazonS3"])
        #expect(run(unknown(), known) == ["learned heedsConditions=true", send])
        // Until another server answers in its place.
        plan = unknown()
        plan.heedsConditions = true
        #expect(run(plan, answered(201, ["Server: nginx"])) == ["learned heedsConditions=false", "finish 1000 none"])
        #expect(run(plan, answered(201, ["Server: AmazonS3"])) == ["finish 1000 none"])
        // What signs a PUT allows nothing else.
        var signed = unknown()
        signed.address = HTTPAddress("http://h/f?X-Amz-Signature=ab")!
        #expect(run(signed).first?.hasPrefix("1 PUT") == true)
    }

    @Test("where a look guards the name, no other file of ours gets it meanwhile")
    func claimed() {
        func claims(_ plan: PutPlan) -> Bool {
            var upload = PutUpload(plan)
            return upload.handle(.began(at: noon)).first == .claimName(RawPath("/f"))
        }
        var begun = unknown()
        begun.begunBefore = noon
        for plan in [unknown(), begun, unknown(own: StoredVersion(stored: true, etag: "\"a\""))] {
            #expect(claims(plan))
        }
        #expect(!claims(plan(begun: noon)) && !claims(unknown(ifExists: .replace)))
    }

    @Test(
        "what an earlier attempt has left is replaced when it is a beginning of the file, and is else in doubt",
        .tells(
            "an earlier attempt may have reached h, but nothing tells whether what is there is a part of the file",
            "an earlier attempt may have reached h, but what is there has other bytes"))
    func beginning() {
        func there(_ length: Int) -> ExchangeEnd {
            answered(200, ["Content-Length: \(length)", "Last-Modified: \(noonText)", "ETag: \"a\""])
        }
        var cautious = unknown()
        cautious.begunBefore = noon
        var large = cautious
        large.size = 1 << 30
        let replaced = "PUT http://h/f | If-Match: \"a\"" + wish
        // Some call every file empty.
        #expect(run(cautious, there(0)) == ["2 GET http://h/f | Range: bytes=0-0"])
        #expect(run(cautious, there(0), answered(416)) == ["3 " + replaced])
        #expect(run(cautious, there(0), answered(200)) == ["3 " + replaced])
        #expect(run(cautious, there(0), answered(206, body: "a")) == ["fail unknownOutcome"])
        #expect(run(cautious, there(1001)) == ["fail unknownOutcome"])
        #expect(run(cautious, there(7), unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(run(cautious, there(7), answered(200, body: "abcdefgh")) == ["fail unknownOutcome"])
        #expect(run(cautious, there(7), answered(404)) == ["fail unknownOutcome"])
        // What passes is waited for; those who read may be sent elsewhere, and the file is not.
        #expect(run(cautious, there(7), answered(503)) == ["wait hostBackoff http"])
        #expect(
            run(cautious, there(7), answered(206, body: "abc", failure: lost)) == ["wait backoff networkConnectionLost"]
        )
        let moved = answered(302, ["Location: http://store/x"])
        #expect(run(cautious, there(7), moved) == ["3 GET http://store/x | Range: bytes=0-6 | bare"])
        #expect(run(cautious, moved, answered(404)) == ["3 PUT http://h/f | If-None-Match: *" + wish])
        #expect(run(large, there(1 << 29)) == ["2 GET http://h/f | Range: bytes=0-1048575"])
        // A server that heeds the condition has refused it, perhaps for what we had left there.
        var refused = plan(begun: noon)
        refused.tellsDigests = false
        #expect(run(refused, answered(412), there(7)) == ["3 GET http://h/f | Range: bytes=0-6"])
        for (plan, ends) in [(cautious, [there(7)]), (refused, [answered(412), there(7)])] {
            var upload = PutUpload(plan)
            var actions = upload.handle(.began(at: noon))
            func end(_ end: ExchangeEnd) {
                for case .perform(let id, _) in actions { actions = upload.handle(.ended(id, end)) }
            }
            for answer in ends { end(answer) }
            end(answered(206, ["Content-Range: bytes 0-6/7"], body: "abcdefg"))
            #expect(words(actions) == ["digest 0..<7 sha-256"])
            var strange = upload
            let other = TransferDigest(algorithm: "sha-256", value: "00")
            #expect(words(strange.handle(.rangeDigested(0..<7, [other]))) == ["fail unknownOutcome"])
            let sum = DigestAlgorithm.sha256.digest(of: Array("abcdefg".utf8)).hex
            actions = upload.handle(.rangeDigested(0..<7, [TransferDigest(algorithm: "sha-256", value: sum)]))
            #expect(words(actions).map { $0.drop { $0 != "P" } } == [replaced[...]])
        }
    }

    @Test(
        "a signed URL that is over waits for another one",
        arguments: [
            ("http://h/f?X-Amz-Algorithm=A&X-Amz-Signature=ab", ""), ("http://h/f?Expires=1&Signature=b", ""),
            ("http://h/f?sv=2024&sig=b", ""), ("http://h/f", errorXML("ExpiredToken")),
            ("http://h/f", "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"),
        ])
    func signedURL(url: String, body: String) {
        let plan = PutPlan(address: HTTPAddress(url)!, size: 1000, ifExists: .replace)
        var upload = PutUpload(plan)
        _ = upload.handle(.began(at: noon))
        let said = upload.handle(.ended(ExchangeID(rawValue: 1), answered(403, body: body)))
        guard case .wait(let demand)? = said.last else {
            Issue.record("it does not wait: \(words(said))")
            return
        }
        #expect(demand.reason == .auth)
        #expect(demand.error.message.contains("signed URL has expired"), "\(demand.error.message)")
    }

    @Test("another 403 is no matter of a signature")
    func forbidden() {
        #expect(run(plan(), answered(403, body: errorXML("AccessDenied"))) == ["fail permissionDenied 403"])
        let named = PutPlan(address: HTTPAddress("http://h/f?signature-of=x")!, size: 1000, ifExists: .replace)
        #expect(run(named, answered(403)) == ["fail permissionDenied 403"])
    }

    @Test("what an earlier version of the source left there is replaced, and only that")
    func ownEarlierVersion() {
        let tagged = StoredVersion(stored: true, etag: "\"a\"")
        #expect(run(plan(own: tagged)) == ["1 PUT http://h/f | If-Match: \"a\"\(wish)"])
        // A weak tag cannot be named in a condition: what is there is looked at.
        let weak = StoredVersion(stored: true, etag: "W/\"a\"")
        #expect(run(plan(own: weak)) == ["1 HEAD http://h/f"])
        #expect(run(plan(own: weak), answered(200, ["ETag: W/\"a\""])) == ["2 PUT http://h/f\(wish)"])
        #expect(run(plan(own: weak), answered(200, ["ETag: W/\"b\""])) == ["fail unknownOutcome"])
        #expect(run(plan(begun: noon, own: tagged)) == ["1 PUT http://h/f | If-Match: \"a\"\(wish)"])
        let ask = "2 HEAD http://h/f | Want-Repr-Digest: sha-256=10"
        #expect(run(plan(own: tagged), answered(412)) == [ask])
        // It was taken away since: then nothing is replaced.
        #expect(
            run(plan(own: tagged), answered(412), answered(404)) == [
                over, "3 PUT http://h/f | If-None-Match: *\(wish)",
            ])
    }

    @Test("what may be replaced is replaced, whoever has overwritten our earlier version")
    func overwrittenEarlierVersion() {
        let tagged = StoredVersion(stored: true, etag: "\"a\"")
        #expect(run(plan(ifExists: .replace, own: tagged)) == ["1 PUT http://h/f\(wish)"])
        #expect(run(plan(ifExists: .replace, begun: noon, own: tagged)) == ["1 PUT http://h/f\(wish)"])
        #expect(run(plan(ifExists: .skip, own: tagged)) == ["1 PUT http://h/f | If-Match: \"a\"\(wish)"])
    }

    @Test(
        "after a cut our earlier version is not taken for the new one, and the new one is recognised when it is there")
    func interruptedReplacement() {
        let tagged = StoredVersion(stored: true, etag: "\"a\"")
        let times = ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        let before = answered(200, times + ["ETag: \"a\""])
        let after = answered(200, times + ["ETag: \"b\""])
        let cut = unanswered(lost, sent: 1000)
        #expect(run(plan(own: tagged), cut, before) == ["wait backoff networkConnectionLost"])
        #expect(run(plan(own: tagged), cut, answered(200, times)) == ["wait backoff networkConnectionLost"])
        let asked = "HEAD http://h/f\(wish)"
        #expect(run(plan(own: tagged), cut, after) == ["3 \(asked)"])
        // The attempt after it: what it was to replace is not there any more.
        #expect(run(plan(begun: noon, own: tagged), answered(412)) == ["2 HEAD http://h/f"])
        #expect(run(plan(begun: noon, own: tagged), answered(412), after) == ["3 \(asked)"])
        let other = answered(200, ["Content-Length: 7", "Last-Modified: \(noonText)", "ETag: \"c\""])
        let read = "3 GET http://h/f | Range: bytes=0-6"
        #expect(run(plan(begun: noon, own: tagged), answered(412), other) == [read])
        #expect(run(plan(begun: noon, own: tagged), answered(412), other, answered(404)) == ["fail unknownOutcome"])
    }

    @Test("a large file's digest is asked when its size agrees, because the server may have to read all of it")
    func largeSameness() {
        let large = plan(size: 1 << 30)
        let refusal = answered(412, sent: 0)
        #expect(run(large, refusal) == ["2 HEAD http://h/f"])
        #expect(run(large, refusal, answered(200, ["Content-Length: 7"])) == ["fail destinationExists 412"])
        let asked = ["3 HEAD http://h/f | Want-Repr-Digest: sha-256=10"]
        #expect(run(large, refusal, answered(200, ["Content-Length: 1073741824"])) == asked)
    }

    @Test(
        "the answer to a PUT decides as the contract's table says",
        .tells(
            "a folder of the path may be missing there, or a file have its name; look there, then retry, or queue it again with",
            "h answered 410 Gone: the file is gone for good; check the address",
            "h answered 413 Content Too Large: the file is too large for it; raise its limit or send it elsewhere",
            "it does not go by this name: check the host in the address, or have a martlet receive take it with --host"),
        arguments: [
            (200, "finish 1000 none"), (201, "finish 1000 none"), (204, "finish 1000 none"),
            (401, "wait auth http"), (407, "wait auth http"), (403, "fail permissionDenied 403"),
            (404, "fail http 404"), (405, "fail http 405"), (409, "fail http 409"), (410, "fail http 410"),
            (413, "fail http 413"), (423, "fail http 423"), (408, "wait backoff http"), (425, "wait backoff http"),
            (421, "wait backoff http"), (429, "wait hostBackoff http"), (500, "wait backoff http"),
            (503, "wait hostBackoff http"), (507, "wait remoteDiskSpace http"), (304, "fail badServerResponse 304"),
            (303, "fail http 303"), (99, "fail badServerResponse 99"),
        ])
    func answers(status: Int, expected: String) {
        #expect(run(plan(), answered(status)).last == expected)
    }

    @Test(
        "a gateway's word that the answer was lost, after the last byte, is a lost answer", arguments: [502, 504, 520])
    func gateway(status: Int) {
        var large = unknown(ifExists: .replace)
        large.size = 1 << 30
        let lost = answered(status, sent: 1 << 30)
        let there = answered(200, ["Content-Length: 1073741824"])
        #expect(run(large, answered(status, sent: 1 << 20)) == ["wait backoff http"])
        #expect(run(large, lost) == ["2 HEAD http://h/f"])
        // It is not there, and is sent again as often as need be.
        #expect(run(large, lost, answered(404), answered(404)) == ["wait backoff http"])
        #expect(run(large, lost, answered(status)) == ["wait backoff http"])
        // Something of its length is, and nothing tells more: not for ever.
        large.unanswered = 0
        #expect(run(large, lost, there, there).last == "wait backoff http")
        large.unanswered = 2
        #expect(run(large, lost, there, there) == ["fail unknownOutcome"])
    }

    @Test("Retry-After is obeyed in seconds and as a date by the server's clock, and then holds for the host")
    func retryAfter() {
        #expect(run(plan(), answered(503, ["Retry-After: 2"])) == ["wait hostBackoff http 2.0 seconds"])
        #expect(run(plan(), answered(500, ["Retry-After: 7"])) == ["wait hostBackoff http 7.0 seconds"])
        #expect(
            run(plan(), answered(429, ["Date: \(elevenText)", "Retry-After: \(noonText)"]))
                == ["wait hostBackoff http 3600.0 seconds"])
        #expect(run(plan(), answered(429, ["Retry-After: \(elevenText)"])) == ["wait hostBackoff http 0.0 seconds"])
        #expect(run(plan(), answered(429, ["Retry-After: soon"])) == ["wait hostBackoff http"])
    }

    @Test("an answer counts although the connection broke after it")
    func answerThenCut() {
        #expect(run(plan(), answered(201, failure: lost)) == ["finish 1000 none"])
        #expect(run(plan(), answered(413, sent: 10, failure: lost)) == ["fail http 413"])
    }

    @Test("a cut before the last byte waits and repeats; nothing of it can be there")
    func cut() {
        #expect(run(plan(), unanswered(lost, sent: 999)) == ["wait backoff networkConnectionLost"])
        #expect(run(plan(), unanswered(badCertificate, sent: 0)) == ["fail tlsFailure"])
        #expect(run(plan(size: 0), unanswered(refused, sent: 0)) == ["wait backoff cannotConnectToHost"])
    }

    @Test("a lost answer is asked after with HEAD, and the file that is there counts by its digest or its bytes")
    func lostAnswer() {
        let cut = unanswered(lost, sent: 1000)
        #expect(run(plan(), cut) == ["2 HEAD http://h/f"])
        let there = ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        #expect(run(plan(), cut, answered(200, there)) == ["3 HEAD http://h/f\(wish)"])
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        #expect(run(plan(), cut, answered(200, there), answered(200, there + [offer])) == ["digest"])
        #expect(run(plan(), cut, answered(200, there), answered(200, there)) == ["4 GET http://h/f"])
        let large = plan(size: 2 << 20)
        let whole = ["Content-Length: 2097152", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        #expect(
            run(large, unanswered(lost, sent: 2 << 20), answered(200, whole), answered(200, whole))
                == ["wait backoff networkConnectionLost"])
        #expect(run(plan(size: 0), unanswered(lost, sent: 0)) == ["2 HEAD http://h/f"])
    }

    @Test("after a lost answer with nothing there the server gets a moment, is asked once more, then it begins again")
    func lostAnswerNothingThere() {
        let cut = unanswered(lost, sent: 1000)
        #expect(run(plan(), cut, answered(404)) == ["wake probeAgain 1.0 seconds"])
        #expect(run(plan(), cut, answered(404), answered(404)) == ["wait backoff networkConnectionLost"])
        let there = ["Content-Length: 1000", "Last-Modified: \(noonText)"]
        #expect(run(plan(), cut, answered(404), answered(200, there)) == ["4 HEAD http://h/f\(wish)"])
        #expect(run(plan(), cut, unanswered(refused, sent: 0)) == ["wait backoff cannotConnectToHost"])
        #expect(
            run(plan(ifExists: .replace), cut, answered(200, ["Content-Length: 7", "Last-Modified: \(noonText)"]))
                == ["wait backoff networkConnectionLost"])
    }

    @Test("an attempt from before a kill is asked after first; size and age prove nothing, a digest does")
    func earlierAttempt() {
        #expect(run(plan(begun: noon)) == ["1 HEAD http://h/f"])
        let there = ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        #expect(run(plan(begun: noon), answered(200, there)) == ["2 HEAD http://h/f\(wish)"])
        let again = "2 PUT http://h/f | If-None-Match: *\(wish)"
        #expect(run(plan(begun: noon), answered(404)) == [again])
        #expect(run(plan(begun: noon), answered(405)) == [again])
        #expect(run(plan(begun: noon), answered(501)) == [again])
        #expect(run(plan(begun: noon), answered(200, ["Content-Length: 7"])) == [again])
        // A server that is known to tell none is not asked: the condition protects what is there.
        var silent = plan(begun: noon)
        silent.tellsDigests = false
        #expect(run(silent) == [put])
        let old = ["Content-Length: 1000", "Last-Modified: \(elevenText)", "Date: \(noonText)"]
        #expect(run(plan(begun: noon), answered(200, old)) == [again])
        #expect(run(plan(begun: noon), answered(503)) == ["wait hostBackoff http"])
    }

    @Test("a server without HEAD that heeds no condition is asked for the first byte, whatever was begun before a kill")
    func earlierAttemptUnguarded() {
        var begun = unknown()
        begun.begunBefore = noon
        for status in [405, 501] {
            #expect(run(begun, answered(status)) == ["2 GET http://h/f | Range: bytes=0-0"])
            #expect(run(begun, answered(status), answered(404)) == ["3 PUT http://h/f | If-None-Match: *\(wish)"])
            let found = run(begun, answered(status), answered(206, ["Content-Range: bytes 0-0/1000"]))
            #expect(!found.contains { $0.contains("PUT") }, "\(found)")
        }
    }

    @Test("the age is judged by the server's clock, which may be far from ours")
    func clockSkew() {
        // The server's clock is an hour behind: eleven there is noon here.
        let behind = ["Content-Length: 1000", "Last-Modified: \(elevenText)", "Date: \(elevenText)"]
        #expect(run(plan(begun: noon), answered(200, behind)) == ["2 HEAD http://h/f\(wish)"])
        // An hour ahead: what it calls noon was before our attempt.
        let ahead = [
            "Content-Length: 1000", "Last-Modified: \(noonText)", "Date: Sat, 21 Nov 2026 13:00:00 GMT",
        ]
        #expect(run(plan(begun: noon), answered(200, ahead)).first?.hasPrefix("2 PUT") == true)
        // Ours was hours ahead when the attempt began, and was set since: nothing tells that the file is older.
        let later = noon.advanced(by: .seconds(7200))
        let there = ["Content-Length: 1000", "Last-Modified: \(elevenText)", "Date: \(noonText)"]
        #expect(run(plan(begun: later), answered(200, there)) == ["2 HEAD http://h/f\(wish)"])
    }

    @Test("412 without an earlier attempt means a foreign file: it fails, unless a digest proves it the same")
    func foreignFile() {
        let ask = "2 HEAD http://h/f | Want-Repr-Digest: sha-256=10"
        #expect(run(plan(), answered(412)) == [ask])
        #expect(run(plan(), answered(412), answered(200, ["Content-Length: 1000"])) == ["fail destinationExists 412"])
        let digest = TransferDigest(algorithm: "sha-256", value: String(repeating: "00", count: 32))
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        #expect(run(plan(), answered(412), answered(200, ["Content-Length: 1000", offer])) == ["digest"])
        for (ours, expected) in [
            (digest, "finish 1000 digest found"),
            (TransferDigest(algorithm: "sha-256", value: "1"), "fail destinationExists 412"),
        ] {
            var upload = PutUpload(plan())
            _ = upload.handle(.began(at: noon))
            _ = upload.handle(.ended(ExchangeID(rawValue: 1), answered(412)))
            _ = upload.handle(.ended(ExchangeID(rawValue: 2), answered(200, ["Content-Length: 1000", offer])))
            #expect(words(upload.handle(.digested(ours))) == [expected])
        }
    }

    @Test("412, yet nothing is there: it is sent once more, and a second time is told as it is")
    func refusedWithoutReason() {
        for gone in [answered(404), answered(410)] {
            #expect(run(plan(), answered(412), gone) == [over, "3 PUT http://h/f | If-None-Match: *\(wish)"])
            #expect(run(plan(), answered(412), gone, answered(201)) == ["finish 1000 none"])
            #expect(run(plan(), answered(412), gone, answered(412), gone) == ["fail http 412"])
        }
        // Whoever does not say what is there says nothing of its absence.
        #expect(run(plan(), answered(412), answered(405)) == ["fail destinationExists 412"])
    }

    @Test("skip takes 412 for done, not counted as accepted")
    func skip() {
        #expect(run(plan(ifExists: .skip), answered(412)) == ["finish 1000 none skipped"])
    }

    @Test(
        "what is older than any attempt of ours is somebody else's, whether it is looked at before the PUT or after it")
    func olderThanOurs() {
        let older = answered(200, ["Content-Length: 7", "Last-Modified: \(elevenText)"])
        #expect(run(plan(ifExists: .skip, begun: noon), older, answered(412)) == ["finish 1000 none skipped"])
        #expect(run(plan(begun: noon), older, answered(412), older) == ["fail destinationExists 412"])
        let same = answered(200, ["Content-Length: 1000", "Last-Modified: \(elevenText)"])
        #expect(run(plan(begun: noon), same, answered(412), same) == ["fail destinationExists 412"])
    }

    @Test("nothing is shown to be older than an attempt that began by a clock which was set back since")
    func setBack() {
        let older = answered(200, ["Content-Length: 7", "Last-Modified: \(elevenText)"])
        for (set, skips, fails) in [
            (true, "3 HEAD http://h/f | Want-Repr-Digest: sha-256=10", "fail unknownOutcome"),
            (false, "finish 1000 none skipped", "fail destinationExists 412"),
        ] {
            var mayBeThere = plan(ifExists: .skip, begun: noon)
            mayBeThere.clockWasSetBack = set
            #expect(run(mayBeThere, older, answered(412)) == [skips])
            var mustBeFree = plan(begun: noon)
            mustBeFree.clockWasSetBack = set
            #expect(run(mustBeFree, older, answered(412), older) == [fails])
        }
    }

    @Test("an attempt that goes on while the clock is set back does not go by the time at which it began")
    func setBackMeanwhile() {
        let older = answered(200, ["Content-Length: 1000", "Last-Modified: \(elevenText)"])
        for (set, says) in [
            (false, "wait backoff networkConnectionLost"), (true, "3 HEAD http://h/f | Want-Repr-Digest: sha-256=10"),
        ] {
            var upload = PutUpload(plan())
            _ = upload.handle(.began(at: noon))
            _ = upload.handle(.ended(ExchangeID(rawValue: 1), unanswered(lost, sent: 1000)))
            if set { #expect(upload.handle(.clockSetBack).isEmpty) }
            #expect(words(upload.handle(.ended(ExchangeID(rawValue: 2), older))) == [says])
        }
    }

    @Test(
        "412 after an earlier attempt: only its bytes say that it is ours, anything else is unknown",
        .tells(
            "an earlier attempt may have reached h, but it cannot be read back",
            "an earlier attempt may have reached h, but it does not tell what is there (404)"))
    func unknownOutcome() {
        let begun = plan(begun: noon)
        let ask = "3 HEAD http://h/f | Want-Repr-Digest: sha-256=10"
        let other = ["Content-Length: 7", "Last-Modified: \(noonText)"]
        #expect(run(begun, answered(200, other), answered(412)) == [ask])
        #expect(run(begun, answered(200, other), answered(412), answered(200, other)) == ["fail unknownOutcome"])
        let unread = [answered(404), answered(412), answered(200, ["Content-Length: 1000"])]
        #expect(run(begun, unread[0], unread[1], unread[2]) == ["4 GET http://h/f"])
        #expect(run(begun, unread[0], unread[1], unread[2], answered(405)) == ["fail unknownOutcome"])
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        let same = answered(200, ["Content-Length: 1000", offer])
        #expect(run(begun, answered(404), answered(412), same) == ["digest"])
        #expect(run(begun, answered(404), answered(412), answered(404)) == ["fail unknownOutcome"])
    }

    @Test("a redirect is followed with the method kept, and secrets stay at the first origin")
    func redirects() {
        #expect(run(plan(), answered(307, ["Location: /g"])) == ["2 PUT http://h/g | If-None-Match: *\(wish)"])
        #expect(
            run(plan(), answered(308, ["Location: https://o/g"])) == [
                "2 PUT https://o/g | If-None-Match: *\(wish) | bare"
            ])
        #expect(
            run(plan(), answered(301, ["Location: //h:81/g"])) == [
                "2 PUT http://h:81/g | If-None-Match: *\(wish) | bare"
            ])
        #expect(run(plan(), answered(307)) == ["fail badServerResponse 307"])
        #expect(run(plan(), answered(307, ["Location: ftp://h/"])) == ["fail badServerResponse 307"])
        #expect(
            run(plan(), answered(307, ["Location: https://h/"]), answered(307, ["Location: http://h/"]))
                == ["fail unsupported 307"])
        var upload = PutUpload(plan())
        var actions = upload.handle(.began(at: noon))
        for step in 1...11 {
            actions = upload.handle(.ended(ExchangeID(rawValue: step), answered(307, ["Location: /again"])))
        }
        #expect(words(actions) == ["fail tooManyRedirects 307"])
    }

    /// The same so many seconds after noon.
    private func later(_ seconds: Int, _ end: ExchangeEnd) -> ExchangeEnd {
        var end = end
        end.at = noon.advanced(by: .seconds(seconds))
        return end
    }

    @Test(
        "an answer before the last byte, or a 202, is no yes while the file that was there before may still be there",
        .tells("h answered 202, but nothing shows that it has the file"))
    func doubtfulSuccess() {
        let (early, accepted) = (answered(201, sent: 10, failure: lost), answered(202))
        let there = answered(200, ["Content-Length: 1000"])
        var replacing = plan(ifExists: .replace)
        replacing.unanswered = 0
        for (yes, isAccepted) in [(early, false), (accepted, true)] {
            #expect(run(plan(), yes) == ["2 HEAD http://h/f" + wish])
            #expect(run(plan(ifExists: .replace), yes, answered(404)) == ["wake probeAgain 1.0 seconds"])
            #expect(run(replacing, yes, answered(404), answered(404)).last == "wait backoff badServerResponse")
            // Where nobody counts the tries there is one.
            let status = isAccepted ? 202 : 201
            #expect(
                run(plan(ifExists: .replace), yes, answered(404), answered(404)) == ["fail badServerResponse \(status)"]
            )
            // A small one is read back, a large one is sent again.
            #expect(run(plan(ifExists: .replace), yes, there) == ["3 GET http://h/f"])
            var large = plan(ifExists: .replace, size: 2 << 20)
            (large.tellsDigests, large.unanswered) = (false, 0)
            let other = answered(200, ["Content-Length: 2097152"])
            #expect(
                run(large, [yes] + (isAccepted ? [other, other] : [other])).last == "wait backoff badServerResponse")
        }
    }

    @Test(
        "a doubtful yes to a PUT without a wish to verify is no yes either when nothing is there",
        .tells("h took the file but does not tell its size"))
    func doubtfulUnverified() {
        var unverified = plan(verify: VerificationWish.none)
        unverified.unanswered = 0
        let early = answered(200, sent: 30, failure: lost)
        #expect(run(unverified, early) == ["2 HEAD http://h/f"])
        #expect(run(unverified, early, answered(404), answered(404)).last == "wait backoff badServerResponse")
        for silent in [403, 405] {
            #expect(run(unverified, early, answered(silent), answered(silent)).last == "wait backoff badServerResponse")
            #expect(run(unverified, answered(202), answered(silent)) == ["fail integrity"])
        }
    }

    @Test(
        "a doubtful yes counts with a file of the length when the name was free, or had another file, before the PUT",
        .tells(
            "h took the file but tells no SHA-256 of it",
            "it reported success again and again, but does not show the file"))
    func doubtfulNews() {
        func there(_ tag: String, _ modified: String = noonText) -> ExchangeEnd {
            answered(200, ["Content-Length: 1000", "ETag: \"\(tag)\"", "Last-Modified: \(modified)"])
        }
        // A look, or a condition that the server is known to heed, has found nothing.
        #expect(run(unknown(), answered(404), answered(202), there("a")).last == "finish 1000 size")
        #expect(run(plan(), answered(202), there("a")).last == "finish 1000 size")
        #expect(run(plan(verify: .digest), answered(202), there("a")) == ["3 GET http://h/f"])
        let strict = plan(verify: .digest, size: 2 << 20)
        let whole = answered(200, ["Content-Length: 2097152"])
        #expect(run(strict, answered(202, sent: 2 << 20), whole) == ["fail integrity"])
        // What does not tell leaves it open.
        let untold = [answered(405), answered(405), answered(202), there("a")]
        #expect(run(unknown(), untold) == ["5 GET http://h/f"])
        // The attempt before ended in doubt: what is there is seen before it is sent again.
        var second = plan(ifExists: .replace, begun: noon, size: 2 << 20)
        (second.tellsDigests, second.unanswered) = (false, 1)
        func large(_ tag: String, _ modified: String = noonText) -> ExchangeEnd {
            answered(200, ["Content-Length: 2097152", "ETag: \"\(tag)\"", "Last-Modified: \(modified)"])
        }
        let sent = answered(202, sent: 2 << 20)
        #expect(run(second, large("a"), sent, large("b")) == ["finish 2097152 size"])
        #expect(run(second, large("a", elevenText), sent, large("a")) == ["finish 2097152 size"])
        #expect(run(second, large("a"), sent, large("a")) == ["wake probeAgain 1.0 seconds"])
        #expect(run(second, large("a"), sent, large("a"), large("a")).last == "wait backoff badServerResponse")
        second.unanswered = 2
        #expect(run(second, large("a"), sent, large("a"), large("a")) == ["fail unknownOutcome"])
        let own = StoredVersion(stored: true, etag: "\"a\"")
        #expect(run(plan(own: own), answered(202), there("b")).last == "finish 1000 size")
        #expect(run(plan(own: own), answered(202), there("a")) == ["wake probeAgain 1.0 seconds"])
    }

    @Test("a doubtful yes counts with a file of the length that was written after the PUT began, by the server's clock")
    func doubtfulByTime() {
        var large = plan(ifExists: .replace, size: 2 << 20)
        large.tellsDigests = false
        func said(_ modified: String, heard: Int, _ date: String) -> String? {
            let there = answered(
                200, ["Content-Length: 2097152", "Last-Modified: \(modified)", "Date: \(date)"])
            let yes = later(heard, answered(202, sent: 2 << 20))
            return run(large, yes, later(heard + 1, there)).last
        }
        let (rest, done) = ("wake probeAgain 1.0 seconds", "finish 2097152 size")
        // Both clocks agree, or the server's is an hour behind; it was sent for a minute.
        let minute = "Sat, 21 Nov 2026 12:01:00 GMT"
        #expect(said(minute, heard: 60, minute) == done)
        #expect(said(elevenText, heard: 60, elevenText) == done)
        #expect(said(noonText, heard: 60, minute) == rest)
        // Within a second nothing tells before from after, and nothing comes from the future.
        #expect(said(noonText, heard: 0, noonText) == rest)
        #expect(said(minute, heard: 60, noonText) == rest)
        large.clockWasSetBack = true
        #expect(said(minute, heard: 60, minute) == rest)
    }

    @Test("--verify asks for what it names and fails when it cannot be had")
    func verify() {
        #expect(run(plan(verify: VerificationWish.none), answered(201)) == ["finish 1000 none"])
        let size = plan(verify: .size)
        #expect(run(size, answered(201)) == ["2 HEAD http://h/f"])
        #expect(run(size, answered(201), answered(200, ["Content-Length: 1000"])) == ["finish 1000 size"])
        #expect(run(size, answered(201), answered(405)) == ["fail integrity"])
        let digest = plan(verify: .digest)
        #expect(run(digest, answered(201)) == ["2 HEAD http://h/f | Want-Repr-Digest: sha-256=10"])
        #expect(run(digest, answered(201), answered(200, ["Content-Length: 1000"])) == ["fail integrity"])
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        #expect(run(digest, answered(201, [offer])) == ["learned tellsDigests=true", "digest"])
    }

    /// What a server says of a file that it has stored, where nobody said how to compare.
    @Test("a digest that the server tells is compared, and remembered as one that it tells")
    func toldDigest() {
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        #expect(run(plan(), answered(201)) == ["finish 1000 none"])
        #expect(run(plan(), answered(201, [offer])) == ["learned tellsDigests=true", "digest"])
        var known = plan()
        known.tellsDigests = true
        #expect(run(known, answered(201, [offer])) == ["digest"])
        var upload = PutUpload(known)
        _ = upload.handle(.began(at: noon))
        _ = upload.handle(.ended(ExchangeID(rawValue: 1), answered(201, [offer])))
        var twin = upload
        let zeros = TransferDigest(algorithm: "sha-256", value: String(repeating: "00", count: 32))
        let others = TransferDigest(algorithm: "sha-256", value: String(repeating: "01", count: 32))
        #expect(words(upload.handle(.digested(zeros))) == ["finish 1000 digest"])
        #expect(words(twin.handle(.digested(others))) == ["mismatch 1000 integrity"])
    }

    @Test("a server that tells digests and was not heard is asked once more; one that does not tell then is believed")
    func digestAskedAgain() {
        let offer = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"
        var known = plan()
        known.tellsDigests = true
        #expect(run(known, answered(201)) == ["2 HEAD http://h/f" + wish])
        #expect(run(known, answered(201), answered(200, ["Content-Length: 1000", offer])) == ["digest"])
        #expect(run(known, answered(201), answered(200, ["Content-Length: 10"])) == ["mismatch 1000 integrity"])
        for (silent, checked) in [(answered(200, ["Content-Length: 1000"]), "size"), (answered(405), "none")] {
            #expect(run(known, answered(201), silent) == ["learned tellsDigests=false", "finish 1000 \(checked)"])
        }
    }

    @Test("a digest of the answer's own words is none of the file")
    func digestOfAnswer() {
        let words = "stored"
        let digest = DigestAlgorithm.sha256.digest(of: words.utf8).base64
        #expect(run(plan(), answered(201, ["Repr-Digest: sha-256=:\(digest):"], body: words)) == ["finish 1000 none"])
    }

    @Test("what comes after the end, or from an exchange that is not under way, changes nothing")
    func lateEvents() {
        var upload = PutUpload(plan())
        _ = upload.handle(.began(at: noon))
        #expect(upload.handle(.ended(ExchangeID(rawValue: 9), answered(201))).isEmpty)
        #expect(upload.handle(.timerFired(.probeAgain)).isEmpty)
        #expect(words(upload.handle(.ended(ExchangeID(rawValue: 1), answered(201)))) == ["finish 1000 none"])
        #expect(upload.handle(.ended(ExchangeID(rawValue: 1), answered(201))).isEmpty)
    }
}
