package import TransferModel

/// A source of an upload batch that is not completely in the queue yet.
package struct WalkState: Hashable, Sendable {
    package var source: SourceID
    package var batch: BatchID
    /// Absolute.
    package var path: RawPath
    package var placement: UploadSource.Placement
    /// True after `begin` was called for it: then only folders are left, which `foldersToWalk` names.
    package var isBegun: Bool
    /// From the batch's options.
    package var include: [String]
    package var exclude: [String]
    package var followLinks: Bool
}

/// A walk's source and what it turned out to be.
package struct FoundSource: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case file(SourceIdentity)
        /// `nil`: it cannot be opened, which its listing will tell.
        case directory(FolderIdentity?)
        /// It cannot be read: becomes a failed task.
        case unreadable(TransferError)
        /// A file that include and exclude leave out, or a kind that is not sent: nothing is queued.
        case leftOut
    }
    package var source: SourceID
    package var kind: Kind

    package init(source: SourceID, kind: Kind) {
        self.source = source
        self.kind = kind
    }
}

/// The location of an upload's file or folder: the path that a person named, and the way from there that a walk has found.
///
/// Links in the first part were meant. In the second one there was none when it was listed, unless links are followed; one that is there
/// later was put there by somebody, perhaps to have other files sent.
package struct SourcePlace: Hashable, Sendable {
    /// Absolute.
    package var named: RawPath
    /// Empty: exactly what was named.
    package var below: RawPath

    package init(named: RawPath, below: RawPath = RawPath("")) {
        self.named = named
        self.below = below
    }

    /// Both parts as one path.
    package var path: RawPath { below.bytes.isEmpty ? named : named.appending(below) }

    /// The place of the entry that has this name in it.
    package func appending(_ name: RawPath) -> SourcePlace {
        SourcePlace(named: named, below: below.appending(name))
    }
}

/// Marks by which a local file was recognised when it was queued: rule 4 of the durability rules.
package struct SourceIdentity: Hashable, Sendable {
    package var size: Int64
    package var modifiedNanoseconds: Int64
    package var inode: UInt64

    package init(size: Int64, modifiedNanoseconds: Int64, inode: UInt64) {
        self.size = size
        self.modifiedNanoseconds = modifiedNanoseconds
        self.inode = inode
    }

    /// A person wants the file sent as it is when its turn comes, whatever it was before.
    package var isOpen: Bool { modifiedNanoseconds == 0 && inode == 0 }
}

/// Marks by which a directory is recognised until it is completely listed: where its disk is not mounted, another one, often empty, has
/// its path.
package struct FolderIdentity: Hashable, Sendable {
    /// The type of its file system (linux/magic.h).
    package var fileSystem: UInt32
    package var inode: UInt64

    package init(fileSystem: UInt32, inode: UInt64) { (self.fileSystem, self.inode) = (fileSystem, inode) }
}

/// A directory that is known and not completely listed.
package struct FolderToWalk: Hashable, Sendable {
    package var folder: FolderID
    package var source: SourceID
    package var place: SourcePlace
    /// Only a directory that bears these marks is listed as it; `nil`: any.
    package var identity: FolderIdentity?

    package init(folder: FolderID, source: SourceID, place: SourcePlace, identity: FolderIdentity? = nil) {
        self.folder = folder
        self.source = source
        self.place = place
        self.identity = identity
    }

    /// Below the source, for include and exclude; empty for the source itself.
    package var relative: RawPath { place.below }
}

/// A folder that is walked by a symbolic link.
package struct LinkedFolder: Hashable, Sendable {
    package var folder: FolderID
    /// The folder that the link lies in.
    package var parent: FolderID
    package var name: RawPath
    /// The location of the link.
    package var place: SourcePlace
}

/// A file found in a directory.
package struct WalkedFile: Hashable, Sendable {
    package var name: RawPath
    package var identity: SourceIdentity

    package init(name: RawPath, identity: SourceIdentity) {
        self.name = name
        self.identity = identity
    }
}

/// An entry of a directory that cannot be read; becomes a failed task.
package struct WalkedFailure: Hashable, Sendable {
    package var name: RawPath
    package var error: TransferError

    package init(name: RawPath, error: TransferError) {
        self.name = name
        self.error = error
    }
}

/// Some or all entries of one directory. The entries of a directory that was begun before a kill are given again
/// from the first; the queue takes only those it does not have.
package struct WalkedChunk: Hashable, Sendable {
    package var folder: FolderID
    package var files: [WalkedFile] = []
    package var folders: [RawPath] = []
    /// The names among `folders` that are symbolic links.
    package var links: Set<RawPath> = []
    /// The marks of the directory itself, once it was opened.
    package var identity: FolderIdentity?
    /// The marks of those among `folders` that lie on a file system of their own.
    package var mounted: [RawPath: FolderIdentity] = [:]
    package var failures: [WalkedFailure] = []
    /// The directory itself cannot be opened or read to its end; becomes a failed task beside it. Ends the directory.
    package var unreadable: TransferError?
    /// Entries left out of the whole directory; comes with its last chunk.
    package var leftOut = LeftOut()
    /// Nothing more comes from this directory.
    package var isLast: Bool

    package init(folder: FolderID, isLast: Bool) {
        self.folder = folder
        self.isLast = isLast
    }
}
