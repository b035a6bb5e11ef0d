import Glibc

/// A file of ours in a folder of ours, as a screen keeps them beside the queue. Somebody else may have put something under either name before us:
/// nothing is read, written or replaced in a folder of another user's, or through a link in ours (`System.openOwnFolder`).
package struct OwnFile: Sendable {
    private let folder: [UInt8]
    private let name: [UInt8]

    /// - Parameter path: absolute.
    package init(_ path: String) {
        let bytes = Array(path.utf8)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
        (folder, name) = (Array(bytes[..<slash]), Array(bytes[(slash + 1)...]))
    }

    /// Opens it, its folder made when it is missing. One that has another name as well is not written to: that may be any file of this user's.
    /// - Parameter flags: as of `System.openOwnFile`.
    package func open(flags: Int32) throws(Untrusted) -> OwnedDescriptor {
        let folder = try System.openOwnFolder(folder)
        let writes = flags & (O_WRONLY | O_RDWR) != 0
        return try System.openOwnFile(name, in: folder.rawValue, flags: flags, mayHaveNames: !writes)
    }

    /// Puts a new version in the place of the old one, or of a link: a reader sees one or the other, also after a power cut.
    package func replace(with bytes: [UInt8]) throws(Untrusted) {
        let folder = try System.openOwnFolder(folder)
        let new = name + Array(".\(getpid()).new".utf8)
        do throws(Errno) {
            do { try System.unlinkat(folder.rawValue, new) } catch .noSuchFile {}
            let file = try System.openat(folder.rawValue, new, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            let span = bytes.span.bytes
            try span.withUnsafeBytes { buffer throws(Errno) in try System.writeAll(file.rawValue, buffer) }
            try System.fsync(file.rawValue)
            try System.renameat(folder.rawValue, new, to: folder.rawValue, name)
        } catch {
            try? System.unlinkat(folder.rawValue, new)
            throw .system(error, path: self.folder + [UInt8(ascii: "/")] + name)
        }
        // Some file systems cannot sync a folder; the file has its name all the same.
        try? System.fsync(folder.rawValue)
    }

    /// Gives it a second name in place of its own.
    package func setAside(as ending: String) throws(Untrusted) {
        let folder = try System.openOwnFolder(folder)
        do throws(Errno) {
            try System.renameat(folder.rawValue, name, to: folder.rawValue, name + Array(ending.utf8))
        } catch {
            throw .system(error, path: self.folder + [UInt8(ascii: "/")] + name)
        }
    }
}
