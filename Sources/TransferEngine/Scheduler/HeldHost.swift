package import TransferModel

/// A host that is not asked at the moment.
package struct HeldHost: Sendable, Hashable {
    /// As `LaneSummary.origin`.
    package var origin: String
    /// Nothing starts before this; `nil`: before a person has done something.
    package var until: Timestamp?
    /// The last that was heard of it.
    package var error: TransferError?
    /// The reason for which everything at this host waits.
    package var reason: WaitReason

    package init(origin: String, until: Timestamp?, error: TransferError?, reason: WaitReason = .hostBackoff) {
        self.origin = origin
        self.until = until
        self.error = error
        self.reason = reason
    }

    /// It does not let us in.
    init(origin: String, _ refusal: LoginStanding.Refusal) {
        self.init(origin: origin, until: nil, error: refusal.error, reason: refusal.reason)
    }
}
