import Glibc
package import LinuxSystem

/// Small files, read and written as a whole.
package enum SmallFile {
    /// More is none of ours.
    private static let limit = 1 << 20

    /// `nil` when it cannot be read, or is none of ours to believe: `refusal` says why. Of a longer file only the first megabyte.
    package static func contents(_ path: [UInt8]) -> [UInt8]? { try? read(path) }

    /// The same of a file that nobody but this program writes; of what stands under its name and is none, `nil`.
    package static func contents(_ file: OwnFile) -> [UInt8]? {
        guard let descriptor = try? file.open(flags: O_RDONLY) else { return nil }
        return try? read(descriptor)
    }

    /// As `contents(toChange:)` of a path; empty, too, where a link, a pipe or somebody else's file stands under the name, which goes.
    package static func contents(toChange file: OwnFile) throws(Errno) -> [UInt8] {
        let descriptor: OwnedDescriptor
        do throws(Untrusted) { descriptor = try file.open(flags: O_RDONLY) } catch {
            guard case .system(let error, _) = error, error != .noSuchFile else { return [] }
            throw error
        }
        let bytes = try read(descriptor)
        guard bytes.count <= limit else { throw Errno.fileTooLarge }
        return bytes
    }

    private static func read(_ path: [UInt8]) throws(Errno) -> [UInt8] { try read(try System.openSettings(path)) }

    /// Reads the file; a longer one to a little more than its first megabyte.
    private static func read(_ descriptor: OwnedDescriptor) throws(Errno) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let count = try System.read(descriptor.rawValue, buffer)
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// The contents from which a new version is made: empty only where there is no file. Whatever else keeps it from being read, for a moment
    /// perhaps, is thrown: a new version would be without it.
    package static func contents(toChange path: String) throws(Errno) -> [UInt8] {
        do throws(Errno) {
            let bytes = try read(Array(path.utf8))
            guard bytes.count <= limit else { throw Errno.fileTooLarge }
            return bytes
        } catch .noSuchFile {
            return []
        }
    }

    package static func contents(_ path: String) -> [UInt8]? { contents(Array(path.utf8)) }

    /// The reason why a file that is there is not read; `nil`: it is read, or there is none.
    package static func refusal(_ path: String) -> String? {
        let shown = RawPath(path).displayed
        do throws(Errno) {
            let bytes = Array(path.utf8)
            _ = try System.openSettings(bytes)
            return nil
        } catch .noSuchFile {
            return (try? System.lstat(Array(path.utf8))) == nil
                ? nil : "\(shown) is not read: it is a link to what is not there"
        } catch .invalidArgument {
            return "\(shown) is not read: it is no plain file"
        } catch .notPermitted {
            if let owner = try? System.stat(Array(path.utf8)).userID, owner != 0, owner != System.userID {
                return
                    "\(shown) is not read: it is another user's (\(owner)), and commands may stand in it; use a copy of your own"
            }
            return "\(shown) is not read: somebody else can write it, and commands may stand in it; chmod go-w it"
        } catch {
            return "\(shown) is not read (\(error)): make it readable"
        }
    }

    /// Puts a new version in the place of the old one: a reader sees one or the other, also after a power cut. Made
    /// with its folder when it is not there, for this person's eyes only. One that cannot be read whole is left alone: whoever made the
    /// new version has not seen the old one.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(Errno) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        try System.mkdirs(Array(folder.utf8), mode: 0o700)
        // A link (to a repository of dotfiles, say) goes on pointing to the file.
        let target = (try? System.realpath(Array(path.utf8))) ?? Array(path.utf8)
        try requireReadable(target)
        let temporary = target + Array(".\(getpid()).new".utf8)
        do throws(Errno) {
            // One of a killed process with our number; whatever else stands there is not written to.
            do { try System.unlink(temporary) } catch .noSuchFile {}
            let file = try System.open(temporary, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            let span = bytes.span.bytes
            try span.withUnsafeBytes { buffer throws(Errno) in try System.writeAll(file.rawValue, buffer) }
            try System.fsync(file.rawValue)
            try System.rename(temporary, to: target)
        } catch {
            try? System.unlink(temporary)
            throw error
        }
        // Some file systems cannot sync a folder; the file has its name all the same.
        if let folder = RawPath(target).parent { try? System.syncDirectory(folder.bytes) }
    }

    /// Reads a file and puts a new version in its place, while no other process of ours does.
    /// - Parameter change: gets what is there now, and gives the new version; `nil`: it stays as it is.
    @concurrent
    package static func change(
        _ path: String, _ change: @Sendable (_ now: [UInt8]) -> [UInt8]?
    ) async throws(Errno) {
        let lock = try await FileLock.wait(for: path)
        defer { withExtendedLifetime(lock) {} }
        guard let bytes = change(try contents(toChange: path)) else { return }
        try replace(path, with: bytes)
    }

    private static func requireReadable(_ path: [UInt8]) throws(Errno) {
        do throws(Errno) {
            let file = try System.openSettings(path)
            if try System.fstat(file.rawValue).size > limit { throw Errno(rawValue: EFBIG) }
        } catch {
            guard error == .noSuchFile else { throw error }
        }
    }
}
