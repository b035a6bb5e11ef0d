import TransferModel

/// One set of credentials at one host: batches that show the same share it. On the engine's loop.
final class Login {
    struct Key: Hashable {
        let origin: String
        let secrets: TransferSecrets
        let sshCommand: String?

        /// The person's own ssh logs in.
        var isOfSSH: Bool { TransferScheme(of: origin)?.facts.login.isByOwnProgram == true }
    }

    let key: Key
    var standing: LoginStanding {
        didSet {
            if (oldValue.refusal == nil) != (standing.refusal == nil) { turned(standing.refusal != nil) }
            if standing.mayStart || standing.refusal != nil { letOn() }
        }
    }
    private var inLine: [CheckedContinuation<Void, Never>] = []
    /// The last refusal of a look, a read-back or a removal, and when.
    private var sideRefusal: (refusal: LoginStanding.Refusal, at: Timestamp)?
    private let turned: (_ isRefused: Bool) -> Void

    /// - Parameter turned: called when it is refused, and when it is not any more: other files may have its slots then.
    init(_ key: Key, turned: @escaping (_ isRefused: Bool) -> Void) {
        self.key = key
        self.turned = turned
        // A batch that shows nothing has nothing that could be refused: one no says nothing of other files.
        standing = LoginStanding(isProven: !key.isOfSSH && !key.secrets.showsWhoAsks)
    }
}

extension Login {
    /// Waits until nobody is trying it. - Returns: why nobody may use it; `nil`: it is this caller's turn.
    func turn(isolation: isolated TransferEngine) async -> LoginStanding.Refusal? {
        while standing.refusal == nil, !standing.mayStart {
            await withCheckedContinuation { inLine.append($0) }
        }
        return standing.refusal
    }

    /// The reason why no side job shows it now: servers count refusals. One a minute finds out whether that has changed.
    func refusalOfSideJobs(_ now: Timestamp) -> LoginStanding.Refusal? {
        guard let (refusal, at) = sideRefusal, now >= at, now.since(at) < .seconds(60) else { return nil }
        return refusal
    }

    func refuseSideJobs(_ refusal: LoginStanding.Refusal, at now: Timestamp) { sideRefusal = (refusal, now) }

    /// A person has done something about it, or wants it tried.
    func tryAgain() {
        standing.tryAgain()
        sideRefusal = nil
    }

    private func letOn() {
        let waiting = inLine
        inLine = []
        for continuation in waiting { continuation.resume() }
    }
}

extension TransferSecrets {
    /// True when a server can tell by them who asks.
    fileprivate var showsWhoAsks: Bool {
        source.showsWhoAsks || headers.contains(where: \.showsWhoAsks)
    }
}
