import Glibc

/// The reason why a file or folder of ours is not trusted. Each message names the way out.
package enum Untrusted: Error, Hashable, Sendable {
    /// A symbolic link stands where our own file or folder belongs.
    case isLink(path: [UInt8])
    case isOther(path: [UInt8], than: FileKind)
    /// Something else has the same contents under another name, and would change with it.
    case hasTwoNames(path: [UInt8])
    /// It belongs to another user.
    case ownedBy(UInt32, path: [UInt8])
    case system(Errno, path: [UInt8])
    /// A folder on the way to a place of ours belongs to another user, who can put another one there.
    case wayOwnedBy(UInt32, path: [UInt8], to: [UInt8])
    /// In a folder on the way to a place of ours somebody else can put another one there.
    case wayOpen(path: [UInt8], to: [UInt8])
}

extension Untrusted: CustomStringConvertible {
    package var description: String {
        func shown(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
        return switch self {
        case .isLink(let path): "\(shown(path)) is a link, and may lead anywhere: remove it"
        case .isOther(let path, let kind):
            "\(shown(path)) is no \(kind == .directory ? "folder" : "plain file"): remove it"
        case .hasTwoNames(let path): "\(shown(path)) is another file as well (a hard link): remove this name"
        case .ownedBy(let user, let path):
            "\(shown(path)) belongs to another user (uid \(user)): remove it, or name another place"
        case .system(let error, let path): "\(shown(path)) cannot be used (\(error)): check its permissions"
        case .wayOwnedBy(let user, let path, let place):
            """
            \(shown(path)) belongs to another user (uid \(user)), who could put something else in the place of \(shown(place)): \
            name a folder of your own with MARTLET_HOME
            """
        case .wayOpen(let path, let place):
            """
            others can write in \(shown(path)), and put something else in the place of \(shown(place)): \
            chmod go-w it, or name another folder with MARTLET_HOME
            """
        }
    }
}

/// Files and folders that hold what is ours alone: a queue, secrets, a log, a socket, unfinished uploads. One check for all of them.
///
/// Somebody else may have put something under such a name before us. What is trusted is no link, belongs to this process's user, and
/// has no permission bits for anybody else: bits that it has are taken away, anything else is refused.
extension System {
    /// Makes sure that a folder of ours is there, with mode 0700, and opens it. Its parents are made as well. A link is followed in the
    /// way to it, and in its place when it is our own: some people keep such folders on another disk. Nobody else may lead there
    /// (`requireOwnWay`): looked at once it is there, since what is missing before may be made by others.
    package static func openOwnFolder(_ path: [UInt8]) throws(Untrusted) -> OwnedDescriptor {
        let folder: OwnedDescriptor
        do throws(Errno) {
            try mkdirs(path, mode: 0o700)
            let link = try lstat(path)
            let follows = link.kind == .symbolicLink && link.userID == userID
            folder = try open(path, flags: O_RDONLY | O_DIRECTORY | (follows ? 0 : O_NOFOLLOW))
        } catch {
            throw untrusted(path, error, wanted: .directory)
        }
        try claim(folder.rawValue, path, kind: .directory, mode: 0o700)
        try requireOwnWay(to: path)
        return folder
    }

    /// The same for a name below an open folder of ours.
    package static func openOwnFolder(_ name: [UInt8], in parent: Int32) throws(Untrusted) -> OwnedDescriptor {
        let folder: OwnedDescriptor
        do throws(Errno) {
            do { try mkdirat(parent, name, mode: 0o700) } catch .fileExists {}
            folder = try openat(parent, name, flags: O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        } catch {
            throw untrusted(name, error, wanted: .directory)
        }
        try claim(folder.rawValue, name, kind: .directory, mode: 0o700)
        return folder
    }

    /// Opens a file of ours, mode 0600. Nothing in it changes: who wants it empty cuts it afterwards.
    /// - Parameters:
    ///   - flags: as of `open`, with `O_CREAT` to make it when it is missing; never `O_TRUNC`.
    ///   - mayHaveNames: a hard link to it is no reason to refuse it; a snapshot may be made of such.
    package static func openOwnFile(
        _ path: [UInt8], flags: Int32, mayHaveNames: Bool = false
    ) throws(Untrusted) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(Errno) {
            // A pipe under the name would hold up the open.
            file = try open(path, flags: flags | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
        } catch {
            throw untrusted(path, error, wanted: .regular)
        }
        try claim(file.rawValue, path, kind: .regular, mode: 0o600, mayHaveNames: mayHaveNames)
        return file
    }

    /// The same for a name in an open folder of ours.
    package static func openOwnFile(
        _ name: [UInt8], in folder: Int32, flags: Int32, mayHaveNames: Bool = true
    ) throws(Untrusted) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(Errno) {
            file = try openat(folder, name, flags: flags | O_NONBLOCK, mode: 0o600)
        } catch {
            throw untrusted(name, error, wanted: .regular)
        }
        try claim(file.rawValue, name, kind: .regular, mode: 0o600, mayHaveNames: mayHaveNames)
        return file
    }

    /// Opens a file that this program has made in a folder of somebody else, who may have put another one there since: `nil` unless it is
    /// a regular file of this user's under this name alone. Its mode is whatever it was given.
    package static func openFileOfOurs(
        _ path: [UInt8], flags: Int32
    ) -> (file: OwnedDescriptor, status: FileStatus)? {
        // A pipe under the name would hold up the open.
        guard let file = try? open(path, flags: flags | O_NOFOLLOW | O_NONBLOCK),
            let status = try? fstat(file.rawValue), status.kind == .regular, status.userID == userID,
            status.linkCount == 1
        else { return nil }
        return (file, status)
    }

    private static func claim(
        _ descriptor: Int32, _ path: [UInt8], kind: FileKind, mode: UInt32, mayHaveNames: Bool = true
    ) throws(Untrusted) {
        do {
            let status = try fstat(descriptor)
            guard status.kind == kind else { throw Untrusted.isOther(path: path, than: kind) }
            guard status.userID == userID else { throw Untrusted.ownedBy(status.userID, path: path) }
            if status.linkCount > 1, !mayHaveNames { throw Untrusted.hasTwoNames(path: path) }
            if status.permissions & 0o077 != 0 { try fchmod(descriptor, mode: mode) }
        } catch let error as Untrusted {
            throw error
        } catch let error as Errno {
            throw .system(error, path: path)
        } catch {
            // The calls above throw nothing else.
            throw .system(.inputOutput, path: path)
        }
    }

    private static func untrusted(_ path: [UInt8], _ error: Errno, wanted kind: FileKind) -> Untrusted {
        switch error {
        case .tooManyLinks: .isLink(path: path)
        // A link to a folder, opened as one without following it, is "not a directory".
        case .notDirectory, .fileExists:
            (try? lstat(path).kind) == .symbolicLink ? .isLink(path: path) : .isOther(path: path, than: kind)
        case .isDirectory: .isOther(path: path, than: kind)
        default: .system(error, path: path)
        }
    }
}
