import Testing
import TransferModel

@testable import TransferProtocols

private let policies: [(ExistingFilePolicy, String)] = [
    (.fail, "fail destinationExists"), (.skip, "finish 1000 none skipped"),
]

private func other(
    _ ifExists: ExistingFilePolicy, size: Int64 = 1000, verify: VerificationWish? = nil, changed: Bool = false
) -> UploadSubject {
    var subject = UploadSubject(
        name: RawPath("f"), size: size, modifiedNanoseconds: noon.milliseconds * 1_000_000, ifExists: ifExists,
        verify: verify, begunBefore: noon, token: .digits(ourToken), hasChanged: changed)
    subject.targetIsOther = true
    return subject
}

/// A file that was read back, or listed, and is not the source although it bears every mark of ours.
@Suite struct OtherTargetTests {
    private let digest = "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"

    @Test("at S3 neither token, length, time nor tag makes a damaged object the file", arguments: policies)
    func s3(policy: ExistingFilePolicy, expected: String) {
        let whole = 0..<Int64(1000)
        for verify in [nil, VerificationWish.none, .size, .digest] {
            var plan = s3Plan(ifExists: policy, verify: verify, begun: noon, changed: true)
            plan.subject.targetIsOther = true
            var script = S3Script(plan)
            #expect(script.said == ["1 HEAD"])
            let said = script.end(1, 200, ["Content-Length: 1000", "ETag: \(tag(whole))"] + ourMarks)
            #expect(said.last == (policy == .fail ? "\(expected) 412" : expected))
        }
    }

    @Test("at S3 a person's wish replaces it, and what is stored then is looked at as ever")
    func s3Replaced() {
        var plan = s3Plan(ifExists: .replace, verify: .size, begun: noon, changed: true)
        plan.subject.targetIsOther = true
        var script = S3Script(plan)
        let marks = ["Content-Length: 1000", "ETag: \(tag(0..<1000))"] + ourMarks
        #expect(script.end(1, 200, marks).last == "2 PUT")
        #expect(script.end(2, 200, ["ETag: \(tag(0..<1000))"]).last != "finish 1000 none")
        var sized = S3Script(plan)
        _ = sized.end(1, 200, marks)
        let stored = sized.end(2, 200, ["ETag: \(tag(0..<1000))"])
        #expect(stored == ["3 HEAD"])
        #expect(sized.end(3, 200, marks) == ["finish 1000 size"])
    }

    @Test("no digest that a server keeps makes it the file for a PUT", arguments: policies)
    func put(policy: ExistingFilePolicy, expected: String) {
        var plan = PutPlan(
            address: HTTPAddress("http://h/f")!, size: 1000, ifExists: policy, begunBefore: noon)
        plan.targetIsOther = true
        plan.heedsConditions = true
        var drive = Drive(PutUpload(plan))
        // Nothing is asked of a file that is known: the server is to refuse.
        #expect(drive.begin().first?.hasPrefix("1 PUT") == true)
        var said = drive.end(answered(412))
        if policy == .fail {
            #expect(said.first?.hasPrefix("2 HEAD") == true)
            said = drive.end(answered(200, ["Content-Length: 1000", digest]))
        }
        #expect(said == [policy == .fail ? "\(expected) 412" : expected])
    }

    @Test("nor for tus, which looks as a PUT does")
    func tus() {
        var facts = HostFacts()
        facts.tusExtensions = ["creation"]
        let plan = TusPlan(endpoint: HTTPAddress("http://h/files/")!, subject: other(.fail), facts: facts)
        var drive = Drive(TusUpload(plan))
        _ = drive.begin()
        #expect(drive.end(answered(412)).first?.contains(" HEAD ") == true)
        #expect(drive.end(answered(200, ["Content-Length: 1000", digest])).last == "fail destinationExists 412")
    }

    @Test("size and time of a file make it none of ours, for FTP, SFTP and WebDAV")
    func marks() {
        let straight = FTPUploadPlan(host: "h", path: RawPath("f"), subject: other(.fail))
        var ftp = FTPPlay(FTPUpload(straight))
        ftp.end(FTPAnswers.size(1000))
        #expect(ftp.said == ["fail destinationExists"])

        var story = SFTPStory(1000)
        story.attempt()
        story.subject.targetIsOther = true
        #expect(story.attempt() == "fail destinationExists")

        let size: Int64 = 100 << 10
        var dav = HTTPPlay(
            DavUpload(DavPlan(address: HTTPAddress("http://h/d/f")!, subject: other(.fail, size: size))))
        dav.end(listing(("/d/f", size)))
        #expect(dav.said == ["fail destinationExists 412"])

        let files = HTTPAddress("http://h/remote.php/dav/files/u/f")!
        let large: Int64 = 25 << 20
        var cloud = HTTPPlay(NextcloudUpload(NextcloudPlan(address: files, subject: other(.fail, size: large))))
        cloud.end(listing((files.target, large)))
        #expect(cloud.said == ["fail destinationExists 412"])
    }

    @Test("where it may be replaced, its size and time prove no rename of an earlier attempt")
    func renames() {
        var point = FTPResumePoint(temporary: RawPath(".f.01234567.martlet-part"))
        point.publishing = true
        let plan = FTPUploadPlan(host: "h", path: RawPath("f"), subject: other(.replace), resume: point)
        var ftp = FTPPlay(FTPUpload(plan))
        ftp.end(FTPAnswers.missing)
        ftp.end(FTPAnswers.size(1000))
        #expect(ftp.said.last?.hasPrefix("STOR") == true)
    }

    @Test("it stays known whatever protocol writes its resume points")
    func kept() throws {
        var point = ResumePoint(FTPResumePoint(temporary: RawPath("t")))
        point.targetIsOther = true
        #expect(try #require(ResumePoint(encoded: point.disclaimed.encoded)).targetIsOther)
        #expect(try #require(point.withoutParts).targetIsOther)
        point.targetIsOther = false
        #expect(try !#require(ResumePoint(encoded: point.encoded)).targetIsOther)
        #expect(point.withoutParts == nil)
        point.ownVersion = StoredVersion(stored: true, etag: "\"a\"")
        let known = try #require(point.withoutParts)
        #expect(known.ownVersion == point.ownVersion && !known.leavesParts && known.left.isEmpty)
    }
}
