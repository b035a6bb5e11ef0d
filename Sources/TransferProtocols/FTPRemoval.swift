package import TransferModel

/// Removes what an upload over FTP left at a server, once nobody wants it any more. What was gone before counts as removed.
package struct FTPRemoval: ProtocolMachine {
    private enum State {
        /// Next: `removing`, `over` (nothing is there that is only ours).
        case ready
        /// Next: `over`.
        case removing(ExchangeID)
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let host: String
    private let path: RawPath?
    private var state = State.ready

    /// - Parameter target: the upload's path: a server that cannot rename has the bytes there, and they stay.
    package init(_ point: FTPResumePoint, target: RawPath, host: String) {
        self.host = host
        path = point.temporary == target ? nil : point.temporary
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began):
            guard let path else { return over(.finish(.removed)) }
            state = .removing(ExchangeID(rawValue: 1))
            return [.perform(ExchangeID(rawValue: 1), FTPMessages.remove(path))]
        case (.removing(let id), .ftpEnded(let ended, let end)) where ended == id:
            if end.isDone || end.isMissing && !end.isForbidden { return over(.finish(.removed)) }
            return over(FTPMeaning(end, host: host, hasAccepted: false).action)
        default: return []
        }
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
