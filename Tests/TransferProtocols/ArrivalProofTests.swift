import Digests
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let mebi = 1 << 20

/// Why a file may count as being at the target: proof, or it is sent again, or a person looks.
@Suite struct ArrivalProofTests {
    // MARK: The source is compared before the name is given

    @Test("SFTP compares the source before every rename, also before the one that follows a removal")
    func comparesBeforeRename() {
        var story = SFTPStory(2 * mebi)
        #expect(story.attempt() == "finish 2097152 size")
        #expect(story.order.suffix(2) == ["compare", "rename part target"])
        // Written down first: then a missing temporary file means that the rename happened.
        #expect(story.log.suffix(3).first == "persist" && story.resume?.publishing == true)
        story = SFTPStory(3, ifExists: .replace)
        story.server.features.renamesOver = false
        story.appears = .init(bytes: [9], modified: 9)
        #expect(story.attempt() == "finish 3 size")
        #expect(story.order.suffix(3) == ["compare", "remove target", "rename part target"])
    }

    @Test("FTP, WebDAV, Nextcloud and S3 compare the source right before the request that gives the name")
    func comparesBeforePublishing() throws {
        var ftp = FTPPlay(
            FTPUpload(FTPUploadPlan(host: "h", path: RawPath("f"), subject: subject(1000, ifExists: .replace))))
        ftp.end(FTPAnswers.done("STOR", sent: 1000))
        ftp.end(FTPAnswers.size(1000))
        #expect(ftp.said.last?.contains("RNTO") == true && ftp.last.comparesFirst)

        var dav = HTTPPlay(DavUpload(DavPlan(address: HTTPAddress("http://h/f")!, subject: subject(1000))))
        dav.end(answered(201))
        #expect(dav.said.last?.hasPrefix("MOVE") == true && dav.last.comparesFirst)

        let address = try #require(HTTPAddress("https://c/remote.php/dav/files/u/f"))
        var cloud = HTTPPlay(NextcloudUpload(NextcloudPlan(address: address, subject: subject(1000), chunk: 5 << 20)))
        let folder = "/remote.php/dav/uploads/u/martlet-0123456789abcdef"
        for end in [answered(404), answered(201)] { cloud.end(end) }
        cloud.end(answered(201, sent: 1000), of: "/00001")
        cloud.end(listing((folder + "/", nil), (folder + "/00001", 1000)))
        #expect(cloud.said.last?.hasPrefix("MOVE") == true && cloud.last.comparesFirst)

        // The table's script keeps words alone; the action itself is looked at here.
        var s3 = S3Upload(s3Plan(size: 10 << 20, resume: s3Point(size: 10 << 20)))
        _ = s3.handle(.began(at: noon))
        let rows = (1...2).map { number in
            (Int64(number), Int64(5 << 20), tag(part(Int64(number), of: 10 << 20)))
        }
        var actions = s3.handle(.ended(ExchangeID(rawValue: 1), answered(200, body: listXML(rows))))
        for number in 1...2 {
            let range = part(Int64(number), of: 10 << 20)
            actions = s3.handle(.rangeDigested(range, S3Script.digests(range, ["md5"])))
        }
        #expect(actions.comparesFirst)
    }

    @Test("the parts of a tus upload are joined only while the source is what they were made of")
    func comparesBeforeJoin() {
        var facts = HostFacts()
        facts.tusExtensions = ["creation", "concatenation"]
        let size = 64 * mebibyte
        let point = TusResumePoint(
            parts: [
                TusResumePoint.Part(0..<size / 2, url: HTTPAddress("http://h/files/a")),
                TusResumePoint.Part(size / 2..<size, url: HTTPAddress("http://h/files/b")),
            ], begun: noon)
        var tus = TusUpload(
            TusPlan(
                endpoint: HTTPAddress("http://h/files/")!, subject: subject(size), facts: facts, resume: point,
                parts: 2))
        _ = tus.handle(.began(at: noon))
        var actions: [ProtocolAction] = []
        for id in 1...2 {
            let end = answered(200, ["Upload-Offset: \(size / 2)", "Upload-Length: \(size / 2)"])
            actions = tus.handle(.ended(ExchangeID(rawValue: id), end))
        }
        #expect(actions.comparesFirst)
    }

    // MARK: What another run has sent is not ours

    @Test("SFTP: a file with our size and second that stood at the target never counts for one that is to replace it")
    func sameSecondReplaced() {
        for size in [1000, 2 * mebi] {
            for cut in 1...6 {
                var story = SFTPStory(size, ifExists: .replace)
                let old = [UInt8](repeating: 9, count: size)
                story.server.files["d/f"] = .init(bytes: old, modified: 1234)
                story.cut = (after: cut, isDone: false)
                #expect(story.attempt().hasPrefix("wait"))
                story.cut = nil
                story.subject.begunBefore = Timestamp(milliseconds: 1000)
                #expect(story.attempt() == "finish \(size) size", "cut after \(cut)")
                #expect(story.isPublished, "cut after \(cut)")
            }
        }
    }

    @Test("SFTP: what appeared at the target after the first look is no proof, whatever its size and second")
    func appearedWithSameSecond() {
        for renamesOver in [true, false] {
            var story = SFTPStory(100_000)
            story.server.features.renamesOver = renamesOver
            story.cut = (after: 3, isDone: false)
            #expect(story.attempt().hasPrefix("wait"))
            story.resume = story.remains
            story.cut = nil
            let theirs = FakeSFTPServer.File(bytes: [UInt8](repeating: 9, count: 100_000), modified: 1234)
            story.server.files["d/f"] = theirs
            #expect(story.attempt() == "fail destinationExists")
            #expect(story.server.files["d/f"] == theirs)
        }
    }

    @Test("SFTP: where a rename replaces, the target is asked for right before it, with no other file of ours between")
    func claimsName() {
        // Some servers offer posix-rename, and replace by the other one, too.
        for renamesOver in [true, false] {
            var story = SFTPStory(100)
            (story.server.features.renamesOver, story.server.features.isOpenSSH) = (renamesOver, false)
            #expect(story.attempt() == "finish 100 size")
            #expect(story.order.suffix(4) == ["claim", "status target", "compare", "rename part target"])
        }
    }

    @Test("SFTP: after a kill a small file is read back, and its bytes decide")
    func readBack() {
        var story = SFTPStory(1000)
        story.attempt()
        story.subject.begunBefore = Timestamp(milliseconds: 4_000_000)
        #expect(story.attempt() == "finish 1000 digest found")
        #expect(story.log.contains("read all") && story.server.open.isEmpty)
        story.server.files["d/f"]?.bytes[7] ^= 1
        #expect(story.attempt() == "fail unknownOutcome")
        #expect(story.server.files["d/f"]?.bytes != story.source)
    }

    @Test("SFTP: an earlier version of the source that was renamed does not pass for the new one")
    func earlierVersion() {
        var story = SFTPStory(2 * mebi)
        #expect(story.attempt() == "finish 2097152 size")
        // The answer to that rename was lost, and the source is rewritten within the same second.
        story.subject.begunBefore = Timestamp(milliseconds: 4_000_000)
        story.subject.hasChanged = true
        story.source = story.source.map { $0 ^ 1 }
        #expect(story.attempt() == "finish 2097152 size")
        #expect(story.isPublished)
    }

    @Test("FTP: the target is asked for before every RNTO that must not replace, and then no time counts")
    func asksBeforeRename() {
        let plan = FTPUploadPlan(host: "h", path: RawPath("readme"), subject: subject(1000))
        var play = FTPPlay(FTPUpload(plan))
        play.end(FTPAnswers.missing)
        play.end(FTPAnswers.done("STOR", sent: 1000))
        play.end(FTPAnswers.size(1000))
        #expect(play.said == ["accepted 1000", "SIZE readme"])
        #expect(play.last.contains(.claimName(RawPath("readme"))))
        // README has got that name meanwhile, on a server that takes both for one.
        play.end(FTPAnswers.size(1000, modified: Timestamp(milliseconds: 0)))
        play.end(FTPAnswers.done("DELE"))
        #expect(play.said == ["fail destinationExists"])
    }

    @Test("PUT: what version one has left passes for version two by nothing but its bytes")
    func versionOneIsNotVersionTwo() {
        let there = ["Content-Length: 1000", "Last-Modified: \(noonText)", "Date: \(noonText)"]
        let mine = [UInt8](repeating: 1, count: 1000)
        func end(_ body: [UInt8], ifExists: ExistingFilePolicy) -> [String] {
            var plan = PutPlan(address: HTTPAddress("http://h/f")!, size: 1000, ifExists: ifExists, begunBefore: noon)
            plan.unanswered = 0
            var put = PutUpload(plan)
            _ = put.handle(.began(at: noon))
            for id in 1...2 { _ = put.handle(.ended(ExchangeID(rawValue: id), answered(200, there))) }
            let read = ExchangeEnd(answer: HTTPAnswer(status: 200), body: body, at: noon)
            #expect(words(put.handle(.ended(ExchangeID(rawValue: 3), read))) == ["digest"])
            let digest = TransferDigest(algorithm: "sha-256", value: DigestAlgorithm.sha256.digest(of: mine).hex)
            return words(put.handle(.digested(digest)))
        }
        for policy in [ExistingFilePolicy.fail, .replace] {
            #expect(end(mine, ifExists: policy) == ["finish 1000 digest found"])
            let other = end([UInt8](repeating: 2, count: 1000), ifExists: policy)
            // On a server that heeds no condition it may be anybody's.
            let next = policy == .replace ? "4 PUT" : "fail unknownOutcome"
            #expect(other.first?.hasPrefix(next) == true && other.count == 1)
        }
    }

    @Test(
        "PUT: answers that are lost time after time end with a question, not with sending for ever",
        .tells("an earlier attempt may have reached h, but its answers are lost, time after time"))
    func lostForEver() {
        var unanswered: Int? = 0
        var last: [String] = []
        for _ in 1...3 {
            var plan = PutPlan(address: HTTPAddress("http://h/f")!, size: 2 << 20, ifExists: .replace)
            plan.tellsDigests = false
            plan.unanswered = unanswered
            var put = PutUpload(plan)
            _ = put.handle(.began(at: noon))
            _ = put.handle(
                .ended(ExchangeID(rawValue: 1), TransferProtocolsTests.unanswered(lost, sent: 2 << 20)))
            let actions = put.handle(
                .ended(ExchangeID(rawValue: 2), answered(200, ["Content-Length: 2097152"])))
            last = words(actions)
            for case .persist(let point) in actions { unanswered = point.content(StoredVersion.self)?.unanswered }
        }
        #expect(last == ["fail unknownOutcome"])
    }

    @Test("a tag that is the file's MD5 proves it, another tag proves nothing")
    func tagOfContent() {
        let sum = Hexadecimal.encode(md5(0..<(2 << 20)))
        func end(_ ours: String) -> [String] {
            var plan = PutPlan(address: HTTPAddress("http://h/f")!, size: 2 << 20, ifExists: .fail, begunBefore: noon)
            plan.tellsDigests = nil
            var put = PutUpload(plan)
            _ = put.handle(.began(at: noon))
            let head = answered(200, ["Content-Length: 2097152", "ETag: \"\(sum)\"", "Last-Modified: \(noonText)"])
            #expect(words(put.handle(.ended(ExchangeID(rawValue: 1), head))) == ["digest 0..<2097152 md5"])
            return words(put.handle(.rangeDigested(0..<(2 << 20), [TransferDigest(algorithm: "md5", value: ours)])))
        }
        #expect(end(sum) == ["finish 2097152 digest found"])
        #expect(end("00").first?.hasPrefix("2 GET") == true)
    }

    @Test("S3: a Complete that is answered 404 sends the file once more, and then says why it ends")
    func completeGone() {
        let size = fourParts
        var script = s3Completing()
        #expect(script.end(7, 404, body: errorXML("NoSuchUpload")) == ["8 HEAD"])
        #expect(
            script.end(8, 404) == [
                "over: the server does not know the upload any more", "persist s3", "9 POST ?uploads",
            ])
        var said = script.end(9, 200, body: createdXML("V"))
        var id = 10
        while !said.contains(where: { $0.contains("POST ?uploadId=V") }) {
            said = script.end(id, 200, ["ETag: \(tag(part(Int64(id - 9), of: size)))"])
            id += 1
            if id > 20 { break }
        }
        #expect(script.end(id, 404, body: errorXML("NoSuchUpload")) == ["\(id + 1) HEAD"])
        #expect(script.end(id + 1, 404) == ["fail badServerResponse"])
    }

    // MARK: What we remove ourselves proves nothing

    @Test("SFTP: a temporary file that we removed after its rename was written down proves no rename")
    func removedByUs() {
        var story = SFTPStory(2 * mebi, ifExists: .replace)
        let old = [UInt8](repeating: 9, count: 2 * mebi)
        story.server.files["d/f"] = .init(bytes: old, modified: 1234)
        // The connection breaks on the rename, which the server never sees.
        story.cutOn = ("rename", 1)
        story.attempt()
        story.cutOn = nil
        #expect(story.resume?.publishing == true && story.server.files["d/f"]?.bytes == old)
        // The next attempt removes it, because the server empties what is opened, and cannot open another.
        story.server.refuses = ["openForWriting": (.permissionDenied, "")]
        story.facts.cannotResume = true
        story.attempt()
        #expect(story.server.files[SFTPStory.part] == nil && story.resume?.publishing == false)
        story.server.refuses = [:]
        #expect(story.attempt() == "finish 2097152 size")
        #expect(story.isPublished)
    }

    @Test(
        "SFTP: a file that may be replaced and has another time is not what was renamed, whoever took the temporary one"
    )
    func otherTime() {
        for keepsTimes in [true, false] {
            var story = SFTPStory(2 * mebi, ifExists: .replace)
            story.server.keepsTimes = keepsTimes
            story.server.files["d/f"] = .init(bytes: [UInt8](repeating: 9, count: 2 * mebi), modified: 99)
            story.cutOn = ("rename", 1)
            story.attempt()
            story.cutOn = nil
            #expect(story.resume?.publishing == true && story.resume?.keepsTime == (keepsTimes ? true : nil))
            // Somebody who tidies up.
            story.server.files[SFTPStory.part] = nil
            story.attempt()
            #expect(story.isPublished)
        }
    }

    @Test("what is removed for a cancel takes the claim of a rename along")
    func disclaimed() throws {
        var sftp = SFTPResumePoint(temporary: RawPath("p"), generation: 1, size: 1, modified: 1)
        sftp.publishing = true
        var ftp = FTPResumePoint(temporary: RawPath("p"))
        ftp.publishing = true
        var dav = DavResumePoint(temporary: "/p")
        dav.publishing = true
        var cloud = NextcloudResumePoint(folder: "p", chunk: 1)
        (cloud.isAssembling, cloud.lostAt) = (true, noon)
        #expect(ResumePoint(sftp).disclaimed.content(SFTPResumePoint.self)?.publishing == false)
        #expect(ResumePoint(ftp).disclaimed.content(FTPResumePoint.self)?.publishing == false)
        #expect(ResumePoint(dav).disclaimed.content(DavResumePoint.self)?.publishing == false)
        let left = try #require(ResumePoint(cloud).disclaimed.content(NextcloudResumePoint.self))
        #expect(!left.isAssembling && left.lostAt == nil)
        var counted = ResumePoint(sftp)
        counted.sourceChanges = 2
        #expect(counted.disclaimed.sourceChanges == 2)
        let other = ResumePoint(StoredVersion(stored: true, etag: nil))
        #expect(other.disclaimed == other)
    }

    @Test("SFTP: a rename that was refused is none, though the temporary file has vanished")
    func refusedRename() {
        var machine = SFTPUpload(
            SFTPUploadPlan(host: "h", path: RawPath("d/f"), subject: SFTPStory(1000).subject))
        _ = machine.handle(.began(at: noon))
        machine.point.publishing = false
        let target = SFTPEnd(.attributes(SFTPAttributes(size: 1000, modified: 1)), at: noon)
        let gone = SFTPEnd(.refused(.noSuchFile, ""), at: noon)
        let group = SFTPUpload.Group(
            ids: [ExchangeID(rawValue: 1), ExchangeID(rawValue: 2)],
            ends: [ExchangeID(rawValue: 1): target, ExchangeID(rawValue: 2): gone])
        #expect(words(machine.checked(group, .refused(.failure, ""))) == ["wait backoff badServerResponse"])
        machine.renames.lostAnswer()
        #expect(words(machine.checked(group, .refused(.failure, ""))) == ["finish 1000 size"])
    }

    @Test("FTP, WebDAV and Nextcloud take back that a name was asked for before they remove what was to get it")
    func disclaims() throws {
        var ftpPoint = FTPResumePoint(temporary: RawPath(".f.01234567.martlet-part"))
        ftpPoint.publishing = true
        var ftp = FTPPlay(
            FTPUpload(
                FTPUploadPlan(
                    host: "h", path: RawPath("f"), subject: subject(1000, ifExists: .replace), resume: ftpPoint)))
        ftp.end(FTPAnswers.size(1001))
        let taken = ftp.last.compactMap { action in
            if case .persist(let point) = action { point.content(FTPResumePoint.self)?.publishing } else { nil }
        }
        #expect(taken == [false] && ftp.said.last?.hasPrefix("*DELE") == true)
        // A kill before that is done must not have the next attempt go on from it: it may be of another version.
        func outdated(_ actions: [ProtocolAction]) -> [Bool] {
            actions.compactMap { action in if case .persist(let point) = action { point.isOutdated } else { nil } }
        }
        #expect(outdated(ftp.last) == [true])

        var davPoint = DavResumePoint(temporary: "/.f.01234567.martlet-part")
        davPoint.publishing = true
        var dav = HTTPPlay(
            DavUpload(
                DavPlan(
                    address: HTTPAddress("http://h/f")!, subject: subject(1000, ifExists: .replace), resume: davPoint)))
        dav.end(listing(("/.f.01234567.martlet-part", 7)))
        #expect(dav.said.suffix(2).first == "persist dav" && dav.said.last?.hasPrefix("DELETE") == true)
        #expect(outdated(dav.last) == [true])

        var cloudPoint = NextcloudResumePoint(folder: "martlet-0123456789abcdef", chunk: 5 << 20)
        (cloudPoint.isMade, cloudPoint.isAssembling) = (true, true)
        let address = try #require(HTTPAddress("https://c/remote.php/dav/files/u/f"))
        var cloud = HTTPPlay(
            NextcloudUpload(
                NextcloudPlan(address: address, subject: subject(1000, hasChanged: true), resume: cloudPoint)))
        // Neither its file nor its folder is there, at a second look either.
        for _ in 1...4 { cloud.end(answered(404)) }
        #expect(cloud.said.first == "persist nextcloud" && cloud.said.last?.hasPrefix("DELETE") == true)
        #expect(outdated(cloud.last) == [true])
    }

    @Test("who writes under the final name has it for itself, from the look on")
    func claimsFinalName() {
        var facts = HostFacts()
        facts.cannotRename = true
        var ftp = FTPUpload(
            FTPUploadPlan(host: "h", path: RawPath("f"), subject: subject(1000), facts: facts))
        #expect(ftp.handle(.began(at: noon)).first == .claimName(RawPath("f")))
        var sftp = SFTPUpload(
            SFTPUploadPlan(host: "h", path: RawPath("f"), subject: subject(1000), facts: facts))
        #expect(sftp.handle(.began(at: noon)).first == .claimName(RawPath("f")))
    }

    // MARK: Names

    @Test(
        "the Destination has nothing in its path at which a server could cut it, and where it might, the name is looked at",
        .tells("it may have cut the name at a ; or ?; look there, and send the file under another name")
    )
    func destination() throws {
        let address = try #require(HTTPAddress("http://h/a;b/x%3By%3F"))
        #expect(DavMessages.destination(address).value == "http://h/a%3Bb/x%3By%3F")
        #expect(DavMessages.destination(address, pathOnly: true).value == "/a%3Bb/x%3By%3F")
        func moved(_ look: ExchangeEnd) -> [String] {
            var play = HTTPPlay(DavUpload(DavPlan(address: address, subject: subject(1000))))
            play.end(answered(201))
            play.end(answered(201))
            #expect(play.said == ["PROPFIND /a;b/x%3By%3F"])
            play.end(look)
            return play.said
        }
        #expect(moved(answered(404)) == ["fail destinationUnwritable"])
        #expect(moved(listing(("/a;b/x;y?", 7))) == ["fail destinationUnwritable"])
        #expect(moved(listing(("/a;b/x;y?", 1000))) == ["finish 1000 size"])
        #expect(!DavMessages.mayBeMisread(HTTPAddress("http://h/a%20b/c")!))
    }

    @Test("temporary names leave room for servers that take shorter names than Linux")
    func longNames() {
        for count in 200...255 {
            let name = TemporaryName.beside(
                RawPath("x/" + String(repeating: "n", count: count)), token: "0123456789ab", generation: 12)
            #expect(name.bytes.count <= 2 + 240)
            #expect(name.displayed.hasSuffix(".01234567-12.martlet-part"))
        }
    }
}
