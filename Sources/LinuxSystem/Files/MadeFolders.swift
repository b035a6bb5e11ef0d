import CLinux
import Glibc

/// Folders that are made in folders of somebody else, who may put something else in the place of each of them at any moment. They are made
/// and opened one by one, below an open folder and without following links, and what is opened is what gets the mode.
extension System {
    /// Opens a folder by its name in another one, and makes it where it is missing: 0777 less the process's umask. No link in its place is
    /// followed (`ENOTDIR`). Corresponds to `openat(O_DIRECTORY | O_NOFOLLOW)` and `mkdirat`.
    /// - Returns: also true when it was missing; somebody else may have made it in the same moment.
    package static func openOrMakeFolder(
        _ name: [UInt8], in directory: Int32
    ) throws(Errno) -> (folder: OwnedDescriptor, wasMissing: Bool) {
        do throws(Errno) {
            return (try openat(directory, name, flags: O_RDONLY | O_DIRECTORY), false)
        } catch .noSuchFile {
            do throws(Errno) { try mkdirat(directory, name, mode: 0o777) } catch .fileExists {}
            return (try openat(directory, name, flags: O_RDONLY | O_DIRECTORY), true)
        } catch {
            throw error
        }
    }

    /// Makes what is missing of a folder and of those above it, with this mode whatever the process's umask is. What is there is not changed,
    /// and links in it are followed: a person has named it. Corresponds to `mkdirat` and `fchmod`, repeated.
    /// - Returns: whether something was missing.
    @discardableResult
    package static func makeFolders(_ path: [UInt8], mode: UInt32) throws(Errno) -> Bool {
        var missing: [[UInt8]] = []
        var above = path[...]
        while !above.isEmpty, !leadsToFolder(Array(above)) {
            let slash = above.lastIndex(of: UInt8(ascii: "/"))
            let name = above[(slash.map { $0 + 1 } ?? above.startIndex)...]
            if !name.isEmpty { missing.append(Array(name)) }
            above = above[..<(slash ?? above.startIndex)]
        }
        guard !missing.isEmpty else { return false }
        let start = above.isEmpty ? (path.first == UInt8(ascii: "/") ? "/" : ".").utf8.map { $0 } : Array(above)
        var folder = try openPlace(start)
        var made: [OwnedDescriptor] = []
        for name in missing.reversed() {
            let next = try openOrMakeFolder(name, in: folder.rawValue)
            folder = next.folder
            if next.wasMissing, isNew(folder) { made.append(folder) }
        }
        // The last one first: a mode may forbid us to enter.
        for folder in made.reversed() {
            // The system refuses it for another owner's folder that stands in its place by now, and nothing is wrong.
            try setModeIfPossible(mode, of: folder.rawValue)
        }
        return true
    }

    /// Something is there that may hold more: a link that leads nowhere, or a file, is refused when it is opened.
    private static func leadsToFolder(_ path: [UInt8]) -> Bool { (try? stat(path)) != nil }

    /// Returns true of a folder that holds nothing: one that somebody has put in the place of the one just made may be private, and keeps the
    /// mode that it has. Of another owner's the system refuses to change it, where it does not map all owners to one.
    private static func isNew(_ folder: OwnedDescriptor) -> Bool {
        // A second open file, because reading entries moves its position.
        guard let listed = try? openat(folder.rawValue, Array(".".utf8), flags: O_RDONLY | O_DIRECTORY),
            let reader = try? DirectoryReader(listed)
        else { return false }
        do throws(Errno) { return try reader.next() == nil } catch { return false }
    }
}
