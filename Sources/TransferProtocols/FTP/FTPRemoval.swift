package import TransferModel
import WireOperations

/// Removes what an upload over FTP left at a server, once nobody wants it any more. What was gone before counts as removed.
package struct FTPRemoval: ProtocolMachine {
    private enum State {
        /// Next: `looking`, `removing`, `over` (nothing is there that is only ours).
        case ready
        /// An old file may have been removed for it: is the target there? Next: `removing`, `renaming`, `over`.
        case looking(ExchangeID)
        /// It is not, so what was gathered gets its name: nothing else of the file is left. Next: `over`.
        case renaming(ExchangeID)
        /// Next: `over`.
        case removing(ExchangeID)
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let host: String
    private let target: RawPath
    private let path: RawPath?
    private let isAllThatIsLeft: Bool
    private var state = State.ready
    private var lastID = 0

    /// - Parameter target: the upload's path: a server that cannot rename has the bytes there, and they stay.
    package init(_ point: FTPResumePoint, target: RawPath, host: String) {
        self.host = host
        self.target = target
        isAllThatIsLeft = point.removesOld == true
        path = point.temporary == target ? nil : point.temporary
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        guard case .ftpEnded(let id, var end) = event else { return take(event) }
        end.names = [target] + (path.map { [$0] } ?? [])
        return take(.ftpEnded(id, end))
    }

    private mutating func take(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began):
            guard let path else { return over(.finish(.removed)) }
            if isAllThatIsLeft { return perform(.ftp(.size(target))) { .looking($0) } }
            return perform(FTPMessages.remove(path)) { .removing($0) }
        case (.looking(let id), .ftpEnded(let ended, let end)) where ended == id:
            guard let path else { return [] }
            if end.isDone { return perform(FTPMessages.remove(path)) { .removing($0) } }
            guard end.isFree else {
                return over(FTPMeaning(end, host: host, hasAccepted: false).action)
            }
            return perform(FTPMessages.rename(path, to: target)) { .renaming($0) }
        case (.renaming(let id), .ftpEnded(let ended, let end)) where ended == id:
            if end.isDone || end.command == "RNFR" && end.isFree {
                return over(.finish(.removed))
            }
            return over(FTPMeaning(end, host: host, hasAccepted: true).action)
        case (.removing(let id), .ftpEnded(let ended, let end)) where ended == id:
            if end.isDone || end.isFree { return over(.finish(.removed)) }
            return over(FTPMeaning(end, host: host, hasAccepted: false).action)
        default: return []
        }
    }

    private mutating func perform(_ exchange: Exchange, _ next: (ExchangeID) -> State) -> [ProtocolAction] {
        lastID += 1
        let id = ExchangeID(rawValue: lastID)
        state = next(id)
        return [.perform(id, exchange)]
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
