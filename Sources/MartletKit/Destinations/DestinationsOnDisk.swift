package import Configuration
package import LinuxSystem

/// `destinations.conf`, and beside it what was removed from it in the last day. Blocks on the disk.
package struct DestinationsOnDisk: Sendable {
    private let path: String
    /// Milliseconds since 1970.
    private let now: Int64

    package init(_ path: String, now: Int64) { (self.path, self.now) = (path, now) }

    /// The file as it is now. Throws when it cannot be read: what is written next would be without its sections.
    package var file: DestinationsFile {
        get throws(Errno) { DestinationsFile(bytes: try SmallFile.contents(toChange: path)) }
    }

    private var removedPath: String { path + ".removed" }
    private var removed: RemovedDestinations {
        get throws(Errno) { RemovedDestinations(bytes: try SmallFile.contents(toChange: removedPath), now: now) }
    }

    /// Writes another version.
    package func write(_ bytes: [UInt8]) throws(Errno) { try SmallFile.replace(path, with: bytes) }

    /// Takes a section out; it can be had again for a day. `nil`: there is none.
    package func remove(_ name: String) throws(Errno) -> Destination? {
        let file = try file
        guard let destination = file[name] else { return nil }
        var removed = try removed
        removed.add(destination, at: now)
        // Written first: a power cut in between leaves it in both, and nothing is lost.
        try SmallFile.replace(removedPath, with: removed.bytes)
        try write(file.removing(name))
        return destination
    }

    /// The removed server that can be had again: the one with this name, or else the last that was removed.
    package func restorable(_ name: String?) throws(Errno) -> Destination? { try removed[name] }

    /// Puts it back. It was read from a file: what is read can be written.
    package func restore(_ destination: Destination) throws(Errno) {
        let file = try file
        guard let bytes = try? file.setting(destination) else { throw .invalidArgument }
        var removed = try removed
        try write(bytes)
        removed.remove(destination.name)
        // It is back; that it could be had again a second time is no reason to say that it is not.
        try? SmallFile.replace(removedPath, with: removed.bytes)
    }
}
