import TestSupport
import Testing
import TransferModel

@testable import TransferProtocols

private let noonSeconds = noon.milliseconds / 1000
private let version = NamedVersion(size: 1000, modified: noonSeconds)
private let later = noon.advanced(by: .seconds(60))

/// The source as it is now: shorter than the version whose rename may have happened.
private func changed(_ ifExists: ExistingFilePolicy, size: Int64 = 500) -> UploadSubject {
    UploadSubject(
        name: RawPath("f"), size: size, modifiedNanoseconds: later.milliseconds * 1_000_000, ifExists: ifExists,
        begunBefore: noon, token: "0123456789abcdef0123456789abcdef", hasChanged: true)
}

/// The actions' last resume point says that the target is ours, and that nothing goes on from the point.
private func disowns(_ actions: [ProtocolAction]) -> Bool {
    let points = actions.compactMap { action in if case .persist(let point) = action { point } else { nil } }
    return points.last?.ownVersion?.stored == true && points.last?.isOutdated == true
}

/// A rename that nobody saw the end of, and a source that changed after it.
@Suite struct EarlierVersionTests {
    // MARK: FTP

    private static let part = ".f.01234567.martlet-part"
    private static let second = ".f.01234567-2.martlet-part"

    private func ftp(
        _ ifExists: ExistingFilePolicy, removesOld: Bool = false, isKnown: Bool = true, _ ends: FTPEnd...
    ) -> FTPPlay<FTPUpload> {
        var point = FTPResumePoint(temporary: RawPath(Self.part))
        point.publishing = true
        if removesOld { point.removesOld = true }
        if isKnown { point.version = version }
        let plan = FTPUploadPlan(host: "h", path: RawPath("f"), subject: changed(ifExists), resume: point)
        var play = FTPPlay(FTPUpload(plan))
        for end in ends { play.end(end) }
        return play
    }

    @Test("FTP: an earlier version that got its name unheard is ours, durably, before its traces are removed")
    func ftpOwn() {
        for policy in [ExistingFilePolicy.fail, .skip] {
            #expect(ftp(policy).said == ["SIZE \(Self.part)"])
            #expect(ftp(policy, FTPAnswers.missing).said == ["SIZE f"])
            var play = ftp(policy, FTPAnswers.missing, FTPAnswers.size(1000))
            #expect(play.said == ["persist ftp", "*DELE \(Self.part)"] && disowns(play.last))
            play.end(FTPAnswers.done("DELE"))
            #expect(play.said == ["persist ftp", "STOR \(Self.second) 0..<500"])
            play.end(FTPAnswers.done("STOR", sent: 500))
            play.end(FTPAnswers.size(500))
            #expect(play.said.last == "SIZE f")
            play.end(FTPAnswers.size(1000))
            // Its name is not asked for again.
            #expect(play.said.last?.hasSuffix("RNFR \(Self.second); RNTO f") == true)
        }
    }

    @Test("FTP: what cannot be told from an earlier version is in doubt, under skip, too; another file has its rule")
    func ftpOther() {
        let unknown = FTPAnswers.size(1000, modified: later)
        for policy in [ExistingFilePolicy.fail, .skip] {
            #expect(ftp(policy, FTPAnswers.missing, unknown).said == ["fail unknownOutcome"])
            #expect(ftp(policy, FTPAnswers.noSize).said == ["fail unknownOutcome"])
            let old = ftp(policy, isKnown: false, FTPAnswers.missing, FTPAnswers.size(1000))
            #expect(old.said == ["fail unknownOutcome"])
            // None has happened.
            for play in [ftp(policy, FTPAnswers.size(1000)), ftp(policy, FTPAnswers.missing, FTPAnswers.missing)] {
                #expect(play.said == ["persist ftp", "*DELE \(Self.part)"] && !disowns(play.last))
            }
        }
        let stranger = FTPAnswers.size(7)
        #expect(ftp(.fail, FTPAnswers.missing, stranger).said == ["persist ftp", "fail destinationExists"])
        #expect(ftp(.skip, FTPAnswers.missing, stranger).said == ["persist ftp", "finish 500 none skipped"])
        #expect(ftp(.replace).said == ["persist ftp", "*DELE \(Self.part)"])
    }

    @Test("FTP: the only copy, for which an old file was removed, gets its name before anything is removed")
    func ftpOnlyCopy() {
        let naming = ["RNFR \(Self.part); RNTO f"]
        let there = FTPAnswers.size(1000)
        #expect(ftp(.replace, removesOld: true).said == ["SIZE \(Self.part)"])
        #expect(ftp(.replace, removesOld: true, there).said == ["SIZE f"])
        #expect(ftp(.replace, removesOld: true, there, FTPAnswers.missing).said == naming)
        #expect(ftp(.replace, removesOld: true, FTPAnswers.noSize).said == naming)
        let ends = [FTPAnswers.done("RNTO"), FTPAnswers.refused(550, "RNFR", text: "No such file")]
        for end in ends {
            let said = ftp(.replace, removesOld: true, there, FTPAnswers.missing, end).said
            #expect(said == ["persist ftp", "*DELE \(Self.part)"])
        }
        let denied = ftp(.replace, removesOld: true, there, FTPAnswers.missing, FTPAnswers.refused(553, "RNTO"))
        #expect(denied.said == ["wait auth permissionDenied"])
        // The target is there: what was gathered serves nothing.
        let seen = ftp(.replace, removesOld: true, there, FTPAnswers.size(7))
        #expect(seen.said == ["persist ftp", "*DELE \(Self.part)"])
    }

    // MARK: WebDAV, Nextcloud

    private func dav(
        _ ifExists: ExistingFilePolicy, busyUntil: Timestamp? = nil, _ ends: ExchangeEnd...
    ) -> HTTPPlay<DavUpload> {
        var point = DavResumePoint(temporary: "/d/\(Self.part)")
        (point.publishing, point.version, point.busyUntil) = (true, version, busyUntil)
        let address = HTTPAddress("http://h/d/f")!
        var play = HTTPPlay(DavUpload(DavPlan(address: address, subject: changed(ifExists), resume: point)))
        for end in ends { play.end(end) }
        return play
    }

    @Test(
        "WebDAV: as FTP, and a MOVE that may still go on is waited for",
        .tells("nothing tells whether what is there is an earlier version of the file"))
    func webDAV() {
        let gone = answered(404)
        for policy in [ExistingFilePolicy.fail, .skip] {
            #expect(dav(policy).said == ["PROPFIND /d/\(Self.part)"])
            #expect(dav(policy, gone).said == ["PROPFIND /d/f"])
            var play = dav(policy, gone, listing(("/d/f", 1000)))
            #expect(play.said == ["persist dav", "DELETE /d/\(Self.part)"] && disowns(play.last))
            play.end(answered(204))
            play.end(answered(201, sent: 500))
            #expect(play.said.last == "PROPFIND /d/f")
            play.end(listing(("/d/f", 1000)))
            let move = "MOVE /d/\(Self.second) | Destination: http://h/d/f | Overwrite: T"
            #expect(play.said.last == move)
            #expect(dav(policy, gone, listing(("/d/f", 1000), modified: elevenText)).said == ["fail unknownOutcome"])
            let none = dav(policy, listing(("/d/\(Self.part)", 1000)))
            #expect(none.said == ["persist dav", "DELETE /d/\(Self.part)"] && !disowns(none.last))
        }
        #expect(dav(.skip, gone, listing(("/d/f", 7))).said == ["persist dav", "finish 500 none skipped"])
        let busy = dav(.replace, busyUntil: later, listing(("/d/\(Self.part)", 1000)))
        #expect(busy.said.first?.hasPrefix("wait backoff") == true)
    }

    @Test("Nextcloud: as FTP, and a MOVE that may still go on is waited for")
    func nextcloud() {
        let files = HTTPAddress("https://c/remote.php/dav/files/u/f")!
        func play(_ ends: ExchangeEnd...) -> HTTPPlay<NextcloudUpload> {
            var point = NextcloudResumePoint(folder: "martlet-x", chunk: 10 << 20)
            (point.isMade, point.isAssembling, point.version) = (true, true, version)
            let subject = changed(.skip, size: 25 << 20)
            var play = HTTPPlay(NextcloudUpload(NextcloudPlan(address: files, subject: subject, resume: point)))
            for end in ends { play.end(end) }
            return play
        }
        let folder = "/remote.php/dav/uploads/u/martlet-x"
        #expect(play().said == ["PROPFIND \(files.target)"])
        let there = listing((files.target, 1000))
        #expect(play(there).said == ["PROPFIND \(folder)"])
        let own = play(there, answered(404))
        #expect(own.said == ["persist nextcloud", "DELETE \(folder)"] && disowns(own.last))
        #expect(own.machine.own.isKnown)
        let unknown = listing((files.target, 1000), modified: elevenText)
        #expect(play(unknown, answered(404)).said == ["fail unknownOutcome"])
        let foreign = listing((files.target, 7))
        #expect(play(foreign, answered(404)).said.last?.hasSuffix("skipped") == true)
        #expect(play(answered(404), listing((folder + "/", nil))).said.first?.hasPrefix("wake") == true)
    }

    @Test("a point that does not tell its version is of the one that was recorded before")
    func recorded() {
        var subject = changed(.skip, size: 25 << 20)
        subject.earlierVersion = version
        var left = FTPResumePoint(temporary: RawPath(Self.part))
        left.publishing = true
        var ftp = FTPPlay(FTPUpload(FTPUploadPlan(host: "h", path: RawPath("f"), subject: subject, resume: left)))
        ftp.end(FTPAnswers.missing)
        ftp.end(FTPAnswers.size(1000))
        #expect(ftp.said.last == "*DELE \(Self.part)" && disowns(ftp.last))

        var gathered = DavResumePoint(temporary: "/d/\(Self.part)")
        gathered.publishing = true
        let plan = DavPlan(address: HTTPAddress("http://h/d/f")!, subject: subject, resume: gathered)
        var dav = HTTPPlay(DavUpload(plan))
        dav.end(answered(404))
        dav.end(listing(("/d/f", 1000)))
        #expect(dav.said.last == "DELETE /d/\(Self.part)" && disowns(dav.last))

        var chunks = NextcloudResumePoint(folder: "martlet-x", chunk: 10 << 20)
        (chunks.isMade, chunks.isAssembling) = (true, true)
        let files = HTTPAddress("https://c/remote.php/dav/files/u/f")!
        var cloud = HTTPPlay(NextcloudUpload(NextcloudPlan(address: files, subject: subject, resume: chunks)))
        cloud.end(listing((files.target, 1000)))
        cloud.end(answered(404))
        #expect(cloud.said.last == "DELETE /remote.php/dav/uploads/u/martlet-x" && disowns(cloud.last))
    }

    // MARK: Never asked

    /// The point that is handed over when the source is found changed right before the request for the name.
    private func unasked(_ actions: [ProtocolAction]) -> ResumePoint? {
        actions.lazy.compactMap { action in if case .compareSource(let point) = action { point } else { nil } }.first
    }

    @Test("A POST, and a join of parts, that never went out are taken back by whoever breaks the attempt off")
    func unaskedOnce() {
        let subject = UploadSubject(name: RawPath("f"), size: 1000, token: "abc")
        let post = HTTPPlay(PostUpload(PostPlan(address: HTTPAddress("http://h/api")!, subject: subject)))
        #expect(unasked(post.last)?.content(PostResumePoint.self) == PostResumePoint(token: "abc", isSent: false))

        let size = 64 << 20 as Int64
        let files = HTTPAddress("http://h/files/")!
        var parts = TusResumePoint(
            parts: [
                TusResumePoint.Part(0..<size / 2, url: HTTPAddress("http://h/files/a")),
                TusResumePoint.Part(size / 2..<size, url: HTTPAddress("http://h/files/b")),
            ], begun: noon)
        let large = UploadSubject(name: RawPath("f"), size: size, token: "abc")
        for wasAsked in [false, true] {
            parts.isJoining = wasAsked
            var replaced = large
            replaced.ifExists = .replace
            var tus = HTTPPlay(TusUpload(TusPlan(endpoint: files, subject: replaced, resume: parts)))
            for name in ["/a", "/b"] { tus.end(answered(200, ["Upload-Offset: \(size / 2)"]), of: name) }
            #expect(tus.said.last == "POST /files/ | Overwrite: T")
            // One that an earlier attempt has asked for may have happened.
            #expect(unasked(tus.last)?.content(TusResumePoint.self)?.isJoining == (wasAsked ? nil : false))
        }
    }

    @Test("A MOVE that was never asked for is not waited for: the chunks of the earlier version just go")
    func nextcloudUnasked() {
        let files = HTTPAddress("https://c/remote.php/dav/files/u/f")!
        let folder = "/remote.php/dav/uploads/u/martlet-x"
        func play(_ subject: UploadSubject, _ point: NextcloudResumePoint?) -> HTTPPlay<NextcloudUpload> {
            HTTPPlay(NextcloudUpload(NextcloudPlan(address: files, subject: subject, resume: point)))
        }
        for wasAsked in [false, true] {
            var point = NextcloudResumePoint(folder: "martlet-x", chunk: 10 << 20)
            (point.isMade, point.isAssembling) = (true, wasAsked)
            var subject = changed(.skip, size: 10 << 20)
            subject.hasChanged = false
            var first = play(subject, point)
            if wasAsked {
                first.end(answered(404))
                for _ in 0..<9 {
                    first.end(listing((folder + "/", nil)))
                    guard case .wake? = first.last.last else { break }
                    first.fire()
                    first.end(answered(404))
                }
            }
            first.end(listing((folder + "/", nil), (folder + "/00001", 10 << 20)))
            let kept = unasked(first.last)?.content(NextcloudResumePoint.self)
            #expect(kept?.isAssembling == wasAsked)
            let next = play(changed(.skip, size: 25 << 20), kept)
            #expect(next.said.last == (wasAsked ? "PROPFIND \(files.target)" : "DELETE \(folder)"))
        }
    }

    @Test("A rename that was never asked for leaves nothing in doubt, at a server that tells no sizes, either")
    func unaskedRenames() {
        var subject = changed(.fail, size: 1000)
        (subject.hasChanged, subject.verify) = (false, VerificationWish.none)
        var point = FTPResumePoint(temporary: RawPath(Self.part))
        point.seen = 1000
        func play(_ subject: UploadSubject, _ point: FTPResumePoint?) -> FTPPlay<FTPUpload> {
            FTPPlay(FTPUpload(FTPUploadPlan(host: "h", path: RawPath("f"), subject: subject, resume: point)))
        }
        var first = play(subject, point)
        first.end(FTPAnswers.size(1000))
        first.end(FTPAnswers.missing)
        #expect(first.said.last?.hasSuffix("RNFR \(Self.part); RNTO f") == true)
        let kept = unasked(first.last)?.content(FTPResumePoint.self)
        #expect(kept?.publishing == false)
        #expect(play(changed(.fail), kept).said.last == "*DELE \(Self.part)")

        // That of an earlier attempt went out.
        for wasAsked in [false, true] {
            var gathered = DavResumePoint(temporary: "/d/\(Self.part)")
            gathered.publishing = wasAsked
            let address = HTTPAddress("http://h/d/f")!
            var move = HTTPPlay(DavUpload(DavPlan(address: address, subject: subject, resume: gathered)))
            for end in [listing(("/d/\(Self.part)", 1000)), answered(404)] { move.end(end) }
            #expect(unasked(move.last)?.content(DavResumePoint.self)?.publishing == wasAsked)
        }
    }

    // MARK: SFTP

    @Test("SFTP: what was recognised as our own stays our own over another cut")
    func sftpCut() {
        for policy in [ExistingFilePolicy.fail, .skip] {
            var story = SFTPStory(2 << 20, ifExists: policy)
            #expect(story.attempt() == "finish 2097152 size")
            story.source = story.source.map { $0 ^ 1 }
            (story.subject.hasChanged, story.subject.modifiedNanoseconds) = (true, 77_000_000_000)
            story.cut = (after: 6, isDone: false)
            #expect(story.attempt().hasPrefix("wait backoff"))
            story.cut = nil
            story.subject.hasChanged = false
            #expect(story.attempt() == "finish 2097152 size")
            #expect(story.isPublished)
        }
    }

    @Test("SFTP: a small version of the source may have its name, too, and no rule passes it for the new one")
    func sftpSmall() {
        func story(_ version: NamedVersion?) -> SFTPStory {
            var story = SFTPStory(1000, ifExists: .skip)
            story.attempt()
            story.source = Array(story.source.prefix(400))
            (story.subject.size, story.subject.modifiedNanoseconds) = (400, 77_000_000_000)
            (story.subject.hasChanged, story.subject.begunBefore) = (true, noon)
            story.subject.earlierVersion = version
            return story
        }
        var untold = story(nil)
        #expect(untold.attempt() == "fail unknownOutcome")
        var own = story(NamedVersion(size: 1000, modified: 1234))
        #expect(own.attempt() == "finish 400 size" && own.isPublished)
        var foreign = story(NamedVersion(size: 999, modified: 1234))
        #expect(foreign.attempt() == "finish 400 none skipped")
    }

    @Test("SFTP: a file begun again gets no name in the place of a removed one before all of it is there")
    func sftpTorso() {
        var story = SFTPStory(2 << 20, ifExists: .replace)
        var point = SFTPResumePoint(temporary: RawPath(SFTPStory.part), generation: 1, size: 2 << 20, modified: 1234)
        (point.publishing, point.removesOld, point.isComplete) = (true, true, true)
        story.resume = point
        story.subject.begunBefore = noon
        // What was gathered is gone; the new one is cut as soon as it is open.
        story.cut = (after: 3, isDone: true)
        #expect(story.attempt().hasPrefix("wait backoff"))
        #expect(story.resume?.removesOld == nil && story.resume?.isComplete == nil)
        // Whoever wrote that down before this rule.
        story.resume = point
        story.server.files[SFTPStory.part] = FakeSFTPServer.File(bytes: [], modified: 1)
        (story.subject.hasChanged, story.subject.modifiedNanoseconds) = (true, 77_000_000_000)
        story.cut = nil
        #expect(story.attempt() == "finish 2097152 size" && story.isPublished)
        #expect(!story.log.contains("rename part target"))
    }

    @Test("SFTP: our own earlier version stays ours when the answer to the new one's rename is lost")
    func sftpLostAnswer() {
        for policy in [ExistingFilePolicy.fail, .skip] {
            var story = SFTPStory(1000, ifExists: policy)
            story.attempt()
            story.source = Array(story.source.prefix(400))
            (story.subject.size, story.subject.modifiedNanoseconds) = (400, 77_000_000_000)
            (story.subject.hasChanged, story.subject.begunBefore) = (true, noon)
            story.subject.earlierVersion = NamedVersion(size: 1000, modified: 1234)
            story.losing = ["rename": 1]
            #expect(story.attempt() == "finish 400 size" && story.isPublished)
        }
    }

    @Test("SFTP: the only copy, for which an old file was removed, gets its name before anything is removed")
    func sftpOnlyCopy() {
        var story = SFTPStory(2 << 20, ifExists: .replace)
        let old = story.source
        story.server.files[SFTPStory.part] = FakeSFTPServer.File(bytes: old, modified: 1234)
        var point = SFTPResumePoint(temporary: RawPath(SFTPStory.part), generation: 1, size: 2 << 20, modified: 1234)
        (point.publishing, point.removesOld, point.isComplete) = (true, true, true)
        story.resume = point
        story.source = old.map { $0 ^ 1 }
        (story.subject.hasChanged, story.subject.modifiedNanoseconds) = (true, 77_000_000_000)
        story.cut = (after: 5, isDone: false)
        #expect(story.attempt().hasPrefix("wait backoff"))
        #expect(story.log.prefix(4) == ["status target", "status part2", "status part", "rename part target"])
        #expect(story.server.files["d/f"]?.bytes == old)
        story.cut = nil
        #expect(story.attempt() == "finish 2097152 size" && story.isPublished)
    }
}
