import Digests
import TransferModel
import WireOperations

/// Decides by a HEAD's answer about the file that may be there.
extension PutUpload {
    mutating func headEnded(_ question: Question, _ end: ExchangeEnd) -> [ProtocolAction] {
        // The file is there already; only its digest is not known.
        func enough() -> [ProtocolAction]? {
            guard case .isItWhole(let stored, let body, mustTell: false) = question else { return nil }
            return over(.finish(receipt(.answered, known, stored, body: body)))
        }
        guard let answer = end.answer else {
            return enough() ?? refuseOrWait(end.failure?.error ?? .noAnswer(chain.address))
        }
        switch meaning(answer, end) {
        case .redirect:
            if let error = asking.follow(answer, keepsMethod: false) { return over(.fail(error)) }
            return probe(question)
        // A server without HEAD answers 501 and would do so for ever.
        case .wait(let demand) where answer.status != 501: return enough() ?? over(.wait(demand))
        case .success, .fail, .wait: break
        }
        if let aside = lookAside(for: question, end) { return aside }
        switch question {
        case .didItArrive(let doubt, let wantsDigest):
            return decideArrival(answer, end.at, doubt, wantsDigest: wantsDigest)
        case .isItTheSame(let inDoubt, let wantsDigest):
            return decideSameness(answer, inDoubt: inDoubt, wantsDigest: wantsDigest)
        case .isItWhole(let stored, let body, let mustTell):
            return decideWholeness(answer, stored, body, mustTell: mustTell)
        case .isItOwn: return decideOwnership(answer)
        }
    }

    /// Our earlier version is replaced while it stands there, and nothing else is.
    private mutating func decideOwnership(_ answer: HTTPAnswer) -> [ProtocolAction] {
        see(answer)
        guard let own = plan.resume else { return send() }
        let file = StandingFile(answer)
        if answer.isAbsence {
            plan.resume = nil
            return put()
        }
        guard answer.isSuccess else {
            // A server that tells nothing of it may still compare the tag.
            return own.strongTag == nil ? other(Self.doubt(answer, size: plan.size), inDoubt: true) : send()
        }
        let isFresh = plan.hasJustStored && file.size != nil && file.size == own.version?.size
        switch isFresh ? .ours : own.standing(file) {
        case .ours:
            plan.stands = true
            plan.resume?.etag = file.etag ?? own.etag
            return send()
        case .foreign:
            // The condition of the PUT says so, and the rule for such files decides.
            plan.resume = nil
            return plan.mayIgnoreConditions ? refused() : send()
        // The condition would not hold.
        case .unknown where own.strongTag != nil && file.etag != nil && file.etag != own.etag: return refused()
        case .unknown:
            return other("nothing tells whether what is there is an earlier version of the file", inDoubt: true)
        }
    }

    /// Length and time do not tell our file from what another run has sent, an earlier version of the source least of all: its digest does,
    /// or its bytes.
    private mutating func decideArrival(
        _ answer: HTTPAnswer, _ now: Timestamp, _ doubt: Doubt, wantsDigest: Bool
    ) -> [ProtocolAction] {
        let isOlder = plan.isOlder(answer, than: doubt.begun, now: now)
        switch doubt {
        case .earlier:
            earlier = isOlder ? .foreign : .unproven
            see(answer)
        case .own(let put): if let actions = believe(put, answer) { return actions }
        }
        if answer.isSuccess, answer.contentLength == plan.size, !isOlder, !plan.isOwnBefore(answer), !plan.targetIsOther
        {
            let comparison = Comparison.arrived(answer, doubt)
            if let actions = compareTold(answer, comparison) { return actions }
            if !wantsDigest, plan.tellsDigests != false { return probe(.didItArrive(doubt, wantsDigest: true)) }
            if let actions = readBack(comparison) { return actions }
        }
        return notArrived(Self.doubt(answer, size: plan.size), answer, doubt, isOlder ? .older : .unknown)
    }

    /// Nothing proves that the file is there: it is sent again, under the same condition, unless something else has the name.
    private mutating func notArrived(
        _ why: String, _ answer: HTTPAnswer, _ doubt: Doubt, _ likeness: Likeness
    ) -> [ProtocolAction] {
        switch doubt {
        // Another protocol would have to send it again.
        case .earlier(_, let refused)
        where purpose != .onlyLooks && likeness != .older && answer.isSuccess && (refused || plan.isUnguarded):
            return likeness == .different ? other(why, inDoubt: true) : recognise(answer, why)
        case .earlier(_, refused: false) where isLastTry && likeness == .unknown && answer.isSuccess:
            return over(.fail(.unsure(at: chain.address.server, UnprovenFiles.answersAreLost)))
        case .earlier(_, refused: false): return send()
        // Our earlier version, which the request named, was taken away: that is all that the refusal says.
        case .earlier(_, refused: true) where answer.isAbsence && plan.resume?.stored == true: return foundNothing()
        // A file that is older than anything of ours is somebody else's.
        case .earlier where likeness == .older && plan.ifExists == .skip && asking.address == chain.address:
            return over(.finish(.skipped(plan.size)))
        case .earlier: return other(why, inDoubt: likeness != .older)
        case .own(var put):
            switch put.missed(answer) {
            case .untold: return over(.fail(tellsNoSize))
            case .giveUp:
                if answer.isAbsence, let demand = put.gateway { return over(.wait(demand)) }
                return unproven(put)
            case .rest:
                let wantsDigest = put.yes != nil && plan.verify.comparesDigests
                state = .resting(.didItArrive(.own(put), wantsDigest: wantsDigest))
                return [.wake(.probeAgain, after: .seconds(1))]
            }
        }
    }

    /// Takes a doubtful yes for one when a file of the length is there that was not there before; `nil`: it proves nothing.
    private mutating func believe(_ put: UnprovenPut, _ answer: HTTPAnswer) -> [ProtocolAction]? {
        guard let yes = put.yes, answer.isSuccess, answer.contentLength == plan.size,
            put.isNew(answer, before: before, under: plan)
        else { return nil }
        if let digest = answer.representationDigest, plan.verify != VerificationWish.none {
            return learn(tellsDigests: true) + hash(digest, .stored(yes.answer, body: yes.body))
        }
        guard plan.verify.comparesDigests else {
            return over(.finish(receipt(.answered, .size, yes.answer, body: yes.body)))
        }
        // A small one is read back.
        if plan.verify == .digest { return plan.size <= Self.quicklyRead ? nil : over(.fail(tellsNoDigest)) }
        return learn(tellsDigests: false) + over(.finish(receipt(.answered, .size, yes.answer, body: yes.body)))
    }

    private var samePage: TransferError {
        TransferError(
            .badServerResponse, "\(chain.address.server) answered PUT with the page that it shows in its place",
            .again("sign in where the network asks for it, or queue it again with --verify none if it takes files so"))
    }

    private var tellsNoDigest: TransferError {
        .unverifiable(at: chain.address.server, "took the file but tells no SHA-256 of it")
    }

    private var tellsNoSize: TransferError {
        .unverifiable(at: chain.address.server, "took the file but does not tell its size")
    }

    // MARK: What an earlier attempt has left

    /// Replaces what is there when it is what an earlier attempt had sent.
    private mutating func recognise(_ answer: HTTPAnswer, _ why: String) -> [ProtocolAction] {
        guard !plan.targetIsOther,
            let look = BeginningLook(length: answer.contentLength, sourceSize: plan.size)
        else { return other(why, inDoubt: true) }
        return read(.part(look, of: answer))
    }

    private mutating func read(_ end: ExchangeEnd, _ look: BeginningLook, of answer: HTTPAnswer) -> [ProtocolAction] {
        var look = look
        switch look.read(end) {
        case .empty: return replace(answer)
        case .bytes(let theirs):
            state = .hashing(theirs, .begun(answer, look))
            return [.digestRange(look.range, [theirs.algorithm])]
        case .other: return other("nothing tells whether what is there is a part of the file", inDoubt: true)
        }
    }

    private mutating func matched(_ look: BeginningLook, of answer: HTTPAnswer) -> [ProtocolAction] {
        var look = look
        if look.goOn() { return read(.part(look, of: answer)) }
        guard look.isWhole else { return replace(answer) }
        var receipt = receipt(.digest, .digest, nil)
        receipt.foundThere = true
        return over(.finish(receipt))
    }

    private mutating func replace(_ own: HTTPAnswer) -> [ProtocolAction] {
        plan.resume = StoredVersion(stored: true, etag: own.etag)
        plan.stands = true
        return send()
    }

    // MARK: The same file

    /// A file that is there by whomever. The same file counts as done; only its bytes say that it is the same.
    private mutating func decideSameness(
        _ answer: HTTPAnswer, inDoubt: Bool, wantsDigest: Bool
    ) -> [ProtocolAction] {
        if !inDoubt, answer.isAbsence { return foundNothing() }
        // A digest may be that of what was sent, kept beside what became of it.
        guard answer.isSuccess, answer.contentLength == plan.size, !plan.targetIsOther else {
            return other(Self.doubt(answer, size: plan.size), inDoubt: inDoubt)
        }
        let comparison = Comparison.found(inDoubt: inDoubt)
        if let actions = compareTold(answer, comparison) { return actions }
        if !wantsDigest { return probe(.isItTheSame(inDoubt: inDoubt, wantsDigest: true)) }
        return (inDoubt ? readBack(comparison) : nil) ?? other(Self.doubt(answer, size: plan.size), inDoubt: inDoubt)
    }

    // MARK: Comparing bytes

    /// `nil`: the answer tells no digest, nor a tag that looks like one.
    private mutating func compareTold(_ answer: HTTPAnswer, _ comparison: Comparison) -> [ProtocolAction]? {
        if let digest = answer.representationDigest { return hash(digest, comparison) }
        // S3 and those like it, behind a signed URL.
        guard let tag = answer.etag, !tag.hasPrefix("W/"), S3Tag.partCount(tag) == S3PartCount(1),
            !tag.contains("-"), plan.size > 0
        else { return nil }
        state = .hashing(TransferDigest(algorithm: "md5", value: S3Tag.plain(tag)), comparison)
        return [.digestRange(0..<plan.size, ["md5"])]
    }

    /// `nil`: it is too large for that.
    private mutating func readBack(_ comparison: Comparison) -> [ProtocolAction]? {
        plan.size <= Self.quicklyRead ? read(.whole(comparison)) : nil
    }

    private mutating func read(_ reading: Reading) -> [ProtocolAction] {
        let id = nextID()
        state = .reading(id, reading)
        let (headers, sink): ([HeaderField], HTTPExchange.Sink) =
            switch reading {
            case .whole: ([], .document(limit: Int(plan.size) + 1))
            case .part(let look, _): (look.headers, look.sink)
            }
        return [
            .perform(
                id,
                .http(
                    HTTPExchange(
                        .get, asking.address, headers: headers, sink: sink, mayCarrySecrets: asking.mayCarrySecrets)))
        ]
    }

    mutating func read(_ end: ExchangeEnd, _ reading: Reading) -> [ProtocolAction] {
        if let demand = end.passing(host: asking.address.server) { return over(.wait(demand)) }
        if let answer = end.answer, meaning(answer, end) == .redirect {
            if let error = asking.follow(answer, keepsMethod: false) { return over(.fail(error)) }
            return read(reading)
        }
        switch reading {
        case .whole(let comparison): return readBack(end, comparison)
        case .part(let look, let answer): return read(end, look, of: answer)
        }
    }

    private mutating func readBack(_ end: ExchangeEnd, _ comparison: Comparison) -> [ProtocolAction] {
        guard let answer = end.answer, answer.status == 200, end.failure == nil, Int64(end.body.count) == plan.size
        else { return differs(comparison, "it cannot be read back") }
        let digest = TransferDigest(
            algorithm: "sha-256", value: DigestAlgorithm.sha256.digest(of: end.body).hex)
        return hash(digest, comparison)
    }

    /// The file that is there is not the source's, as far as anything tells.
    private mutating func differs(
        _ comparison: Comparison, _ why: String, _ likeness: Likeness = .unknown
    ) -> [ProtocolAction] {
        switch comparison {
        case .stored(let answer, let body):
            return over(
                .mismatch(receipt(.answered, .none, answer, body: body), .differing(at: chain.address.server, why)))
        case .found(let inDoubt): return other(why, inDoubt: inDoubt)
        case .begun: return other(why, inDoubt: true)
        case .arrived(let answer, let doubt): return notArrived(why, answer, doubt, likeness)
        }
    }

    /// The file that is there is not known to be the source's.
    private mutating func other(_ why: String, inDoubt: Bool) -> [ProtocolAction] {
        let host = chain.address.server
        return over(.fail(inDoubt ? .unsure(at: host, why) : .exists(at: host, httpStatus: 412)))
    }

    /// A 412, and nothing is there: it went meanwhile, our own earlier version perhaps; or the 412 means something else, and will come again.
    private mutating func foundNothing() -> [ProtocolAction] {
        switch purpose {
        case .onlyLooks:
            state = .foundNothing
            return []
        case .sendsOnceMore: return over(.fail(.keepsRefusing(at: chain.address.server)))
        case .sends: purpose = .sendsOnceMore
        }
        before = .nothing
        offer = nil
        plan.resume = nil
        restartReason = "the server refused the file, yet nothing of its name is there"
        return send()
    }

    private mutating func decideWholeness(
        _ answer: HTTPAnswer, _ stored: HTTPAnswer, _ body: [UInt8], mustTell: Bool
    ) -> [ProtocolAction] {
        if stored.isPageForYes, answer.isPageForYes, stored.contentLength ?? Int64(body.count) == answer.contentLength {
            return doubtProtocol() + sendLater(samePage, orElse: UnprovenFiles.isNeverShown)
        }
        // A program may take files under an address, and show a page of its own there.
        if stored.isPageForYes, !mustTell { return over(.finish(receipt(.answered, known, stored, body: body))) }
        guard answer.isSuccess, let length = answer.contentLength else {
            if !mustTell {
                return learn(tellsDigests: false) + over(.finish(receipt(.answered, known, stored, body: body)))
            }
            return over(.fail(tellsNoSize))
        }
        guard length == plan.size else {
            let why = "took the file but has \(length) of \(plan.size) bytes"
            return over(
                .mismatch(receipt(.answered, .none, stored, body: body), .differing(at: chain.address.server, why)))
        }
        guard plan.verify.comparesDigests else {
            return over(.finish(receipt(.answered, .size, stored, body: body)))
        }
        if let digest = answer.representationDigest {
            return learn(tellsDigests: true) + hash(digest, .stored(stored, body: body))
        }
        if plan.verify == .digest {
            return over(.fail(tellsNoDigest))
        }
        return learn(tellsDigests: false) + over(.finish(receipt(.answered, .size, stored, body: body)))
    }

    mutating func compare(
        _ ours: TransferDigest, _ theirs: TransferDigest, _ comparison: Comparison
    ) -> [ProtocolAction] {
        guard ours == theirs else {
            // A tag that is no digest only looked like one.
            if theirs.algorithm == "md5" {
                return differs(comparison, "nothing tells whether what is there is the same file")
            }
            guard case .stored = comparison else {
                return differs(comparison, "what is there has other bytes", .different)
            }
            return differs(comparison, "took the file but has other bytes (its SHA-256 differs)")
        }
        var receipt: Receipt
        switch comparison {
        case .begun(let answer, let look): return matched(look, of: answer)
        case .stored(let answer, let body): receipt = self.receipt(.digest, .digest, answer, body: body)
        case .found, .arrived:
            receipt = self.receipt(.digest, .digest, nil)
            receipt.foundThere = true
        }
        receipt.digest = theirs
        return over(.finish(receipt))
    }
}
