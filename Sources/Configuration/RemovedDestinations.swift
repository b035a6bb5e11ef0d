/// Servers that were taken out of `destinations.conf`, for as long as that can be undone: a file of the same form, each
/// section with the time of its removal.
package struct RemovedDestinations: Sendable {
    /// Milliseconds: 24 hours.
    package static let grace: Int64 = 86_400_000
    private static let key = "removed-at"

    /// The last one last.
    private var removed: [(destination: Destination, at: Int64)]

    /// Reads the file's bytes; what is no such section in it is left out.
    /// - Parameter now: milliseconds since 1970; what was removed too long ago is left out, too.
    package init(bytes: [UInt8], now: Int64) {
        let document = INIDocument(bytes: bytes)
        removed = DestinationsFile(bytes: bytes).destinations.compactMap { destination in
            let time = document.value(Self.key, in: destination.name).flatMap { Int64($0) }
            guard let time, time > now - Self.grace else { return nil }
            return (destination, time)
        }
        removed.sort { $0.at < $1.at }
    }

    /// The one with this name; without a name the one that was removed last.
    package subscript(name: String?) -> Destination? {
        removed.last { name == nil || $0.destination.name == name }?.destination
    }

    /// Takes one in, in the place of an earlier one of that name.
    package mutating func add(_ destination: Destination, at now: Int64) {
        remove(destination.name)
        removed.append((destination, now))
    }

    /// It is not wanted any more.
    package mutating func remove(_ name: String) { removed.removeAll { $0.destination.name == name } }

    /// The file's bytes.
    package var bytes: [UInt8] {
        let sections = removed.map { DestinationsFile.section($0.destination) + "\(Self.key) = \($0.at)\n" }
        return Array(sections.joined(separator: "\n").utf8)
    }
}
