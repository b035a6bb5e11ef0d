import Digests
import Testing
import TransferModel
import TransferProtocols

private let empty = SignatureV4.emptyPayload

/// The part of `Authorization` after the last equals sign, and the names before it.
private func signature(
    _ method: HTTPExchange.Method, _ url: String, _ headers: [String] = [], payload: String = empty, service: String,
    keys: S3Keys, at time: String
) -> (names: String, signature: String) {
    let signer = SignatureV4(region: "us-east-1", service: service, payload: payload)
    let added = signer.fields(
        for: HTTPExchange(method, HTTPAddress(url)!), headers: fields(headers), keys: keys, at: Timestamp(time)!)
    let words = added.last!.value.split(separator: " ")
    return (String(words[2].dropFirst(14).dropLast()), String(words[3].dropFirst(10)))
}

/// The keys and the time of the examples in Amazon's documentation of S3.
private func documented(
    _ method: HTTPExchange.Method, _ target: String, _ headers: [String] = [], payload: String = empty
) -> (names: String, signature: String) {
    signature(
        method, "https://examplebucket.s3.amazonaws.com" + target, headers, payload: payload, service: "s3",
        keys: S3Keys(accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        at: "2013-05-24T00:00:00Z")
}

/// The keys and the time of Amazon's suite for all services.
private func suite(
    _ target: String, _ headers: [String] = [], _ method: HTTPExchange.Method = .get, payload: String = empty,
    token: String? = nil
) -> (names: String, signature: String) {
    signature(
        method, "https://example.amazonaws.com" + target, headers, payload: payload, service: "service",
        keys: S3Keys(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: token
        ),
        at: "2015-08-30T12:36:00Z")
}

@Suite struct SignatureV4Tests {
    @Test("GET of a range, as Amazon's documentation signs it")
    func documentedGet() {
        let signed = documented(.get, "/test.txt", ["Range: bytes=0-9"])
        #expect(signed.signature == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
        #expect(signed.names == "host;range;x-amz-content-sha256;x-amz-date")
    }

    @Test("PUT of an object, as Amazon's documentation signs it; a $ in the key is encoded once")
    func documentedPut() {
        let payload = DigestAlgorithm.sha256.digest(of: Array("Welcome to Amazon S3.".utf8)).hex
        let headers = ["Date: Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class: REDUCED_REDUNDANCY"]
        let expected = "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        for path in ["/test$file.text", "/test%24file.text"] {
            #expect(documented(.put, path, headers, payload: payload).signature == expected)
        }
    }

    @Test("a query key without a value, and a list with two, as Amazon's documentation signs them")
    func documentedQueries() {
        let lifecycle = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        #expect(documented(.get, "/?lifecycle").signature == lifecycle)
        #expect(documented(.get, "/?lifecycle=").signature == lifecycle)
        let list = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        #expect(documented(.get, "/?max-keys=2&prefix=J").signature == list)
        #expect(documented(.get, "/?prefix=%4a&&max-keys=2").signature == list)
    }

    @Test(
        "requests of Amazon's suite",
        arguments: [
            ("/", [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("/?Param1=value1", [], "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"),
            (
                "/?Param2=value2&Param1=value1", [],
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
            ("/%E1%88%B4", [], "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
            ("/example%20space/", [], "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"),
            (
                "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", [],
                "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
            ),
            (
                "/", ["My-Header1:value2", "My-Header1:value2", "My-Header1:value1"],
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
            ),
            (
                "/", ["My-Header1:value4", "My-Header1:value1", "My-Header1:value3", "My-Header1:value2"],
                "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"
            ),
            (
                "/", ["My-Header2: \"a   b   c\" ", "My-Header1:  value1"],
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
            ),
        ])
    func suiteOfAmazon(target: String, headers: [String], expected: String) {
        #expect(suite(target, headers).signature == expected)
    }

    @Test("the method is signed, and the token of temporary keys")
    func methodAndToken() {
        let plain = "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        #expect(suite("/", [], .post).signature == plain)
        let token =
            "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwth"
            + "Ax7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAk"
            + "iY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
        let signed = suite("/", [], .post, token: token)
        #expect(signed.names == "host;x-amz-date;x-amz-security-token")
        #expect(signed.signature == "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead")
    }

    @Test("parameters are sorted by name and then value, not as joined text, and encoded the one way")
    func queryOrder() {
        // Pairs whose two sides must be signed alike, whatever their order and spelling.
        for (one, other) in [
            ("id=1&id-type=2", "id-type=2&id=1"), ("q=1&q.parser=2", "q.parser=2&q=1"), ("a=2&a=1", "a=1&a=2"),
            ("uploads&prefix=a%2fb", "prefix=a%2Fb&uploads="), ("a=%7e", "a=~"), ("a=b=c", "a=b%3Dc"),
        ] {
            #expect(suite("/?" + one).signature == suite("/?" + other).signature)
        }
        #expect(suite("/?a=1&b=2").signature != suite("/?a=2&b=1").signature)
    }

    @Test("what the transport may change is not signed; the port is, when it is not the usual one")
    func signedNames() {
        let volatile = ["Expect: 100-continue", "User-Agent: x", "Content-Length: 5", "Transfer-Encoding: chunked"]
        #expect(suite("/", volatile).signature == suite("/").signature)
        let names = documented(
            .put, "/k",
            ["Content-MD5: x", "Content-Type: t", "x-amz-meta-a-b: 1", "x-amz-meta-a: 2", "If-None-Match: *"]
        ).names
        #expect(
            names
                == "content-md5;content-type;host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-meta-a;x-amz-meta-a-b"
        )
        func at(_ url: String) -> String {
            signature(
                .get, url, service: "s3", keys: S3Keys(accessKeyID: "a", secretAccessKey: "b"),
                at: "2026-11-21T12:00:00Z"
            ).signature
        }
        #expect(at("http://h:80/k") == at("http://h/k") && at("http://h/k") != at("http://h:9000/k"))
        #expect(at("http://h/a/../b//c") != at("http://h/b/c"))
    }

    @Test("the fields go along: time, payload, token, and the proof last")
    func addedFields() {
        let added = SignatureV4(region: "eu-west-1", payload: SignatureV4.unsignedPayload).fields(
            for: HTTPExchange(.put, HTTPAddress("http://h:9000/b/k")!), headers: [],
            keys: S3Keys(accessKeyID: "id", secretAccessKey: "s", sessionToken: "t"),
            at: Timestamp("2026-11-21T12:00:00.999Z")!)
        #expect(added.map(\.name) == ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "Authorization"])
        #expect(added.prefix(3).map(\.value) == ["20261121T120000Z", "UNSIGNED-PAYLOAD", "t"])
        #expect(
            added[3].value.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=id/20261121/eu-west-1/s3/aws4_request, SignedHeaders=host;"))
    }
}
