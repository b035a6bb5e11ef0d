import TransferModel
import WireOperations

/// Goes into a folder.
struct FTPProbe: Inquirer {
    private let host: String
    private let path: RawPath

    init(host: String, _ path: RawPath) { (self.host, self.path) = (host, path) }

    mutating func begin() -> InquiryStep {
        // A session begins in the home folder, and an empty path is that one.
        return .ask(.ftp(.enter(path.bytes.isEmpty ? RawPath(".") : path)))
    }

    mutating func answered(_ end: FTPEnd, _ found: inout PlaceFindings) -> InquiryStep {
        found.protocolName = ProtocolFacts.ftp.id
        // The login was good; the folder is made by the first upload.
        if end.reply == 550, !end.isLoginRefused {
            found.exists = false
        } else if end.isDone {
            found.exists = true
        } else {
            return .over(FTPMeaning(end, host: host, hasAccepted: false).action)
        }
        return .done
    }
}

/// Asks for one file by `SIZE`.
struct FTPFileProbe: Inquirer {
    private let host: String
    private let path: RawPath
    private let name: RawPath

    init(host: String, _ path: RawPath, name: RawPath) { (self.host, self.path, self.name) = (host, path, name) }

    mutating func begin() -> InquiryStep { .ask(.ftp(.size(path))) }

    mutating func answered(_ end: FTPEnd, _ found: inout RemoteEntry?) -> InquiryStep {
        if end.isUnknownCommand { return .fail(.unaskable(host)) }
        if end.isMissing, !end.isForbidden { return .done }
        guard end.isDone else { return .over(FTPMeaning(end, host: host, hasAccepted: false).action) }
        found = RemoteEntry(name, size: end.size.map { .bytes($0) } ?? .unknown, modified: end.modified)
        return .done
    }
}
