import TransferModel

/// What a HEAD says of the file that may be there.
extension PutUpload {
    mutating func headEnded(_ question: Question, _ end: ExchangeEnd) -> [ProtocolAction] {
        // The file is there already; only its digest is not known.
        func enough() -> [ProtocolAction]? {
            guard case .isItWhole(let stored, let body, mustTell: false) = question else { return nil }
            return over(.finish(receipt(.size, stored, body: body)))
        }
        guard let answer = end.answer else {
            return enough() ?? refuseOrWait(end.failure?.error ?? .noAnswer(chain.address))
        }
        switch meaning(answer, end) {
        case .redirect:
            if let error = chain.follow(answer, keepsMethod: false) { return over(.fail(error)) }
            return probe(question)
        // A server without HEAD answers 501 and would do so for ever.
        case .wait(let demand) where answer.status != 501: return enough() ?? over(.wait(demand))
        case .success, .fail, .wait: break
        }
        switch question {
        case .didItArrive(let begun, let refused): return decideArrival(answer, end.at, begun, refused: refused)
        case .isItTheSame(let inDoubt, let wantsDigest):
            return decideSameness(answer, inDoubt: inDoubt, wantsDigest: wantsDigest)
        case .isItWhole(let stored, let body, let mustTell):
            return decideWholeness(answer, stored, body, mustTell: mustTell)
        }
    }

    private mutating func decideArrival(
        _ answer: HTTPAnswer, _ now: Timestamp, _ begun: Timestamp, refused: Bool
    ) -> [ProtocolAction] {
        let age = ownership(answer, now: now, begun: begun)
        if answer.isSuccess, answer.contentLength == plan.size, age == .notOlder, !isOwnBefore(answer) {
            if plan.verify == .digest || plan.verify == nil && plan.tellsDigests == true {
                return probe(.isItWhole(answer, body: [], mustTell: plan.verify == .digest))
            }
            var receipt = receipt(.size, nil)
            receipt.foundThere = true
            return over(.finish(receipt))
        }
        hasProbed = true
        if refused {
            if plan.ifExists == .skip, age == .older { return over(.finish(skipped)) }
            // Its age does not tell. Its digest may.
            return decideSameness(answer, inDoubt: true, wantsDigest: false)
        }
        guard let failure else { return send() }
        // This attempt's own answer was lost. A server may still be busy with the last bytes: ask once more, then begin again later.
        if !answer.isSuccess, !hasRested {
            hasRested = true
            state = .resting(.didItArrive(begun: begun, refused: false))
            return [.wake(.probeAgain, after: .seconds(1))]
        }
        return over(.wait(WaitDemand(.backoff, failure)))
    }

    /// A file that is there by whomever. The same file counts as done; only a digest says that it is the same.
    private mutating func decideSameness(
        _ answer: HTTPAnswer, inDoubt: Bool, wantsDigest: Bool
    ) -> [ProtocolAction] {
        if !inDoubt, answer.status == 404 || answer.status == 410 { return foundNothing() }
        guard answer.isSuccess, answer.contentLength == plan.size else {
            return other(Self.doubt(answer, size: plan.size), inDoubt: inDoubt)
        }
        if let digest = answer.representationDigest { return hash(digest, .found(inDoubt: inDoubt)) }
        if wantsDigest { return other(Self.doubt(answer, size: plan.size), inDoubt: inDoubt) }
        return probe(.isItTheSame(inDoubt: inDoubt, wantsDigest: true))
    }

    /// What is there is not known to be the file.
    private mutating func other(_ why: String, inDoubt: Bool) -> [ProtocolAction] {
        let host = chain.address.server
        return over(.fail(inDoubt ? .unsure(at: host, why) : .exists(at: host, httpStatus: 412)))
    }

    /// A 412, and nothing is there: it went meanwhile, our own earlier version perhaps; or the 412 means something else, and will come again.
    private mutating func foundNothing() -> [ProtocolAction] {
        if onlyLooks {
            hasFoundNothing = true
            state = .over
            return []
        }
        guard !isSentAgain else { return over(.fail(.keepsRefusing(at: chain.address.server))) }
        isSentAgain = true
        handle = nil
        plan.resume = nil
        restartReason = "the server refused the file, yet nothing of its name is there"
        return send()
    }

    private mutating func decideWholeness(
        _ answer: HTTPAnswer, _ stored: HTTPAnswer, _ body: [UInt8], mustTell: Bool
    ) -> [ProtocolAction] {
        guard answer.isSuccess, let length = answer.contentLength else {
            if !mustTell { return learn(tellsDigests: false) + over(.finish(receipt(.size, stored, body: body))) }
            if plan.verify == VerificationWish.none { return over(.finish(receipt(.none, stored))) }
            return over(.fail(.unverifiable(at: chain.address.server, "took the file but does not tell its size")))
        }
        guard length == plan.size else {
            let why = "took the file but has \(length) of \(plan.size) bytes"
            return over(.mismatch(receipt(.none, stored, body: body), .differing(at: chain.address.server, why)))
        }
        guard plan.verify.comparesDigests else { return over(.finish(receipt(.size, stored, body: body))) }
        if let digest = answer.representationDigest {
            return learn(tellsDigests: true) + hash(digest, .stored(stored, body: body))
        }
        if plan.verify == .digest {
            return over(.fail(.unverifiable(at: chain.address.server, "took the file but tells no SHA-256 of it")))
        }
        return learn(tellsDigests: false) + over(.finish(receipt(.size, stored, body: body)))
    }

    mutating func compare(
        _ ours: TransferDigest, _ theirs: TransferDigest, _ comparison: Comparison
    ) -> [ProtocolAction] {
        switch comparison {
        case .stored(let answer, let body):
            var receipt = receipt(.digest, answer, body: body)
            receipt.digest = theirs
            if ours == theirs { return over(.finish(receipt)) }
            let why = "took the file but has other bytes (its SHA-256 differs)"
            return over(.mismatch(receipt, .differing(at: chain.address.server, why)))
        case .found(let inDoubt):
            guard ours == theirs else { return other("what is there has other bytes", inDoubt: inDoubt) }
            var receipt = receipt(.digest, nil)
            receipt.digest = ours
            receipt.foundThere = true
            return over(.finish(receipt))
        }
    }
}
