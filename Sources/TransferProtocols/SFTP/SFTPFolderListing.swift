import TransferModel
import WireOperations

/// Opens a folder and reads its names until there are no more.
struct SFTPFolderListing: Inquirer {
    private let host: String
    private let folder: RawPath
    /// The open folder.
    private var handle: SFTPHandle?
    private var emptyAnswers = 0

    init(host: String, _ folder: RawPath) { (self.host, self.folder) = (host, folder) }

    mutating func begin() -> InquiryStep { .ask(.sftp(.openFolder(folder))) }

    mutating func answered(_ end: SFTPEnd, _ found: inout ListedFolder) -> InquiryStep {
        if let broken = end.brokenOff { return .over(broken) }
        if let (status, text) = end.refusal {
            switch status {
            case .noSuchFile where handle == nil: return .missing(&found)
            // What is open is closed with the machine's end.
            case .endOfFile where handle != nil: return .done
            default: return .over(SFTPMeaning.action(status, text, .list, host: host, hasAccepted: false))
            }
        }
        switch (handle, end.reply) {
        case (nil, .opened(let handle)?):
            self.handle = handle
            return .ask(.sftp(.readFolder(handle)))
        case (let handle?, .names(let names)?):
            let named = names.filter { RemoteEntry.isName($0.name.bytes) }
            // A link says nothing of the file that it leads to. What is not listed is asked for by its name.
            let entries = named.filter { !$0.attributes.isLink }.map { RemoteEntry($0) }
            emptyAnswers = named.isEmpty ? emptyAnswers + 1 : 0
            guard emptyAnswers < ListedFolder.mostEmptyPages else { return .fail(.endlessListing(host)) }
            return .ask(.sftp(.readFolder(handle))).after([.listed(entries)])
        default: return .over(SFTPMeaning.odd(host: host))
        }
    }
}

extension RemoteEntry {
    fileprivate init(_ found: SFTPName) {
        let attributes = found.attributes
        let size = attributes.size.map { FileSize.isPossible($0) ? Size.bytes($0) : .impossible }
        self.init(
            found.name, size: size ?? .unknown, isFolder: attributes.isFolder,
            modified: attributes.modified.map { Timestamp(seconds: $0) })
    }
}
