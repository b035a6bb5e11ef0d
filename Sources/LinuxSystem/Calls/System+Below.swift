import CLinux
import Glibc

/// Paths of several names below an open directory, for whoever must not be led out of it: no link on the way is followed, also none that
/// takes a folder's place while the path is walked.
extension System {
    /// Opens a directory only to open what lies below it, links followed. Corresponds to `open(O_PATH | O_DIRECTORY)`.
    package static func openPlace(_ path: [UInt8]) throws(Errno) -> OwnedDescriptor {
        try open(path, flags: CLinux_O_PATH | O_DIRECTORY)
    }

    /// Opens a path below a directory. `ELOOP`: one of its names is a link.
    ///
    /// With `O_PATH | O_NOFOLLOW` a link in the last place is opened itself. Makes no file. Corresponds to
    /// `openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS)`, and to `openat` for each name where that is missing or forbidden.
    package static func open(
        _ path: [UInt8], below directory: Int32, flags: Int32 = O_RDONLY
    ) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) {
            return OwnedDescriptor(
                try systemCall(.openat2, path: path) {
                    CLinux_openat2(
                        directory, $0, UInt64(UInt32(bitPattern: flags | O_CLOEXEC)),
                        CLinux_RESOLVE_NO_SYMLINKS | CLinux_RESOLVE_BENEATH)
                })
        } catch {
            // Linux has it since 5.6; a filter of a container that does not know it says "not permitted". While somebody renames folders,
            // wherever they are, it cannot tell and says "again".
            guard [.notImplemented, .notPermitted, .wouldBlock].contains(error) else { throw error }
            return try openStepwise(path, below: directory, flags: flags)
        }
    }

    /// The status of a path below a directory, a link in its last place not followed. Corresponds to `openat2` and `fstat`.
    package static func status(of path: [UInt8], below directory: Int32) throws(Errno) -> FileStatus {
        let found = try open(path, below: directory, flags: CLinux_O_PATH | O_NOFOLLOW)
        return try fstat(found.rawValue)
    }

    private static func openStepwise(
        _ path: [UInt8], below directory: Int32, flags: Int32
    ) throws(Errno) -> OwnedDescriptor {
        let names = path.split(separator: UInt8(ascii: "/")).map { [UInt8]($0) }
        guard path.first != UInt8(ascii: "/"), !names.contains(Array("..".utf8)) else { throw .crossDevice }
        guard let last = names.last else { throw .noSuchFile }
        var folder: OwnedDescriptor?
        for name in names.dropLast() {
            folder = try openUnlinked(name, in: folder?.rawValue ?? directory, flags: CLinux_O_PATH | O_DIRECTORY)
        }
        return try openUnlinked(last, in: folder?.rawValue ?? directory, flags: flags)
    }

    /// Opens a name that is no link; throws `ELOOP` for a link, also where `openat` only says that it is no directory.
    private static func openUnlinked(
        _ name: [UInt8], in directory: Int32, flags: Int32
    ) throws(Errno) -> OwnedDescriptor {
        do throws(Errno) {
            return try openat(directory, name, flags: flags)
        } catch {
            guard error == .notDirectory, let status = try? fstatat(directory, name, followingLinks: false),
                status.kind == .symbolicLink
            else { throw error }
            throw .tooManyLinks
        }
    }
}
