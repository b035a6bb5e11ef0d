package import TransferModel

/// An action that a protocol wants done, in order. Nothing after `persist` is done before that is durable.
package enum ProtocolAction: Sendable, Hashable {
    /// Starts an exchange under a new id.
    case perform(ExchangeID, Exchange)
    /// Breaks an exchange off; nothing more is heard of it.
    case abandon(ExchangeID)
    /// Lets the body of a gated answer through.
    case openGate(ExchangeID, GateOpening)
    /// Makes the resume point durable.
    case persist(ResumePoint)
    /// Fires `timerFired` after the duration, unless the task stops before.
    case wake(ProtocolTimer, after: Duration)
    /// The attempt goes on at this offset, where an earlier one stood.
    case resumed(at: Int64)
    /// The server has this much of an upload, by its own word, parts that are not connected included. Never more than the size.
    case accepted(Int64)
    /// Facts learnt about the server.
    case learned(HostFacts)
    /// Names that a server has told of a folder. What follows in the list waits until they are taken.
    case listed([RemoteEntry])
    /// The accepted bytes count no more: the file begins again at zero.
    /// `isOther`: with another version of it, of which nothing was there yet.
    case startOver(reason: String, isOther: Bool = false)
    /// Nothing is there of an upload, by the word of an answer alone, which a gateway gives, too, while it does not find its server. Where
    /// that may be doubted nothing that follows is done, and the attempt ends: a later one asks again. Comes after the resume point that is
    /// to be asked with, and before anything that treats the upload as gone.
    /// `isOutcome`: the upload may have become the file, so it is doubted of a small one, too.
    case doubtAbsence(isOutcome: Bool = false)
    /// Computes the digest of the whole source: `digested` follows.
    case digestSource
    /// Computes digests (`sha-256`, `sha-1`, `md5`) of a range of the source, beside whatever goes on: `rangeDigested` follows.
    case digestRange(Range<Int64>, [String])
    /// Holds what follows until no other attempt of ours gives this name at this server: for servers that cannot refuse to replace a file,
    /// so that a look at the name and the request that gives it are not parted by another file of ours.
    case claimName(RawPath)
    /// Looks at the source. If it has changed since the first byte, nothing that follows is done and the file begins again with what the
    /// source is now. Comes before every request that gives the final name, and before anybody is blamed for bytes that arrived
    /// other than they were hashed.
    /// - Parameter keeping: where a `persist` right before this one has told of a request that is about to go out: the point that holds if it
    ///   never does, because the source changed or the attempt was broken off; `nil`: the point that was persisted last.
    case compareSource(keeping: ResumePoint?)
    /// The server (or the local file) has every byte. The last action.
    case finish(Receipt)
    /// The server took the file, and has other bytes than the source has now. That is this error, unless somebody wrote to the source while it
    /// was sent. The last action.
    case mismatch(Receipt, TransferError)
    /// It cannot succeed. The last action.
    case fail(TransferError)
    /// Not now. The last action; a later attempt is a new machine.
    case wait(WaitDemand)
}

/// The reason why an attempt ended without a decision, and when to try again.
package struct WaitDemand: Hashable, Sendable {
    package var reason: WaitReason
    package var error: TransferError
    /// The wait that the server asked for.
    package var retryAfter: Duration?
    /// The server answered, and about this file alone: it serves others.
    package private(set) var isOfFile = false

    package init(_ reason: WaitReason, _ error: TransferError, retryAfter: Duration? = nil) {
        self.reason = reason
        self.error = error
        self.retryAfter = retryAfter
    }

    /// The same demand, which says nothing of the server.
    var ofFile: WaitDemand {
        var demand = self
        demand.isOfFile = true
        return demand
    }
}

extension ProtocolAction {
    /// The file is left out, since another one has its name: an end that the next attempt comes to as well.
    var isSkip: Bool { if case .finish(let receipt) = self { receipt.skipped } else { false } }
}
