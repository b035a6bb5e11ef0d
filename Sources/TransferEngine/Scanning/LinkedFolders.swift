import LinuxSystem
import TransferModel
import TransferQueue

/// The folders to which links of a source lead, each with the link by which it is walked: the first that was found. Folders whose links lead
/// on to one another have twice as many ways to them with every level; each folder is walked once. A value of the walker.
///
/// Kept in memory for as long as the walk goes on. One that begins again, after a kill or a cancel that was taken back, learns anew from the
/// links that the queue has recorded: by their paths, since the number of a device holds for one boot only.
struct LinkedFolders {
    struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }
    }

    private struct Link: Hashable {
        let folder: FolderID
        let name: [UInt8]
    }

    /// Folders of one source that are walked by links; those behind further links are not.
    static let most = 100_000

    private var links: [SourceID: [Identity: Link]] = [:]

    /// Returns true when the folder with this status is walked by that link: also when the same link is listed again.
    mutating func take(_ status: FileStatus, by name: [UInt8], in folder: FolderID, of source: SourceID) -> Bool {
        let identity = Identity(status)
        let link = Link(folder: folder, name: name)
        if let first = links[source]?[identity] { return first == link }
        guard links[source, default: [:]].count < Self.most else { return false }
        links[source, default: [:]][identity] = link
        return true
    }

    /// Returns true when the folder with this status is walked by another link.
    func isTaken(_ status: FileStatus, not name: [UInt8], in folder: FolderID, of source: SourceID) -> Bool {
        links[source]?[Identity(status)].map { $0 != Link(folder: folder, name: name) } ?? false
    }

    /// Learns that a folder is walked by a link, from a walk that was broken off. A link that leads nowhere now says nothing.
    mutating func learn(_ link: LinkedFolder, of source: SourceID) {
        guard let status = try? link.place.status(followingLinks: true) else { return }
        _ = take(status, by: link.name.bytes, in: link.parent, of: source)
    }

    mutating func forget(_ source: SourceID) { links[source] = nil }
}
