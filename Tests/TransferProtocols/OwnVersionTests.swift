import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let noonSeconds = noon.milliseconds / 1000
private let later = noon.advanced(by: .seconds(3600))
/// The version that the server has stored, of 1000 bytes.
private let stored = StoredVersion(
    stored: true, etag: nil, version: NamedVersion(size: 1000, modified: noonSeconds))

/// The source as it is now, 500 bytes, after its earlier version has got the final name.
private func changed(
    _ ifExists: ExistingFilePolicy, size: Int64 = 500, own: StoredVersion = stored, isFresh: Bool = false
) -> UploadSubject {
    var subject = UploadSubject(
        name: RawPath("f"), size: size, modifiedNanoseconds: later.milliseconds * 1_000_000, ifExists: ifExists,
        token: "0123456789abcdef0123456789abcdef", hasChanged: true)
    (subject.own, subject.hasJustStored) = (own, isFresh)
    return subject
}

/// A version of the source that was stored is ours while it stands there. Whatever somebody else has put there since falls under the rule for
/// existing files, at the beginning and right before the name is given.
@Suite struct OwnVersionTests {
    @Test("the version that was stored is recognised by its tag, its time, or the server's time")
    func standing() {
        func is_(_ own: StoredVersion, _ file: StandingFile) -> NamedVersion.Standing { own.standing(file) }
        #expect(is_(stored, StandingFile(size: 1000, modified: noonSeconds)) == .ours)
        #expect(is_(stored, StandingFile(size: 999, modified: noonSeconds)) == .foreign)
        #expect(is_(stored, StandingFile(size: 1000, modified: noonSeconds + 9)) == .unknown)
        #expect(is_(stored, StandingFile(size: 1000)) == .unknown)
        var shown = stored
        shown.shown = noonSeconds + 500
        #expect(is_(shown, StandingFile(size: 1000, modified: noonSeconds + 450)) == .ours)
        #expect(is_(shown, StandingFile(size: 1000, modified: noonSeconds + 900)) == .unknown)
        var tagged = stored
        tagged.etag = "\"a\""
        #expect(is_(tagged, StandingFile(size: 1000, etag: "W/\"a\"")) == .ours)
        #expect(is_(tagged, StandingFile(size: 7, etag: "\"a\"")) == .foreign)
        tagged.version = nil
        #expect(is_(tagged, StandingFile(size: 1000, etag: "\"b\"")) == .foreign)
    }

    @Test("a point of an older engine is decoded, and in doubt only where a length cannot be the earlier version's")
    func older() throws {
        let text = #"{"v":2,"kind":"put","point":"{\"etag\":null,\"stored\":true}"}"#
        let point = try #require(ResumePoint(encoded: Array(text.utf8)))
        #expect(point.ownVersion == StoredVersion(stored: true, etag: nil))
        var subject = changed(.fail, own: StoredVersion(stored: true, etag: nil))
        var own = OwnTarget(subject)
        #expect(own.standing(StandingFile(size: 7)) == .ours)
        subject.earlierVersion = NamedVersion(size: 1000, modified: 1)
        own = OwnTarget(subject)
        #expect(own.standing(StandingFile(size: 1000, modified: 2)) == .ours)
        #expect(own.standing(StandingFile(size: 7)) == .unknown)
        let again = try #require(ResumePoint(encoded: ResumePoint(stored).encoded))
        #expect(again.ownVersion == stored)
    }

    @Test("a look right after the version was stored learns how the server shows it; a later look does not")
    func fresh() {
        var own = OwnTarget(changed(.fail, isFresh: true))
        let shown = StandingFile(size: 1000, modified: noonSeconds + 9000, etag: "\"a\"")
        #expect(own.standing(shown) == .ours && own.version?.etag == "\"a\"")
        #expect(own.standing(shown) == .ours)
        #expect(own.standing(StandingFile(size: 1000, modified: noonSeconds + 9999, etag: "\"b\"")) == .unknown)
        own = OwnTarget(changed(.fail))
        #expect(own.standing(shown) == .unknown)
    }

    @Test("the last look decides whether the file there may be replaced, unless the rule says so")
    func replacing() {
        var own = OwnTarget(changed(.fail))
        #expect(!own.mayReplace)
        #expect(own.standing(StandingFile(size: 1000, modified: noonSeconds)) == .ours && own.mayReplace)
        #expect(own.standing(StandingFile(size: 7)) == .foreign && !own.mayReplace)
        own.recognised()
        #expect(own.standing(StandingFile(), isFolder: true) == .foreign && !own.mayReplace)
        own = OwnTarget(changed(.replace))
        #expect(own.standing(StandingFile(size: 7)) == .foreign && own.mayReplace)
        own.forgetLook()
        #expect(own.mayReplace)
    }

    @Test("a stored version leaves the rule for existing files as it is")
    func rule() throws {
        var point = ResumePoint(FTPResumePoint(temporary: RawPath(".f.01234567.martlet-part")))
        (point.ownVersion, point.isOutdated) = (stored, true)
        let place = try #require(FTPAddress("ftp://h/f"))
        func subject(_ ifExists: ExistingFilePolicy) -> UploadSubject {
            UploadJob(
                destination: place, path: RawPath(""), subject: changed(ifExists, own: stored), facts: HostFacts(),
                resume: point, options: TransferOptions()
            ).replacing
        }
        #expect(subject(.fail).ifExists == .fail && subject(.fail).own == stored)
        #expect(subject(.skip).ifExists == .skip && subject(.replace).ifExists == .replace)
    }

    // MARK: FTP

    private static let part = ".f.01234567.martlet-part"

    private func ftp(_ subject: UploadSubject, _ ends: FTPEnd...) -> FTPPlay<FTPUpload> {
        var play = FTPPlay(FTPUpload(FTPUploadPlan(host: "h", path: RawPath("f"), subject: subject)))
        for end in ends { play.end(end) }
        return play
    }

    @Test("FTP: our version is replaced, and a file that came there meanwhile is not")
    func ftpTarget() {
        let (ours, stranger) = (FTPAnswers.size(1000), FTPAnswers.size(7))
        let (send, arrived) = (FTPAnswers.done("STOR", sent: 500), FTPAnswers.size(500))
        for policy in [ExistingFilePolicy.fail, .skip] {
            let subject = changed(policy)
            #expect(ftp(subject).said == ["SIZE f"])
            #expect(ftp(subject, ours).said == ["persist ftp", "STOR \(Self.part) 0..<500"])
            #expect(ftp(subject, ours, send, arrived).said.last == "SIZE f")
            #expect(ftp(subject, ours, send, arrived, ours).said.last?.hasSuffix("RNTO f") == true)
            #expect(ftp(subject, ours, send, arrived, FTPAnswers.missing).said.last?.hasSuffix("RNTO f") == true)
            let unknown = FTPAnswers.size(1000, modified: later)
            #expect(ftp(subject, unknown).said == ["fail unknownOutcome"])
            #expect(ftp(subject, ours, send, arrived, unknown).said == ["fail unknownOutcome"])
            #expect(ftp(subject, ours, send, arrived, stranger).said == ["*DELE \(Self.part)"])
            // The server does not replace by a rename: what is there is removed, while it is ours.
            var refused = ftp(subject, ours, send, arrived, ours, FTPAnswers.refused(553, "RNTO"))
            #expect(refused.said == ["SIZE f"])
            refused.end(ours)
            #expect(refused.said.last?.contains("*DELE f; RNFR") == true)
        }
        #expect(ftp(changed(.fail), stranger).said == ["fail destinationExists"])
        #expect(ftp(changed(.skip), stranger).said == ["finish 500 none skipped"])
    }

    @Test("FTP: a server that does not keep times is looked at right after the version was stored")
    func ftpTimes() {
        let shown = FTPAnswers.size(1000, modified: later)
        let play = ftp(
            changed(.fail, isFresh: true), shown, FTPAnswers.done("STOR", sent: 500), FTPAnswers.size(500), shown)
        #expect(play.said.last?.hasSuffix("RNTO f") == true)
        let points = play.last.compactMap { action in
            if case .persist(let point) = action { point.ownVersion?.shown } else { nil }
        }
        #expect(points == [later.milliseconds / 1000])
    }

    // MARK: SFTP

    private func sftp(_ policy: ExistingFilePolicy, target: FakeSFTPServer.File?) -> SFTPStory {
        var story = SFTPStory(400, ifExists: policy, modified: 77)
        story.server.files["d/f"] = target
        var own = stored
        own.version = NamedVersion(size: 1000, modified: 1234)
        (story.subject.own, story.subject.hasChanged) = (own, true)
        return story
    }

    @Test("SFTP: our version is replaced, and a file that is or comes there meanwhile is not")
    func sftpTarget() {
        let ours = FakeSFTPServer.File(bytes: Array(repeating: 1, count: 1000), modified: 1234)
        let stranger = FakeSFTPServer.File(bytes: [7], modified: 1234)
        for policy in [ExistingFilePolicy.fail, .skip] {
            for renamesOver in [true, false] {
                let end = policy == .fail ? "fail destinationExists" : "finish 400 none skipped"
                var own = sftp(policy, target: ours)
                own.server.features.renamesOver = renamesOver
                #expect(own.attempt() == "finish 400 size" && own.isPublished)
                // It was there when it was looked at first, and is another one's before the rename.
                var raced = sftp(policy, target: ours)
                raced.server.features.renamesOver = renamesOver
                raced.replaces = (after: "close", stranger)
                #expect(raced.attempt() == end)
                #expect(raced.server.files["d/f"]?.bytes == [7])
                var foreign = sftp(policy, target: stranger)
                foreign.server.features.renamesOver = renamesOver
                #expect(foreign.attempt() == end)
                #expect(foreign.server.files["d/f"]?.bytes == [7])
                var unknown = sftp(policy, target: FakeSFTPServer.File(bytes: ours.bytes, modified: 5))
                unknown.server.features.renamesOver = renamesOver
                #expect(unknown.attempt() == "fail unknownOutcome")
            }
        }
    }

    // MARK: WebDAV, Nextcloud

    private func dav(_ subject: UploadSubject, _ ends: ExchangeEnd...) -> HTTPPlay<DavUpload> {
        var play = HTTPPlay(DavUpload(DavPlan(address: HTTPAddress("http://h/d/f")!, subject: subject)))
        for end in ends { play.end(end) }
        return play
    }

    @Test("WebDAV: our version is overwritten, and a file that came there meanwhile is not")
    func webDAV() {
        let (ours, stranger) = (listing(("/d/f", 1000)), listing(("/d/f", 7)))
        let put = answered(201, sent: 500)
        let move = "MOVE /d/\(Self.part) | Destination: http://h/d/f | Overwrite: "
        for policy in [ExistingFilePolicy.fail, .skip] {
            let subject = changed(policy)
            #expect(dav(subject).said == ["PROPFIND /d/f"])
            #expect(dav(subject, ours).said.last == "PUT /d/\(Self.part) 0..<500")
            #expect(dav(subject, ours, put).said.last == "PROPFIND /d/f")
            #expect(dav(subject, ours, put, ours).said.last == move + "T")
            #expect(dav(subject, ours, put, answered(404)).said.last == move + "F")
            #expect(dav(subject, ours, put, stranger).said.last == "DELETE /d/\(Self.part)")
            let unknown = listing(("/d/f", 1000), modified: elevenText, etag: "\"2\"")
            #expect(dav(subject, unknown).said == ["fail unknownOutcome"])
            #expect(dav(subject, ours, put, unknown).said == ["fail unknownOutcome"])
        }
        #expect(dav(changed(.fail), stranger).said == ["fail destinationExists 412"])
        #expect(dav(changed(.skip), stranger).said == ["finish 500 none skipped"])
    }

    @Test("WebDAV without a rename: the PUT names the version that it replaces")
    func straight() {
        var facts = HostFacts()
        facts.cannotRename = true
        func play(_ target: ExchangeEnd) -> String? {
            let address = HTTPAddress("http://h/d/f")!
            var play = HTTPPlay(DavUpload(DavPlan(address: address, subject: changed(.fail), facts: facts)))
            play.end(target)
            return play.said.last
        }
        #expect(play(listing(("/d/f", 1000))) == "PUT /d/f 0..<500 | If-Match: \"1\"")
        #expect(play(answered(404)) == "PUT /d/f 0..<500 | If-None-Match: *")
    }

    @Test("Nextcloud: our version is overwritten, and a file that came there meanwhile is not")
    func nextcloud() {
        let files = HTTPAddress("https://c/remote.php/dav/files/u/f")!
        var point = NextcloudResumePoint(folder: "martlet-x", chunk: 10 << 20)
        point.isMade = true
        let folder = "/remote.php/dav/uploads/u/martlet-x"
        let whole = listing((folder + "/", nil), (folder + "/00001", 10 << 20))
        func play(_ policy: ExistingFilePolicy, _ target: ExchangeEnd) -> String? {
            var subject = changed(policy, size: 10 << 20)
            subject.hasChanged = false
            var play = HTTPPlay(NextcloudUpload(NextcloudPlan(address: files, subject: subject, resume: point)))
            play.end(whole)
            #expect(play.said.last == "PROPFIND \(files.target)")
            play.end(target)
            return play.said.last
        }
        for policy in [ExistingFilePolicy.fail, .skip] {
            #expect(play(policy, listing((files.target, 1000)))?.hasSuffix("Overwrite: T") == true)
            #expect(play(policy, answered(404))?.hasSuffix("Overwrite: F") == true)
            #expect(play(policy, listing((files.target, 7))) == "DELETE \(folder)")
            let unknown = listing((files.target, 1000), modified: elevenText, etag: "\"2\"")
            #expect(play(policy, unknown) == "fail unknownOutcome")
        }
    }

    // MARK: PUT, tus

    @Test("PUT: a version without a tag is looked at before it is replaced")
    func put() {
        func said(_ own: StoredVersion, isFresh: Bool = false, _ ends: ExchangeEnd...) -> String? {
            var plan = PutPlan(
                address: HTTPAddress("http://h/f")!, size: 500, ifExists: .fail, verify: VerificationWish.none,
                resume: own)
            plan.hasJustStored = isFresh
            var play = HTTPPlay(PutUpload(plan))
            for end in ends { play.end(end) }
            return play.said.last
        }
        func there(_ size: Int, _ more: String...) -> ExchangeEnd {
            answered(200, ["Content-Length: \(size)", "Last-Modified: \(noonText)"] + more)
        }
        #expect(said(stored) == "HEAD /f")
        #expect(said(stored, there(1000)) == "PUT /f 0..<500")
        #expect(said(stored, there(1000, "ETag: \"a\"")) == "PUT /f 0..<500 | If-Match: \"a\"")
        #expect(said(stored, there(7)) == "HEAD /f")
        #expect(said(stored, there(7), there(7)) == "fail destinationExists 412")
        #expect(said(stored, answered(404)) == "PUT /f 0..<500 | If-None-Match: *")
        var other = stored
        other.version = NamedVersion(size: 1000, modified: 5)
        #expect(said(other, there(1000)) == "fail unknownOutcome")
        #expect(said(other, isFresh: true, there(1000)) == "PUT /f 0..<500")
    }

    @Test("tus: the creation names the version that it replaces")
    func tus() {
        func condition(_ own: StoredVersion, _ ends: ExchangeEnd...) -> [String] {
            var facts = HostFacts()
            facts.tusExtensions = ["creation"]
            var plan = TusPlan(endpoint: HTTPAddress("http://h/files/")!, subject: changed(.fail), facts: facts)
            plan.stored = own
            var upload = TusUpload(plan)
            var actions = upload.handle(.began(at: noon))
            for (index, end) in ends.enumerated() {
                actions = upload.handle(.ended(ExchangeID(rawValue: index + 1), end))
            }
            return headers(actions).flatMap(\.self).filter { $0.hasPrefix("If-") || $0.hasPrefix("Overwrite") }
        }
        var tagged = stored
        tagged.etag = "\"a\""
        #expect(condition(tagged) == ["If-Match: \"a\""])
        let there = ["Content-Length: 1000", "Last-Modified: \(noonText)", "ETag: \"b\""]
        #expect(condition(stored) == [])
        #expect(condition(stored, answered(200, there)) == ["If-Match: \"b\""])
        #expect(condition(stored, answered(200, ["Content-Length: 7"])) == ["If-None-Match: *"])
        #expect(condition(stored, answered(404)) == ["If-None-Match: *"])
        #expect(condition(StoredVersion(stored: true, etag: nil)) == ["Overwrite: T"])
    }
}
