/// By which rules a task is done: its batch's.
public struct TaskRules: Codable, Hashable, Sendable {
    /// Seconds without progress after which it fails as `gaveUp`. There is no other limit to how often it is tried.
    public var giveUpAfterSeconds: Int64
    /// Missing: the best that the server offers.
    public var verify: VerificationWish?
    /// The digest with which a download is compared at its end.
    public var expects: TransferDigest?

    public init(giveUpAfterSeconds: Int64, verify: VerificationWish? = nil, expects: TransferDigest? = nil) {
        self.giveUpAfterSeconds = giveUpAfterSeconds
        self.verify = verify
        self.expects = expects
    }
}
