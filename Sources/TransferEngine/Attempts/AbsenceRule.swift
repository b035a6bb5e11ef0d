import TransferModel

/// The rule for an answer that nothing is there of an upload. A gateway says so, too, while its server is made anew: what has taken hours is
/// not begun again, and not removed, for one such word.
enum AbsenceRule {
    /// Bytes that are sent again sooner than waited for.
    private static let cheap: Int64 = 16 << 20
    /// The answer must have been the same for so long.
    private static let patience: Duration = .seconds(60)
    /// A pause ends it: the answer before that says nothing of the one after it.
    private static let memory: Duration = .seconds(86_400)

    /// - Parameter since: when the answer came first.
    static func isDoubted(losing bytes: Int64, since: Timestamp?, at now: Timestamp) -> Bool {
        guard bytes >= cheap else { return false }
        return now.since(self.since(since, at: now)) < patience
    }

    /// When the answer came first, as far as that counts still and the clock has not been set back since.
    static func since(_ since: Timestamp?, at now: Timestamp) -> Timestamp {
        guard let since, since <= now, now.since(since) < memory else { return now }
        return since
    }
}

extension TransferError {
    static func absent(at server: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(server) does not find what it has of the file",
            .automatic("Martlet asks for it again before it begins anew"))
    }
}
