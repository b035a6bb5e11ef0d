import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let mebi: Int64 = 1 << 20
private let target = "/remote.php/dav/files/u/d/f"
private let folder = "/remote.php/dav/uploads/u/martlet-0123456789abcdef"
private let destination = "Destination: https://c\(target)"
private let move = "MOVE \(folder)/.file | \(destination) | Overwrite: F"

private func plan(
    _ ifExists: ExistingFilePolicy = .fail, size: Int64 = 25 * mebi, parallel: Int = 2, changed: Bool = false,
    chunk: Int64 = 10 * mebi, facts: HostFacts = HostFacts(), verify: VerificationWish? = nil,
    resume: NextcloudResumePoint? = nil
) -> NextcloudPlan {
    NextcloudPlan(
        address: HTTPAddress("https://c\(target)")!,
        subject: UploadSubject(
            name: RawPath("f"), size: size, modifiedNanoseconds: noon.milliseconds * 1_000_000, ifExists: ifExists,
            verify: verify, token: "0123456789abcdef0123456789abcdef", hasChanged: changed),
        facts: facts, resume: resume, chunk: chunk, parallel: parallel)
}

private func chunk(_ number: Int, _ range: Range<Int64>, in folder: String = folder) -> String {
    "PUT \(folder)/0000\(number) \(range.lowerBound)..<\(range.upperBound) | \(destination)"
}

private func left(
    made: Bool = true, assembling: Bool = false, lostAt: Timestamp? = nil, before: RemoteVersion? = nil
) -> NextcloudResumePoint {
    var point = NextcloudResumePoint(folder: "martlet-0123456789abcdef", chunk: 10 * mebi)
    point.isMade = made
    point.isAssembling = assembling
    point.lostAt = lostAt
    point.before = before
    return point
}

private let first = chunk(1, 0..<10 * mebi)
private let middle = chunk(2, 10 * mebi..<20 * mebi)
private let third = chunk(3, 20 * mebi..<25 * mebi)
private let all = listing(
    (folder + "/", nil), (folder + "/00001", 10 * mebi), (folder + "/00002", 10 * mebi), (folder + "/00003", 5 * mebi))

/// An upload whose MOVE is under way.
private func assembling(_ ifExists: ExistingFilePolicy = .fail) -> HTTPPlay<NextcloudUpload> {
    var play = HTTPPlay(NextcloudUpload(plan(ifExists)))
    for end in [answered(404), answered(201)] { play.end(end) }
    for number in 1...3 { play.end(answered(201, sent: number < 3 ? 10 * mebi : 5 * mebi), of: "/0000\(number)") }
    play.end(all)
    return play
}

private func after<Machine: ProtocolMachine>(_ play: HTTPPlay<Machine>, _ ends: ExchangeEnd...) -> [String] {
    var play = play
    for end in ends { play.end(end) }
    return play.said
}

private func file(_ size: Int64, etag: String = "\"1\"", at now: Timestamp = noon) -> ExchangeEnd {
    listing((target, size), etag: etag, at: now)
}

private func gone(at now: Timestamp) -> ExchangeEnd { ExchangeEnd(answer: HTTPAnswer(status: 404), at: now) }

@Suite struct NextcloudUploadTests {
    @Test("a folder of its own, chunks side by side, a look at them all, and one MOVE")
    func straightThrough() {
        var play = HTTPPlay(NextcloudUpload(plan()))
        #expect(play.said == ["PROPFIND \(target)"])
        play.end(answered(404))
        #expect(play.said == ["persist nextcloud", "MKCOL \(folder) | \(destination)"])
        play.end(answered(201))
        #expect(play.said == ["persist nextcloud", first, middle])
        play.end(answered(201, sent: 10 * mebi), of: "/00002")
        #expect(play.said == ["accepted \(10 * mebi)", third])
        play.end(answered(201, sent: 5 * mebi), of: "/00003")
        #expect(play.said == ["accepted \(15 * mebi)"])
        play.end(answered(201, sent: 10 * mebi), of: "/00001")
        #expect(play.said == ["accepted \(25 * mebi)", "PROPFIND \(folder) | Depth: 1"])
        play.end(all)
        #expect(play.said == ["persist nextcloud", move])
        if case .perform(_, .http(let exchange))? = play.last.last {
            #expect(exchange.patience == .assembling)
            #expect(exchange.headers.contains(HeaderField("OC-Total-Length", "\(25 * mebi)")))
            #expect(exchange.headers.contains(HeaderField("X-OC-Mtime", "\(noon.milliseconds / 1000)")))
        }
        play.end(answered(201, ["OC-ETag: \"new\""]))
        #expect(play.said == ["PROPFIND \(target)"])
        play.end(file(25 * mebi))
        #expect(play.said == ["finish \(25 * mebi) size"])
        if case .finish(let receipt)? = play.last.last { #expect(receipt.etag == "\"new\"") }
    }

    @Test("a page is no yes to a question, a chunk or a MOVE")
    func pages() {
        let page = answered(200, ["Content-Type: text/html"], sent: 10 * mebi)
        #expect(after(HTTPPlay(NextcloudUpload(plan(.skip))), page) == ["wait backoff badServerResponse"])
        var play = HTTPPlay(NextcloudUpload(plan(parallel: 1)))
        for end in [answered(404), answered(201)] { play.end(end) }
        play.end(page, of: "/00001")
        #expect(play.said.last == "wait backoff badServerResponse")
        var lost = assembling()
        lost.end(page)
        #expect(lost.said.first == "persist nextcloud" && !lost.said.contains("PROPFIND \(target)"), "\(lost.said)")
    }

    @Test("the rule for a file that is there; replacing remembers its version")
    func existing() {
        #expect(after(HTTPPlay(NextcloudUpload(plan())), file(7)) == ["fail destinationExists 412"])
        #expect(after(HTTPPlay(NextcloudUpload(plan())), file(25 * mebi)) == ["finish \(25 * mebi) size found"])
        #expect(after(HTTPPlay(NextcloudUpload(plan(.skip))), file(7)) == ["finish \(25 * mebi) none skipped"])
        #expect(after(HTTPPlay(NextcloudUpload(plan(.replace))), file(7)).last?.hasPrefix("MKCOL") == true)
        var taken = assembling()
        taken.end(answered(412))
        #expect(taken.said == ["PROPFIND \(target)"])
        taken.end(file(7))
        #expect(taken.said == ["persist nextcloud", "DELETE \(folder)"])
        taken.end(answered(204))
        #expect(taken.said == ["fail destinationExists 412"])
    }

    @Test("an attempt keeps the chunks that have their exact length, and sends the others")
    func resumes() {
        var play = HTTPPlay(NextcloudUpload(plan(resume: left())))
        #expect(play.said == ["PROPFIND \(folder) | Depth: 1"])
        play.end(
            listing(
                (folder + "/", nil), (folder + "/00001", 9 * mebi), (folder + "/00003", 5 * mebi),
                (folder + "/00004", 10 * mebi), (folder + "/.file", 10 * mebi), (folder + "/2", 10 * mebi)))
        #expect(play.said == ["resumed \(5 * mebi)", "accepted \(5 * mebi)", first, middle])
        #expect(
            after(HTTPPlay(NextcloudUpload(plan(resume: left()))), all) == [
                "resumed \(25 * mebi)", "accepted \(25 * mebi)", "persist nextcloud", move,
            ])
        // The folder went after a day, or was never made.
        #expect(
            after(HTTPPlay(NextcloudUpload(plan(resume: left()))), answered(404)) == [
                "doubt", "over: the server does not have the chunks any more", "persist nextcloud",
                "MKCOL \(folder) | \(destination)",
            ])
        #expect(
            after(HTTPPlay(NextcloudUpload(plan(resume: left(made: false)))), answered(404)) == [
                "persist nextcloud", "MKCOL \(folder) | \(destination)",
            ])
        #expect(
            after(HTTPPlay(NextcloudUpload(plan(resume: left(made: false)))), answered(404), answered(405)) == [
                "PROPFIND \(folder) | Depth: 1"
            ])
    }

    @Test("a source that changed gets another folder")
    func changedSource() {
        let play = HTTPPlay(NextcloudUpload(plan(changed: true, resume: left())))
        #expect(play.said == ["DELETE \(folder)"])
        #expect(after(play, unanswered(refused, sent: 0)) == ["wait backoff cannotConnectToHost"])
        // A folder that is not gone by the server's word stays known.
        for (end, left) in [
            (answered(204), 0), (answered(404), 0), (answered(500), 1), (unanswered(lost, sent: 0), 1),
        ] {
            var play = play
            play.end(end)
            #expect(play.said == ["persist nextcloud", "MKCOL \(folder)-2 | \(destination)"])
            let names = play.machine.unremoved.compactMap { $0.content(NextcloudResumePoint.self)?.folder }
            #expect(names.count == left && names.allSatisfy { folder.hasSuffix($0) })
        }
    }

    @Test("chunks that vanish before the MOVE are sent again")
    func vanished() {
        var play = HTTPPlay(NextcloudUpload(plan()))
        for end in [answered(404), answered(201)] { play.end(end) }
        for number in 1...3 { play.end(answered(201, sent: number < 3 ? 10 * mebi : 5 * mebi), of: "/0000\(number)") }
        play.end(listing((folder + "/", nil), (folder + "/00001", 10 * mebi), (folder + "/00003", 5 * mebi)))
        #expect(play.said == ["accepted \(15 * mebi)", middle])
    }

    @Test(
        "a chunk that is refused lets the others arrive, and then ends the attempt",
        .tells(
            "c answered before it had the whole chunk",
            "c answered 401 Unauthorized: give it a login that it takes, with martlet set",
            "c answered 403 Forbidden: ask for access there, or check the address",
            "c says that the file is locked"))
    func refusedChunk() {
        let cases = [
            (answered(401), "wait auth http"), (answered(507), "wait remoteDiskSpace http"),
            (answered(423), "wait backoff http"), (answered(503), "wait hostBackoff http"),
            (unanswered(lost, sent: 5), "wait backoff networkConnectionLost"),
            (unanswered(badCertificate, sent: 5), "fail tlsFailure"), (answered(403), "fail permissionDenied 403"),
        ]
        for (end, expected) in cases {
            var play = HTTPPlay(NextcloudUpload(plan()))
            for end in [answered(404), answered(201)] { play.end(end) }
            play.end(end, of: "/00001")
            #expect(play.said == [])
            play.end(answered(201, sent: 10 * mebi), of: "/00002")
            #expect(play.said == ["accepted \(10 * mebi)", expected])
        }
        var later = HTTPPlay(NextcloudUpload(plan(parallel: 1)))
        for end in [answered(404), answered(201), answered(201, sent: 10 * mebi), answered(403)] { later.end(end) }
        #expect(later.said == ["wait auth http"])
        var early = HTTPPlay(NextcloudUpload(plan(parallel: 1)))
        for end in [answered(404), answered(201), answered(201, sent: 9)] { early.end(end) }
        #expect(early.said == ["wait backoff badServerResponse"])
    }

    @Test("404 to a chunk asks for the folder; 413 makes chunks smaller")
    func lostFolder() {
        var play = HTTPPlay(NextcloudUpload(plan()))
        for end in [answered(404), answered(201)] { play.end(end) }
        play.end(answered(404), of: "/00001")
        #expect(play.said == ["abandon 4", "PROPFIND \(folder) | Depth: 1"])
        play.end(answered(404))
        #expect(play.said.prefix(2) == ["doubt", "over: the server does not have the chunks any more"])

        var large = HTTPPlay(NextcloudUpload(plan()))
        for end in [answered(404), answered(201)] { large.end(end) }
        large.end(answered(413), of: "/00001")
        #expect(
            large.said == [
                "abandon 4", "learned largestBody=\(5 * mebi)", "over: the server wants smaller chunks",
                "DELETE \(folder)",
            ])
        large.end(answered(204))
        large.end(answered(201))
        #expect(large.said.dropFirst().first == chunk(1, 0..<5 * mebi, in: folder + "-2"))
        var smallest = HTTPPlay(NextcloudUpload(plan(parallel: 1, chunk: 1)))
        for end in [answered(404), answered(201), answered(413)] { smallest.end(end) }
        #expect(smallest.said == ["fail http 413"])

        // So long a file takes no chunks below 6 MiB.
        let long = 10_000 * 6 * mebi
        var fewest = HTTPPlay(NextcloudUpload(plan(size: long, parallel: 1)))
        for end in [answered(404), answered(201), answered(413)] { fewest.end(end) }
        #expect(fewest.said.prefix(2) == ["learned largestBody=\(6 * mebi)", "over: the server wants smaller chunks"])
        for end in [answered(204), answered(201), answered(413)] { fewest.end(end) }
        #expect(fewest.said == ["fail http 413"])
    }

    @Test(
        "after 504 the target is looked at again and again, and the MOVE is not repeated while it may go on",
        .tells("c has all chunks and did not make a file of them in an hour"))
    func gatewayTimeout() {
        for end in [answered(504), answered(502), unanswered(lost, sent: 0), answered(202)] {
            var play = assembling(.fail)
            play.end(end)
            #expect(play.said == ["persist nextcloud", "wake probeAgain 10.0 seconds"])
            // The clock is set on by a day meanwhile: the MOVE goes on all the same.
            let now = noon.advanced(by: .seconds(86_400))
            var pauses = ["wake probeAgain 10.0 seconds"]
            for _ in 0..<200 {
                play.fire()
                #expect(play.said == ["PROPFIND \(target)"])
                play.end(gone(at: now))
                #expect(play.said == ["PROPFIND \(folder)"])
                play.end(listing((folder + "/", nil), at: now))
                guard let last = play.said.first, last.hasPrefix("wake") else { break }
                pauses.append(last)
            }
            #expect(pauses[1] == "wake probeAgain 15.0 seconds")
            #expect(pauses.last == "wake probeAgain 30.0 seconds")
            // After an hour nothing goes on there any more.
            let waited = pauses.compactMap { $0.split(separator: " ").dropFirst(2).first.flatMap { Double($0) } }
                .reduce(0, +)
            #expect((3600..<3630).contains(waited))
            #expect(play.said == ["PROPFIND \(folder) | Depth: 1"])
            // The next attempt asks for it again: it gives up sometime, and others get the slot before it.
            play.end(all)
            #expect(play.said == ["wait backoff timedOut"])
        }
    }

    @Test("the file that appears with its length and another tag is ours")
    func appears() {
        var play = assembling()
        play.end(answered(504))
        play.fire()
        var there = play
        there.end(file(25 * mebi))
        // Only our MOVE takes the chunks away.
        #expect(there.said == ["PROPFIND \(folder)"])
        var foreign = there
        foreign.end(listing((folder + "/", nil)))
        #expect(foreign.said.first?.hasPrefix("wake") == true)
        there.end(answered(404))
        #expect(there.said == ["finish \(25 * mebi) size"])
        // Half of it, or the old one, is not.
        var half = play
        half.end(file(7))
        #expect(half.said == ["PROPFIND \(folder)"])

        var replacing = HTTPPlay(NextcloudUpload(plan(.replace)))
        for end in [file(25 * mebi, etag: "\"old\""), answered(201)] { replacing.end(end) }
        for number in 1...3 {
            replacing.end(answered(201, sent: number < 3 ? 10 * mebi : 5 * mebi), of: "/0000\(number)")
        }
        replacing.end(all)
        #expect(replacing.said.last?.hasSuffix("Overwrite: T") == true)
        replacing.end(answered(504))
        replacing.fire()
        var old = replacing
        old.end(file(25 * mebi, etag: "\"old\""))
        #expect(old.said == ["PROPFIND \(folder)"])
        replacing.end(file(25 * mebi, etag: "\"new\""))
        replacing.end(answered(404))
        #expect(replacing.said == ["finish \(25 * mebi) size"])
    }

    @Test(
        "a digest is computed while the chunks go, goes along with the MOVE, and is compared with the server's",
        .tells(
            "c put the file together but has other bytes (its SHA-256 differs)",
            "c put the file together but tells no SHA-256 of it",
            "c put the file together but has 3 of 26214400 bytes: ",
            "c put the file together, but its answer with the SHA-256 of it was lost",
            "when it comes again, look at disks, memory and what lies on the way; now remove it there"))
    func digests() {
        let ours = TransferDigest(algorithm: "sha-256", value: "ab")
        var play = HTTPPlay(NextcloudUpload(plan(verify: .digest)))
        for end in [answered(404), answered(201)] { play.end(end) }
        #expect(play.said == ["persist nextcloud", "digest", first, middle])
        var late = play
        play.take(play.machine.handle(.digested(ours)))
        #expect(play.said == [])
        for number in 1...3 { play.end(answered(201, sent: number < 3 ? 10 * mebi : 5 * mebi), of: "/0000\(number)") }
        play.end(all)
        let checked = move + " | OC-Checksum: SHA256:ab | X-Hash: sha256"
        #expect(play.said == ["persist nextcloud", checked])
        func said(_ lines: [String], _ target: ExchangeEnd = file(25 * mebi)) -> [String] {
            after(play, answered(201, lines), target)
        }
        #expect(said(["X-Hash-SHA256: AB"]) == ["finish \(25 * mebi) digest"])
        #expect(said(["X-Hash-SHA256: AB"], file(3)) == ["mismatch \(25 * mebi) integrity"])
        #expect(said(["X-Hash-SHA256: cd"]) == ["mismatch \(25 * mebi) integrity"])
        #expect(said([]) == ["fail integrity"])
        // The chunks are there before the digest is known.
        for number in 1...3 { late.end(answered(201, sent: number < 3 ? 10 * mebi : 5 * mebi), of: "/0000\(number)") }
        late.end(all)
        #expect(late.said == [])
        late.take(late.machine.handle(.digested(ours)))
        #expect(late.said == ["persist nextcloud", checked])
        // An answer that was lost had the server's digest in it.
        late.end(answered(504))
        late.fire()
        late.end(file(25 * mebi))
        #expect(late.said == ["PROPFIND \(folder)"])
        // The chunks are there: it is another one's file, or the MOVE goes on.
        #expect(after(late, listing((folder + "/", nil))).first?.hasPrefix("wake") == true)
        late.end(answered(404))
        #expect(late.said == ["fail integrity"])
        if case .fail(let error)? = late.last.last { #expect(error.message.contains("SHA-256 of it was lost")) }
        var again = HTTPPlay(NextcloudUpload(plan(verify: .digest, resume: left())))
        again.end(all)
        #expect(again.said == ["resumed \(25 * mebi)", "accepted \(25 * mebi)", "digest"])
        again.take(again.machine.handle(.digested(ours)))
        #expect(again.said == ["persist nextcloud", checked])
    }

    @Test("a retry after a lost MOVE that is to be compared asks for it again where the chunks are, and sends none")
    func digestAfterLostMove() {
        var play = HTTPPlay(NextcloudUpload(plan(verify: .digest, resume: left(assembling: true))))
        for _ in 0..<20 {
            play.end(file(25 * mebi))
            play.end(listing((folder + "/", nil)))
            guard play.said.first?.hasPrefix("wake") == true else { break }
            play.fire()
        }
        #expect(play.said == ["PROPFIND \(folder) | Depth: 1"])
        play.end(all)
        #expect(play.said == ["digest"])
        play.take(play.machine.handle(.digested(TransferDigest(algorithm: "sha-256", value: "ab"))))
        #expect(play.said == ["persist nextcloud", move + " | OC-Checksum: SHA256:ab | X-Hash: sha256"])
        for end in [answered(201, ["X-Hash-SHA256: ab"]), file(25 * mebi)] { play.end(end) }
        #expect(play.said == ["finish \(25 * mebi) digest"] && !play.all.contains { $0.hasPrefix("PUT") })
    }

    @Test(
        "a server without folders of chunks gets the file whole, and that is remembered where it is its own word",
        arguments: [404, 405, 409, 501])
    func noChunks(status: Int) {
        var play = HTTPPlay(NextcloudUpload(plan()))
        for end in [answered(404), answered(status)] { play.end(end) }
        if status == 405 {
            // That may mean that it is there already.
            #expect(play.said == ["PROPFIND \(folder) | Depth: 1"])
            play.end(answered(404))
        }
        // A place that is not there may be a name that was mistyped.
        let lesson = status == 404 || status == 409 ? [] : ["learned cannotChunk=true"]
        #expect(play.said == lesson + ["PROPFIND \(target)"])
        play.end(answered(404))
        let part = "/remote.php/dav/files/u/d/.f.01234567.martlet-part"
        #expect(play.said == ["persist dav", "PUT \(part) 0..<\(25 * mebi)"])
        play.end(answered(201, sent: 25 * mebi))
        play.end(listing((part, 25 * mebi)))
        #expect(play.said.last == "MOVE \(part) | \(destination) | Overwrite: F")
        play.end(answered(201))
        #expect(play.said == ["finish \(25 * mebi) size"])
    }

    @Test("a folder that is there and then is not, after an earlier attempt, teaches nothing of the server")
    func raced() {
        var raced = plan()
        raced.subject.begunBefore = Timestamp(milliseconds: 1)
        var play = HTTPPlay(NextcloudUpload(raced))
        for end in [answered(404), answered(405), answered(404)] { play.end(end) }
        #expect(play.said == ["PROPFIND \(target)"])
    }

    @Test("chunks that no resume point tells of are thrown away: they may be of another version of the source")
    func unknownChunks() {
        // That the folder was made is known before a chunk is in it.
        for resume in [nil, left(made: false), left()] {
            var play = HTTPPlay(NextcloudUpload(plan(resume: resume)))
            if resume == nil {
                for end in [answered(404), answered(405)] { play.end(end) }
            }
            play.end(all)
            #expect(play.said.contains("DELETE \(folder)") == (resume?.isMade != true))
        }
    }

    @Test(
        "a file with another time than the source's does not prove our MOVE: the server takes chunks away by itself, too",
        .tells("an earlier attempt may have reached c, but the chunks are gone, and the file there has another time")
    )
    func strangersFile() {
        for seconds in [0, 3600] as [Int64] {
            let time = noon.advanced(by: .seconds(seconds))
            var plan = plan(resume: left(assembling: true))
            plan.subject.modifiedNanoseconds = time.milliseconds * 1_000_000
            let said = after(HTTPPlay(NextcloudUpload(plan)), file(25 * mebi), answered(404))
            #expect(said == (seconds == 0 ? ["finish \(25 * mebi) size found"] : ["fail unknownOutcome"]))
            guard seconds > 0 else { continue }
            plan.subject.ifExists = .replace
            let anew = after(HTTPPlay(NextcloudUpload(plan)), file(25 * mebi), answered(404))
            #expect(anew.first == "doubt" && anew.last == "DELETE \(folder)", "\(anew)")
        }
    }

    @Test(
        "a wait for the MOVE whose beginning lies in the future, by a clock that was set since, ends after an hour all the same"
    )
    func clockSetBack() {
        let future = noon.advanced(by: .seconds(864_000))
        var play = HTTPPlay(NextcloudUpload(plan(resume: left(assembling: true, lostAt: future))))
        var now = noon
        var rounds = 0
        repeat {
            play.end(gone(at: now))
            play.end(listing((folder + "/", nil), at: now))
            guard play.said.first?.hasPrefix("wake") == true else { break }
            play.fire()
            now = now.advanced(by: .seconds(30))
            rounds += 1
        } while rounds < 1000
        #expect((100...130).contains(rounds))
    }

    @Test("a folder that went without the file appearing begins anew, after one more look")
    func lostInAssembly() {
        var play = assembling()
        play.end(answered(504))
        play.fire()
        play.end(answered(404))
        play.end(answered(404))
        #expect(play.said == ["PROPFIND \(target)"])
        #expect(after(play, file(25 * mebi), answered(404)) == ["finish \(25 * mebi) size"])
        #expect(after(play, answered(404)) == ["PROPFIND \(folder)"])
        #expect(
            after(play, answered(404), answered(404)) == [
                "doubt", "over: the server does not have the chunks any more", "persist nextcloud",
                "DELETE \(folder)",
            ])
        let own = "<s:exception xmlns:s=\"http://sabredav.org/ns\"></s:exception>"
        #expect(after(play, answered(404), answered(404, body: own)).first?.hasPrefix("over: ") == true)
    }

    @Test(
        "a server that loses the chunks before each MOVE is asked again later",
        .tells("c loses chunks that it has taken: Martlet tries again by itself"))
    func losesChunks() {
        var play = HTTPPlay(NextcloudUpload(plan(parallel: 1)))
        var chunks = 0
        while let word = play.said.last, !word.hasPrefix("wait"), chunks < 100 {
            switch word.prefix(4) {
            case "MKCO": play.end(answered(201))
            case "PUT ":
                chunks += 1
                play.end(answered(201, sent: 10 * mebi))
            default: play.end(answered(404))
            }
        }
        #expect(play.said == ["wait backoff badServerResponse"])
        #expect(chunks == 12)
    }

    @Test("a server that loses the chunks at each MOVE is sent them five times in all, over attempts and restarts")
    func keepsVanishing() {
        var point: NextcloudResumePoint?
        var moves = 0
        var last = ""
        for _ in 1...10 where !last.hasPrefix("fail") {
            var play = HTTPPlay(NextcloudUpload(plan(parallel: 1, resume: point)))
            var areThere = false
            func keep() {
                for case .persist(let stored) in play.last {
                    point = ResumePoint(encoded: stored.encoded)?.content(NextcloudResumePoint.self)
                }
            }
            keep()
            while let word = play.said.last, !word.hasPrefix("wait"), !word.hasPrefix("fail") {
                switch word.prefix(4) {
                case "MKCO", "PUT ":
                    areThere = true
                    play.end(answered(201, sent: 10 * mebi))
                case "MOVE":
                    (moves, areThere) = (moves + 1, false)
                    play.end(answered(504))
                case "wake": play.fire()
                case "DELE": play.end(answered(204))
                case "PROP": play.end(areThere && word.hasSuffix("Depth: 1") ? all : answered(404))
                default: return #expect(Bool(false), "\(word)")
                }
                keep()
            }
            last = play.said.last ?? ""
        }
        #expect(last == "fail badServerResponse" && moves == 5)
        #expect(point != nil && point?.vanished == nil && point?.isAssembling == false)
    }

    @Test("the temporary file of an attempt that sent the file whole goes first, unless it is the file itself")
    func wasWhole() {
        let part = "/remote.php/dav/files/u/d/.f.01234567.martlet-part"
        var plan = plan()
        plan.whole = DavResumePoint(temporary: part)
        for end in [answered(204), answered(404), answered(500), unanswered(lost, sent: 0)] {
            var play = HTTPPlay(NextcloudUpload(plan))
            // Until then the point that names it stays: nothing is written down before.
            #expect(play.said == ["DELETE \(part)"])
            play.end(end)
            #expect(play.said == ["PROPFIND \(target)"])
        }
        // Who was not even asked is asked by the next attempt.
        #expect(
            after(HTTPPlay(NextcloudUpload(plan)), unanswered(refused, sent: 0)) == [
                "wait backoff cannotConnectToHost"
            ])
        plan.whole = DavResumePoint(temporary: target)
        #expect(HTTPPlay(NextcloudUpload(plan)).said == ["PROPFIND \(target)"])
    }

    @Test("a no to a second MOVE says nothing of the first, which may still go on")
    func refusedSecond() {
        var play = HTTPPlay(NextcloudUpload(plan(resume: left(assembling: true))))
        for _ in 0..<20 where play.said.last?.hasPrefix("PROPFIND \(folder) | Depth: 1") == false {
            if play.said.last?.hasPrefix("wake") == true { play.fire() }
            play.end(answered(404))
            play.end(listing((folder + "/", nil)))
        }
        play.end(all)
        #expect(play.said.last == move)
        #expect(after(play, answered(507)) == ["wait remoteDiskSpace http"])
        // Of one that is refused nothing is left to wait for.
        #expect(after(assembling(), answered(507)).first == "persist nextcloud")
        // The first has ended between the look at the chunks and the review of them.
        var late = HTTPPlay(NextcloudUpload(plan(resume: left(assembling: true))))
        for _ in 0..<20 where late.said.last?.hasPrefix("PROPFIND \(folder) | Depth: 1") == false {
            if late.said.last?.hasPrefix("wake") == true { late.fire() }
            late.end(answered(404))
            late.end(listing((folder + "/", nil)))
        }
        late.end(answered(404))
        #expect(late.said == ["PROPFIND \(target)"])
        late.end(file(25 * mebi))
        late.end(answered(404))
        #expect(late.said == ["finish \(25 * mebi) size"])
    }

    @Test("a lock after a lost answer is our own MOVE; before one it is somebody else's")
    func locks() {
        #expect(after(assembling(), answered(423)) == ["persist nextcloud", "wait backoff http"])
        var play = HTTPPlay(NextcloudUpload(plan(resume: left(assembling: true))))
        for end in [gone(at: noon), listing((folder + "/", nil), at: noon)] { play.end(end) }
        for pause in ["10.0", "15.0"] {
            #expect(play.said == ["wake probeAgain \(pause) seconds"])
            play.fire()
            for end in [gone(at: noon), listing((folder + "/", nil), at: noon)] { play.end(end) }
        }
        play.end(all)
        #expect(play.said == ["persist nextcloud", move])
        play.end(answered(423))
        #expect(play.said == ["persist nextcloud", "wake probeAgain 10.0 seconds"])
    }

    @Test("what Nextcloud itself refuses is asked for again by a later attempt; folders above are made")
    func refusedMove() {
        let own = "<d:error xmlns:d=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\"><s:exception>X</s:exception></d:error>"
        #expect(after(assembling(), answered(500, body: own)) == ["persist nextcloud", "wait backoff http"])
        #expect(after(assembling(), answered(503, body: own)) == ["persist nextcloud", "wait hostBackoff http"])
        #expect(after(assembling(), answered(507)) == ["persist nextcloud", "wait remoteDiskSpace http"])
        #expect(after(assembling(), answered(403)) == ["persist nextcloud", "wait auth http"])
        #expect(after(assembling(), unanswered(badCertificate, sent: 0)) == ["persist nextcloud", "fail tlsFailure"])
        var play = assembling()
        play.end(answered(409))
        #expect(play.said == ["MKCOL /remote.php/dav/files/u/d/"])
        play.end(answered(201))
        #expect(play.said == ["persist nextcloud", move])
        play.end(answered(409))
        #expect(play.said == ["persist nextcloud", "fail http 409"])
        // It says that the chunks do not add up: they are counted again, twice.
        var sums = assembling()
        for _ in 0..<2 {
            sums.end(answered(400))
            #expect(sums.said == ["PROPFIND \(target)"])
            sums.end(answered(404))
            sums.end(listing((folder + "/", nil)))
            #expect(sums.said == ["PROPFIND \(folder) | Depth: 1"])
            sums.end(all)
            #expect(sums.said == ["persist nextcloud", move])
        }
        sums.end(answered(400))
        #expect(sums.said == ["persist nextcloud", "fail http 400"])
    }

    @Test("after a kill around the MOVE the target is looked at first; an hour that began goes on")
    func killedMove() {
        let begun = HTTPPlay(NextcloudUpload(plan(resume: left(assembling: true))))
        #expect(begun.said == ["PROPFIND \(target)"])
        #expect(after(begun, file(25 * mebi), answered(404)) == ["finish \(25 * mebi) size found"])
        #expect(after(begun, unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        // Of the hour 600 seconds are left; when it is long over the time that copying takes is waited all the same.
        for (ago, rounds) in [(3000, 22), (864_000, 2)] {
            let slow = left(assembling: true, lostAt: noon.advanced(by: .seconds(-ago)))
            var play = HTTPPlay(NextcloudUpload(plan(resume: slow)))
            for round in 0...rounds {
                if round > 0 { play.fire() }
                for end in [gone(at: noon), listing((folder + "/", nil), at: noon)] { play.end(end) }
                #expect((play.said == ["PROPFIND \(folder) | Depth: 1"]) == (round == rounds), "\(ago), \(round)")
            }
        }
    }

    @Test("chunks grow so that there are not too many, and are never too small")
    func chunkLengths() {
        func range(_ plan: NextcloudPlan) -> Int64 {
            var play = HTTPPlay(NextcloudUpload(plan))
            for end in [answered(404), answered(201)] { play.end(end) }
            guard case .perform(_, .http(let exchange))? = play.last.dropFirst().first,
                case .source(let range) = exchange.body
            else { return 0 }
            return Int64(range.count)
        }
        #expect(range(plan()) == 10 * mebi)
        #expect(range(plan(chunk: 1)) == 5 * mebi)
        let huge = 1_000_000 * mebi
        #expect(range(plan(size: huge)) == huge / 10_000)
        var facts = HostFacts()
        facts.largestBody = 6 * mebi
        #expect(range(plan(facts: facts)) == 6 * mebi)
    }

    @Test(
        "a removal takes the folder of chunks, and the resume point survives its coding",
        .tells(
            "c still holds the file for the request that was cut off",
            "c does not remove what it has of the upload: it goes there by itself, or by who runs the server"))
    func removal() {
        let address = HTTPAddress("https://c\(target)")!
        let removal = HTTPPlay(UploadRemoval(left(), address: address))
        #expect(removal.said == ["DELETE \(folder)"])
        for status in [204, 404, 410] { #expect(after(removal, answered(status)) == ["finish 0 none"]) }
        // A lock of the request that was cut off, and what a server never lets go: it is still there, and known.
        for status in [409, 423] { #expect(after(removal, answered(status)) == ["wait backoff badServerResponse"]) }
        for status in [405, 501] { #expect(after(removal, answered(status)) == ["fail unsupported \(status)"]) }
        #expect(after(removal, answered(403)) == ["fail permissionDenied 403"])
        let point = left(assembling: true, lostAt: noon, before: RemoteVersion(etag: "x", total: 3))
        #expect(ResumePoint(encoded: ResumePoint(point).encoded)?.content(NextcloudResumePoint.self) == point)
    }
}
