package import TransferModel

/// Takes away the temporary file of an upload over SFTP that was cancelled.
package struct SFTPRemoval: ProtocolMachine {
    private let host: String
    /// `nil`: the bytes were gathered under the final name, which is nobody's to remove.
    private let temporary: RawPath?
    private var pending: ExchangeID?

    /// - Parameter path: the upload's final path.
    package init(_ point: SFTPResumePoint, host: String, path: RawPath) {
        self.host = host
        temporary = point.temporary == path ? nil : point.temporary
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch event {
        case .began:
            guard let temporary else { return [.finish(.removed)] }
            let id = ExchangeID(rawValue: 1)
            pending = id
            return [.perform(id, .sftp(.remove(temporary)))]
        case .sftpEnded(let id, let end) where id == pending:
            pending = nil
            if let broken = end.brokenOff { return [broken] }
            guard let (status, text) = end.refusal, status != .noSuchFile else {
                return [.finish(.removed)]
            }
            return [SFTPMeaning.action(status, text, .store, host: host, hasAccepted: false)]
        default: return []
        }
    }
}
