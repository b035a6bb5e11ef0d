package import TransferModel

/// A server's answer to one operation.
package enum SFTPReply: Hashable, Sendable {
    case done
    case opened(SFTPHandle)
    case attributes(SFTPAttributes)
    /// Bytes.
    case freeSpace(Int64)
    /// Some names of a folder; there may be more.
    case names([SFTPName])
    /// The server's status, not OK (draft-ietf-secsh-filexfer-02 section 7), and its text, made harmless.
    case refused(SFTPStatus, String)
}

/// Status codes of SFTP version 3, beside OK.
package enum SFTPStatus: UInt32, Hashable, Sendable {
    case endOfFile = 1
    case noSuchFile = 2
    case permissionDenied = 3
    /// Everything else, a full disk and codes of later versions included: the text may say more.
    case failure = 4
    case badMessage = 5
    case noConnection = 6
    case connectionLost = 7
    case unsupported = 8
}

/// The known attributes of a remote file.
package struct SFTPAttributes: Hashable, Sendable {
    /// Bytes; `FileSize.beyond` stands for a size that no file can have.
    package let size: Int64?
    /// Seconds since 1970.
    package let modified: Int64?
    package let isFolder: Bool
    /// A symbolic link, whose own size and time these are. Only a list shows one: `STAT` follows it.
    package let isLink: Bool

    package init(size: Int64?, modified: Int64? = nil, isFolder: Bool = false, isLink: Bool = false) {
        self.size = size.flatMap(FileSize.told)
        self.modified = modified
        self.isFolder = isFolder
        self.isLink = isLink
    }
}

/// One name in a folder, with what the server says beside it. Links are not followed.
package struct SFTPName: Hashable, Sendable {
    /// As it came: it may hold anything, slashes and dots included.
    package let name: RawPath
    package let attributes: SFTPAttributes

    package init(_ name: RawPath, _ attributes: SFTPAttributes) {
        self.name = name
        self.attributes = attributes
    }
}

/// The abilities of the server, by its own word.
package struct SFTPFeatures: Hashable, Sendable {
    package var renamesOver = false
    package var syncs = false
    /// `statvfs@openssh.com`.
    package var tellsFreeSpace = false
    /// Writes are applied in the order in which they were sent, and the rename that is no posix-rename replaces nothing.
    package var isOpenSSH = false
    package init() {}
}
