import DisplayText
package import TransferModel
import WireOperations

/// The parameters of an upload over WebDAV.
package struct DavPlan: Sendable, Hashable {
    /// The final address; its folder may be missing.
    package var address: HTTPAddress
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: DavResumePoint?

    package init(
        address: HTTPAddress, subject: UploadSubject, facts: HostFacts = HostFacts(), resume: DavResumePoint? = nil
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
    }

    /// Nextcloud and ownCloud keep the time and take checksums; they are known by their paths.
    var isCloud: Bool { DavPlan.isCloud(address.target) }

    /// - Parameter path: percent-encoded.
    static func isCloud(_ path: some StringProtocol) -> Bool {
        path.contains("/remote.php/") || path.contains("/public.php/")
    }
}

/// Resume point of an upload over WebDAV: the temporary file, and how far it came.
package struct DavResumePoint: RenamingResumePoint {
    package static var kind: String { ProtocolFacts.dav.id }
    package static var afterCut: AfterCut { .beginsAgain }

    /// The path of the temporary file's address, percent-encoded.
    package var temporary: String
    package var generation: Int
    /// Bytes of an attempt were lost: the next one is a restart to be seen.
    package var wasCut = false
    /// All bytes are there and the MOVE may have been asked for.
    package var publishing = false
    /// The answer to the MOVE was lost, and until then the server may still be at it.
    package var busyUntil: Timestamp?
    /// The version that the MOVE was to name.
    package var version: NamedVersion?
    /// The server told this digest of the temporary file, and it is the source's.
    package var compared: TransferDigest?
    /// Whole files that were sent, and of which nothing proves that they are there, one after the other.
    package var unanswered: Int?
    package var vanished: Int?

    package init(temporary: String, generation: Int = 1) {
        self.temporary = temporary
        self.generation = generation
    }

    package mutating func disclaim() { publishing = false }

    package var isPlausible: Bool {
        ResumeBounds.generations.contains(generation) && temporary.hasPrefix("/")
            && ResumeBounds.counts.contains(unanswered ?? 0) && ResumeBounds.counts.contains(vanished ?? 0)
            && version?.isPlausible ?? true
    }
}

/// The requests of WebDAV (RFC 4918).
enum DavMessages {
    /// Bytes of an answer to PROPFIND that are read: a folder of ten thousand chunks has five million.
    static let longestListing = 32 << 20
    /// The same of an answer about one resource.
    static let longestStat = 256 << 10

    /// Asks for length, tag, time and type of a resource. `Depth: 1` asks for those of a folder's members, too.
    static func stat(_ address: HTTPAddress, depth: Int = 0) -> Exchange {
        let body =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<d:propfind xmlns:d=\"DAV:\"><d:prop><d:getcontentlength/>"
            + "<d:getetag/><d:getlastmodified/><d:resourcetype/></d:prop></d:propfind>"
        let headers = [
            HeaderField("Depth", "\(depth)"), HeaderField("Content-Type", "application/xml; charset=utf-8"),
        ]
        return .http(
            HTTPExchange(
                .propfind, address, headers: headers, body: .bytes(Array(body.utf8)),
                sink: .document(limit: depth == 0 ? longestStat : longestListing)))
    }

    /// Lists a folder; the answer is read as it comes. Its address ends in a slash, or servers answer with a redirect.
    /// - Parameter asksChecksums: for Nextcloud and ownCloud; another server would tell of each file that it has none.
    static func list(_ folder: HTTPAddress, asksChecksums: Bool) -> Exchange {
        let cloud = asksChecksums ? " xmlns:oc=\"\(DavListing.cloudNamespace)\"" : ""
        let body =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<d:propfind xmlns:d=\"DAV:\"\(cloud)><d:prop><d:getcontentlength/>"
            + "<d:getetag/><d:getlastmodified/><d:resourcetype/>\(asksChecksums ? "<oc:checksums/>" : "")</d:prop></d:propfind>"
        let headers = [HeaderField("Depth", "1"), HeaderField("Content-Type", "application/xml; charset=utf-8")]
        let path = PercentEncoding.decode(folder.target.prefix { $0 != "?" })
        return .http(
            HTTPExchange(
                .propfind, folder, headers: headers, body: .bytes(Array(body.utf8)),
                sink: .listing(.multistatus(folder: path))))
    }

    /// For servers without PROPFIND.
    static func head(_ address: HTTPAddress) -> Exchange { .http(HTTPExchange(.head, address)) }

    /// sabre/dav, of which Nextcloud is made, explains its errors in a document of its own.
    static func isOwnWord(_ body: [UInt8]) -> Bool {
        String(peer: body.prefix(4096)).contains("sabredav.org")
    }

    static func makeFolder(_ address: HTTPAddress, headers: [HeaderField] = []) -> Exchange {
        .http(HTTPExchange(.mkcol, address, headers: headers))
    }

    static func remove(_ address: HTTPAddress) -> HTTPExchange { HTTPExchange(.delete, address) }

    /// Nextcloud keeps the one and computes the other of what arrives, by PUT as by the MOVE that puts chunks together.
    static func checksum(_ digest: TransferDigest) -> [HeaderField] {
        [HeaderField("OC-Checksum", "SHA256:\(digest.value)"), HeaderField("X-Hash", "sha256")]
    }

    /// SHA-256 that a server computed, in lower-case hexadecimal: Nextcloud tells it when asked, others may of themselves.
    static func digest(of answer: HTTPAnswer) -> String? {
        answer.field("x-hash-sha256")?.lowercased() ?? answer.representationDigest?.value
    }

    /// Never with `Content-Range`: a server that does not know it takes the piece for the whole.
    static func put(_ address: HTTPAddress, size: Int64, headers: [HeaderField]) -> Exchange {
        .http(HTTPExchange(.put, address, headers: headers, body: .source(0..<size)))
    }

    /// - Parameter pathOnly: for a server behind a proxy that takes its own name for another server's (502).
    static func move(
        _ address: HTTPAddress, to target: HTTPAddress, overwrites: Bool, pathOnly: Bool = false,
        headers: [HeaderField] = []
    ) -> Exchange {
        var exchange = HTTPExchange(
            .move, address,
            headers: [Self.destination(target, pathOnly: pathOnly), HeaderField("Overwrite", overwrites ? "T" : "F")]
                + headers)
        exchange.patience = .assembling
        return .http(exchange)
    }

    /// With nothing in its path that a server might take for an end of it.
    static func destination(_ target: HTTPAddress, pathOnly: Bool = false) -> HeaderField {
        let path = target.target.prefix { $0 != "?" }
        let text = path.split(separator: ";", omittingEmptySubsequences: false).joined(separator: "%3B")
        let whole = text + target.target[path.endIndex...]
        return HeaderField("Destination", pathOnly ? whole : target.origin + whole)
    }

    /// There are servers that read the Destination twice, or as an address with parameters: a name with one of these may come to be cut.
    static func mayBeMisread(_ target: HTTPAddress) -> Bool {
        PercentEncoding.decode(target.target.prefix { $0 != "?" }).contains { byte in ";?#%".utf8.contains(byte) }
    }

    /// The folders above an address, the innermost first, each with its slash; the root is always there.
    static func folders(above address: HTTPAddress) -> [HTTPAddress] {
        let path = address.target.prefix { $0 != "?" }
        return path.indices.reversed()
            .filter { path[$0] == "/" && $0 > path.startIndex && path.index(after: $0) < path.endIndex }
            .map { HTTPAddress(address, target: String(path[...$0])) }
    }

    /// The temporary file's path beside the target, percent-encoded.
    static func temporary(_ address: HTTPAddress, token: String, generation: Int) -> String {
        let path = address.target.prefix { $0 != "?" }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        let name = TemporaryName.beside(RawPath(address.lastSegment), token: token, generation: generation)
        return folder + PercentEncoding.encode(name.bytes)
    }
}
