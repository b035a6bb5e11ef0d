package import TransferModel

/// Selects the given header fields of a request to S3. S3 refuses fields of an object (`x-amz-acl`, `Cache-Control`) with every request except
/// the one that makes the object.
extension SignatureV4 {
    package func takes(_ given: HeaderField, with exchange: HTTPExchange) -> Bool {
        let name = given.name.lowercased()
        if Self.signature.contains(name) { return false }
        if Self.ofEveryRequest.contains(name) { return true }
        let query = exchange.url.target.drop { $0 != "?" }.dropFirst()
        let makesObject =
            exchange.method == .put && query.isEmpty || exchange.method == .post && query == "uploads"
        if name.hasPrefix("x-amz-server-side-encryption-customer-") {
            // The server keeps no such key: it needs it for each request that writes or reads the object.
            let isPart = exchange.method == .put && query.hasPrefix("partNumber=")
            let reads = [.get, .head].contains(exchange.method) && query.isEmpty
            return makesObject || isPart || reads
        }
        return makesObject || !(name.hasPrefix("x-amz-") || Self.ofObject.contains(name))
    }

    private static let signature: Set<String> = [
        "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token",
    ]
    private static let ofEveryRequest: Set<String> = ["x-amz-request-payer", "x-amz-expected-bucket-owner"]
    /// Beside all others that begin with `x-amz-`.
    private static let ofObject: Set<String> = [
        "cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires",
    ]
}
