import TransferModel
import WireOperations

/// Asks for a folder, and for the room there.
struct SFTPProbe: Inquirer {
    private let host: String
    private let path: RawPath

    init(host: String, _ path: RawPath) { (self.host, self.path) = (host, path) }

    private var folder: RawPath { path.bytes.isEmpty ? RawPath(".") : path }

    mutating func begin() -> InquiryStep { .ask(.sftp(.status(folder))) }

    mutating func answered(_ end: SFTPEnd, _ found: inout PlaceFindings) -> InquiryStep {
        if let broken = end.brokenOff { return .over(broken) }
        if case .freeSpace(let bytes)? = end.reply { found.freeBytes = bytes }
        // Whatever became of the question for room, the login is good.
        if found.protocolName != nil { return .done }
        found.protocolName = ProtocolFacts.sftp.id
        if let (status, text) = end.refusal {
            guard status == .noSuchFile else {
                return .over(SFTPMeaning.action(status, text, .open, host: host, hasAccepted: false))
            }
            found.exists = false
        } else if let attributes = end.attributes {
            guard attributes.isFolder else {
                return .fail(
                    TransferError(.destinationUnwritable, of: path, "at \(host) is a file", .step("name a folder")))
            }
            found.exists = true
        }
        guard end.features.tellsFreeSpace, found.exists == true else { return .done }
        return .ask(.sftp(.freeSpace(folder)))
    }
}

/// Asks for one file by `STAT`.
struct SFTPFileProbe: Inquirer {
    private let host: String
    private let path: RawPath
    private let name: RawPath

    init(host: String, _ path: RawPath, name: RawPath) { (self.host, self.path, self.name) = (host, path, name) }

    mutating func begin() -> InquiryStep { .ask(.sftp(.status(path))) }

    mutating func answered(_ end: SFTPEnd, _ found: inout RemoteEntry?) -> InquiryStep {
        if let broken = end.brokenOff { return .over(broken) }
        if let (status, text) = end.refusal {
            if status == .noSuchFile { return .done }
            return .over(SFTPMeaning.action(status, text, .list, host: host, hasAccepted: false))
        }
        guard case .attributes(let file)? = end.reply else { return .over(SFTPMeaning.odd(host: host)) }
        found = RemoteEntry(
            name, size: file.size.map { .bytes($0) } ?? .unknown, isFolder: file.isFolder,
            modified: file.modified.map { Timestamp(seconds: $0) })
        return .done
    }
}
