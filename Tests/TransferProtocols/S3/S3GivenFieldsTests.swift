import Testing
import TransferModel
import TransferProtocols

/// Given fields that S3 takes with some requests alone.
@Suite struct S3GivenFieldsTests {
    private static let given = [
        "x-amz-server-side-encryption", "x-amz-acl", "x-amz-storage-class", "x-amz-tagging", "x-amz-meta-team",
        "x-amz-object-lock-mode", "x-amz-website-redirect-location", "Cache-Control", "Content-Disposition",
        "Content-Encoding", "Content-Language", "Expires",
    ]
    private static let key = "x-amz-server-side-encryption-customer-key"

    private static let all = given + [key, "X-Team"]

    private func taken(_ exchange: HTTPExchange?, of names: [String] = Self.all) throws -> [String] {
        let exchange = try #require(exchange)
        let signer = try #require(exchange.signing?.signer)
        return names.filter { signer.takes(HeaderField($0, "1"), with: exchange) }
    }

    @Test("fields of an object go with the request that makes it, and with no other")
    func object() throws {
        #expect(try taken(S3Script(s3Plan()).open[1]) == Self.all)
        var script = S3Script(s3Plan(size: fourParts))
        #expect(script.open[1]?.method == .head)
        #expect(try taken(script.open[1]) == [Self.key, "X-Team"])
        _ = script.end(1, 404)
        #expect(script.open[2]?.method == .post)
        #expect(try taken(script.open[2]) == Self.all)
        _ = script.end(2, 200, body: createdXML())
        #expect(script.open[3]?.method == .put)
        #expect(try taken(script.open[3]) == [Self.key, "X-Team"])
        #expect(try taken(s3Completing().open[7]) == ["X-Team"])
        let list = s3Resumed().open[1]
        #expect(list?.method == .get)
        #expect(try taken(list) == ["X-Team"])
    }

    @Test("of a download only the customer's key goes along; what all requests may have does so always")
    func download() throws {
        func exchange(_ method: HTTPExchange.Method, _ url: String) throws -> HTTPExchange {
            var exchange = HTTPExchange(method, try #require(HTTPAddress(url)))
            exchange.signing = RequestSigning.v4(region: "us-east-1", payload: SignatureV4.emptyPayload)
            return exchange
        }
        #expect(try taken(exchange(.get, "https://h/bkt/f")) == [Self.key, "X-Team"])
        #expect(try taken(exchange(.get, "https://h/bkt/?list-type=2")) == ["X-Team"])
        let abort = try exchange(.delete, "https://h/bkt/f?uploadId=U")
        #expect(try taken(abort) == ["X-Team"])
        #expect(try taken(abort, of: ["x-amz-request-payer"]) == ["x-amz-request-payer"])
    }

    @Test("the fields of the signature are the signer's alone")
    func signature() throws {
        let names = ["Authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token"]
        #expect(try taken(S3Script(s3Plan()).open[1], of: names) == [])
    }
}
