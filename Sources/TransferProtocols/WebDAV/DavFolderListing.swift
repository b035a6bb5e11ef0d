import TransferModel
import WireOperations
import XMLReader

/// Lists a folder by one PROPFIND.
struct DavFolderListing: Inquirer {
    private let folder: HTTPAddress
    private let isCloud: Bool

    /// - Parameter isCloud: Nextcloud or ownCloud, which keeps checksums.
    init(_ folder: HTTPAddress, isCloud: Bool) { (self.folder, self.isCloud) = (folder, isCloud) }

    mutating func begin() -> InquiryStep { .ask(DavMessages.list(folder, asksChecksums: isCloud)) }

    mutating func answered(_ end: ExchangeEnd, _ found: inout ListedFolder) -> InquiryStep {
        let host = folder.server
        guard let answer = end.answer else {
            return .over(DavFinding.unanswered(end, host).refusal ?? .fail(.unlistable(host)))
        }
        switch answer.status {
        case 207 where end.failure == nil && end.listing?.isWhole == true: return .done
        // It broke off on the way, or was no list.
        case 207: return .over(.wait(WaitDemand(.backoff, end.failure?.error ?? .noListing(host))))
        case 200 where answer.isPage: return .over(.wait(WaitDemand(.backoff, .page(at: host))))
        case 404, 410: return .missing(&found)
        case 200..<300, 405, 501: return .fail(.unlistable(host))
        default:
            let meaning = AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: false, at: end.at)
            return .over(meaning.refusal ?? .fail(.unlistable(host)))
        }
    }
}

extension ListingFormat {
    private struct Document: ListingSyntax {
        let folder: [UInt8]
        func parser() -> any ListingParser { DavResources(folder: DavListing.plain(folder)) }
    }

    /// A 207 to PROPFIND (RFC 4918 section 13) about the folder of this path, percent-decoded, without a slash at its end.
    package static func multistatus(folder: [UInt8]) -> ListingFormat { ListingFormat(Document(folder: folder)) }
}

/// The resources of a 207, as they come.
private struct DavResources: ListingParser {
    private var folder: [UInt8]
    private let feed = XMLFeed()
    private var isFirst = true
    private(set) var isBroken = false

    init(folder: [UInt8]) { self.folder = folder }

    mutating func take(_ bytes: [UInt8]) -> [RemoteEntry] {
        guard let children = try? feed.take(bytes) else {
            isBroken = true
            return []
        }
        return resources(children)
    }

    mutating func finish() -> ([RemoteEntry], ListingEnd) {
        guard let children = try? feed.finish(), feed.root?.isNamed("multistatus", in: "DAV:") == true else {
            return ([], ListingEnd(isWhole: false))
        }
        return (resources(children), ListingEnd(isWhole: true))
    }

    private mutating func resources(_ children: [XMLElement]) -> [RemoteEntry] {
        var entries: [RemoteEntry] = []
        for child in children where child.isNamed("response", in: "DAV:") {
            guard let resource = DavResource(child) else { continue }
            // Behind a proxy a server may call the folder by its own name for it: that of the first answer, which is about the folder.
            if isFirst, resource.isFolder, resource.path != folder, Self.name(of: resource.path, in: folder) == nil {
                folder = resource.path
            }
            isFirst = false
            guard let name = Self.name(of: resource.path, in: folder) else { continue }
            entries.append(resource.entry(named: RawPath(name)))
        }
        return entries
    }

    /// The name of what lies directly in a folder; `nil`: it does not.
    private static func name(of path: [UInt8], in folder: [UInt8]) -> [UInt8]? {
        let slash = UInt8(ascii: "/")
        let start = folder.last == slash ? folder : folder + [slash]
        guard path.starts(with: start) else { return nil }
        let name = Array(path.dropFirst(start.count))
        return RemoteEntry.isName(name) ? name : nil
    }
}

extension DavResource {
    func entry(named name: RawPath) -> RemoteEntry {
        RemoteEntry(
            name, size: listedSize, isFolder: isFolder, modified: modified,
            etag: etag.map { String($0.filter { $0 != "\"" }) }, digests: Self.digests(checksums ?? ""))
    }

    /// By their names in a listing: our name, and the digits of a value.
    private static let algorithms = ["SHA256": ("sha-256", 64), "SHA1": ("sha-1", 40), "MD5": ("md5", 32)]
    /// Bytes of a list of digests: those that are known, and as much again.
    private static let longestDigests = 400

    /// Nextcloud and ownCloud: `SHA1:… MD5:… ADLER32:…`, as they were computed or sent with the upload. None of a list that is longer than
    /// any can be.
    static func digests(_ text: String) -> [TransferDigest] {
        guard text.utf8.count <= longestDigests else { return [] }
        return text.split(separator: " ").compactMap { word in
            let parts = word.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            let value = parts[1].lowercased()
            guard let (algorithm, digits) = algorithms[parts[0].uppercased()], value.utf8.count == digits,
                value.allSatisfy(\.isHexDigit)
            else { return nil }
            return TransferDigest(algorithm: algorithm, value: value)
        }
    }
}
