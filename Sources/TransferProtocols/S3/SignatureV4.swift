import Digests
package import TransferModel

/// AWS Signature Version 4: who holds the keys proves it for one request and a quarter of an hour.
///
/// Pure: the engine brings the keys and the time when it sends a request whose exchange has this as its `signing`.
package struct SignatureV4: RequestSigner {
    package var region: S3Region
    package var service: String
    /// Lower-case hexadecimal SHA-256 of the body, or `unsignedPayload`.
    package var payload: String

    package init(region: S3Region, service: String = "s3", payload: String) {
        (self.region, self.service, self.payload) = (region, service, payload)
    }

    /// The payload line of a request whose body is not hashed: over https, and where a signed Content-MD5 vouches for it
    /// (`S3Upload.digestsWanted`).
    package static let unsignedPayload = "UNSIGNED-PAYLOAD"
    /// The payload line of a request without a body.
    package static let emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// `x-amz-date`, for S3 `x-amz-content-sha256`, of temporary keys `x-amz-security-token`, and `Authorization`. A field added afterwards is
    /// not signed, and one that begins with `x-amz-` makes the server refuse the request.
    package func fields(
        for exchange: HTTPExchange, headers: [HeaderField], keys: S3Keys, at now: Timestamp
    ) -> [HeaderField] {
        let time = Self.basicTime(now)
        var added = [HeaderField("x-amz-date", time)]
        // Only S3 wants to see the payload's line; other services would refuse a signed field that is not sent.
        if service == "s3" { added.append(HeaderField("x-amz-content-sha256", payload)) }
        if let token = keys.sessionToken { added.append(HeaderField("x-amz-security-token", token)) }
        let signed = Self.canonicalHeaders(headers + added + [HeaderField("host", Self.hostField(exchange.url))])
        let request = Self.canonicalRequest(exchange.method, exchange.url, signed, payload: payload)
        let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
        let digest = DigestAlgorithm.sha256.digest(of: Array(request.utf8)).hex
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
        let key = signingKey(keys.secretAccessKey, date: String(time.prefix(8)))
        let signature = MessageAuthentication.sha256(key: key, message: text).hex
        let names = signed.map(\.name).joined(separator: ";")
        added.append(
            HeaderField(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(keys.accessKeyID)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
            ))
        return added
    }

    /// The key of one day, region and service.
    private func signingKey(_ secret: String, date: String) -> [UInt8] {
        [date, region.rawValue, service, "aws4_request"].reduce(Array("AWS4\(secret)".utf8)) {
            key, step in
            MessageAuthentication.sha256(key: key, message: step).bytes
        }
    }

    // MARK: The canonical request

    private static func canonicalRequest(
        _ method: HTTPExchange.Method, _ address: HTTPAddress, _ headers: [HeaderField], payload: String
    ) -> String {
        let path = address.target.prefix { $0 != "?" }
        let query = address.target.dropFirst(path.count + 1)
        var lines = [
            method.rawValue,
            // Encoded once; no dot segments or double slashes are taken out, they are part of a key.
            PercentEncoding.encode(PercentEncoding.decode(path), keepingSlashes: true),
            canonicalQuery(query),
        ]
        for field in headers { lines.append("\(field.name):\(field.value)") }
        lines += ["", headers.map(\.name).joined(separator: ";"), payload]
        return lines.joined(separator: "\n")
    }

    /// Sorted after encoding, by name and then by value: as joined text `id-type=` would come before `id=`.
    static func canonicalQuery(_ query: Substring) -> String {
        let pairs = query.split(separator: "&").map { piece -> (String, String) in
            let halves = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (recoded(halves[0]), halves.count > 1 ? recoded(halves[1]) : "")
        }
        // Encoded text is ASCII, where Swift's order is that of the bytes.
        return pairs.sorted { $0 < $1 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private static func recoded(_ text: Substring) -> String { PercentEncoding.encode(PercentEncoding.decode(text)) }

    /// Lower-case names, sorted by them; values trimmed, blanks within made one; equal names joined in their order.
    static func canonicalHeaders(_ headers: [HeaderField]) -> [HeaderField] {
        var values: [String: [String]] = [:]
        for field in headers {
            let name = field.name.lowercased()
            if !unsigned.contains(name) { values[name, default: []].append(withoutBlanks(field.value)) }
        }
        return values.keys.sorted().map { HeaderField($0, (values[$0] ?? []).joined(separator: ",")) }
    }

    private static func withoutBlanks(_ value: String) -> String {
        value.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }

    /// Fields that are not signed: the transport adds, removes or rewrites them, or a proxy between may change them.
    private static let unsigned: Set<String> = [
        "accept", "accept-encoding", "authorization", "connection", "content-length", "expect", "keep-alive",
        "proxy-authorization", "te", "transfer-encoding", "upgrade", "user-agent", "via", "x-forwarded-for",
    ]

    /// As libcurl writes it: the port only where it is not the scheme's own.
    private static func hostField(_ address: HTTPAddress) -> String {
        String(address.origin.dropFirst(address.scheme.count + 3))
    }

    /// `20130524T000000Z`.
    private static func basicTime(_ time: Timestamp) -> String {
        time.description.prefix { $0 != "." }.filter { $0 != "-" && $0 != ":" } + "Z"
    }
}
