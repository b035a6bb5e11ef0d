package import TransferModel
package import WireOperations

/// The body that follows a request's header.
package enum HTTPBody: Sendable, Equatable {
    /// Nothing, and no `Content-Length`.
    case none
    /// These bytes; empty ones announce `Content-Length: 0`.
    case bytes([UInt8])
    /// So many bytes from the ``TransferBodySource`` given to `start`.
    case source(length: Int64)

    /// Bytes announced to the server.
    package var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .source(let length): length
        }
    }
}

/// The treatment of the final answer's body.
package enum ResponsePlan: Sendable, Equatable {
    /// Counted and dropped.
    case discard
    /// Kept in memory up to a limit, and handed over in ``HTTPTransferEnd/body``.
    case buffer(limit: Int)
    /// Not one byte is taken before `openGate`: status and header decide whether and where they go.
    case gated
}

/// A name and password for the server or a proxy. Never written to a log: it has no description of its content.
package struct HTTPCredentials: Sendable, Hashable, CustomStringConvertible {
    /// The way in which they are shown to the server.
    package enum Scheme: Sendable, Hashable {
        /// At once, with the first request.
        case basic
        /// By the scheme that the server asks for, Basic or Digest, which costs a first request that is refused. A large body waits
        /// for its answer (`Expect`); of a small one no more than the re-send limit is repeated.
        case asAsked
    }

    package let user: String
    package let password: String
    package let scheme: Scheme

    package init(user: String, password: String, scheme: Scheme = .basic) {
        self.user = user
        self.password = password
        self.scheme = scheme
    }

    package var description: String { "credentials of \(user)" }
}

/// The way to the server through a proxy, or not.
package enum ProxyPolicy: Sendable, Hashable {
    /// Straight, whatever the environment says.
    case none
    /// Through this proxy, whatever the host is.
    case url(String)
}

/// The settings of a connection: who we are, whom we trust, which way. Requests with different settings never share one.
package struct ConnectionSettings: Sendable, Hashable {
    package var credentials: HTTPCredentials?
    /// The authorities to trust instead of the system's.
    package var authorities: Authorities?
    /// `sha256//…;sha256//…`
    package var pinnedKey: String?
    /// False accepts any certificate.
    package var verifiesServer = true
    /// PEM files of our own certificate and key.
    package var clientCertificate: String?
    package var clientKey: String?
    package var proxy = ProxyPolicy.none
    /// Nothing is sent unless the program at the other end is on this machine and this user's, by the kernel's word.
    package var onlyToOwnListener = false

    package init() {}
}

/// The time for which nothing may happen. Time spent throttled or behind a closed gate does not count.
package struct RequestTimeouts: Sendable, Equatable {
    /// Name look-up, connection and handshakes.
    package var connect: Duration = .seconds(15)
    /// No byte of a body either way.
    package var stall: Duration = .seconds(60)
    /// No answer after the last byte of the request: the server may be digesting gigabytes.
    package var answer: Duration = .seconds(600)

    package init() {}
}

/// One request, as a value. Redirects are not followed; the protocol decides.
package struct HTTPRequest: Sendable, Equatable {
    package var method: String
    /// `http` or `https`, percent-encoded, without user or password. Its path is sent as it stands.
    package var url: String
    /// Sent in this order; a name given here replaces libcurl's own field of that name.
    package var fields: [HeaderField]
    package var body: HTTPBody
    package var response: ResponsePlan
    package var connection = ConnectionSettings()
    package var timeouts = RequestTimeouts()
    /// True when libcurl may send the whole request again, unseen, after a kept connection dies before any answer. Even
    /// then not once more than ``HTTPTransport/resendLimit`` bytes of the body have been read.
    package var mayRepeat: Bool
    /// The most private zone that the peer may be in. Set for addresses that a server named; `nil`, no limit, for those that a person
    /// named.
    package var mostPrivateZone: AddressZone?
    /// True when a body of more than 64 KiB waits for `100 Continue`. Hosts that never send it are remembered anyhow.
    package var asksBeforeSending = true

    /// A request with the usual settings. `mayRepeat` starts as the method says: not for POST and MOVE.
    package init(
        _ method: String, _ url: String, fields: [HeaderField] = [], body: HTTPBody = .none,
        response: ResponsePlan = .buffer(limit: 1 << 20)
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.response = response
        mayRepeat = method != "POST" && method != "MOVE"
    }
}
