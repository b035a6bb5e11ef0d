import Glibc

/// The folders on the way to a place of ours.
extension System {
    /// Refuses places that somebody else could exchange for theirs, as sshd does with StrictModes: every folder from the root to one, itself
    /// included, belongs to us or to root, and nobody else may write in it unless names there are their owners' (the sticky bit). The same
    /// holds for a link on the way, and for the way to where it leads. What is missing is for us to make.
    package static func requireOwnWay(to places: [String]) throws(Untrusted) {
        for place in places { try requireOwnWay(to: Array(place.utf8)) }
    }

    static func requireOwnWay(to place: [UInt8]) throws(Untrusted) {
        try requireOwnWay(along: place, to: place, links: mostLinks)
    }

    /// As many as the kernel follows on one way.
    private static let mostLinks = 40

    private static func requireOwnWay(along path: [UInt8], to place: [UInt8], links: Int) throws(Untrusted) {
        let slash = UInt8(ascii: "/")
        let ends = path.indices.filter { $0 > 0 && path[$0] == slash } + [path.count]
        for end in [1] + ends {
            let step = Array(path[..<end])
            guard let status = try? lstat(step) else { return }
            guard isTrusted(status.userID) else {
                throw .wayOwnedBy(status.userID, path: step, to: place)
            }
            switch status.kind {
            case .symbolicLink:
                // With more links the place cannot be opened either.
                guard links > 0, let target = try? readlink(step) else { return }
                let folder = Array(step[...(step.lastIndex(of: slash) ?? 0)])
                try requireOwnWay(
                    along: target.first == slash ? target : folder + target, to: place, links: links - 1)
            case .directory where status.isOpenToOthers && status.permissions & 0o1000 == 0:
                throw .wayOpen(path: step, to: place)
            default: break
            }
        }
    }

    /// In a container of an ordinary user's the machine's root has no number: what it owns seems to be nobody's.
    private static func isTrusted(_ user: UInt32) -> Bool {
        user == userID || user == 0 || user == overflowUser && hasOwnUserNumbers
    }

    private static let overflowUser: UInt32 = 65534
    private static let hasOwnUserNumbers: Bool = {
        guard let map = try? open(Array("/proc/self/uid_map".utf8)) else { return false }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = try? bytes.withUnsafeMutableBytes { buffer throws(Errno) in try read(map.rawValue, buffer) }
        let words = bytes[..<(count ?? 0)].split { $0 == 0x20 || $0 == 0x0A }
        return words.map { String(decoding: $0, as: UTF8.self) } != ["0", "0", "4294967295"]
    }()
}
