/// The files under temporary names of downloads that are the person's: put there by the person, or with nothing in them but what the person
/// has written.
///
/// A kill right after a temporary file was made leaves it empty, and nothing in the queue names it: the next attempt takes it because it is
/// empty. Once the person has written to such a file, no attempt can know that it was ours, and it stays.
struct PersonsParts {
    private var inodes: Set<UInt64> = []
    /// Digests of what the person has written, by inode.
    private var written: [UInt64: String] = [:]

    /// The person has put a file in the place of a temporary one.
    mutating func put(_ path: String) {
        if let inode = SimulatedDisk.inode(path) { inodes.insert(inode) }
    }

    /// Has the person write to a temporary file, in place.
    mutating func write(_ bytes: [UInt8], _ path: String) {
        let isPersons = contains(path) || SimulatedDisk.read(path)?.isEmpty == true
        SimulatedDisk.write(bytes, path)
        if isPersons, let inode = SimulatedDisk.inode(path) { written[inode] = Contents.digest(bytes) }
    }

    func contains(_ path: String) -> Bool {
        guard let inode = SimulatedDisk.inode(path) else { return false }
        if inodes.contains(inode) { return true }
        return written[inode].map { SimulatedDisk.read(path).map(Contents.digest) == $0 } ?? false
    }
}
