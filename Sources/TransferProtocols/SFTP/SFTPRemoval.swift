package import TransferModel
import WireOperations

/// Takes away the temporary file of an upload over SFTP that was cancelled.
package struct SFTPRemoval: ProtocolMachine {
    private let host: String
    /// `nil`: the bytes were gathered under the final name, which is nobody's to remove.
    private let temporary: RawPath?
    private let path: RawPath
    /// An old file may have been removed for it: when the target is not there, what was gathered gets its name.
    private let isAllThatIsLeft: Bool
    private var pending: ExchangeID?
    private var isLooking = false

    /// - Parameter path: the upload's final path.
    package init(_ point: SFTPResumePoint, host: String, path: RawPath) {
        self.host = host
        self.path = path
        isAllThatIsLeft = point.removesOld == true
        temporary = point.temporary == path ? nil : point.temporary
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch event {
        case .began:
            guard let temporary else { return [.finish(.removed)] }
            isLooking = isAllThatIsLeft
            return perform(ExchangeID(rawValue: 1), isLooking ? .status(path) : .remove(temporary))
        case .sftpEnded(let id, let end) where id == pending:
            pending = nil
            if let broken = end.brokenOff { return [broken] }
            if isLooking, let temporary {
                isLooking = false
                guard let (status, text) = end.refusal else {
                    return perform(ExchangeID(rawValue: 2), .remove(temporary))
                }
                guard status == .noSuchFile else {
                    return [SFTPMeaning.action(status, text, .store, host: host, hasAccepted: false)]
                }
                return perform(ExchangeID(rawValue: 2), .rename(temporary, to: path, replaces: false))
            }
            guard let (status, text) = end.refusal, status != .noSuchFile else {
                return [.finish(.removed)]
            }
            return [SFTPMeaning.action(status, text, .store, host: host, hasAccepted: false)]
        default: return []
        }
    }

    private mutating func perform(_ id: ExchangeID, _ operation: SFTPOperation) -> [ProtocolAction] {
        pending = id
        return [.perform(id, .sftp(operation))]
    }
}
