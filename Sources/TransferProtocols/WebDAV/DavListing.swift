import TransferModel
import WireOperations
import XMLReader

/// One resource of an answer to PROPFIND, or of a HEAD.
struct DavResource: Hashable, Sendable {
    /// The path, percent-decoded, without a slash at its end.
    var path: [UInt8]
    var isFolder: Bool
    var size: Int64?
    var modified: Timestamp?
    var etag: String?
    /// As a listing told the length; what cannot be one is told apart from none.
    var listedSize = RemoteEntry.Size.unknown
    /// Checksums as Nextcloud and ownCloud keep them: `SHA1:… MD5:…`.
    var checksums: String?

    /// Takes length, time and tag from the answer to a HEAD; the path stays empty.
    init(_ answer: HTTPAnswer) {
        path = []
        isFolder = false
        size = answer.contentLength
        modified = answer.lastModified
        etag = answer.etag
    }

    /// `nil` for a response without an address, or about what is not there.
    init?(_ response: XMLElement) {
        guard let href = response.text(of: "href", in: "DAV:") else { return nil }
        if let status = response.text(of: "status", in: "DAV:"), !Self.isSuccess(status) { return nil }
        // Some servers write whole addresses.
        let path = HTTPAddress(href).map(\.target) ?? href
        self.path = DavListing.plain(PercentEncoding.decode(path.prefix { $0 != "?" }))
        (isFolder, size, modified, etag) = (false, nil, nil, nil)
        // Each property stands under the status of whether it could be told.
        for group in response.children("propstat", in: "DAV:") {
            guard Self.isSuccess(group.text(of: "status", in: "DAV:") ?? ""),
                let found = group.child("prop", in: "DAV:")
            else { continue }
            size =
                size
                ?? found.text(of: "getcontentlength", in: "DAV:").flatMap { FileSize.read($0) }
            if listedSize == .unknown, let length = found.text(of: "getcontentlength", in: "DAV:") {
                listedSize = RemoteEntry.Size(length)
            }
            checksums =
                checksums
                ?? found.child("checksums", in: DavListing.cloudNamespace)?
                .text(of: "checksum", in: DavListing.cloudNamespace)
            modified = modified ?? found.text(of: "getlastmodified", in: "DAV:").flatMap(HTTPDate.parse)
            etag = etag ?? found.text(of: "getetag", in: "DAV:").flatMap(Validator.tag)
            isFolder = isFolder || found.child("resourcetype", in: "DAV:")?.child("collection", in: "DAV:") != nil
        }
    }

    /// `HTTP/1.1 200 OK`
    private static func isSuccess(_ line: String) -> Bool {
        let words = line.split(separator: " ")
        return words.count >= 2 && words[1].hasPrefix("2")
    }
}

extension StandingFile {
    init(_ file: DavResource) {
        self.init(size: file.size, modified: file.modified.map { $0.milliseconds / 1000 }, etag: file.etag)
    }
}

/// An answer to PROPFIND: 207 and a document (RFC 4918 section 13).
enum DavListing {
    /// XML namespace of the properties that ownCloud and Nextcloud add to those of WebDAV.
    static let cloudNamespace = "http://owncloud.org/ns"

    /// `nil` for bytes that are no such document.
    static func read(_ body: [UInt8]) -> [DavResource]? {
        guard let root = try? XMLReader.read(body), root.isNamed("multistatus", in: "DAV:") else { return nil }
        return root.children("response", in: "DAV:").compactMap { DavResource($0) }
    }

    /// Without the slash that folders have at their ends.
    static func plain(_ path: [UInt8]) -> [UInt8] {
        path.count > 1 && path.last == UInt8(ascii: "/") ? Array(path.dropLast()) : path
    }
}

/// The resource at an address, as far as the server tells.
enum DavFinding: Hashable, Sendable {
    case found(DavResource)
    case missing
    /// It does not know PROPFIND: HEAD may help.
    case unknownMethod
    case other(AnswerMeaning)

    /// - Parameter mayBePage: HEAD was asked about a file that is a page by its name: it is answered as any other file's.
    init(_ end: ExchangeEnd, host: String, hasAccepted: Bool, mayBePage: Bool = false) {
        guard let answer = end.answer else {
            self = .other(DavFinding.unanswered(end, host))
            return
        }
        switch answer.status {
        case 207:
            // A document that breaks off came over a line that did.
            if end.failure == nil, let resource = DavListing.read(end.body)?.first {
                self = .found(resource)
            } else {
                self = .other(
                    .wait(
                        WaitDemand(
                            .backoff,
                            end.failure?.error
                                ?? TransferError(
                                    .badServerResponse, "\(host) answered PROPFIND with what is no list", .again))))
            }
        case 200 where answer.isPage && !mayBePage: self = .other(.wait(WaitDemand(.backoff, .page(at: host))))
        case 200..<300: self = .found(DavResource(answer))
        case 404, 410: self = .missing
        case 405, 501: self = .unknownMethod
        default: self = .other(AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: hasAccepted, at: end.at))
        }
    }

    static func unanswered(_ end: ExchangeEnd, _ host: String) -> AnswerMeaning {
        let error = end.failure?.error ?? .cutOff(by: host)
        return error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error)
    }
}

extension TransferError {
    /// An answer that no server of WebDAV gives.
    /// - Parameter kind: of the server that the address is to be of.
    static func page(at host: String, insteadOf kind: String = "WebDAV server") -> TransferError {
        TransferError(
            .badServerResponse, "\(host) answered with a web page, as no \(kind) does",
            .again("sign in where the network asks for it, or check the address"))
    }
}

extension NameBefore {
    init(_ finding: DavFinding) {
        switch finding {
        case .found(let file): self = .file(StandingFile(file))
        case .missing: self = .nothing
        case .unknownMethod, .other: self = .untold
        }
    }
}
