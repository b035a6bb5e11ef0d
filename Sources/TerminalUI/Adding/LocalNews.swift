import Configuration
import MartletKit

/// A request of the screen about this machine's files; done off the thread that draws.
enum LocalRequest: Hashable, Sendable {
    /// From now on this folder is read, and none before.
    case list([UInt8], FolderOrder)
    /// Count what is in a folder.
    case count([UInt8])
    /// The counts of these are not wanted any more.
    case stopCounting(Set<[UInt8]>)
    /// Count what these patterns leave of what was chosen; from now on this and nothing before.
    case sift([[UInt8]], NamePatterns)
    case stopSifting
    /// No folder is read and none counted any more.
    case stopAll
    /// Continue the word that is typed.
    case complete([UInt8])
    /// Look at words that were typed or pasted as paths.
    case look([[UInt8]], LookPurpose)
    /// Find the places where people go: disks, bookmarks, configured servers, those used lately.
    case places
    /// Find out what logging out would do to this engine.
    case lookAtLogout(engine: Int32)
    /// Remember these for the next time.
    case remember(destination: String?, folder: [UInt8]?)
}

/// The purpose for which words are looked at.
enum LookPurpose: Hashable, Sendable {
    /// They are to be chosen.
    case choose
    /// One folder is to be shown; a file in it is to be chosen.
    case go
}

/// The result of a `LocalRequest`. Says what it is about, so that what comes too late is told apart.
enum LocalNews: Sendable {
    case listed([UInt8], FolderOrder, FolderSnapshot)
    case counted([UInt8], FolderCount)
    case sifted(NamePatterns, FolderCount)
    case completed([UInt8], PathCompletion?)
    case looked([LookedPath], LookPurpose)
    case places(LocalPlaces, RecentPlaces, DestinationsFile)
    case logout(LogoutEffect)
}
