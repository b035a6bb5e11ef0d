/// A section that the reader of `destinations.conf` would not give back as it is.
package struct UnwritableDestination: Error, Equatable, Sendable {
    /// The key whose value cannot be written; `nil`: the name.
    package let key: String?
    /// Continues "give …".
    package let allowed: String

    /// Finds the key of a destination whose value is not read as it is written; without one it is the name.
    init(_ destination: Destination) {
        let wrong = DestinationKey.all.first { key in
            guard let value = key.written(destination) else { return false }
            let document = INIDocument("\(key.name) = \(value)\n")
            var read = Destination(name: destination.name, url: "")
            return document.entries.map(\.value) != [value] || !document.problems.isEmpty
                || !key.read(value, &read) || key.written(read) != value
        }
        key = wrong?.name
        allowed = wrong?.allowed ?? "up to 64 letters, digits, dots, dashes and underscores as its name"
    }

    /// The problem; the value may be a secret and is not repeated.
    package var what: String { "\(key ?? "the name") cannot stand in destinations.conf as it is given" }

    /// The advice to the user.
    package var remedy: String { "give \(allowed), on one line and without blanks around it" }
}
