import Configuration
import MartletKit

/// A change or a test of a configured server.
enum DestinationRequest: Hashable, Sendable {
    /// `password`: for the engine to keep.
    case save(name: String, SavedDestination)
    /// Another section for one that is there; a password that is kept stays.
    case edit(name: String, SavedDestination)
    /// A login for one that is there.
    case signIn(name: String, SavedDestination)
    /// Without a question: it can be had again for a day.
    case remove(String)
    /// The one that was removed last.
    case restore
    /// A name, or a URL or `NAME:path` of the steps of adding.
    case test(String, password: String?)

    /// A destination can be compared by what is written of it.
    struct SavedDestination: Hashable, Sendable {
        let destination: Destination
        let password: String?

        static func == (one: SavedDestination, other: SavedDestination) -> Bool {
            one.destination == other.destination && one.password == other.password
        }

        func hash(into hasher: inout Hasher) { hasher.combine(destination.name) }
    }
}

/// The result of a `DestinationRequest`.
enum DestinationOutcome: Sendable {
    /// It is so now; the file as it is.
    case changed(DestinationsFile)
    /// It is so now; the login that was kept is forgotten, because it was another server's.
    case edited(DestinationsFile, loginIsForgotten: Bool)
    /// This one is there again.
    case restored(String, DestinationsFile, loginIsGone: Bool = false)
    case report(DestinationReport)
    case failed(String)
}
