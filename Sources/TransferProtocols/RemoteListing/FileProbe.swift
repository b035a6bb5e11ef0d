package import TransferModel
import WireOperations

/// Asks a server for one file by its own name, whatever the list of its folder says: lists leave names out (FTP servers hide dot files), and
/// show them in another case or normal form than they were sent in. Nothing is changed there.
package struct FileProbe: ProtocolMachine {
    package enum Place: Hashable, Sendable {
        case dav(HTTPAddress)
        case ftp(host: String, RawPath)
        case sftp(host: String, RawPath)
    }

    private let place: Place
    private let name: RawPath
    private var isOver = false
    /// The file, as the server tells of it. `nil` when it has finished: the server says that there is none.
    package private(set) var entry: RemoteEntry?

    /// - Parameter name: of the entry; the last segment of the place.
    package init(_ place: Place, name: RawPath) { (self.place, self.name) = (place, name) }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        if isOver { return [] }
        let id = ExchangeID(rawValue: 1)
        switch (place, event) {
        case (.dav(let address), .began): return [.perform(id, DavMessages.stat(address))]
        case (.ftp(_, let path), .began): return [.perform(id, .ftp(.size(path)))]
        case (.sftp(_, let path), .began): return [.perform(id, .sftp(.status(path)))]
        case (.dav(let address), .ended(_, let end)): return over(dav(end, address.server))
        case (.ftp(let host, _), .ftpEnded(_, let end)): return over(ftp(end, host))
        case (.sftp(let host, _), .sftpEnded(_, let end)): return over(sftp(end, host))
        default: return []
        }
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        isOver = true
        return [action]
    }

    private mutating func dav(_ end: ExchangeEnd, _ host: String) -> ProtocolAction {
        switch DavFinding(end, host: host, hasAccepted: false) {
        case .found(let resource): entry = resource.entry(named: name)
        case .missing: break
        case .unknownMethod: return .fail(.unaskable(host))
        case .other(let meaning): return meaning.refusal ?? .fail(.unaskable(host))
        }
        return .finish(.removed)
    }

    private mutating func ftp(_ end: FTPEnd, _ host: String) -> ProtocolAction {
        if end.isUnknownCommand { return .fail(.unaskable(host)) }
        if end.isMissing, !end.isForbidden { return .finish(.removed) }
        guard end.isDone else { return FTPMeaning(end, host: host, hasAccepted: false).action }
        entry = RemoteEntry(name, size: end.size.map { .bytes($0) } ?? .unknown, modified: end.modified)
        return .finish(.removed)
    }

    private mutating func sftp(_ end: SFTPEnd, _ host: String) -> ProtocolAction {
        if let broken = end.brokenOff { return broken }
        if let (status, text) = end.refusal {
            if status == .noSuchFile { return .finish(.removed) }
            return SFTPMeaning.action(status, text, .list, host: host, hasAccepted: false)
        }
        guard case .attributes(let found)? = end.reply else { return SFTPMeaning.odd(host: host) }
        entry = RemoteEntry(
            name, size: found.size.map { .bytes($0) } ?? .unknown, isFolder: found.isFolder,
            modified: found.modified.map { Timestamp(seconds: $0) })
        return .finish(.removed)
    }
}

extension TransferError {
    fileprivate static func unaskable(_ host: String) -> TransferError {
        TransferError(.unsupported, "\(host) cannot be asked for a file by its name: look there whether it has arrived")
    }
}
