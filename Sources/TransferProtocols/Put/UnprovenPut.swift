import TransferModel
import WireOperations

/// A PUT that may have stored the file: all of it went out and the answer was lost, or was a yes that proves nothing.
struct UnprovenPut: Hashable {
    /// A yes before the last byte, or a 202.
    struct Yes: Hashable {
        var answer: HTTPAnswer
        var body: [UInt8]
        /// The time of the answer, and of the question that follows it.
        var heard: Timestamp
    }

    let begun: Timestamp
    /// The task's error when no look finds the file.
    let error: TransferError
    /// `nil`: the answer was lost.
    var yes: Yes?
    /// The wait that a gateway's answer asks for, where the file is not there.
    var gateway: WaitDemand?
    /// The server was given a moment already.
    private(set) var hasRested = false

    init(begun: Timestamp, _ error: TransferError, yes: Yes? = nil) {
        (self.begun, self.error, self.yes) = (begun, error, yes)
    }

    init(begun: Timestamp, _ gateway: WaitDemand) {
        (self.begun, error, self.gateway) = (begun, gateway.error, gateway)
    }

    /// The step after a look that does not find the file.
    enum Next {
        /// A server may still be busy with the last bytes: it is asked once more.
        case rest
        /// The file is sent again later.
        case giveUp
        /// The server answers 202 and tells nothing of the file. It does so each time.
        case untold
    }

    mutating func missed(_ answer: HTTPAnswer) -> Next {
        let isTakenLater = yes?.answer.status == 202
        let tells = answer.isSuccess ? answer.contentLength != nil : answer.isAbsence
        if isTakenLater, !tells { return .untold }
        guard !answer.isSuccess || isTakenLater, !hasRested else { return .giveUp }
        hasRested = true
        return .rest
    }

    /// Returns true when what the server shows surely came after this PUT had begun. The server's own condition counts as a look, where it is
    /// known to heed that.
    func isNew(_ answer: HTTPAnswer, before: NameBefore, under plan: PutPlan) -> Bool {
        if before != .unseen { return before.isReplaced(by: StandingFile(answer)) }
        if plan.heedsConditions, PutMessages.isConditional(plan) {
            return PutMessages.wantsAbsence(plan) || answer.etag.map { $0 != plan.resume?.etag } ?? false
        }
        guard let heard = yes?.heard, let modified = answer.lastModified, let date = answer.date, begun <= heard,
            !plan.clockWasSetBack
        else { return false }
        // Since the PUT began more time has gone by than since the file was written, both by whole seconds of the server's clock.
        return modified <= date && date.since(modified) + .seconds(1) <= heard.since(begun)
    }
}
