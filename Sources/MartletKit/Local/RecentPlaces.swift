import Configuration
import LinuxSystem
import ServiceWire

/// The places to which a person sent files and from which they took them lately, the newest first. Kept in the state
/// directory, a line each; what is no such line in it is nobody's business and goes.
package struct RecentPlaces: Hashable, Sendable {
    /// URLs and `NAME:path`, without passwords and queries.
    package private(set) var destinations: [String] = []
    /// Folders of this machine.
    package private(set) var folders: [[UInt8]] = []

    /// More than these are not remembered.
    package static let most = 12

    package init() {}

    /// Reads the file's bytes.
    package init(bytes: [UInt8]) {
        for line in bytes.split(separator: 0x0A) {
            let parts = line.split(separator: 0x20, maxSplits: 1)
            guard parts.count == 2, let kind = String(validating: parts[0], as: UTF8.self) else { continue }
            let value = PercentText.decoded(parts[1])
            switch kind {
            case "to": if let text = String(validating: value, as: UTF8.self) { destinations.append(text) }
            case "from": folders.append(value)
            default: continue
            }
        }
        destinations = Array(destinations.prefix(Self.most))
        folders = Array(folders.prefix(Self.most))
    }

    /// The file's bytes.
    package var bytes: [UInt8] {
        let lines =
            destinations.map { "to \(PercentText.encoded($0.utf8))\n" }
            + folders.map { "from \(PercentText.encoded($0))\n" }
        return Array(lines.joined().utf8)
    }

    /// Puts a destination in front. What must stay secret in it is left out.
    package mutating func add(destination: String) {
        let kept = Self.harmless(destination)
        destinations = Array(([kept] + destinations.filter { $0 != kept }).prefix(Self.most))
    }

    package mutating func add(folder: [UInt8]) {
        folders = Array(([folder] + folders.filter { $0 != folder }).prefix(Self.most))
    }

    /// Without the password and the query; the user's name is needed to log in again.
    package static func harmless(_ text: String) -> String {
        // A path behind a destination's name is no URL, and stays as it is.
        let named = text
        let text = PercentEncoding.ofMarks(in: text)
        guard let start = text.firstRange(of: "://")?.upperBound else { return named }
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let tail = text[authority.endIndex...].prefix { $0 != "?" && $0 != "#" }
        // What was never read as a URL may have its password anywhere.
        guard (try? TransferURL(text, place: "")) != nil else { return ShownAddress.of(text) }
        guard let at = authority.lastIndex(of: "@") else { return text[..<start] + String(authority + tail) }
        let user = authority[..<at].prefix { $0 != ":" }
        return String(text[..<start] + user + authority[at...] + tail)
    }
}

extension EngineConnection {
    private nonisolated var recentFile: String { places.stateDirectory + "/recent" }

    /// The remembered places; blocks on the disk.
    package nonisolated func recentPlaces() -> RecentPlaces {
        RecentPlaces(bytes: SmallFile.contents(OwnFile(recentFile)) ?? [])
    }

    /// Remembers; blocks on the disk. Whether it could does not matter to anybody's transfer.
    @concurrent
    package nonisolated func remember(_ change: @Sendable (inout RecentPlaces) -> Void) async {
        // No other screen of ours may come in between.
        guard let lock = try? await FileLock.wait(for: OwnFile(recentFile + ".lock")) else { return }
        defer { withExtendedLifetime(lock) {} }
        guard let bytes = try? SmallFile.contents(toChange: OwnFile(recentFile)) else { return }
        let before = RecentPlaces(bytes: bytes)
        var recent = before
        change(&recent)
        if recent != before { try? OwnFile(recentFile).replace(with: recent.bytes) }
    }
}
