import Digests
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

private let part = "/d/e/.f.01234567.martlet-part"
private let second = "/d/e/.f.01234567-2.martlet-part"
private let put = "PUT \(part) 0..<1000"
private let move = "MOVE \(part) | Destination: http://h/d/e/f | Overwrite: F"

private func plan(
    _ ifExists: ExistingFilePolicy = .fail, size: Int64 = 1000, verify: VerificationWish? = nil,
    begun: Timestamp? = nil, changed: Bool = false, facts: HostFacts = HostFacts(), resume: DavResumePoint? = nil,
    address: String = "http://h/d/e/f"
) -> DavPlan {
    DavPlan(
        address: HTTPAddress(address)!,
        subject: UploadSubject(
            name: RawPath("f"), size: size, modifiedNanoseconds: noon.milliseconds * 1_000_000, ifExists: ifExists,
            verify: verify, begunBefore: begun, token: "0123456789abcdef0123456789abcdef", hasChanged: changed),
        facts: facts, resume: resume)
}

private func after(_ plan: DavPlan, _ ends: ExchangeEnd...) -> [String] { after(plan, ends) }

private func after(_ plan: DavPlan, _ ends: [ExchangeEnd]) -> [String] {
    var play = HTTPPlay(DavUpload(plan))
    for end in ends { play.end(end) }
    return play.said
}

private func left(cut: Bool = false, publishing: Bool = false) -> DavResumePoint {
    var point = DavResumePoint(temporary: part)
    point.wasCut = cut
    point.publishing = publishing
    return point
}

private var straight: HostFacts {
    var facts = HostFacts()
    facts.cannotRename = true
    return facts
}

private func there(_ size: Int64?, modified: String = elevenText) -> ExchangeEnd {
    listing(("/d/e/f", size), modified: modified)
}

private let large: Int64 = 100 << 10
private let laterText = "Sat, 21 Nov 2026 12:30:00 GMT"

@Suite struct DavUploadTests {
    @Test("a file goes under a temporary name that is durable first, and is moved to its own")
    func straightThrough() {
        #expect(after(plan()) == ["persist dav", put])
        #expect(after(plan(), answered(201)) == ["accepted 1000", "persist dav", move])
        #expect(after(plan(), answered(201), answered(201)) == ["finish 1000 none"])
        #expect(after(plan(verify: VerificationWish.none), answered(204), answered(204)) == ["finish 1000 none"])
        #expect(after(plan(.replace), answered(201)).last == move.replacing("F", "T"))
    }

    @Test(
        "a page is no yes: the network wants a sign-in, or the site shows one page under each address",
        .tells("h answered with a web page, as no WebDAV server does"))
    func pages() {
        let page = answered(200, ["Content-Type: text/html; charset=utf-8", "Content-Length: 5120"])
        let wait = ["wait backoff badServerResponse"]
        #expect(after(plan(), page) == ["PROPFIND \(part)"])
        #expect(after(plan(), page, page) == wait)
        #expect(after(plan(), page, listing((part, 1000))).last == move)
        #expect(after(plan(), answered(201), page) == ["PROPFIND \(part)"])
        #expect(after(plan(), answered(201), page, page) == wait)
        #expect(
            after(plan(.replace), answered(201), page, answered(404), there(1000), answered(404))
                == ["finish 1000 size"])
        for rule in [ExistingFilePolicy.skip, .fail] { #expect(after(plan(rule, size: large), page) == wait) }
        // Where HEAD is asked a page is a file like others, if it has the name of one.
        #expect(after(plan(.skip, size: large), answered(405), page) == wait)
        let named = "http://h/d/e/f.HTML"
        #expect(
            after(plan(.skip, size: large, address: named), answered(405), page) == ["finish \(large) none skipped"])
    }

    @Test("no request ever names a Content-Range")
    func noRange() {
        var play = HTTPPlay(DavUpload(plan()))
        play.end(answered(201))
        for case .perform(_, .http(let exchange)) in play.last {
            #expect(!exchange.headers.contains { $0.name.lowercased() == "content-range" })
        }
    }

    @Test("a large file is looked for first, and measured before it gets its name")
    func largeFile() {
        let size = large
        #expect(after(plan(size: size)) == ["PROPFIND /d/e/f"])
        #expect(after(plan(size: size), answered(404)) == ["persist dav", "PUT \(part) 0..<\(size)"])
        #expect(after(plan(size: size), answered(404), answered(201, sent: size)) == ["PROPFIND \(part)"])
        #expect(
            after(plan(size: size), answered(404), answered(201, sent: size), listing((part, size))).last == move)
        #expect(
            after(plan(size: size), answered(404), answered(201, sent: size), listing((part, size - 1))) == [
                "over: the server has \(size - 1) of \(size) bytes", "DELETE \(part)",
            ])
        var twice = HTTPPlay(DavUpload(plan(size: size)))
        let short = [answered(201, sent: size), listing((part, size - 1))]
        for end in [answered(404)] + short + [answered(204)] + short { twice.end(end) }
        #expect(twice.said == ["DELETE \(second)"])
        twice.end(answered(204))
        #expect(twice.said == ["fail integrity"])
    }

    @Test("the rule for a file that is there")
    func existing() {
        let size = large
        #expect(after(plan(size: size), there(size)) == ["fail destinationExists 412"])
        #expect(after(plan(size: size), there(7, modified: noonText)) == ["fail destinationExists 412"])
        #expect(after(plan(size: size), there(nil, modified: noonText)) == ["fail destinationExists 412"])
        // The same by size and time, where the server keeps times.
        #expect(after(plan(size: size), there(size, modified: noonText)) == ["finish \(size) size found"])
        #expect(after(plan(.skip, size: size), there(7)) == ["finish \(size) none skipped"])
        #expect(after(plan(.replace, size: size)).last == "PUT \(part) 0..<\(size)")
        // A server without PROPFIND is asked by HEAD.
        #expect(after(plan(size: size), answered(405)) == ["HEAD /d/e/f"])
        #expect(after(plan(size: size), answered(501), answered(404)).last == "PUT \(part) 0..<\(size)")
        #expect(
            after(plan(size: size), answered(405), answered(200, ["Content-Length: 7"]))
                == ["fail destinationExists 412"])
        #expect(after(plan(size: size), answered(401)) == ["wait auth http"])
        #expect(after(plan(size: size), unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
    }

    @Test("412 to the MOVE asks what is there, and takes our file away")
    func inTheWay() {
        let ends = [answered(201), answered(412)]
        var play = HTTPPlay(DavUpload(plan()))
        for end in ends { play.end(end) }
        #expect(play.said == ["PROPFIND /d/e/f"])
        // Broken off now, the next attempt knows that the MOVE did not happen, whatever becomes of the temporary file.
        #expect(play.machine.remains?.content(DavResumePoint.self)?.publishing == false)
        var other = play
        other.end(there(7))
        #expect(other.said == ["persist dav", "DELETE \(part)"])
        other.end(answered(204))
        #expect(other.said == ["fail destinationExists 412"])
        var same = play
        same.end(there(1000, modified: noonText))
        same.end(unanswered(lost, sent: 0))
        #expect(same.said == ["finish 1000 size found"])
    }

    @Test(
        "the answer to a PUT decides as the contract's table says",
        arguments: [
            (401, ["wait auth http"]), (403, ["fail permissionDenied 403"]), (405, ["fail http 405"]),
            (413, ["fail http 413"]), (423, ["wait backoff http"]), (429, ["wait hostBackoff http"]),
            (500, ["wait backoff http"]), (503, ["wait hostBackoff http"]), (507, ["wait remoteDiskSpace http"]),
            (301, ["fail http 301"]), (501, ["wait backoff http"]),
        ])
    func refusals(status: Int, expected: [String]) {
        #expect(after(plan(), answered(status, sent: 0)) == expected)
        // Bytes that were sent are lost: that is noted for the next attempt.
        #expect(after(plan(), answered(status, sent: 10)) == ["persist dav"] + expected)
    }

    @Test("folders that are missing are made, the innermost first tried")
    func folders() {
        for status in [409, 404] {
            var play = HTTPPlay(DavUpload(plan()))
            play.end(answered(status))
            #expect(play.said == ["MKCOL /d/e/"])
            play.end(answered(409))
            #expect(play.said == ["MKCOL /d/"])
            play.end(answered(201))
            #expect(play.said == ["MKCOL /d/e/"])
            play.end(answered(201))
            #expect(play.said == [put])
            play.end(answered(status))
            #expect(play.said.last == "fail http \(status)")
        }
        #expect(after(plan(), answered(409), answered(405)) == [put])
        #expect(after(plan(), answered(409), answered(507)) == ["wait remoteDiskSpace http"])
        #expect(after(plan(), answered(409), answered(409), answered(409)) == ["fail http 409"])
        #expect(after(plan(address: "http://h/f"), answered(409)).last == "fail http 409")
    }

    @Test("a folder that another file makes at the same time is no refusal; one that is still missing is")
    func folderRace() {
        for status in [403, 409, 422] {
            var play = HTTPPlay(DavUpload(plan()))
            play.end(answered(409, sent: 0))
            if status == 409 {
                // It has lost its folder in the meantime, too.
                play.end(answered(409))
                #expect(play.said == ["MKCOL /d/"])
                play.end(answered(403))
                #expect(play.said == ["MKCOL /d/e/"])
                play.end(answered(403))
            } else {
                #expect(play.said == ["MKCOL /d/e/"])
                play.end(answered(status))
            }
            #expect(play.said == [put])
            var there = play
            there.end(answered(201))
            #expect(there.said.last == move)
            play.end(answered(409, sent: 0))
            #expect(play.said == [status == 422 ? "fail http 422" : "fail permissionDenied 403"])
        }
        #expect(after(plan(), answered(409, sent: 0), answered(503)) == ["wait hostBackoff http"])
    }

    @Test("412 to a MOVE that had happened already is no stranger's file")
    func movedBefore() {
        let resumed = plan(resume: left(publishing: true))
        // A killed engine's MOVE arrived between the look and this one's.
        let ends = [listing((part, 1000)), answered(404), answered(412), there(1000)]
        var play = HTTPPlay(DavUpload(resumed))
        for end in ends { play.end(end) }
        #expect(play.said == ["PROPFIND \(part)"])
        var ours = play
        for end in [answered(404), there(1000), answered(404)] { ours.end(end) }
        #expect(ours.said == ["finish 1000 size"])
        // Its PUT may have arrived once more after its MOVE: nobody can tell whose the file is.
        var again = HTTPPlay(DavUpload(plan(begun: noon, resume: left(publishing: true))))
        for end in [listing((part, 1000)), answered(404), answered(412), there(1000, modified: laterText)] {
            again.end(end)
        }
        again.end(listing((part, 1000)))
        #expect(again.said == ["fail unknownOutcome"])
        // Somebody else's file of the same length, older than this.
        play = HTTPPlay(DavUpload(plan(begun: noon)))
        for end in [answered(201), answered(412), there(1000)] { play.end(end) }
        play.end(listing((part, 1000)))
        #expect(play.said == ["persist dav", "DELETE \(part)"])
        play.end(answered(204))
        #expect(play.said == ["fail destinationExists 412"])
    }

    @Test("a cut begins again, visibly; a lost answer is asked after")
    func cuts() {
        #expect(after(plan(), unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
        #expect(after(plan(), unanswered(lost, sent: 999)) == ["persist dav", "wait backoff networkConnectionLost"])
        let cut = unanswered(lost, sent: 1000)
        #expect(after(plan(), cut) == ["PROPFIND \(part)"])
        #expect(after(plan(), cut, listing((part, 1000))).last == move)
        #expect(after(plan(), cut, answered(404)) == ["persist dav", "wait backoff networkConnectionLost"])
        #expect(after(plan(), cut, listing((part, 500))) == ["persist dav", "wait backoff networkConnectionLost"])
        #expect(after(plan(), unanswered(badCertificate, sent: 0)) == ["fail tlsFailure"])

        let reason = "over: WebDAV cannot go on in the middle of a file"
        #expect(after(plan(resume: left())) == ["PROPFIND \(part)"])
        #expect(after(plan(resume: left()), answered(404)) == ["persist dav", put])
        #expect(after(plan(resume: left(cut: true)), answered(404)) == [reason, "persist dav", put])
        #expect(after(plan(begun: noon, resume: left()), answered(404)) == [reason, "persist dav", put])
        #expect(after(plan(resume: left(cut: true)), listing((part, 5))) == [reason, "DELETE \(part)"])
        #expect(
            after(plan(resume: left(cut: true)), listing((part, 5)), answered(204)) == [
                "persist dav", "PUT \(second) 0..<1000",
            ])
        #expect(
            after(plan(resume: left()), listing((part, 1000))) == [
                "resumed 1000", "accepted 1000", "PROPFIND /d/e/f",
            ])
        #expect(after(plan(resume: left()), listing((part, 1000)), answered(404)) == ["persist dav", move])
    }

    @Test("a later attempt looks at the name before it asks for it: a file that took it meanwhile is nobody's proof")
    func takenMeanwhile() {
        // An earlier attempt's MOVE was refused for that file, and the look at it lost. It was asked again, the answer lost, and the server
        // cleared up: nothing told that the bytes under the name were another's.
        let point = left(publishing: true)
        func later(_ policy: ExistingFilePolicy, _ size: Int64, _ point: DavResumePoint) -> HTTPPlay<DavUpload> {
            var play = HTTPPlay(DavUpload(plan(policy, resume: point)))
            for end in [listing((part, 1000)), there(size)] { play.end(end) }
            return play
        }
        var taken = later(.fail, 1000, point)
        #expect(taken.said == ["PROPFIND \(part)"])
        var renamed = taken
        taken.end(listing((part, 1000)))
        #expect(taken.said == ["fail unknownOutcome"])
        // The earlier MOVE came in right between the looks.
        for end in [answered(404), there(1000), answered(404)] { renamed.end(end) }
        #expect(renamed.said == ["finish 1000 size"])
        // No MOVE can have done it: it was never asked for, or it would have brought another length.
        for (size, point) in [(1000, left()), (7, point)] as [(Int64, DavResumePoint)] {
            var play = later(.fail, size, point)
            if size == 1000 { play.end(listing((part, 1000))) }
            #expect(play.said.last == "DELETE \(part)")
            play.end(answered(204))
            #expect(play.said == ["fail destinationExists 412"])
        }
        #expect(after(plan(.replace, resume: point), listing((part, 1000))).last == move.replacing("F", "T"))
    }

    @Test("a source that changed is sent under another name")
    func changedSource() {
        #expect(after(plan(changed: true, resume: left())) == ["DELETE \(part)"])
        // A server that was not reached is asked by the next attempt: until then the stored point names the old file.
        #expect(
            after(plan(changed: true, resume: left()), unanswered(refused, sent: 0)) == [
                "wait backoff cannotConnectToHost"
            ])
        #expect(
            after(plan(changed: true, resume: left()), answered(404)) == ["persist dav", "PUT \(second) 0..<1000"])
        // A file that is not gone by the server's word stays known.
        for (end, isLeft) in [
            (answered(204), false), (answered(404), false), (answered(423), true), (unanswered(lost, sent: 0), true),
        ] {
            var play = HTTPPlay(DavUpload(plan(changed: true, resume: left(publishing: false))))
            play.end(end)
            #expect(play.said == ["persist dav", "PUT \(second) 0..<1000"])
            #expect(play.machine.unremoved == (isLeft ? [ResumePoint(left())] : []))
        }
    }

    @Test(
        "a lost answer to the MOVE is asked after: the temporary file, then the target",
        .tells("h has not given the file its name yet (207)"))
    func lostMove() {
        let ends = [unanswered(lost, sent: 0), answered(504), answered(500), answered(404), answered(207)]
        for end in ends {
            #expect(after(plan(), answered(201), end) == ["PROPFIND \(part)"])
            #expect(after(plan(), answered(201), end, answered(404)) == ["PROPFIND /d/e/f"])
            // A no is never a yes: a server clears up, too.
            let isNo = end.answer?.status == 404
            let whole = after(
                plan(), [answered(201), end, answered(404), there(1000)] + (isNo ? [] : [answered(404)]))
            let told = isNo ? ["persist dav"] : []
            #expect(whole == (told.isEmpty ? ["finish 1000 size"] : told + ["fail unknownOutcome"]))
            #expect(after(plan(), answered(201), end, answered(404), there(7)) == told + ["fail unknownOutcome"])
            #expect(
                after(plan(), answered(201), end, answered(404), answered(404)).last?.hasPrefix("wait backoff") == true)
            #expect(after(plan(), answered(201), end, listing((part, 1000))).last?.hasPrefix("wait backoff") == true)
        }
        #expect(after(plan(), answered(201), answered(423)) == ["persist dav", "wait backoff http"])
        #expect(after(plan(), answered(201), answered(507)) == ["persist dav", "wait remoteDiskSpace http"])
        // Every byte was taken: only the permission is missing.
        #expect(after(plan(), answered(201), answered(403)) == ["persist dav", "wait auth http"])
        let whole = left(publishing: true)
        #expect(
            after(plan(resume: whole), answered(404), answered(404), answered(403)) == [
                "persist dav", "wait auth http",
            ])
        #expect(
            after(plan(resume: left()), answered(404), answered(403)) == ["persist dav", "fail permissionDenied 403"])
        // A server behind a proxy that does not know its own name.
        #expect(
            after(plan(), answered(201), answered(502)) == ["MOVE \(part) | Destination: /d/e/f | Overwrite: F"])
        #expect(after(plan(), answered(201), answered(502), answered(502)) == ["PROPFIND \(part)"])
        // Or behind a gateway that lost the server, which had done it.
        let there = there(1000)
        #expect(
            after(plan(), answered(201), answered(502), answered(404), answered(404), there, answered(404))
                == ["finish 1000 size"])
    }

    @Test(
        "a gateway that did not find its server for a moment proves no MOVE: the temporary file is asked for again",
        .tells("h may still be giving the file its name: Martlet looks again by itself"))
    func gatewayForAMoment() {
        let wait = ["wait backoff badServerResponse"]
        let there = there(1000)
        // The old file has the length of the new one, which is to take its place.
        #expect(
            after(plan(.replace), answered(201), answered(504), answered(404), there, listing((part, 1000))) == wait)
        let point = left(publishing: true)
        #expect(after(plan(resume: point), answered(404), there, listing((part, 1000))) == wait)
        // Somebody else's file, which the MOVE was refused for.
        let refused = [listing((part, 1000)), answered(404), answered(412), there, answered(404), there]
        #expect(after(plan(resume: point), refused) == ["PROPFIND \(part)"])
        #expect(after(plan(resume: point), refused + [listing((part, 1000))]) == wait)
    }

    @Test("a no answers the MOVE that it was said to: an earlier one may still go on")
    func earlierMove() throws {
        var first = HTTPPlay(DavUpload(plan()))
        for end in [answered(201), answered(504), listing((part, 1000))] { first.end(end) }
        #expect(first.said == ["wait hostBackoff http"] || first.said == ["wait backoff http"])
        for refusal in [answered(423), answered(403), answered(507)] {
            var second = HTTPPlay(DavUpload(plan(resume: left(publishing: true))))
            for end in [listing((part, 1000)), answered(404), refusal] { second.end(end) }
            // The intent stays: the third attempt finds what the first MOVE has done meanwhile.
            #expect(second.said.count == 1 && second.said[0].hasPrefix("wait"), "\(second.said)")
        }
        #expect(
            after(plan(resume: left(publishing: true)), answered(404), there(1000), answered(404))
                == ["finish 1000 size found"])
    }

    @Test("after a clear no somebody else's file of our length is nobody's proof, at no retry")
    func refusedMove() {
        var point: DavResumePoint?
        var play = HTTPPlay(DavUpload(plan()))
        // Something has taken the temporary file away.
        for end in [answered(201), answered(404), answered(404), there(1000)] { play.end(end) }
        for case .persist(let stored) in play.last { point = stored.content(DavResumePoint.self) }
        #expect(play.said.last == "fail unknownOutcome" && point?.publishing == false)
        #expect(after(plan(resume: point), answered(404)).last == put)
    }

    @Test("where the file is sent again in the same attempt, an earlier attempt's MOVE proves nothing any more")
    func forgottenMove() {
        var play = HTTPPlay(DavUpload(plan(resume: left(publishing: true))))
        for end in [answered(404), answered(404), answered(201), answered(404), answered(404), there(1000)] {
            play.end(end)
        }
        #expect(play.said == ["persist dav", "fail unknownOutcome"])
    }

    @Test(
        "what is taken away each time before it has its name is left alone for a while",
        .tells(
            "look whether something clears up or scans there",
            "h takes away what was sent before it has its name"))
    func vanishing() {
        var play = HTTPPlay(DavUpload(plan(.replace)))
        for _ in 0..<2 {
            for end in [answered(201), answered(404), answered(404), there(1000)] { play.end(end) }
            #expect(play.said.last == put)
        }
        for end in [answered(201), answered(404), answered(404), there(1000)] { play.end(end) }
        #expect(play.said == ["persist dav", "wait backoff badServerResponse"])
    }

    @Test(
        "a server that takes each file away before its name is sent it five times in all, over attempts and restarts",
        arguments: [(ExistingFilePolicy.replace, 404), (.replace, 504), (.fail, 404), (.fail, 504)])
    func keepsVanishing(policy: ExistingFilePolicy, status: Int) {
        var point: DavResumePoint?
        var sent = 0
        var last = ""
        for _ in 1...20 where !last.hasPrefix("fail") {
            var play = HTTPPlay(DavUpload(plan(policy, resume: point)))
            func keep() {
                for case .persist(let stored) in play.last {
                    point = ResumePoint(encoded: stored.encoded)?.content(DavResumePoint.self)
                }
            }
            keep()
            while let word = play.said.last, !word.hasPrefix("wait"), !word.hasPrefix("fail") {
                switch word.prefix(4) {
                case "PUT ":
                    sent += 1
                    play.end(answered(201))
                case "MOVE": play.end(answered(status))
                case "PROP": play.end(policy == .replace && word == "PROPFIND /d/e/f" ? there(7) : answered(404))
                default: return #expect(Bool(false), "\(word)")
                }
                keep()
            }
            last = play.said.last ?? ""
        }
        #expect(last == "fail badServerResponse" && sent == 5)
        #expect(point != nil && point?.vanished == nil && point?.publishing == false)
    }

    @Test("after a kill during the MOVE the same is asked")
    func killedMove() {
        let point = left(publishing: true)
        #expect(after(plan(resume: point), listing((part, 1000)), answered(404)).last == move)
        #expect(after(plan(resume: point), answered(404)) == ["PROPFIND /d/e/f"])
        let ours = after(plan(resume: point), answered(404), there(1000), answered(404))
        #expect(ours == ["finish 1000 size found"])
        #expect(after(plan(resume: point), answered(404), there(7)) == ["fail unknownOutcome"])
        // What may be replaced may be the old file still, of our length: only our time tells.
        let replacing = plan(.replace, resume: point)
        #expect(after(replacing, answered(404), there(1000)).last == put)
        #expect(
            after(replacing, answered(404), there(1000, modified: noonText), answered(404))
                == ["finish 1000 size found"])
        // Who wants what is there replaced has it sent again, whatever its length.
        for other in [there(7), there(nil)] { #expect(after(replacing, answered(404), other).last == put) }
        let overwriting = plan(.replace)
        for lost in [answered(504), answered(404)] {
            #expect(after(overwriting, answered(201), lost, answered(404), there(7)).last == put)
        }
        #expect(
            after(plan(resume: point), answered(404), answered(404)) == [
                "doubt", "over: the temporary file is not there any more", "persist dav", put,
            ])
    }

    @Test("a server without MOVE gets files under their final names, and that is remembered")
    func cannotRename() {
        for status in [405, 501] {
            #expect(
                after(plan(), answered(201), answered(status)) == [
                    "learned cannotRename=true", "over: the server cannot rename files", "persist dav",
                    "DELETE \(part)",
                ])
        }
        let final = "PUT /d/e/f 0..<1000 | If-None-Match: *"
        let free = answered(404)
        // What is there is asked for first: not every server heeds the condition.
        #expect(after(plan(), answered(201), answered(501), answered(204)) == ["PROPFIND /d/e/f"])
        #expect(after(plan(), answered(201), answered(501), answered(204), free) == ["persist dav", final])
        #expect(after(plan(facts: straight)) == ["PROPFIND /d/e/f"])
        #expect(after(plan(facts: straight), there(7)) == ["fail destinationExists 412"])
        #expect(after(plan(facts: straight), free, answered(201)) == ["accepted 1000", "finish 1000 none"])
        #expect(after(plan(.replace, facts: straight)).last == "PUT /d/e/f 0..<1000")
        #expect(after(plan(facts: straight), free, answered(412)) == ["PROPFIND /d/e/f"])
        #expect(after(plan(facts: straight), free, answered(412), there(7)) == ["fail destinationExists 412"])
        let own = DavResumePoint(temporary: "/d/e/f")
        let resumed = plan(begun: noon, facts: straight, resume: own)
        #expect(
            after(resumed, answered(404), answered(412), there(1000, modified: noonText)) == ["fail unknownOutcome"])
    }

    @Test("Nextcloud keeps the time and compares a digest")
    func cloud() {
        let address = "https://c/remote.php/dav/files/u/f"
        var play = HTTPPlay(DavUpload(plan(verify: .digest, address: address)))
        #expect(play.said == ["persist dav", "digest"])
        play.take(play.machine.handle(.digested(TransferDigest(algorithm: "sha-256", value: "ab"))))
        let temporary = "/remote.php/dav/files/u/.f.01234567.martlet-part"
        #expect(play.said == ["PUT \(temporary) 0..<1000 | OC-Checksum: SHA256:ab | X-Hash: sha256"])
        if case .perform(_, .http(let exchange))? = play.last.last {
            #expect(exchange.headers.contains(HeaderField("X-OC-Mtime", "\(noon.milliseconds / 1000)")))
        }
        var same = play
        for end in [answered(201, ["X-Hash-SHA256: AB"]), answered(201)] { same.end(end) }
        #expect(same.said == ["finish 1000 digest"])
        for end in [answered(201, ["X-Hash-SHA256: cd"]), answered(400)] {
            var other = play
            other.end(end)
            #expect(other.said.first == "over: the server has other bytes (their SHA-256 differs)")
        }
        var silent = play
        silent.end(answered(201))
        #expect(silent.said == ["DELETE \(temporary)"])
        silent.end(answered(204))
        #expect(silent.said == ["fail integrity"])
    }

    /// A digest that the source has, as the engine and a server tell it.
    private static let sum = String(repeating: "ab", count: 32)

    /// What was said last to these ends, the digest computed wherever it is asked for; and the machine's last resume point.
    private func compared(_ plan: DavPlan, _ ends: [ExchangeEnd]) throws -> (said: [String], point: DavResumePoint) {
        var play = HTTPPlay(DavUpload(plan))
        var kept: ResumePoint?
        func keep() { for case .persist(let point) in play.last { kept = point } }
        func digest() {
            keep()
            guard play.said.last == "digest" else { return }
            play.take(play.machine.handle(.digested(TransferDigest(algorithm: "sha-256", value: Self.sum))))
            keep()
        }
        digest()
        for end in ends {
            play.end(end)
            digest()
        }
        let encoded = try #require(kept).encoded
        return (play.said, try #require(ResumePoint(encoded: encoded)?.content(DavResumePoint.self)))
    }

    @Test(
        "where a digest is asked for, length never stands for it: a file whose digest was not heard is sent again, a few times",
        .tells("h has the file, but its answer with the SHA-256 of it was lost, time after time")
    )
    func uncompared() throws {
        let cut = unanswered(lost, sent: 1000)
        var point: DavResumePoint?
        for attempt in 1...3 {
            let again: [ExchangeEnd] = point == nil ? [] : [listing((point?.temporary ?? "", 1000)), answered(204)]
            let (said, kept) = try compared(plan(verify: .digest, begun: noon, resume: point), again + [cut])
            #expect(said == ["PROPFIND \(kept.temporary)"])
            let (whole, next) = try compared(
                plan(verify: .digest, begun: noon, resume: point), again + [cut, listing((kept.temporary, 1000))])
            #expect(
                whole == ["persist dav", attempt < 3 ? "wait backoff networkConnectionLost" : "fail integrity"])
            point = next
        }
        #expect(point?.unanswered == nil)
        // Stopped after the last byte: the same.
        #expect(
            after(plan(verify: .digest, resume: left()), listing((part, 1000))) == [
                "over: the server's SHA-256 of the file was not heard", "DELETE \(part)",
            ])
        let stood = after(plan(size: large, verify: .digest), there(large, modified: noonText))
        #expect(stood == ["fail destinationExists 412"])
        var hostile = left()
        hostile.unanswered = -1
        #expect(!hostile.isPlausible)
    }

    @Test("a page in answer to a PUT tells no digest, and takes nothing away")
    func pageInsteadOfDigest() throws {
        let page = answered(200, ["Content-Type: text/html"])
        #expect(try compared(plan(verify: .digest), [page, page]).said == ["wait backoff badServerResponse"])
        #expect(
            try compared(plan(verify: .digest), [page, listing((part, 1000))]).said.last
                == "wait backoff badServerResponse")
    }

    @Test("a digest that was compared holds for the attempts that only name the file")
    func comparedBefore() throws {
        let told = answered(201, ["X-Hash-SHA256: \(Self.sum)"])
        for end in [unanswered(lost, sent: 0), answered(504)] {
            let (_, point) = try compared(plan(verify: .digest), [told, end, listing((part, 1000))])
            #expect(point.compared?.value == Self.sum && point.publishing)
            let resumed = plan(verify: .digest, resume: point)
            #expect(after(resumed, answered(404), there(1000), answered(404)) == ["finish 1000 digest found"])
            #expect(after(resumed, listing((part, 1000)), answered(404)).last == move)
            #expect(after(resumed, listing((part, 1000)), answered(404), answered(201)) == ["finish 1000 digest"])
            // Bytes that are sent anew are compared anew.
            let (said, next) = try compared(resumed, [answered(404), answered(404), answered(201)])
            #expect(said == ["DELETE \(part)"] && next.compared == nil)
        }
    }

    @Test("a MOVE that may still go on in Nextcloud is waited for, not repeated")
    func gatewayTimeout() {
        let address = "https://c/remote.php/dav/files/u/f"
        let temporary = "/remote.php/dav/files/u/.f.01234567.martlet-part"
        func there(at now: Timestamp) -> ExchangeEnd { listing((temporary, 1000), at: now) }
        // A gateway's word: an hour. A line that broke: as long as the server may need for so few bytes.
        for (end, patience) in [(answered(504), 3600), (answered(502), 3600), (unanswered(lost, sent: 0), 60)] {
            var play = HTTPPlay(DavUpload(plan(address: address)))
            for end in [answered(201), end] { play.end(end) }
            #expect(play.said == ["persist dav", "PROPFIND \(temporary)"])
            guard case .persist(let stored)? = play.last.first, let point = stored.content(DavResumePoint.self) else {
                Issue.record("nothing is kept")
                return
            }
            // The attempt ends: whatever else there is to send does not wait for this file.
            play.end(there(at: noon))
            #expect(
                play.said.first?.hasPrefix("wait backoff") == true
                    && play.said.first?.hasSuffix(" 30.0 seconds") == true)
            #expect(point.busyUntil == noon.advanced(by: .seconds(patience)))
        }
        // What never left us is not going on there.
        #expect(
            after(plan(address: address), answered(201), unanswered(refused, sent: 0), there(at: noon)) == [
                "wait backoff cannotConnectToHost"
            ])
        var done = HTTPPlay(DavUpload(plan(address: address)))
        for end in [answered(201), answered(504), answered(404)] { done.end(end) }
        #expect(done.said == ["PROPFIND /remote.php/dav/files/u/f"])
        for end in [listing(("/remote.php/dav/files/u/f", 1000)), answered(404)] { done.end(end) }
        #expect(done.said == ["finish 1000 size"])
        // What Nextcloud itself says is an end.
        let own = "<d:error xmlns:d=\"DAV:\" xmlns:s=\"http://sabredav.org/ns\"></d:error>"
        #expect(
            after(plan(address: address), answered(201), answered(503, body: own), there(at: noon)) == [
                "wait hostBackoff http"
            ])
    }

    @Test(
        "a later attempt goes on waiting for the MOVE, and a lock is then our own",
        .tells("c may still be giving the file its name"))
    func gatewayTimeoutResumed() {
        let temporary = "/remote.php/dav/files/u/.f.01234567.martlet-part"
        var point = DavResumePoint(temporary: temporary)
        point.publishing = true
        point.busyUntil = noon.advanced(by: .seconds(1))
        let machine = DavUpload(plan(resume: point, address: "https://c/remote.php/dav/files/u/f"))
        var early = HTTPPlay(machine)
        early.end(listing((temporary, 1000)))
        #expect(early.said == ["accepted 1000", "wait backoff badServerResponse 30.0 seconds"])
        var play = HTTPPlay(machine)
        play.end(listing((temporary, 1000), at: noon.advanced(by: .seconds(1))))
        #expect(play.said.first == "resumed 1000")
        play.end(answered(404))
        #expect(play.said.last?.hasPrefix("MOVE") == true)
        play.end(answered(423))
        #expect(play.said == ["persist dav", "PROPFIND \(temporary)"])
        let coded = ResumePoint(encoded: ResumePoint(point).encoded)?.content(DavResumePoint.self)
        #expect(coded == point)
    }

    @Test("a file that is skipped at the end waits until somebody was asked to remove its temporary file")
    func unaskedRemoval() {
        let before = [answered(201), answered(412), there(5)]
        for (removal, last) in [
            (unanswered(refused, sent: 0), "wait backoff cannotConnectToHost"),
            (unanswered(lost, sent: 0), "finish 1000 none skipped"),
            (answered(404), "finish 1000 none skipped"),
        ] {
            var play = HTTPPlay(DavUpload(plan(.skip)))
            for end in before { play.end(end) }
            #expect(play.said.last == "DELETE \(part)")
            play.end(removal)
            #expect(play.said.last == last)
        }
    }

    @Test("without MOVE, what an earlier attempt may have put there is in doubt, and never skipped")
    func straightDoubt() {
        for ifExists in [ExistingFilePolicy.fail, .skip] {
            let again = plan(ifExists, begun: noon, facts: straight)
            #expect(after(again, answered(404), answered(412), there(1000)) == ["fail unknownOutcome"])
        }
    }

    @Test("without MOVE, what has the name is replaced when it is a beginning of the file, and is else in doubt")
    func straightBeginning() {
        let send = "PUT /d/e/f 0..<1000 | If-Match: \"1\""
        let resumed = plan(begun: noon, facts: straight, resume: DavResumePoint(temporary: "/d/e/f"))
        for plan in [resumed, plan(.skip, begun: noon, facts: straight)] {
            #expect(after(plan, there(0)) == ["GET /d/e/f"])
            #expect(after(plan, there(0), answered(416)).last == send)
            #expect(after(plan, there(4), answered(503)) == ["wait hostBackoff http"])
            #expect(after(plan, there(1001)) == ["fail unknownOutcome"])
            #expect(after(plan, there(4), answered(200, body: "abcde")) == ["fail unknownOutcome"])
            #expect(after(plan, there(4), unanswered(lost, sent: 0)) == ["wait backoff networkConnectionLost"])
            var play = HTTPPlay(DavUpload(plan))
            play.end(there(4))
            #expect(play.said == ["GET /d/e/f"])
            play.end(answered(206, ["Content-Range: bytes 0-3/4"], body: "abcd"))
            #expect(play.said == ["digest 0..<4 sha-256"])
            let sum = DigestAlgorithm.sha256.digest(of: Array("abcd".utf8)).hex
            let (same, other) = (Self.rangeSum(sum), Self.rangeSum("00"))
            var strange = play
            strange.take(strange.machine.handle(.rangeDigested(0..<4, [other])))
            #expect(strange.said == ["fail unknownOutcome"])
            play.take(play.machine.handle(.rangeDigested(0..<4, [same])))
            #expect(play.said.last == send)
        }
    }

    @Test("without MOVE, a doubtful yes counts when the name was free, or had another file, before the PUT")
    func straightDoubtfulYes() {
        let resumed = DavResumePoint(temporary: "/d/e/f")
        let again = ["persist dav", "wait backoff badServerResponse"]
        for yes in [answered(202), answered(201, sent: 30, failure: lost)] {
            #expect(after(plan(facts: straight), answered(404), yes, there(1000)).last == "finish 1000 size")
            #expect(after(plan(facts: straight), answered(404), yes, answered(404)) == again)
            for verify in [nil, VerificationWish.none] {
                let first = plan(.replace, verify: verify, facts: straight)
                for look in [there(1000), there(nil), answered(404)] { #expect(after(first, yes, look) == again) }
                var second = plan(.replace, verify: verify, begun: noon, facts: straight, resume: resumed)
                #expect(after(second, there(1000), yes, there(1000)) == again)
                let news = after(second, there(1000), yes, there(1000, modified: laterText)).last
                #expect(news == (verify == nil ? "finish 1000 size" : "finish 1000 none"))
                second.resume?.unanswered = 2
                #expect(
                    after(second, there(1000), yes, there(1000)) == ["persist dav", "fail unknownOutcome"])
            }
        }
        // Under a temporary name the length tells, and no wish makes up for one that is not told.
        #expect(after(plan(), answered(202), listing((part, 1000))).last == move)
        let unverified = plan(verify: VerificationWish.none)
        #expect(after(unverified, answered(202), listing((part, nil))) == ["fail integrity"])
    }

    @Test(
        "without MOVE, answers that are lost are counted, by the line or by a gateway alike",
        .tells("an earlier attempt may have reached h, but its answers are lost, time after time"))
    func straightLost() {
        let resumed = DavResumePoint(temporary: "/d/e/f")
        let again = ["persist dav", "wait backoff networkConnectionLost"]
        let gateway = ["persist dav", "wait backoff http"]
        for (loss, wait) in [(unanswered(lost, sent: 1000), again), (answered(504), gateway)] {
            #expect(after(plan(.replace, facts: straight), loss, there(1000)) == wait)
            var third = plan(.replace, begun: noon, facts: straight, resume: resumed)
            third.resume?.unanswered = 2
            #expect(after(third, there(1000), loss, there(1000)) == ["persist dav", "fail unknownOutcome"])
            // That nothing is there is a word of the server's own.
            third.resume?.unanswered = 2
            #expect(after(third, there(1000), loss, answered(404)) == wait)
        }
        let later = answered(504, ["Retry-After: 120"])
        #expect(
            after(plan(.replace, facts: straight), later, answered(404)) == [
                "persist dav", "wait hostBackoff http 120.0 seconds",
            ])
        // Under a temporary name the length tells.
        #expect(after(plan(), answered(504), listing((part, 1000))).last == move)
    }

    @Test("without MOVE, what has the name counts as done when all of it is the file")
    func straightWhole() {
        var play = HTTPPlay(DavUpload(plan(begun: noon, facts: straight)))
        play.end(there(1000))
        let body = String(repeating: "a", count: 1000)
        play.end(answered(200, body: body))
        let sum = Self.rangeSum(DigestAlgorithm.sha256.digest(of: Array(body.utf8)).hex)
        play.take(play.machine.handle(.rangeDigested(0..<1000, [sum])))
        #expect(play.said == ["finish 1000 digest found"])
    }

    @Test("without MOVE, no other file of ours gets the name between the look and the PUT")
    func claimed() {
        func claims(_ plan: DavPlan) -> Bool {
            var upload = DavUpload(plan)
            return upload.handle(.began(at: noon)).first == .claimName(RawPath("/d/e/f"))
        }
        let resumed = plan(begun: noon, facts: straight, resume: DavResumePoint(temporary: "/d/e/f"))
        #expect(claims(resumed) && claims(plan(facts: straight)))
        #expect(!claims(plan(.replace, facts: straight)) && !claims(plan()))
    }

    private static func rangeSum(_ value: String) -> TransferDigest {
        TransferDigest(algorithm: "sha-256", value: value)
    }

    @Test("an answer that came before the last byte, or 202, is not believed")
    func earlyAnswer() {
        #expect(after(plan(), answered(201, sent: 999)) == ["PROPFIND \(part)"])
        #expect(after(plan(), answered(202)) == ["PROPFIND \(part)"])
        #expect(after(plan(verify: .size), answered(201)) == ["PROPFIND \(part)"])
    }

    @Test(
        "listings are read whatever the server's manner, and what is no listing waits",
        .tells("h answered PROPFIND with what is no list"))
    func listings() {
        let odd =
            "<?xml version='1.0'?><D:multistatus xmlns:D='DAV:' xmlns:x='http://x'><D:response>"
            + "<D:href>http://h:80/d/a%20b/</D:href><D:propstat><D:prop><x:getcontentlength>9</x:getcontentlength>"
            + "<D:resourcetype><D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.0 200 Fine</D:status></D:propstat>"
            + "</D:response><D:response><D:href>/gone</D:href><D:status>HTTP/1.1 404 Gone</D:status></D:response></D:multistatus>"
        let read = DavListing.read(Array(odd.utf8))
        #expect(read?.count == 1)
        #expect(read?.first?.path == Array("/d/a b".utf8))
        #expect(read?.first?.isFolder == true)
        #expect(read?.first?.size == nil)
        #expect(DavListing.read(Array("<a/>".utf8)) == nil)
        let broken = ExchangeEnd(answer: HTTPAnswer(status: 207), body: Array("<d:mul".utf8), at: noon)
        #expect(after(plan(size: large), broken) == ["wait backoff badServerResponse"])
    }

    @Test("a removal takes the temporary file, never the target")
    func removal() {
        let address = HTTPAddress("http://h/d/e/f")!
        #expect(HTTPPlay(UploadRemoval(left(), address: address)).said == ["DELETE \(part)"])
        let own = DavResumePoint(temporary: "/d/e/f")
        #expect(HTTPPlay(UploadRemoval(own, address: address)).said == ["finish 0 none"])
    }
}

extension String {
    /// With the last letter exchanged.
    fileprivate func replacing(_ old: String, _ new: String) -> String {
        hasSuffix(old) ? dropLast(old.count) + new : self
    }
}
