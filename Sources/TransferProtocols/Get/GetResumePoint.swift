package import TransferModel

/// Resume point of a download: which version it is, and how much of it is on the disk.
package struct GetResumePoint: ResumePointContent {
    package static var kind: String { ProtocolFacts.get.id }

    package var version: RemoteVersion
    /// Bytes of the temporary file that are on the disk. With more or fewer than were checked nothing of it is `received`.
    package var offset: Int64 {
        didSet { if offset != oldValue { received = nil } }
    }
    /// The final name, once decided.
    package var name: RawPath
    /// The temporary file beside it, its inode once it is made.
    package var partName: RawPath?
    package var partInode: UInt64?
    /// Inode of the folder that the temporary file was made in: elsewhere nobody can tell whether it is gone.
    package var folderInode: UInt64?
    /// The end of the temporary file, which recognises it where inode numbers do not last.
    package var tail: PartTail?
    /// Digest that the whole file must have, by the word of the server or of a person.
    package var promised: TransferDigest?
    /// All bytes are there, and this is how they were checked: nothing is left to ask the server for.
    package var received: Verification?
    /// The file was written in the second in which its body began, or right before: its time does not tell one version from the next.
    var isFresh: Bool?
    /// Looks at the server's version after the last byte that it left without an answer.
    package var silentLooks: Int?
    /// A HEAD has shown another version since. Some servers tell a HEAD other things, so that a GET decides; silence is no denial.
    var isDoubted: Bool?
    /// The server has shown another version since: these bytes are kept until that comes, and never finished.
    var isOutdated: Bool?
    /// All bytes are there and checked; the temporary file is getting its final name.
    package var publishing = false

    package init(version: RemoteVersion, offset: Int64, name: RawPath) {
        self.version = version
        self.offset = offset
        self.name = name
    }

    /// It with so much of the temporary file on the disk.
    func synced(through offset: Int64) -> ResumePoint {
        var point = self
        point.offset = offset
        return ResumePoint(point)
    }

    /// The temporary file is gone or cut.
    package mutating func lose() { (offset, received) = (0, nil) }

    /// Lies where another one does.
    mutating func takePlace(of other: GetResumePoint) {
        (partName, partInode, folderInode, tail) = (other.partName, other.partInode, other.folderInode, other.tail)
    }

    /// Nothing of it but where it lies.
    package var forgotten: GetResumePoint {
        var point = GetResumePoint(version: RemoteVersion(), offset: 0, name: name)
        point.takePlace(of: self)
        return point
    }

    package var isPlausible: Bool {
        ResumeBounds.lengths.contains(offset) && ResumeBounds.counts.contains(silentLooks ?? 0) && version.isPlausible
            && Self.stays(name) && partName.map(Self.stays) ?? true && tail?.isPlausible ?? true
    }

    /// True of a name that lies below the download's folder.
    private static func stays(_ name: RawPath) -> Bool {
        !name.components.isEmpty && !name.components.contains(RawPath(".."))
    }

    /// The receipt of an attempt that had all of it and was stopped before the file had its name; `nil` when there is still something to ask.
    func receipt(verify: VerificationWish?, expects: TransferDigest?) -> Receipt? {
        guard let received else { return nil }
        if let digest = expects ?? (received == .digest ? promised : nil) {
            return .received(offset, verified: .digest, digest: digest)
        }
        return verify == .digest || received == .digest ? nil : .received(offset, verified: received)
    }
}
