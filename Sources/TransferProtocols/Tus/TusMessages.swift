import Digests
package import TransferModel
import WireOperations

/// The parameters of a tus upload.
package struct TusPlan: Sendable, Hashable {
    /// Address where uploads are made: the destination folder's.
    package var endpoint: HTTPAddress
    /// Address of the file afterwards, if the server also serves it: asked when an answer was lost. By default below `endpoint`.
    package var fileAddress: HTTPAddress
    package var subject: UploadSubject
    /// The file's path below `endpoint` with its name; `nil` when it is directly there.
    package var relativePath: RawPath?
    package var facts: HostFacts
    package var resume: TusResumePoint?
    /// The file that an earlier version of the source left under that name: ours to replace.
    package var stored: StoredVersion?
    /// Bytes in one request at most, when a person said so.
    package var chunk: Int64?
    /// Uploads of parts of a large file that may go on side by side, where the server can join them; `nil`: several when that gains time.
    package var parts: Int?

    package init(
        endpoint: HTTPAddress, subject: UploadSubject, relativePath: RawPath? = nil, facts: HostFacts = HostFacts(),
        resume: TusResumePoint? = nil, chunk: Int64? = nil, parts: Int? = nil, fileAddress: HTTPAddress? = nil
    ) {
        self.endpoint = endpoint
        self.fileAddress = fileAddress ?? endpoint.appending(relativePath ?? subject.name)
        self.subject = subject
        self.relativePath = relativePath
        self.facts = facts
        self.resume = resume
        self.chunk = chunk
        self.parts = parts
    }
}

/// The requests of tus 1.0.0 (https://tus.io/protocols/resumable-upload). Each goes to where redirects have led.
struct TusMessages: Sendable {
    var plan: TusPlan
    /// Something on the way refuses PATCH and DELETE: they are said in a POST's field, as the protocol allows.
    var overridesMethod = false

    init(_ plan: TusPlan) { self.plan = plan }

    /// Asks what the server can. The one request without a version.
    func options(_ chain: RedirectChain) -> Exchange {
        .http(HTTPExchange(.options, chain.address, mayCarrySecrets: mayCarrySecrets(chain)))
    }

    /// Makes an upload of `length` bytes, with the first of them when `body` is not empty.
    func create(_ chain: RedirectChain, length: Int64, isPartial: Bool, body: Range<Int64>) -> Exchange {
        var headers = [Self.version, HeaderField("Upload-Length", String(length))]
        headers += isPartial ? [HeaderField("Upload-Concat", "partial")] : naming
        if !body.isEmpty { headers.append(Self.contentType) }
        return .http(
            HTTPExchange(
                .post, chain.address, headers: headers, body: body.isEmpty ? .bytes([]) : .source(body),
                mayCarrySecrets: mayCarrySecrets(chain)))
    }

    /// Asks how much is there.
    func head(_ chain: RedirectChain) -> Exchange {
        .http(HTTPExchange(.head, chain.address, headers: [Self.version], mayCarrySecrets: mayCarrySecrets(chain)))
    }

    /// Sends a range of the source that belongs at `offset` in the upload.
    func append(
        _ chain: RedirectChain, at offset: Int64, _ range: Range<Int64>, checksum: (algorithm: String, base64: String)?
    ) -> Exchange {
        var headers = [Self.version, HeaderField("Upload-Offset", String(offset)), Self.contentType]
        if let checksum { headers.append(HeaderField("Upload-Checksum", "\(checksum.algorithm) \(checksum.base64)")) }
        if overridesMethod { headers.append(HeaderField("X-HTTP-Method-Override", "PATCH")) }
        var exchange = HTTPExchange(
            overridesMethod ? .post : .patch, chain.address, headers: headers, body: .source(range),
            mayCarrySecrets: mayCarrySecrets(chain))
        let subject = plan.subject
        // For the digest the server may read all of the file once more.
        if range.upperBound == subject.size, subject.verify.comparesDigests,
            subject.size >= ResumableMessages.longDigested
        {
            exchange.patience = .assembling
        }
        return .http(exchange)
    }

    /// Makes one file of finished partial uploads. The server may copy every byte within this request.
    func join(_ chain: RedirectChain, _ parts: [HTTPAddress]) -> Exchange {
        let list = parts.map(\.text).joined(separator: " ")
        var exchange = HTTPExchange(
            .post, chain.address, headers: [Self.version, HeaderField("Upload-Concat", "final;" + list)] + naming,
            body: .bytes([]), mayCarrySecrets: mayCarrySecrets(chain))
        exchange.patience = .assembling
        return .http(exchange)
    }

    /// Asks how much an upload has, from outside of it.
    static func look(_ upload: HTTPAddress, endpoint: HTTPAddress) -> HTTPExchange {
        HTTPExchange(.head, upload, headers: [Self.version], mayCarrySecrets: upload.origin == endpoint.origin)
    }

    /// Frees what an upload takes there. 204, or 404 and 410 when it was gone before.
    static func terminate(_ upload: HTTPAddress, endpoint: HTTPAddress) -> HTTPExchange {
        HTTPExchange(
            .delete, upload, headers: [Self.version], body: .bytes([]),
            mayCarrySecrets: upload.origin == endpoint.origin
        )
    }

    /// True when the creation tells the server to refuse if a file of that name is there, or another one than our earlier version; else it
    /// says to replace it (`Overwrite`, RFC 4918 section 10.6). These are conventions of Martlet's own receiver, that other servers pass
    /// over.
    var isConditional: Bool { condition != HeaderField("Overwrite", "T") }

    private var condition: HeaderField {
        if plan.subject.ifExists == .replace { return HeaderField("Overwrite", "T") }
        guard let own = plan.stored, own.stored else { return HeaderField("If-None-Match", "*") }
        if let tag = own.strongTag { return HeaderField("If-Match", tag) }
        return own.isUntold ? HeaderField("Overwrite", "T") : HeaderField("If-None-Match", "*")
    }

    /// The name, where a server looks for it, and a type, which some want before they answer a HEAD. What checks each piece asks for no digest
    /// of the whole.
    private var naming: [HeaderField] {
        var pairs = [("filename", plan.subject.name.bytes)]
        if let path = plan.relativePath { pairs.append(("relativePath", path.bytes)) }
        pairs.append(("filetype", Array(plan.subject.mediaType.utf8)))
        let metadata = pairs.map { key, value in "\(key) \(Base64.encode(value))" }.joined(separator: ",")
        return [
            HeaderField("Upload-Metadata", metadata), condition,
        ] + PutMessages.digestWish(plan.subject.verify == nil)
    }

    /// An upload's address may lie at another server: what was meant for the endpoint's is not shown to that one.
    private func mayCarrySecrets(_ chain: RedirectChain) -> Bool { chain.address.origin == plan.endpoint.origin }

    private static let version = HeaderField("Tus-Resumable", "1.0.0")
    private static let contentType = HeaderField("Content-Type", "application/offset+octet-stream")
}

/// Reads a server's announcement of itself, as facts to remember.
enum TusAnnouncement {
    /// `nil` when the answer is not one of a server that speaks version 1.0.0.
    static func facts(_ answer: HTTPAnswer) -> HostFacts? {
        guard let versions = answer.field("tus-version") ?? answer.field("tus-resumable"),
            list(versions).contains("1.0.0")
        else { return nil }
        var facts = HostFacts(hintedBy: answer)
        let extensions = list(answer.field("tus-extension") ?? "")
        facts.tusExtensions = extensions
        // SHA-1 is the one that every server with the extension must know.
        let algorithms = list(answer.field("tus-checksum-algorithm") ?? "sha1")
        facts.tusChecksums = extensions.contains("checksum") ? algorithms : []
        return facts
    }

    /// The largest file that the server takes.
    static func largest(_ answer: HTTPAnswer) -> Int64? { answer.field("tus-max-size").flatMap { FileSize.read($0) } }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingSpaces().lowercased() }.filter { !$0.isEmpty }
    }
}

/// The digests that both sides know, the strongest first: as tus names them, and as the engine computes them.
enum TusChecksum {
    static func choose(_ announced: [String]) -> String? { table.first { announced.contains($0.tus) }?.tus }

    static func engineName(_ algorithm: String) -> String? { table.first { $0.tus == algorithm }?.engine }

    private static let table = [
        (tus: "sha256", engine: "sha-256"), (tus: "sha1", engine: "sha-1"), (tus: "md5", engine: "md5"),
    ]
}
