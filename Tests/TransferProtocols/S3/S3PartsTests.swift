import Digests
import TestSupport
import Testing
import TransferModel
import TransferProtocols

private let size = fourParts
private let complete = completeRequest

@Suite struct S3PartsTests {
    @Test("a large file is begun, and its upload durable before the first part; then parts go side by side")
    func order() {
        var script = S3Script(s3Plan(size: size))
        #expect(script.said == ["1 HEAD"])
        #expect(script.end(1, 404) == ["persist s3", "2 POST ?uploads"])
        #expect(
            script.open[2]?.headers.map { "\($0.name): \($0.value)" } == ["Content-Type: application/octet-stream"]
                + ourMarks
                && script.open[2]?.body == .bytes([]))
        #expect(script.end(2, 200, body: createdXML()) == ["persist s3", s3Sent(3, 1), s3Sent(4, 2)])
        #expect(script.open[4]?.body == .source(part(2, of: size)))
        let sum = Base64.encode(md5(part(2, of: size)))
        #expect(script.open[4]?.headers == [HeaderField("Content-MD5", sum)])
        let step = 5 * mebibyte
        #expect(script.end(4, 200, ["ETag: \(tag(part(2, of: size)))"]) == ["accepted \(step)", s3Sent(5, 3)])
        #expect(script.end(3, 200, ["ETag: \(tag(part(1, of: size)))"]) == ["accepted \(2 * step)", s3Sent(6, 4)])
        #expect(script.open[6]?.body == .source(part(4, of: size)))
        #expect(script.end(5, 200, ["ETag: \(tag(part(3, of: size)))"]) == ["accepted \(3 * step)"])
        #expect(script.end(6, 200, ["ETag: \(tag(part(4, of: size)))"]) == ["accepted \(size)", "7 \(complete)"])
        guard case .bytes(let body)? = script.open[7]?.body else {
            Issue.record("no body")
            return
        }
        let text = String(decoding: body, as: UTF8.self)
        let plain = Hexadecimal.encode(md5(part(2, of: size)))
        #expect(
            text.contains(
                "<Part><PartNumber>2</PartNumber><ETag>&quot;\(plain)&quot;</ETag></Part><Part><PartNumber>3<"))
        #expect(script.open[7]?.patience == .assembling)
        #expect(script.open[7]?.signing?.v4?.payload == DigestAlgorithm.sha256.digest(of: body).hex)
        #expect(script.end(7, 200, body: completedXML(composite(size))) == ["finish \(size) digest"])
    }

    @Test("nothing is sent before its digest is there, and digests run ahead of the parts that are sent")
    func pipeline() {
        var script = S3Script(s3Plan(size: size, ifExists: .replace, endpoint: "http://h"), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        let said = script.end(1, 200, body: createdXML())
        #expect(said.count == 5 && said[1] == "digest 0..<5242880 md5")
        script.tell(.rangeDigested(part(2, of: size), S3Script.digests(part(2, of: size), ["md5"])))
        #expect(script.said.last == s3Sent(2, 2))
    }

    @Test(
        "more parts are on their way where what a kill repeats is sent again in no time",
        arguments: [(100, 3), (600, 3), (800, 2), (5000, 1)])
    func pace(milliseconds: Int64, sent: Int) {
        let part = 32 * mebibyte
        var script = S3Script(s3Plan(size: 64 * part, ifExists: .replace, chunk: nil, parallel: 4))
        #expect(script.end(1, 200, body: createdXML()).count == 3, "two at first")
        var answer = answered(200, ["ETag: \(tag(0..<part))"], sent: part)
        answer.at = noon.advanced(by: .milliseconds(milliseconds))
        #expect(script.end(2, answer).count == 1 + sent)
    }

    @Test(
        "parts are equal, between 5 MiB and 5 GiB, and never too many",
        .tells("S3 takes no file of that size: split it and queue the pieces"),
        arguments: [
            (9 * mebibyte, nil, "8 MiB"), (9 * mebibyte, 1, "5 MiB"), (300 * mebibyte, 64, "64 MiB"),
            (1024 * mebibyte, nil, "16 MiB"), (2048 * mebibyte, nil, "32 MiB"), (32 * mebibyte * 9900, nil, "32 MiB"),
            (32 * mebibyte * 9900 + 1, nil, "33 MiB"),
            (10 * mebibyte << 20, nil, "1060 MiB"),
            (48 * mebibyte << 20, nil, "5085 MiB"), (50 * mebibyte << 20, nil, "fail unsupported"),
        ])
    func partSizes(size: Int64, chunk: Int64?, expected: String) {
        var script = S3Script(s3Plan(size: size, ifExists: .replace, chunk: chunk.map { $0 * mebibyte }))
        guard script.said == ["persist s3", "1 POST ?uploads"] else {
            #expect(script.said == [expected])
            return
        }
        _ = script.end(1, 200, body: createdXML())
        guard case .source(let range)? = script.open[2]?.body else {
            Issue.record("no part")
            return
        }
        #expect("\(Int64(range.count) / mebibyte) MiB" == expected)
    }

    @Test(
        "where the line is known, a part is what goes in a second",
        arguments: [
            (2048, 1, 8), (2048, 40, 32), (2048, 300, 128), (2048, 3000, 128), (100_000, 3000, 256), (300, 3000, 16),
            (100, 3000, 8), (100_000, 1, 11),
        ])
    func partSizes(mebibytes: Int64, rate: Int64, expected: Int64) {
        var plan = s3Plan(size: mebibytes * mebibyte, ifExists: .replace, chunk: nil)
        plan.facts.partRate = rate * 1_000_000
        var script = S3Script(plan)
        _ = script.end(1, 200, body: createdXML())
        guard case .source(let range)? = script.open[2]?.body else {
            Issue.record("no part")
            return
        }
        #expect(Int64(range.count) == expected * mebibyte)
    }

    @Test("how fast the parts went is remembered for the next file, unless it was as fast before")
    func lesson() {
        let part = 32 * mebibyte
        func said(known: Int64?) -> [String] {
            var plan = s3Plan(size: 2 * part, ifExists: .replace, chunk: part)
            plan.facts.partRate = known
            var script = S3Script(plan)
            _ = script.end(1, 200, body: createdXML())
            for (id, range) in [(2, 0..<part), (3, part..<2 * part)] {
                var answer = answered(200, ["ETag: \(tag(range))"], sent: part)
                answer.at = noon.advanced(by: .milliseconds(1000))
                _ = script.end(id, answer)
            }
            let whole = DigestAlgorithm.md5.digest(of: md5(0..<part) + md5(part..<2 * part)).hex
            return script.end(4, 200, body: completedXML("\"\(whole)-2\""))
        }
        #expect(said(known: nil).first == "learned partRate=67108864")
        #expect(said(known: 60_000_000).first?.hasPrefix("finish") == true)
        #expect(said(known: 10_000_000).first == "learned partRate=67108864")
    }

    @Test("a file of exactly one part goes in one request, one byte more in two parts")
    func border() {
        let replaced = { (size: Int64) in S3Script(s3Plan(size: size, ifExists: .replace)).said }
        #expect(replaced(5 * mebibyte) == ["1 PUT"] && replaced(5 * mebibyte + 1) == ["persist s3", "1 POST ?uploads"])
        #expect(S3Script(s3Plan(size: 8 * mebibyte, ifExists: .replace, chunk: nil)).said == ["1 PUT"])
    }

    @Test("what is there already is seen before anything is sent")
    func occupied() {
        func look(_ policy: ExistingFilePolicy, _ end: ExchangeEnd) -> [String] {
            var script = S3Script(s3Plan(size: size, ifExists: policy))
            return script.end(1, end)
        }
        func ours(inPartsOf partSize: Int64) -> ExchangeEnd {
            let starts = Array(stride(from: 0, to: size, by: Int(partSize)))
            let sums = starts.flatMap { md5($0..<min($0 + partSize, size)) }
            let tag = "\(DigestAlgorithm.md5.digest(of: sums).hex)-\(starts.count)"
            return answered(200, ["Content-Length: \(size)", "ETag: \"\(tag)\""])
        }
        let foreign = answered(200, ["Content-Length: \(size)", "ETag: \"x\""])
        #expect(look(.fail, foreign) == ["fail destinationExists 412"])
        #expect(look(.skip, foreign) == ["finish \(size) none skipped"])
        #expect(look(.fail, answered(403)) == ["persist s3", "2 POST ?uploads"])
        let same = answered(200, ["Content-Length: \(size)", "ETag: \(composite(size))"])
        #expect(look(.fail, same) == ["finish \(size) digest found"])
        let made = ours(inPartsOf: 8 * mebibyte)
        #expect(look(.fail, made) == ["finish \(size) digest found"], "another program's parts, and the same file")
        let otherParts = answered(200, ["Content-Length: \(size)", "ETag: \"\(String(repeating: "a", count: 32))-3\""])
        #expect(look(.fail, otherParts) == ["fail destinationExists 412"])
        let ours = answered(200, ["Content-Length: \(size)", "ETag: \"x\""] + ourMarks)
        #expect(look(.fail, ours) == ["finish \(size) size found"])
    }

    @Test("an upload goes on with the parts that the server lists, the missing ones first")
    func resuming() {
        var script = s3Resumed()
        #expect(script.said == ["1 GET ?max-parts=1000&uploadId=U"])
        let there = 10 * mebibyte
        #expect(
            script.end(1, 200, body: listXML(s3Listed(2)))
                == ["resumed \(there)", "accepted \(there)", s3Sent(2, 3), s3Sent(3, 4)])
        _ = script.end(2, 200, ["ETag: \(tag(part(3, of: size)))"])
        #expect(script.end(3, 200, ["ETag: \(tag(part(4, of: size)))"]).last == "4 \(complete)")
        #expect(script.end(4, 200, body: completedXML(composite(size))) == ["finish \(size) digest"])
    }

    @Test("a list of several pages is read to its end, and one that leads in circles is not")
    func pages() {
        var script = s3Resumed()
        #expect(
            script.end(1, 200, body: listXML(s3Listed(1), next: 1)) == [
                "2 GET ?max-parts=1000&part-number-marker=1&uploadId=U"
            ])
        let rest = Array(s3Listed(4).dropFirst())
        #expect(script.end(2, 200, body: listXML(rest)) == ["resumed \(size)", "accepted \(size)", "3 \(complete)"])
        // Nor one whose pages have no parts.
        var empty = s3Resumed()
        #expect(empty.end(1, 200, body: listXML([], next: 1)) == ["wait backoff badServerResponse"])
        var circle = s3Resumed()
        _ = circle.end(1, 200, body: listXML(s3Listed(1), next: 1))
        #expect(circle.end(2, 200, body: listXML(s3Listed(1), next: 1)) == ["wait backoff badServerResponse"])
        var broken = s3Resumed()
        #expect(
            broken.end(1, 200, body: "<ListPartsResult><Part/></ListPartsResult>") == ["wait backoff badServerResponse"]
        )
        #expect(broken.machine is S3Upload)
    }

    @Test("a part of another size, or of other bytes, is sent again")
    func unfitParts() {
        var script = s3Resumed()
        var listed = s3Listed(4)
        listed[1].1 -= 1
        #expect(script.end(1, 200, body: listXML(listed)).last == s3Sent(2, 2))
        var other = s3Resumed()
        listed = s3Listed(4)
        listed[2].2 = "\"\(String(repeating: "0", count: 32))\""
        #expect(other.end(1, 200, body: listXML(listed)).last == s3Sent(2, 3))
        #expect(other.end(2, 200, ["ETag: \(tag(part(3, of: size)))"]).last == "3 \(complete)")
    }

    @Test("tags that are no digests are recognised by sending one part again, and then believed")
    func foreignTags() {
        let listed = s3Listed(4).map { ($0.0, $0.1, "\"kms\($0.0)\"") }
        var script = s3Resumed()
        let said = script.end(1, 200, body: listXML(listed))
        #expect(said.last == s3Sent(2, 1) && said.count == 3)
        #expect(script.end(2, 200, ["ETag: \"kms1b\""]) == ["persist s3", "accepted \(size)", "3 \(complete)"])
        #expect(script.end(3, 200, body: completedXML("\"kms-4\"")) == ["finish \(size) none"])
        // Once known it is not tried again.
        var later = s3Resumed(s3Plan(size: size, resume: s3Point(size: size, foreign: true)))
        #expect(later.end(1, 200, body: listXML(listed)).last == "2 \(complete)")
        // A wish for a digest cannot be met there.
        var strict = s3Resumed(s3Plan(size: size, verify: .digest, resume: s3Point(size: size, foreign: true)))
        _ = strict.end(1, 200, body: listXML(listed))
        #expect(strict.end(2, 200, body: completedXML("\"kms-4\"")) == ["fail integrity"])
    }

    @Test("without a wish for digests parts that are there are not read again")
    func withoutDigests() {
        var script = S3Script(s3Plan(size: size, verify: .size, resume: s3Point(size: size)), begins: false)
        script.answersDigests = false
        script.tell(.began(at: noon))
        #expect(script.end(1, 200, body: listXML(s3Listed(4))).last == "2 \(complete)")
        // The length was asked for, so it is.
        #expect(script.end(2, 200, body: completedXML(composite(size))) == ["3 HEAD"])
        #expect(script.end(3, 200, ["Content-Length: \(size)"] + ourMarks) == ["finish \(size) size"])
    }

    @Test("an upload of another version of the file, or for another place, is thrown away first")
    func stale() {
        var changed = S3Script(s3Plan(size: size, changed: true, resume: s3Point(size: size)))
        #expect(changed.said == ["1 DELETE ?uploadId=U"])
        #expect(changed.end(1, 404) == ["2 HEAD"])
        #expect(changed.end(2, 404) == ["persist s3", "3 POST ?uploads"])
        for point in [s3Point(size: size, time: 5), s3Point(size: size + 1)] {
            #expect(S3Script(s3Plan(size: size, resume: point)).said == ["1 DELETE ?uploadId=U"])
        }
        var moved = S3Script(s3Plan(size: size, resume: s3Point(size: size, key: "g")))
        #expect(moved.said == ["over: the file goes to another place", "1 DELETE ?uploadId=U"])
        #expect(moved.open[1]?.url.text == "https://h/bkt/g?uploadId=U")
        // A server that was not reached is asked again; one that does not throw it away holds nothing up, whatever it says.
        var unreached = moved
        #expect(unreached.lose(1, refused, sent: 0) == ["wait backoff cannotConnectToHost"])
        #expect(moved.lose(1) == ["2 HEAD"])
        for status in [403, 500, 503] {
            var script = S3Script(s3Plan(size: size, changed: true, resume: s3Point(size: size)))
            #expect(script.end(1, status) == ["2 HEAD"])
            #expect(script.machine.unremoved == [ResumePoint(s3Point(size: size))], "it stays known")
        }
        #expect(changed.machine.unremoved == [])
        #expect(moved.machine.unremoved == [ResumePoint(s3Point(size: size, key: "g"))])
    }

    @Test(
        "a source that changed after its object was complete replaces that object, or whatever is there where that is said",
        arguments: [(ExistingFilePolicy.fail, " If-Match \"old-2\""), (.replace, "")])
    func changedAfterwards(policy: ExistingFilePolicy, condition: String) {
        var script = S3Script(s3Plan(size: size, ifExists: policy, changed: true, resume: s3Point(size: size)))
        _ = script.end(1, 204)
        let old = [
            "Content-Length: 7", "ETag: \"old-2\"", "x-amz-meta-martlet-token: \(ourToken)", "x-amz-meta-mtime: 5",
        ]
        #expect(script.end(2, 200, old) == ["persist s3", "3 POST ?uploads"])
        _ = script.end(3, 200, body: createdXML())
        for id in 4...6 { _ = script.end(id, 200, ["ETag: \(tag(part(Int64(id - 3), of: size)))"]) }
        #expect(script.end(7, 200, ["ETag: \(tag(part(4, of: size)))"]).last == "8 POST ?uploadId=U\(condition)")
    }
}
