import DisplayText
import TransferModel
import WireOperations

/// Lists a folder by `MLSD`.
struct FTPFolderListing: Inquirer {
    private let host: String
    private let folder: RawPath

    init(host: String, _ folder: RawPath) { (self.host, self.folder) = (host, folder) }

    mutating func begin() -> InquiryStep { .ask(.ftp(.list(folder))) }

    mutating func answered(_ end: FTPEnd, _ found: inout ListedFolder) -> InquiryStep {
        if end.isUnknownCommand { return .fail(.unlistable(host)) }
        if end.isMissing, !end.isForbidden { return .missing(&found) }
        guard end.isDone else { return .over(FTPMeaning(end, host: host, hasAccepted: false).action) }
        return end.listing?.isWhole == true ? .done : .fail(.noListing(host))
    }
}

extension ListingFormat {
    private struct Lines: ListingSyntax {
        func parser() -> any ListingParser { MachineLines() }
    }

    /// `MLSD`'s lines (RFC 3659 section 7).
    package static let machineLines = ListingFormat(Lines())
}

/// Lines of `MLSD`, put together from pieces.
struct MachineLines: ListingParser {
    /// No name and no list of facts is as long.
    private static let longest = 64 * 1024

    private var rest: [UInt8] = []
    /// Something that is no line of such a list came: what follows may be anything.
    private(set) var isBroken = false

    mutating func take(_ bytes: [UInt8]) -> [RemoteEntry] {
        rest += bytes
        var entries: [RemoteEntry] = []
        var start = rest.startIndex
        while !isBroken, let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            read(rest[start..<end], &entries)
            start = rest.index(after: end)
        }
        rest = Array(rest[start...])
        if rest.count > Self.longest { isBroken = true }
        return entries
    }

    /// The last line may lack its end.
    mutating func finish() -> ([RemoteEntry], ListingEnd) {
        var entries: [RemoteEntry] = []
        if !isBroken { read(rest[...], &entries) }
        rest = []
        return (entries, ListingEnd(isWhole: !isBroken))
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ entries: inout [RemoteEntry]) {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        if line.isEmpty { return }
        // Facts end with a semicolon each, then a space, then the name, whatever it holds.
        guard let space = line.firstIndex(of: UInt8(ascii: " ")),
            space == line.startIndex || line[line.index(before: space)] == UInt8(ascii: ";")
        else {
            isBroken = true
            return
        }
        let name = Array(line[line.index(after: space)...])
        guard RemoteEntry.isName(name) else { return }
        var entry = RemoteEntry(RawPath(name), size: .unknown)
        for fact in line[..<space].split(separator: UInt8(ascii: ";")) {
            let parts = fact.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let value = String(peer: parts[1])
            switch String(peer: parts[0]).lowercased() {
            case "type":
                switch value.lowercased() {
                case "cdir", "pdir": return
                case "dir": entry.isFolder = true
                default: break
                }
            case "size": entry.size = RemoteEntry.Size(value)
            case "modify": entry.modified = FTPTime.parse(value)
            default: break
            }
        }
        entries.append(entry)
    }
}
