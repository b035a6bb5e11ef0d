import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private func machine(_ size: Int64 = 2000) -> NegotiatedUpload {
    let folder = HTTPAddress("http://h/d/")!
    let address = HTTPAddress("http://h/d/f")!
    let subject = subject(size)
    let facts = HostFacts { $0.heedsConditions = true }
    var put = PutPlan(address: address, size: size, ifExists: .fail, offersResume: size >= mebibyte)
    put.heedsConditions = true
    return NegotiatedUpload(
        NegotiatedPlan(
            folder: folder, put: put, tus: TusPlan(endpoint: folder, subject: subject),
            resumable: ResumablePlan(address: address, subject: subject, facts: facts)))
}

private let put = ["learned uploadBy=put", "2 PUT http://h/d/f | 0..<2000"]

@Suite struct NegotiatedUploadTests {
    @Test("the folder is asked with the newest version; an answer in it settles everything")
    func ietf() {
        var upload = machine()
        #expect(
            words(upload.handle(.began(at: noon))) == ["1 OPTIONS http://h/d/ | Upload-Draft-Interop-Version: 8"])
        #expect(
            Drive.run(machine(), [answered(204, ["Upload-Limit: min-size=0"])]) == [
                "learned uploadBy=ietf interopVersion=8 announcesResume=true",
                "2 PUT http://h/d/f | Upload-Complete: ?1 | Upload-Length: 2000 | 0..<2000",
            ])
        #expect(Drive.run(machine(), [answered(204, ["Upload-Limit: max-size=1999"])]).last == "fail http 413")
    }

    @Test("a tus server shows itself whatever it is asked, and is not asked again")
    func tus() {
        let answer = answered(204, ["Tus-Version: 1.0.0", "Tus-Extension: creation"])
        #expect(
            Drive.run(machine(), [answer]) == [
                "learned uploadBy=tus tusExtensions=[\"creation\"] tusChecksums=[]",
                "2 POST http://h/d/ | Upload-Length: 2000",
            ])
        #expect(
            Drive.run(machine(), [answered(204, ["Tus-Version: 1.0.0", "Tus-Max-Size: 1999"])]).last == "fail http 413")
        #expect(Drive.run(machine(), [answered(412, ["Tus-Version: 1.0.0"])]).last?.contains("POST") == true)
    }

    @Test(
        "a server that would like digests is taken for one that tells them",
        arguments: ["Upload-Limit: min-size=0", "Tus-Version: 1.0.0"])
    func hint(_ speaks: String) {
        let hinted = Drive.run(machine(), [answered(204, [speaks, "Want-Repr-Digest: sha-256=1"])])
        #expect(hinted.first?.contains("tellsDigests=true") == true, "\(hinted)")
        let other = Drive.run(machine(), [answered(204, [speaks, "Want-Repr-Digest: md5=1"])])
        #expect(other.first?.contains("tellsDigests") == false)
    }

    @Test("a server of an older version is found by its own word, or by asking")
    func olderVersions() {
        // One that refuses unknown versions names its own.
        let named = [answered(400, ["Upload-Draft-Interop-Version: 6"]), answered(200, ["Upload-Limit: min-size=0"])]
        #expect(Drive.run(machine(), named).first == "learned uploadBy=ietf interopVersion=6 announcesResume=true")
        let silent = [answered(200), answered(200), answered(200), answered(200, ["Upload-Limit: min-size=0"])]
        #expect(Drive.run(machine(), silent).first == "learned uploadBy=ietf interopVersion=3 announcesResume=true")
        let never = Drive.run(machine(), [answered(200), answered(200), answered(200), answered(200)])
        #expect(never == ["learned uploadBy=put", "5 PUT http://h/d/f | 0..<2000"])
        // A name that makes no sense does not make it ask for ever.
        let loop = answered(400, ["Upload-Draft-Interop-Version: 8"])
        #expect(Drive.run(machine(), [loop, loop, loop, loop]).last == "5 PUT http://h/d/f | 0..<2000")
    }

    @Test(
        "any other server gets a plain PUT after one question",
        arguments: [403, 404, 405, 409, 415, 500, 501, 505, 304])
    func plain(status: Int) {
        #expect(Drive.run(machine(), [answered(status)]) == put)
    }

    @Test("a WebDAV server is not asked for what it would have said")
    func webDAV() {
        #expect(Drive.run(machine(), [answered(200, ["DAV: 1,2"])]) == put)
    }

    @Test(
        "what says that it is not the time decides nothing",
        .tells(
            "the proxy wants a login: give one in https_proxy or http_proxy and queue it again, or see that it lets you in",
            "h answered 429 Too Many Requests: too many requests; Martlet slows down and tries again"),
        arguments: [
            (401, "wait auth http"), (407, "wait auth http"), (408, "wait backoff http"),
            (429, "wait hostBackoff http"), (502, "wait backoff http"), (503, "wait hostBackoff http"),
            (504, "wait backoff http"),
        ])
    func later(status: Int, expected: String) {
        #expect(Drive.run(machine(), [answered(status)]) == [expected])
    }

    @Test("no answer waits or fails, as it would for the file")
    func noAnswer() {
        #expect(Drive.run(machine(), [unanswered(refused, sent: 0)]) == ["wait backoff cannotConnectToHost"])
        #expect(Drive.run(machine(), [unanswered(badCertificate, sent: 0)]) == ["fail tlsFailure"])
    }

    @Test("a redirect of the question is followed; where it cannot be, the file's own request finds out")
    func redirects() {
        #expect(Drive.run(machine(), [answered(308, ["Location: /e/"])]) == ["2 OPTIONS http://h/e/"])
        #expect(Drive.run(machine(), [answered(303, ["Location: /e/"])]) == put)
    }

    @Test("from then on it is the protocol that was found, to the end")
    func forwarding() {
        var drive = Drive(machine())
        _ = drive.begin()
        _ = drive.end(answered(405))
        #expect(drive.end(answered(201, sent: 2000)) == ["finish 2000 none"])
        #expect(drive.end(answered(201, sent: 2000)) == [])
        var tus = Drive(machine())
        _ = tus.begin()
        _ = tus.end(answered(204, ["Tus-Version: 1.0.0", "Tus-Extension: creation"]))
        #expect(tus.end(answered(201, ["Location: /u"])).first == "persist tus secret http://h/u")
    }

    // MARK: A PUT that can be gone on with

    private func offering() -> PutUpload {
        var plan = PutPlan(address: HTTPAddress("http://h/f")!, size: 5 * mebibyte, ifExists: .fail, offersResume: true)
        plan.heedsConditions = true
        return PutUpload(plan)
    }

    private let offer = ["Upload-Draft-Interop-Version: 8", "Location: /u", "Upload-Limit: max-age=60"]

    @Test("a plain PUT offers to be gone on with, and takes up the answer at once")
    func offeringPut() {
        var upload = offering()
        #expect(
            headers(upload.handle(.began(at: noon))) == [
                [
                    "If-None-Match: *", "Want-Repr-Digest: sha-256=10", "Upload-Draft-Interop-Version: 8",
                    "Upload-Complete: ?1",
                    "Upload-Length: 5242880",
                ]
            ])
        let actions = upload.handle(
            .interim(ExchangeID(rawValue: 1), HTTPAnswer(status: 104, headers: fields(offer)), at: noon))
        guard case .persist(let point)? = actions.first else { return #expect(Bool(false)) }
        #expect(
            point.content(ResumableResumePoint.self)
                == ResumableResumePoint(
                    version: 8, length: 5 * mebibyte, url: HTTPAddress("http://h/u"), begun: noon,
                    expires: noon.advanced(by: .seconds(60))))
        #expect(point.secret == "http://h/u")
    }

    @Test("after a 104 a cut waits for the next attempt, which asks; without one nothing changes")
    func cutPut() {
        for (sent, error, expected) in [
            (5, lost, "wait backoff networkConnectionLost"), (5 * mebibyte, lost, "wait backoff networkConnectionLost"),
            (0, badCertificate, "fail tlsFailure"),
        ] as [(Int64, TransferError, String)] {
            var drive = Drive(offering())
            _ = drive.begin()
            _ = drive.interim(offer)
            #expect(drive.end(unanswered(error, sent: sent)) == ["persist ietf secret http://h/u", expected])
        }
        #expect(Drive.run(offering(), [unanswered(lost, sent: 5)]) == ["wait backoff networkConnectionLost"])
        #expect(Drive.run(offering(), [unanswered(lost, sent: 5 * mebibyte)]) == ["2 HEAD http://h/f"])
        var plain = Drive(PutUpload(PutPlan(address: HTTPAddress("http://h/f")!, size: 5, ifExists: .fail)))
        _ = plain.begin()
        #expect(plain.interim(offer) == [])
    }

    @Test(
        "the final answer after a 104 decides: done, go on, or the verdict on the whole",
        .tells("h closed the connection without an answer"))
    func answeredPut() {
        for (status, lines, expected) in [
            (201, ["Upload-Complete: ?1"], ["finish 5242880 none"]), (201, [], ["finish 5242880 none"]),
            (201, ["Upload-Complete: ?0"], ["persist ietf secret http://h/u", "wait backoff networkConnectionLost"]),
            (500, [], ["wait backoff http"]), (503, ["Upload-Complete: ?0"], ["wait hostBackoff http"]),
            (422, ["Upload-Complete: ?1"], ["persist put", "fail http 422"]),
            (500, ["Upload-Complete: ?1"], ["persist put", "wait backoff http"]),
        ] as [(Int, [String], [String])] {
            var drive = Drive(offering())
            _ = drive.begin()
            _ = drive.interim(offer)
            #expect(drive.end(answered(status, lines, sent: 5 * mebibyte)) == expected)
        }
    }
}
