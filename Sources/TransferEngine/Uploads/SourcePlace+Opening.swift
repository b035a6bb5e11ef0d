import Glibc
import LinuxSystem
import TransferModel
import TransferQueue

/// The one way in which the engine opens what it uploads.
///
/// Unless links are followed, none below the named path is, at no time: others may be allowed to write into a folder that is uploaded,
/// and one who puts a link in a folder's place after it was listed would have files sent that only its owner may read.
extension SourcePlace {
    private func isReached(followingLinks: Bool) -> Bool { followingLinks || below.bytes.isEmpty }

    /// Opens it. `ELOOP`: it lies behind a link, or is one.
    func open(flags: Int32, followingLinks: Bool) throws(Errno) -> OwnedDescriptor {
        if isReached(followingLinks: followingLinks) { return try System.open(path.bytes, flags: flags) }
        // Opened each time: kept, it would hold a removable disk, and stand for a folder that was replaced.
        let top = try System.openPlace(named.bytes)
        return try System.open(below.bytes, below: top.rawValue, flags: flags)
    }

    /// The status of what lies there now: of the link itself where links are not followed. `ELOOP`: it lies behind a link.
    func status(followingLinks: Bool) throws(Errno) -> FileStatus {
        if isReached(followingLinks: followingLinks) { return try System.stat(path.bytes) }
        let top = try System.openPlace(named.bytes)
        return try System.status(of: below.bytes, below: top.rawValue)
    }

    /// The first link on the way from the named path; `nil`: none is there, or nobody can tell.
    var firstLink: SourcePlace? {
        guard let top = try? System.openPlace(named.bytes) else { return nil }
        var place = SourcePlace(named: named)
        for name in below.components {
            place = place.appending(name)
            guard let status = try? System.status(of: place.below.bytes, below: top.rawValue) else { return nil }
            if status.kind == .symbolicLink { return place }
        }
        return nil
    }
}

extension TransferError {
    /// The error of a task that an error number of its source means; names the link that is in the way.
    static func source(_ place: SourcePlace, _ error: Errno) -> TransferError {
        guard error == .tooManyLinks, let link = place.firstLink, link != place else {
            return source(place.path, error)
        }
        return TransferError(
            .sourceUnreadable, of: place.path,
            "was not read, because a folder above it became a link (\(link.path.displayed))",
            .queued("put the folder back and retry, or queue it again with --follow-links"))
    }
}
