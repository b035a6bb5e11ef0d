import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let file = HTTPAddress("https://h/d/f")!
private let plain = HTTPAddress("http://h/d/f")!

private func put(_ address: HTTPAddress = file) -> PutUpload {
    PutUpload(PutPlan(address: address, size: 1000, ifExists: .replace, verify: VerificationWish.none))
}

private func tus(_ resume: TusResumePoint? = nil) -> TusUpload {
    var facts = HostFacts()
    (facts.tusExtensions, facts.tusChecksums) = (["creation"], [])
    return TusUpload(
        TusPlan(endpoint: HTTPAddress("http://h/files/")!, subject: subject(1000), facts: facts, resume: resume))
}

private func ietf(_ size: Int64 = 10 * mebibyte) -> ResumableUpload {
    var facts = HostFacts()
    (facts.interopVersion, facts.announcesResume, facts.heedsConditions) = (8, true, true)
    return ResumableUpload(ResumablePlan(address: plain, subject: subject(size), facts: facts))
}

private func get(_ url: String = "http://h/f") -> GetDownload { GetDownload(GetPlan(address: HTTPAddress(url)!)) }

private func moved(_ location: String?, _ status: Int = 302) -> ExchangeEnd {
    answered(status, location.map { ["Location: \($0)"] } ?? [], sent: 0)
}

/// The error with which a machine stops after these ends; a download is told each head, too.
private func failure(_ machine: any ProtocolMachine, _ ends: ExchangeEnd...) -> TransferError? {
    var machine = machine
    var actions = machine.handle(.began(at: noon))
    for end in ends {
        for _ in 0..<3 {
            guard case .wake(let timer, _)? = actions.last else { break }
            actions = machine.handle(.timerFired(timer))
        }
        for case .digestRange(let range, let algorithms) in actions {
            actions = machine.handle(.rangeDigested(range, S3Script.digests(range, algorithms)))
        }
        var id = ExchangeID(rawValue: 0)
        for case .perform(let performed, _) in actions { id = performed }
        let told = end.answer.map { machine.handle(.answered(id, $0, at: noon)) } ?? []
        actions = told.isEmpty ? machine.handle(.ended(id, end)) : told
        for action in actions {
            switch action {
            case .fail(let error): return error
            case .wait(let demand): return demand.error
            case .mismatch(_, let error): return error
            default: break
            }
        }
    }
    return nil
}

/// What people read of a failure, produced by the failure.
@Suite struct FailureMessageTests {
    @Test("a redirect that cannot be followed says why, and what to do")
    func redirects() {
        for (end, message) in [
            (moved(nil), "h answered 302, but not where to go: check the address"),
            (
                moved("gopher://h/x"),
                "h answered 302, pointing to an address that is malformed or not http or https: check the address"
            ),
            (
                moved("http://h/x"),
                "h points to an unencrypted address: check the address, or queue it again with that one"
            ),
            (
                moved("https://h/x", 303),
                "h answered 303: check the address; it points elsewhere in a way that cannot be followed"
            ),
        ] {
            #expect(failure(put(), end)?.message == message)
        }
        let round = (0..<60).map { moved("https://h/\($0)") }
        var machine = put()
        var actions = machine.handle(.began(at: noon))
        var error: TransferError?
        for end in round {
            for case .perform(let id, _) in actions { actions = machine.handle(.ended(id, end)) }
            for case .fail(let failed) in actions { error = failed }
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.message == "h redirects again and again: check the address")
    }

    @Test("a limit that the server told is said with its figure")
    func limits() {
        let most = answered(201, ["Location: /u", "Upload-Limit: max-size=5"], sent: 0)
        #expect(
            failure(ietf(), most)?.message
                == "h takes files up to 5 bytes: send it elsewhere, or ask for a higher limit there")
        let least = answered(201, ["Location: /u", "Upload-Limit: min-size=99999999"], sent: 0)
        #expect(
            failure(ietf(), least)?.message
                == "h takes files from 99999999 bytes on: send it elsewhere, or ask for a lower limit there")
        let pieces = answered(201, ["Location: /u", "Upload-Limit: max-append-size=5"], sent: 0)
        #expect(
            failure(ietf(), pieces)?.message
                == "h takes at most 5 bytes in one request: send it elsewhere, or ask for a higher limit there")
        let announced = answered(204, ["Tus-Version: 1.0.0", "Tus-Extension: creation", "Tus-Max-Size: 5"], sent: 0)
        let unasked = TusUpload(TusPlan(endpoint: HTTPAddress("http://h/files/")!, subject: subject(1000)))
        #expect(failure(unasked, announced)?.message.hasPrefix("h takes files up to 5 bytes: ") == true)
    }

    @Test("a tus server that makes no upload, makes it nowhere, or ends it, is told apart")
    func tusAnswers() {
        #expect(
            failure(tus(), answered(201, sent: 0))?.message
                == "h answered 201 but made no upload: is this the address of a tus server?")
        #expect(
            failure(tus(), answered(201, ["Location: gopher://h/1"], sent: 0))?.message
                == "h made the upload at an address that cannot be used: check the server's settings behind its proxy")
        let page = answered(200, ["Content-Type: text/html"], sent: 0)
        #expect(
            failure(tus(), page)?.message.hasPrefix("h answered with a web page, as no tus server does: sign in")
                == true)
        let made = answered(201, ["Location: /files/1"], sent: 0)
        for word in ["ERR_UPLOAD_STOPPED", "ERR_UPLOAD_REJECTED"] {
            #expect(
                failure(tus(), made, answered(400, body: "\(word): no"))?.message
                    == "the server ended the upload on purpose: ask whoever runs it, then retry")
        }
    }

    @Test("a server that lets an upload go on no more waits for another access")
    func refusedMidway() {
        let made = answered(201, ["Location: /u", "Upload-Complete: ?0"], sent: 0)
        let error = failure(ietf(), made, answered(403, sent: 0))
        #expect(
            error?.message
                == "h no longer lets this upload go on (403): renew the access there, or give it a login that it takes, with martlet set"
        )
    }

    @Test("a 206 that says nothing of its part is told")
    func badRange() {
        let message = "h answered 206 without saying which part: Martlet tries again by itself"
        #expect(failure(get(), answered(206))?.message == message)
        #expect(failure(get(), answered(206, ["Content-Range: bytes 0-99/*"]))?.message == message)
    }

    @Test("a download that went away while it came says how to have it all the same, by each protocol")
    func wentAway() {
        let head = answered(200, ["Content-Length: 5242880", "ETag: \"a\""])
        var machine = get()
        _ = machine.handle(.began(at: noon))
        let first = ExchangeID(rawValue: 1)
        if let answer = head.answer { _ = machine.handle(.answered(first, answer, at: noon)) }
        _ = machine.handle(.ended(first, ExchangeEnd(answer: head.answer, bytesWritten: 5 << 20, at: noon)))
        _ = machine.handle(.ended(ExchangeID(rawValue: 2), answered(404)))
        var message: String?
        for case .fail(let error) in machine.handle(.ended(ExchangeID(rawValue: 3), answered(404))) {
            message = error.message
        }
        let words = "the file went away at h while it came, so nothing shows that all of it is one version"
        let cure = "put it back there; a link that works only once wants --verify none, then retry"
        #expect(message == "\(words): \(cure)")
        var play = FTPPlay(FTPDownload(FTPDownloadPlan(host: "h", path: RawPath("f"), verify: .size)))
        play.end(FTPAnswers.size(1000))
        play.end(FTPAnswers.done("RETR", written: 1000, after: .seconds(2)))
        play.end(FTPAnswers.missing)
        for case .fail(let error) in play.last { message = error.message }
        #expect(message == "\(words) (No such file): \(cure)")
    }

    @Test("a folder that SFTP cannot make is told with the server's words")
    func madeNoFolder() {
        var story = SFTPStory(1000)
        story.server.folders = []
        story.server.refuses["makeFolders"] = (.failure, "no folders here")
        #expect(story.attempt() == "fail destinationUnwritable")
        #expect(story.lastError?.message == "h cannot make the folder (no folders here): look there, or choose another")
    }

    @Test("a folder's listing that is none, and one without end, say what can still be done")
    func listings() {
        let none = "h answered with what is no list of a folder: 'martlet verify ID' asks again"
        let folder = HTTPAddress("http://h/in/")!
        #expect(failure(RemoteListing(DavFolderListing(folder, isCloud: false)), answered(207))?.message == none)
        var ftp = RemoteListing(FTPFolderListing(host: "h", RawPath("in")))
        _ = ftp.handle(.began(at: noon))
        var message: String?
        for case .fail(let error) in ftp.handle(.ftpEnded(ExchangeID(rawValue: 1), FTPAnswers.done("MLSD"))) {
            message = error.message
        }
        #expect(message == none)
        var sftp = RemoteListing(SFTPFolderListing(host: "h", RawPath("in")))
        var actions = sftp.handle(.began(at: noon))
        var reply = SFTPReply.opened(SFTPHandle(rawValue: 1))
        message = nil
        for _ in 0...ListedFolder.mostEmptyPages {
            for case .perform(let id, _) in actions { actions = sftp.handle(.sftpEnded(id, SFTPEnd(reply, at: noon))) }
            for case .fail(let error) in actions { message = error.message }
            reply = .names([])
        }
        #expect(message == "h lists a folder without end: look there whether all of it has arrived")
    }

    @Test("409 to a plain PUT may be a missing folder and advises dav://; other protocols advise to look there")
    func conflicts() {
        let conflict = answered(409, sent: 0)
        #expect(failure(put(), conflict)?.message.contains("queue it again with dav:// for a WebDAV server") == true)
        let others = "h answered 409 Conflict: something there stands in its way; look there, then retry"
        #expect(failure(tus(), conflict)?.message == others)
        #expect(failure(ietf(), conflict)?.message == others)
        #expect(failure(get(), conflict)?.message == others)
        let bucket = S3Upload(s3Plan(endpoint: "https://h"))
        let refusal = failure(bucket, conflict, conflict, conflict, conflict)?.message ?? ""
        #expect(!refusal.isEmpty && !refusal.contains("dav://"), "\(refusal)")
    }

    @Test(
        "an answer that is no success says what mends it",
        arguments: [
            (401, "h answered 401 Unauthorized: give it a login that it takes, with martlet set"),
            (403, "h answered 403 Forbidden: ask for access there, or check the address"),
            (404, "h answered 404 Not Found: check the address"),
            (410, "h answered 410 Gone: the file is gone for good; check the address"),
            (411, "h answered 411 Length Required: it wants a length in front; check for a proxy between"),
            (414, "h answered 414 URI Too Long: the path is too long for it; use shorter names"),
            (422, "h answered 422: check the address and the server's log, then retry"),
            (503, "h answered 503 Service Unavailable: Martlet tries again by itself"),
            (
                507,
                "h answered 507 Insufficient Storage: its disk or quota is full; make room there, Martlet tries again"
            ),
        ])
    func statuses(status: Int, message: String) {
        #expect(failure(get(), answered(status))?.message == message)
    }

    @Test("bytes that were stored and are not those that were sent are told with their number")
    func sizes() {
        let verified = PutUpload(PutPlan(address: file, size: 1000, ifExists: .replace, verify: .size))
        #expect(
            failure(verified, answered(201), answered(200, ["Content-Length: 10"]))?.happening
                == "h took the file but has 10 of 1000 bytes")
        #expect(
            PutUpload.doubt(HTTPAnswer(status: 200, headers: []), size: 5)
                == "it does not tell the size of what is there")
    }

    @Test("an address that is none of a Nextcloud is refused before anything is sent")
    func noCloud() throws {
        let address = try #require(HTTPAddress("https://h/remote.php/dav/"))
        var upload = NextcloudUpload(NextcloudPlan(address: address, subject: subject(1000)))
        guard case .fail(let error)? = upload.handle(.began(at: noon)).last else {
            Issue.record("it is taken for one")
            return
        }
        #expect(error.message == "h: this is no address of a file in Nextcloud: check it")
    }
}
