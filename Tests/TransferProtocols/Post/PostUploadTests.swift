import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private func plan(
    _ form: PostForm? = nil, size: Int64 = 1000, name: RawPath = RawPath("f"), resume: PostResumePoint? = nil
) -> PostPlan {
    PostPlan(
        address: HTTPAddress("http://h/api?key=1")!, subject: UploadSubject(name: name, size: size, token: "abc"),
        form: form, resume: resume)
}

private func after(_ plan: PostPlan, _ ends: ExchangeEnd...) -> [String] {
    var play = HTTPPlay(PostUpload(plan))
    for end in ends { play.end(end) }
    return play.said
}

@Suite struct PostUploadTests {
    @Test("the point is durable before the POST goes, and the answer is kept")
    func straightThrough() {
        var play = HTTPPlay(PostUpload(plan()))
        #expect(play.said == ["persist post", "POST /api?key=1 0..<1000"])
        play.end(answered(201, ["ETag: \"x\"", "Set-Cookie: secret"], body: "{\"id\":7}"))
        #expect(play.said == ["finish 1000 none"])
        guard case .finish(let receipt)? = play.last.last else {
            Issue.record("something else: \(play.last.last)")
            return
        }
        #expect(receipt.response?.status == 201)
        #expect(receipt.response?.body == "{\"id\":7}")
        #expect(receipt.response?.headers == [HeaderField("ETag", "\"x\"")])
    }

    @Test(
        "what a POST makes has no digest: asked for one, nothing is sent",
        .tells("h tells no digest of what a POST has made"))
    func digest() {
        var checked = plan()
        checked.subject.verify = .digest
        #expect(after(checked) == ["fail integrity"])
    }

    @Test(
        "an answer decides whether it may be sent again",
        arguments: [
            (200, ["finish 1000 none"]), (202, ["finish 1000 none"]), (303, ["finish 1000 none"]),
            (302, ["finish 1000 none"]),
            (400, ["fail http 400"]), (403, ["fail permissionDenied 403"]), (404, ["fail http 404"]),
            (409, ["fail http 409"]), (413, ["fail http 413"]),
            // The answer itself says that it was not applied.
            (401, ["persist post", "wait auth http"]), (407, ["persist post", "wait auth http"]),
            (421, ["persist post", "wait backoff http"]),
            (408, ["fail unknownOutcome"]), (425, ["fail unknownOutcome"]), (429, ["fail unknownOutcome"]),
            (500, ["fail unknownOutcome"]), (502, ["fail unknownOutcome"]), (503, ["fail unknownOutcome"]),
            (504, ["fail unknownOutcome"]), (507, ["fail unknownOutcome"]),
        ])
    func answers(status: Int, expected: [String]) {
        #expect(after(plan(), answered(status)) == expected)
    }

    @Test(
        "an answer before the whole file went out is none to it",
        .tells("queue it again with that address if it is the right one"))
    func tooEarly() {
        #expect(after(plan(), answered(201, sent: 999)) == ["fail unknownOutcome"])
        #expect(after(plan(), answered(200, sent: 1000, failure: lost)) == ["fail unknownOutcome"])
        let elsewhere = ["Location: https://h/login"]
        for status in [301, 302, 303] {
            let said = after(plan(), answered(status, elsewhere, sent: 0))
            #expect(said == ["persist post", "fail badServerResponse \(status)"])
        }
    }

    @Test(
        "a redirect to where the POST should have gone is no result of it",
        arguments: [
            (301, "https://h/result", false), (302, "https://h/api?key=1", false), (302, "/api/", false),
            (302, "/result/7", true), (302, "/api?uploaded=1", true), (302, "/api?key=1", true), (303, "/api/", true),
        ])
    func moved(status: Int, location: String, isResult: Bool) {
        let expected = isResult ? ["finish 1000 none"] : ["persist post", "fail badServerResponse \(status)"]
        #expect(after(plan(), answered(status, ["Location: \(location)"])) == expected)
    }

    @Test(
        "an unencrypted answer that points to another host may be a network's that wants a sign-in",
        .tells(
            "the POST to h may have happened, and the answer points to portal, as a network does that wants a sign-in"))
    func portal() {
        let plain = plan()
        var encrypted = plain
        encrypted.address = HTTPAddress("https://h/api?key=1")!
        for status in [302, 303] {
            let portal = answered(status, ["Location: http://portal/login"])
            #expect(after(plain, portal) == ["fail unknownOutcome"])
            #expect(after(encrypted, portal) == ["finish 1000 none"], "nobody else can have said it")
            #expect(after(plain, answered(status, ["Location: https://h/result"])) == ["finish 1000 none"])
        }
    }

    @Test(
        "what was refused before a byte of the body went may be sent again",
        arguments: [
            (408, "wait backoff http"), (425, "wait backoff http"), (429, "wait hostBackoff http"),
            (500, "wait backoff http"), (503, "wait hostBackoff http"), (507, "wait remoteDiskSpace http"),
        ])
    func unread(status: Int, expected: String) {
        #expect(after(plan(), answered(status, sent: 0)) == ["persist post", expected])
        // Of a body without a byte nobody knows.
        #expect(after(plan(size: 0), answered(status, sent: 0)) == ["fail unknownOutcome"])
    }

    @Test("a key of the user's by which the server knows a POST again makes every repetition safe")
    func idempotencyKey() {
        var keyed = plan()
        keyed.key = "7"
        for status in [408, 429, 500, 503, 504] {
            #expect(after(keyed, answered(status)).last?.hasPrefix("wait") == true)
        }
        #expect(after(keyed, answered(422)) == ["fail http 422"])
        #expect(after(keyed, unanswered(lost, sent: 7)) == ["persist post", "wait backoff networkConnectionLost"])
        #expect(after(keyed, unanswered(badCertificate, sent: 7)) == ["persist post", "fail tlsFailure"])
        keyed.resume = PostResumePoint(token: "abc", isSent: true, under: "7")
        #expect(after(keyed) == ["persist post", "POST /api?key=1 0..<1000"])
    }

    @Test("a POST that may have happened without the key, or under another one, is not repeated with it")
    func otherKey() {
        var keyed = plan()
        keyed.key = "7"
        for key in [nil, "8"] as [String?] {
            keyed.resume = PostResumePoint(token: "abc", isSent: true, under: key)
            #expect(after(keyed) == ["fail unknownOutcome"])
        }
        keyed.resume = PostResumePoint(token: "old", isSent: true, under: "8")
        #expect(after(keyed).count == 2)
        // It is known from attempt to attempt, also behind one that did nothing.
        let earlier = PostResumePoint(token: "abc", isSent: true, under: "7")
        for end in [answered(503), unanswered(lost, sent: 7), unanswered(refused, sent: 0), answered(401)] {
            keyed.resume = earlier
            var play = HTTPPlay(PostUpload(keyed))
            play.end(end)
            #expect(persisted(play.last) == earlier)
            keyed.key = "8"
            keyed.resume = persisted(play.last)
            #expect(after(keyed) == ["fail unknownOutcome"])
            keyed.key = "7"
        }
    }

    private func persisted(_ actions: [ProtocolAction]) -> PostResumePoint? {
        actions.lazy.compactMap { action in
            if case .persist(let point) = action { point.content(PostResumePoint.self) } else { nil }
        }.last
    }

    @Test("where a redirect leads elsewhere the POST goes without the key, and is not repeated")
    func redirectedWithoutKey() {
        var keyed = plan()
        keyed.key = "7"
        for (location, expected) in [("/x", "wait"), ("http://other/x", "fail unknownOutcome")] {
            for end in [answered(503), unanswered(lost, sent: 7)] {
                var play = HTTPPlay(PostUpload(keyed))
                play.end(answered(307, ["Location: \(location)"]))
                keyed.resume = persisted(play.last)
                // After a kill here.
                #expect(after(keyed).last?.hasPrefix("fail unknownOutcome") == (location != "/x"))
                keyed.resume = nil
                play.end(end)
                #expect(play.said.last?.hasPrefix(expected) == true)
            }
            // An earlier attempt's may have happened under the key.
            keyed.resume = PostResumePoint(token: "abc", isSent: true, under: "7")
            var play = HTTPPlay(PostUpload(keyed))
            play.end(answered(307, ["Location: \(location)"]))
            #expect(play.said.last == (location == "/x" ? "POST /x 0..<1000" : "fail unknownOutcome"))
            keyed.resume = nil
        }
    }

    @Test("the key goes with the POST, and with none to another server")
    func keyElsewhere() {
        var keyed = plan()
        keyed.key = "7"
        var play = HTTPPlay(PostUpload(keyed))
        #expect(headers(play.last).first?.contains("Idempotency-Key: 7") == true)
        play.end(answered(307, ["Location: /x"]))
        #expect(headers(play.last).first?.contains("Idempotency-Key: 7") == true)
        play.end(answered(307, ["Location: http://other/x"]))
        #expect(headers(play.last).first?.contains("Idempotency-Key: 7") == false)
    }

    @Test(
        "no answer after bytes went is never followed by a second POST",
        .tells("the POST to h may have happened, its answer was lost"))
    func lostAnswer() {
        #expect(after(plan(), unanswered(lost, sent: 1)) == ["fail unknownOutcome"])
        #expect(after(plan(), unanswered(lost, sent: 0)) == ["fail unknownOutcome"])
        #expect(after(plan(), unanswered(badCertificate, sent: 1)) == ["fail unknownOutcome"])
        #expect(after(plan(), unanswered(refused, sent: 0)) == ["persist post", "wait backoff cannotConnectToHost"])
        #expect(after(plan(), unanswered(badCertificate, sent: 0)) == ["persist post", "fail tlsFailure"])
        #expect(after(plan(), answered(502, sent: 0)) == ["persist post", "wait backoff http"])
        // What was taken back may be sent; what was on its way at a kill may not.
        let here = PostResumePoint(token: "abc", isSent: true)
        #expect(after(plan(resume: here)) == ["fail unknownOutcome"])
        #expect(after(plan(resume: PostResumePoint(token: "abc", isSent: false))).count == 2)
        // A new run of the task is a person's decision.
        #expect(after(plan(resume: PostResumePoint(token: "old", isSent: true))).count == 2)
    }

    @Test("307 and 308 repeat it elsewhere, without what was meant for the first server alone")
    func redirects() {
        var play = HTTPPlay(PostUpload(plan()))
        play.end(answered(307, ["Location: http://other/x"]))
        #expect(play.said == ["persist post", "POST /x 0..<1000"])
        if case .perform(_, .http(let exchange))? = play.last.last { #expect(!exchange.mayCarrySecrets) }
        #expect(after(plan(), answered(308)).last == "fail badServerResponse 308")
    }

    @Test(
        "a form's fields are shown to no other server; a form without any goes there",
        .tells("check the address, or queue it again with the other one"))
    func fieldsElsewhere() {
        var form = plan()
        form.form = PostForm(fileField: "f", fields: [HeaderField("token", "secret")])
        #expect(after(form, answered(307, ["Location: http://other/x"])).last == "fail unsupported")
        #expect(after(form, answered(308, ["Location: /elsewhere"])).last?.hasPrefix("POST /elsewhere") == true)
        form.form = PostForm(fileField: "f", fields: [])
        #expect(after(form, answered(307, ["Location: http://other/x"])).last?.hasPrefix("POST /x") == true)
    }

    @Test(
        "a form frames the file, with names that no name can break out of",
        .tells("the POST to h may have happened, it answered 200 before it had all of the file"))
    func form() {
        let name = RawPath(Array("a\"b\r\n\\".utf8) + [0xC3, 0xA9, 0xFF])
        let form = PostForm(fileField: "file\"", fields: [HeaderField("k", "v 1"), HeaderField("ü", "")])
        let play = HTTPPlay(PostUpload(plan(form, name: name)))
        guard case .perform(_, .http(let exchange))? = play.last.last,
            case .framed(let before, let range, let after) = exchange.body
        else {
            Issue.record("no form")
            return
        }
        #expect(exchange.headers == [HeaderField("Content-Type", "multipart/form-data; boundary=martlet-abc")])
        #expect(range == 0..<1000)
        let expected =
            Array(
                ("--martlet-abc\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\nv 1\r\n"
                    + "--martlet-abc\r\nContent-Disposition: form-data; name=\"ü\"\r\n\r\n\r\n"
                    + "--martlet-abc\r\nContent-Disposition: form-data; name=\"file%22\"; filename=\"a%22b%0D%0A\\é")
                    .utf8)
            + [0xFF] + Array("\"\r\nContent-Type: application/octet-stream\r\n\r\n".utf8)
        #expect(before == expected)
        #expect(after == Array("\r\n--martlet-abc--\r\n".utf8))
        // The transport counts the frame, too.
        let length = Int64(before.count + after.count) + 1000
        #expect(HTTPPlayEnd.said(plan(form, name: name), answered(200, sent: length)) == ["finish 1000 none"])
        #expect(HTTPPlayEnd.said(plan(form, name: name), answered(200, sent: length - 1)) == ["fail unknownOutcome"])
    }
}

private enum HTTPPlayEnd {
    static func said(_ plan: PostPlan, _ end: ExchangeEnd) -> [String] { after(plan, end) }
}
