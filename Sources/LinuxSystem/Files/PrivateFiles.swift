import Glibc

/// The reason why a folder or file that must be this user's alone is not trusted.
package enum PrivacyFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// It cannot be opened: `ELOOP` and `ENOTDIR` when a link or something else stands in its place.
    case failed(Errno)
    /// It belongs to another user.
    case foreign(userID: UInt32)
    /// Other users may read, write or enter it.
    case shared(permissions: UInt32)
    /// A folder, a device or a pipe stands where a file should be.
    case notAFile

    /// The reason, for the middle of a message.
    package var description: String {
        switch self {
        case .failed(.tooManyLinks): "it is a symbolic link"
        case .failed(.notDirectory): "it is a symbolic link or no folder"
        case .failed(let error): error.description
        case .foreign(let userID): "it belongs to user \(userID)"
        case .shared(let permissions): "its mode \(String(permissions, radix: 8)) lets other users in"
        case .notAFile: "it is no regular file"
        }
    }

    /// The error that says the same to callers who know errors alone.
    package var errno: Errno {
        switch self {
        case .failed(let error): error
        case .foreign, .shared: .accessDenied
        case .notAFile: .invalidArgument
        }
    }
}

/// Folders and files of ours that are believed: opened without following a link in their place, and only when they belong to this
/// user and nobody else has any permission. Whoever could prepare one for us could read, replace or redirect what we put there.
extension System {
    /// Opens a folder that is this user's alone; with `making` it is made, 0700, when it is missing.
    /// Corresponds to `mkdirat`, `openat(O_DIRECTORY | O_NOFOLLOW)` and `fstat`.
    package static func openPrivateFolder(
        _ name: [UInt8], at directory: Int32 = AT_FDCWD, making: Bool = false
    ) throws(PrivacyFailure) -> OwnedDescriptor {
        let folder: OwnedDescriptor
        let status: FileStatus
        do throws(Errno) {
            if making { do throws(Errno) { try mkdirat(directory, name, mode: 0o700) } catch .fileExists {} }
            folder = try openat(directory, name, flags: O_RDONLY | O_DIRECTORY)
            status = try fstat(folder.rawValue)
        } catch {
            throw .failed(error)
        }
        try requirePrivate(status)
        return folder
    }

    /// Opens a regular file that is this user's alone. Never waits for the writer of a pipe in its place.
    /// Corresponds to `openat(O_NOFOLLOW)` and `fstat`.
    package static func openPrivateFile(
        _ name: [UInt8], at directory: Int32 = AT_FDCWD, flags: Int32 = O_RDONLY
    ) throws(PrivacyFailure) -> OwnedDescriptor {
        let file: OwnedDescriptor
        let status: FileStatus
        do throws(Errno) {
            file = try openat(directory, name, flags: flags | O_NONBLOCK, mode: 0o600)
            status = try fstat(file.rawValue)
        } catch {
            throw .failed(error)
        }
        guard status.kind == .regular else { throw .notAFile }
        try requirePrivate(status)
        return file
    }

    private static func requirePrivate(_ status: FileStatus) throws(PrivacyFailure) {
        guard status.userID == userID else { throw .foreign(userID: status.userID) }
        guard status.permissions & 0o077 == 0 else { throw .shared(permissions: status.permissions) }
    }
}
