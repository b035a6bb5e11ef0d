import Glibc
import LinuxSystem

/// The kind of entry at a path below the served folder.
enum Existing: Equatable, Sendable {
    case nothing
    case file(FileFacts)
    case folder
    /// A symbolic link, a socket, a device: nothing that the receiver reads or replaces.
    case other

    init(_ status: FileStatus) {
        switch status.kind {
        case .regular: self = .file(FileFacts(status))
        case .directory: self = .folder
        default: self = .other
        }
    }

    var facts: FileFacts? {
        if case .file(let facts) = self { facts } else { nil }
    }
}

extension FileFacts {
    init(_ status: FileStatus) {
        inode = status.inode
        size = UInt64(max(0, status.size))
        modifiedNanoseconds = status.modifiedNanoseconds
    }
}

/// A regular file that is open for reading, closed when nobody needs it any more.
final class OpenFile: Sendable {
    let descriptor: OwnedDescriptor
    let facts: FileFacts

    init(descriptor: OwnedDescriptor, facts: FileFacts) {
        self.descriptor = descriptor
        self.facts = facts
    }
}

/// The folder that is served. Every path is walked from its descriptor, one name at a time and without following links,
/// so no request reaches anything outside, whatever the names are and whoever moves folders meanwhile.
final class ServedFolder: Sendable {
    let root: OwnedDescriptor

    init(path: [UInt8]) throws(Errno) {
        root = try System.open(path, flags: O_RDONLY | O_DIRECTORY)
    }

    /// Looks up the entry at a path. A missing folder on the way gives `.nothing`; a file or a link on the way throws `ENOTDIR`.
    func look(at path: TargetPath) throws(Errno) -> Existing {
        guard let name = path.components.last else { return .folder }
        do {
            let parent = try openFolder(path.components.dropLast())
            return Existing(try System.fstatat(parent.rawValue, name, followingLinks: false))
        } catch .noSuchFile {
            return .nothing
        }
    }

    /// Opens a folder for `openat` and `fsync`.
    func openFolder(_ names: ArraySlice<[UInt8]>) throws(Errno) -> OwnedDescriptor {
        var folder = root
        for (index, name) in names.enumerated() {
            folder = try System.openat(folder.rawValue, name, flags: O_RDONLY | O_DIRECTORY)
            if index == 0 { try refuseHidden(folder) }
        }
        return folder
    }

    /// Opens a folder and makes what is missing. `touched` gets every folder in which another was made, because its
    /// entry is only durable once that folder is synced.
    func makeFolder(
        _ names: ArraySlice<[UInt8]>, touched: inout [OwnedDescriptor]
    ) throws(Errno) -> OwnedDescriptor {
        var folder = root
        for (index, name) in names.enumerated() {
            let next = try System.openOrMakeFolder(name, in: folder.rawValue)
            if next.wasMissing { touched.append(folder) }
            folder = next.folder
            if index == 0 { try refuseHidden(folder) }
        }
        return folder
    }

    /// Turns away from our own hidden folders, whatever name led there: file systems that ignore case or have short names (FAT) know
    /// each folder by several.
    private func refuseHidden(_ folder: OwnedDescriptor) throws(Errno) {
        let found = try System.fstat(folder.rawValue)
        for name in HiddenFolder.names {
            let hidden = try? System.fstatat(root.rawValue, Array(name.utf8), followingLinks: false)
            if let hidden, hidden.inode == found.inode, hidden.device == found.device { throw .accessDenied }
        }
    }

    /// Opens a regular file for reading; `nil` when something else is there. Never waits for a fifo's writer.
    func openFile(_ path: TargetPath) throws(Errno) -> OpenFile? {
        guard let name = path.components.last else { return nil }
        let parent = try openFolder(path.components.dropLast())
        let descriptor = try System.openat(parent.rawValue, name, flags: O_RDONLY | O_NONBLOCK)
        let status = try System.fstat(descriptor.rawValue)
        guard status.kind == .regular else { return nil }
        return OpenFile(descriptor: descriptor, facts: FileFacts(status))
    }

    /// The names in a folder, sorted as bytes, folders with a slash behind; our own hidden folders are left out. Blocks.
    func names(in path: TargetPath) throws(Errno) -> [[UInt8]] {
        let folder = try openFolder(path.components[...])
        // A second open file, because reading entries moves its position.
        let reader = try DirectoryReader(System.openat(folder.rawValue, Array(".".utf8), flags: O_RDONLY | O_DIRECTORY))
        var names: [[UInt8]] = []
        while let entry = try reader.next() {
            if path.components.isEmpty, TargetPath.isReserved(entry.name) { continue }
            names.append(entry.kind == .directory ? entry.name + [UInt8(ascii: "/")] : entry.name)
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Answer {
    /// The answer to a client when a call on its file failed.
    static func failure(_ error: Errno) -> Answer {
        switch error {
        case .noSuchFile: .problem(.notFound, "there is no such file")
        case .notDirectory, .tooManyLinks:
            .problem(.conflict, "a part of the path is a file or a symbolic link, which is not followed")
        case .isDirectory, .directoryNotEmpty: .problem(.conflict, "there is a folder of this name")
        case .crossDevice: .problem(.conflict, "the folder is on another file system")
        case .accessDenied, .notPermitted, .readOnlyFileSystem: .problem(.forbidden, error.description)
        case .nameTooLong: .problem(.uriTooLong, "a name or the path is too long")
        case .noSpace, .quotaExceeded: .problem(.insufficientStorage, error.description)
        case .fileTooLarge: .problem(.contentTooLarge, error.description)
        case .tooManyOpenFiles, .tooManyFilesInSystem, .noMemory: .problem(.unavailable, error.description)
        default: .problem(.internalError, error.description)
        }
    }
}
