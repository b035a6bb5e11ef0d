import TestSupport
import Testing
import TransferModel
import TransferProtocols

private let size = fourParts
private let complete = completeRequest

@Suite struct S3CompleteTests {
    @Test(
        "the verdict is in the body, also of a 200",
        .tells("h answered 500 SlowDown: it wants fewer requests; Martlet slows down and tries again"))
    func errorWithin200() {
        func end(_ body: String) -> [String] {
            var script = s3Completing()
            return script.end(7, 200, body: body)
        }
        #expect(end("  \n" + errorXML("InternalError")) == ["wait backoff http"])
        #expect(end(errorXML("SlowDown")) == ["wait hostBackoff http"])
        #expect(end(errorXML("AccessDenied")) == ["wait auth http"])
        #expect(end(errorXML("NoSuchUpload")) == ["8 HEAD"])
        #expect(end(errorXML("PreconditionFailed")) == ["8 HEAD"])
        #expect(end(errorXML("QuotaExceeded")) == ["wait remoteDiskSpace http"])
        #expect(end("   ") == ["8 HEAD"] && end("<html>") == ["8 HEAD"])
    }

    @Test(
        "another tag than the one computed here is no digest that was verified",
        .tells("h took the file but its tag is not the MD5 of it"))
    func tags() {
        func end(_ plan: S3Plan, _ tag: String) -> [String] {
            var script = s3Completing(plan)
            return script.end(7, 200, body: completedXML(tag))
        }
        #expect(end(s3Plan(size: size), composite(size + 1)) == ["finish \(size) none"])
        #expect(end(s3Plan(size: size, verify: .digest), composite(size)) == ["finish \(size) digest"])
        #expect(end(s3Plan(size: size, verify: .digest), "\"x\"") == ["fail integrity"])
        #expect(end(s3Plan(size: size, verify: VerificationWish.none), composite(size)) == ["finish \(size) none"])
    }

    @Test("a lost answer is resolved by our marks; otherwise the attempt ends and the upload stays")
    func lostAnswer() {
        func look(_ end: ExchangeEnd) -> [String] {
            var script = s3Completing()
            #expect(script.lose(7) == ["8 HEAD"])
            return script.end(8, end)
        }
        let there = ["Content-Length: \(size)", "ETag: \(composite(size))"]
        #expect(look(answered(200, there + ourMarks)) == ["finish \(size) digest found"])
        #expect(look(answered(200, ["Content-Length: \(size)"] + ourMarks)) == ["finish \(size) size found"])
        #expect(look(answered(200, there)) == ["wait backoff networkConnectionLost"])
        #expect(look(answered(404)) == ["wake probeAgain 1.0 seconds"])
        #expect(look(answered(403)) == ["wait backoff networkConnectionLost"])
        var never = s3Completing()
        #expect(never.lose(7, refused, sent: 0) == ["wait backoff cannotConnectToHost"])
    }

    @Test("after a lost answer and a new start the gone upload is found complete")
    func lostAnswerThenGone() {
        var script = s3Resumed()
        _ = script.end(1, 404, body: errorXML("NoSuchUpload"))
        #expect(
            script.end(2, 200, ["Content-Length: \(size)", "ETag: \"y\""] + ourMarks) == ["finish \(size) size found"])
    }

    @Test("parts that Complete does not like are looked at again, once")
    func repair() {
        for code in ["InvalidPart", "InvalidPartOrder", "EntityTooSmall"] {
            var script = s3Completing()
            #expect(script.end(7, 400, body: errorXML(code)) == ["8 GET ?max-parts=1000&uploadId=U"])
            #expect(script.end(8, 200, body: listXML(s3Listed(3))) == ["accepted \(15 * mebibyte)", s3Sent(9, 4)])
            #expect(script.end(9, 200, ["ETag: \(tag(part(4, of: size)))"]) == ["accepted \(size)", "10 \(complete)"])
            #expect(script.end(10, 400, body: errorXML(code)) == ["fail http 400"])
        }
    }

    @Test("somebody was faster: skipped, compared or refused as the rule says, and our parts are taken away")
    func somebodyFaster() {
        func end(_ policy: ExistingFilePolicy, _ answer: ExchangeEnd) -> [String] {
            var script = s3Completing(s3Plan(size: size, ifExists: policy))
            #expect(script.end(7, 412, body: errorXML("PreconditionFailed")) == ["8 HEAD"])
            let said = script.end(8, answer)
            return said.first?.hasPrefix("9 DELETE") == true ? ["abort"] + script.end(9, 204) : said
        }
        let foreign = answered(200, ["Content-Length: 5", "ETag: \"x\""])
        #expect(end(.skip, foreign) == ["abort", "finish \(size) none skipped"])
        // Kept: with another rule it goes on without sending anything again.
        #expect(end(.fail, foreign) == ["fail destinationExists 412"])
        let same = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"])
        #expect(end(.fail, same) == ["abort", "finish \(size) digest found"])
        let ours = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"] + ourMarks)
        #expect(end(.fail, ours) == ["finish \(size) digest found"])
        #expect(end(.fail, answered(404)) == ["9 \(complete)"])
    }

    @Test("a server that is not known to heed conditions is asked once more before the parts are joined")
    func lookBeforeComplete() {
        // What came there while it was sent, or while it was paused.
        func end(_ policy: ExistingFilePolicy, _ answer: ExchangeEnd) -> [String] {
            var script = s3Completing(s3Plan(size: size, ifExists: policy, facts: HostFacts()))
            return script.end(7, answer)
        }
        let foreign = answered(200, ["Content-Length: 5", "ETag: \"x\""])
        #expect(end(.fail, foreign) == ["fail destinationExists 412"])
        #expect(end(.skip, foreign) == ["8 DELETE ?uploadId=U"])
        #expect(end(.fail, answered(404)) == ["8 \(complete)"])
        #expect(end(.fail, answered(403)) == ["8 \(complete)"])
        let ours = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"] + ourMarks)
        #expect(end(.fail, ours) == ["finish \(size) digest found"])
        for (policy, next) in [(ExistingFilePolicy.fail, "2 HEAD"), (.replace, "2 POST ?uploadId=U")] {
            let point = s3Point(size: size)
            var resumed = s3Resumed(s3Plan(size: size, ifExists: policy, resume: point, facts: HostFacts()))
            #expect(resumed.end(1, 200, body: listXML(s3Listed(4))).last == next)
        }
    }

    @Test("a conflict wants a new upload; a server without conditions is asked what is there")
    func conflicts() {
        var script = s3Completing()
        #expect(script.end(7, 409, body: errorXML("ConditionalRequestConflict")) == ["8 HEAD"])
        // The old upload would lie there, and cost money.
        let restart = "over: the service reports another write of the same object"
        #expect(script.end(8, 404) == [restart, "9 DELETE ?uploadId=U"])
        #expect(script.end(9, 204) == ["10 HEAD"])
        #expect(script.end(10, 404) == ["persist s3", "11 POST ?uploads"])
        for (policy, last) in [
            (ExistingFilePolicy.skip, "finish \(size) none skipped"), (.fail, "fail destinationExists 412"),
        ] {
            var taken = s3Completing(s3Plan(size: size, ifExists: policy))
            _ = taken.end(7, 409, body: errorXML("ConditionalRequestConflict"))
            var said = taken.end(8, answered(200, ["Content-Length: 5", "ETag: \"x\""]))
            #expect((said == ["9 DELETE ?uploadId=U"]) == (policy == .skip))
            if policy == .skip { said = taken.end(9, 204) }
            #expect(said == [last])
        }
        var plain = s3Completing()
        #expect(plain.end(7, 501, body: errorXML("NotImplemented")) == ["8 HEAD"])
        #expect(plain.end(8, 404) == ["9 POST ?uploadId=U"])
    }
}
