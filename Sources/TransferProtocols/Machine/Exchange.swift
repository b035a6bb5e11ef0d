package import TransferModel
package import WireOperations

/// Names one exchange of one task's attempt; several may be in flight.
package struct ExchangeID: RawRepresentable, Hashable, Sendable {
    package var rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
}

/// One request and its answer. Closed: a new kind of transport is a new case.
package enum Exchange: Hashable, Sendable {
    case http(HTTPExchange)
    case ftp(FTPOperation)
    case sftp(SFTPOperation)
    /// Reads an open file at an SFTP server from its start and tells its SHA-256, computed here; nothing of it is kept. It ends at the first
    /// byte beyond `size`.
    case sftpDigest(SFTPHandle, size: Int64)
}

/// One HTTP request, and what becomes of its answer. Redirects are not followed: a 3xx is an answer like any other.
package struct HTTPExchange: Hashable, Sendable {
    /// The methods that Martlet uses.
    package enum Method: String, Sendable {
        case get = "GET"
        case head = "HEAD"
        case put = "PUT"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
        case options = "OPTIONS"
        case mkcol = "MKCOL"
        case move = "MOVE"
        case propfind = "PROPFIND"

        /// It changes nothing at the server (RFC 9110 section 9.2.1; RFC 4918 section 9.1).
        package var isSafe: Bool {
            switch self {
            case .get, .head, .options, .propfind: true
            case .put, .post, .patch, .delete, .mkcol, .move: false
            }
        }
    }

    /// The body of the request.
    package enum Body: Hashable, Sendable {
        case none
        /// A range of the task's source file.
        case source(Range<Int64>)
        /// The protocol's own message. Empty ones announce `Content-Length: 0`.
        case bytes([UInt8])
        /// A form around a range of the task's source file.
        case framed(before: [UInt8], Range<Int64>, after: [UInt8])
    }

    /// The destination of the answer's body.
    package enum Sink: Hashable, Sendable {
        /// The first bytes are kept for the person who asks what the server said.
        case kept
        /// All of it is kept, up to so many bytes: the protocol reads it. A longer one fails the exchange.
        case document(limit: Int)
        /// A listing, read as it comes: the engine has its entries, `ExchangeEnd.listing` says how it ended.
        case listing(ListingFormat)
        /// Into the task's local file once `openGate` said where; nothing is read before that.
        case gated
    }

    /// The time that the server may take to answer after the last byte.
    package enum Patience: Hashable, Sendable {
        case usual
        /// It has nothing to read or to write for it.
        case short
        /// It copies or checks gigabytes within this request.
        case assembling
    }

    package var method: Method
    package var url: HTTPAddress
    /// The protocol's own fields; a given one of the same name stays out. Given fields and credentials are added by the engine, when
    /// `mayCarrySecrets`.
    package var headers: [HeaderField]
    package var body: Body
    package var sink: Sink
    /// False after a redirect to another origin: what was meant for one server is not shown to another.
    package var mayCarrySecrets: Bool
    package var patience: Patience
    /// Signed by the engine with the batch's keys when it is sent, instead of showing a name and password.
    package var signing: RequestSigning?

    package init(
        _ method: Method, _ url: HTTPAddress, headers: [HeaderField] = [], body: Body = .none, sink: Sink = .kept,
        mayCarrySecrets: Bool = true
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.sink = sink
        self.mayCarrySecrets = mayCarrySecrets
        // For a digest a server reads the whole file.
        let wantsDigest = headers.contains { $0.name.lowercased() == "want-repr-digest" }
        patience = method == .options || method == .head && !wantsDigest ? .short : .usual
    }
}

/// Signs requests, where a server knows by keys who asks. Each protocol of such servers has its own.
package protocol RequestSigner: Hashable, Sendable {
    /// The fields that a request gets so that it is signed.
    /// - Parameters:
    ///   - headers: all other fields that go along, in their order.
    ///   - now: by the server's clock, as far as it is known.
    func fields(
        for exchange: HTTPExchange, headers: [HeaderField], keys: S3Keys, at now: Timestamp
    ) -> [HeaderField]

    /// Returns true when a given field goes with this request, signed like all others of it.
    func takes(_ given: HeaderField, with exchange: HTTPExchange) -> Bool
}

/// The signer of one request; the keys are the engine's to know.
package struct RequestSigning: Hashable, Sendable {
    package let signer: any RequestSigner

    package init(_ signer: some RequestSigner) { self.signer = signer }

    package static func == (one: RequestSigning, other: RequestSigning) -> Bool {
        AnyHashable(one.signer) == AnyHashable(other.signer)
    }

    package func hash(into hasher: inout Hasher) { AnyHashable(signer).hash(into: &hasher) }
}

/// The place in the local file where the answer's body is written.
package struct GateOpening: Hashable, Sendable {
    /// The local file's offset of the first byte that is written. The file is cut to this length first.
    package var offset: Int64
    /// Bytes at the answer's beginning that the file has already: the server began earlier than it was asked to.
    package var skip: Int64
    /// The file's whole length, when the server told.
    package var total: Int64?
    /// Nothing is written, nor asked for, behind `total`. False: the server may have another number of bytes than it told.
    package var isBounded: Bool
    package init(offset: Int64, skip: Int64 = 0, total: Int64?, isBounded: Bool = true) {
        self.offset = offset
        self.skip = skip
        self.total = total
        self.isBounded = isBounded
    }

    /// The offset behind the last byte that may come; `nil`: there is none.
    package var end: Int64? { isBounded ? total : nil }
}
