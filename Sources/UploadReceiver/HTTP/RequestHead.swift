/// The method of a request, as far as the receiver tells methods apart.
enum RequestMethod: Equatable, Sendable {
    case get, head, put, post, patch, delete, options
    case other(String)

    init(_ name: String) {
        switch name {
        case "GET": self = .get
        case "HEAD": self = .head
        case "PUT": self = .put
        case "POST": self = .post
        case "PATCH": self = .patch
        case "DELETE": self = .delete
        case "OPTIONS": self = .options
        default: self = .other(name)
        }
    }

    var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .put: "PUT"
        case .post: "POST"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .other(let name): name
        }
    }
}

/// The fields of a request, found without regard to case.
struct RequestFields: Equatable, Sendable {
    private var lines: [(name: String, value: String)] = []

    init(_ lines: KeyValuePairs<String, String> = [:]) {
        for (name, value) in lines { append(name, value) }
    }

    mutating func append(_ name: String, _ value: String) { lines.append((name.lowercased(), value)) }

    /// The value of a field given in lower case; several lines of one name are joined with commas (RFC 9110 section 5.3).
    subscript(name: String) -> String? {
        var found: String?
        for line in lines where line.name == name { found = found.map { $0 + ", " + line.value } ?? line.value }
        return found
    }

    /// The reason for which different readers would read the fields differently, for the client; `nil` when they are sound. Duplicate
    /// fields, a length beside chunks, and control bytes are used to smuggle requests past an earlier reader.
    var fault: String? {
        // "Content-Length : 5" is one field to us and another one to a proxy before us (RFC 9112 section 5.1).
        for line in lines where !Self.isToken(line.name) { return "a field has a name that is none" }
        for line in lines where line.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
            return "a field has a control character in it"
        }
        for name in ["host", "content-length", "transfer-encoding", "authorization", "origin"]
        where lines.count(where: { $0.name == name }) > 1 {
            return "a field that must stand alone is there twice"
        }
        return self["content-length"] != nil && self["transfer-encoding"] != nil
            ? "Content-Length and Transfer-Encoding exclude each other" : nil
    }

    /// RFC 9110 section 5.6.2.
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    static func == (one: RequestFields, other: RequestFields) -> Bool {
        one.lines.elementsEqual(other.lines) { $0 == $1 }
    }
}

/// The facts of a request that are known when its head has arrived.
struct RequestHead: Sendable {
    let method: RequestMethod
    /// The target as it was sent, without its query.
    let target: [UInt8]
    let fields: RequestFields
    /// The client's numeric address.
    let peer: String
    let isTLS: Bool
    /// True when the client understands interim answers that it did not ask for: HTTP/1.1 and later.
    var understandsInterim = true
    /// True for a request of HTTP/1.0, which need not name its server.
    var isHTTP10 = false
    /// The connection's descriptor, the library's until the exchange has ended; nobody but the connection's thread writes
    /// to it, and only while the library does not.
    var socket: Int32 = -1

    /// True when a 104 can be sent. It is written past the library, which is not possible through TLS; and some proxies pass it on
    /// as if it were the answer (nginx before 1.27).
    var takesInterim: Bool { understandsInterim && !isTLS && !cameThroughProxy }

    /// True when a proxy seems to have passed the request on. nginx sends `Connection: close` when it is not told to name itself, and no
    /// client of the draft sends that.
    private var cameThroughProxy: Bool {
        fields["connection"]?.lowercased() == "close"
            || ["via", "forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip"].contains { fields[$0] != nil }
    }

    /// The length of the body, as the fields announce it.
    var body: BodyLength {
        if fields["transfer-encoding"] != nil { return .unknown }
        guard let length = fields["content-length"] else { return .none }
        // What the library let pass and we cannot read, such as two lengths, promises nothing.
        return UInt64(length).map { $0 == 0 ? .none : .known($0) } ?? .unknown
    }

    /// True when the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool { fields["expect"]?.lowercased() == "100-continue" }
}

/// The announced length of a request's body, in bytes.
enum BodyLength: Equatable, Sendable {
    case none
    case known(UInt64)
    /// Chunked: only the end tells.
    case unknown
}
