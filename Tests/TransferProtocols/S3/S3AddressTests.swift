import Testing
import TransferModel
import TransferProtocols

@Suite struct S3AddressTests {
    @Test(
        "a bucket is a host on AWS, or a path where a certificate or an endpoint demands it",
        arguments: [
            ("s3://photos/2026/a.jpg", nil, "eu-west-1", "https://photos.s3.eu-west-1.amazonaws.com/2026/a.jpg"),
            ("S3://photos", nil, "us-east-1", "https://photos.s3.us-east-1.amazonaws.com/"),
            ("s3://my.bucket/k", nil, "eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.bucket/k"),
            ("s3://Old_Bucket/k", nil, "us-east-1", "https://s3.us-east-1.amazonaws.com/Old_Bucket/k"),
            ("s3://photos/k", nil, "cn-north-1", "https://photos.s3.cn-north-1.amazonaws.com.cn/k"),
            ("s3://photos/k", "http://127.0.0.1:9000", "us-east-1", "http://127.0.0.1:9000/photos/k"),
            ("s3://photos/a?b", "http://h", "us-east-1", "http://h/photos/a%3Fb"),
            ("s3://photos/k", "https://nas/s3/", "us-east-1", "https://nas/s3/photos/k"),
            ("s3://photos/k", "https://nas/s3?x", "us-east-1", "https://nas/s3/photos/k"),
        ])
    func addresses(text: String, endpoint: String?, region: S3Region, expected: String) {
        let address = S3Address(text, place: S3Place(endpoint: endpoint))
        #expect(address?.object(in: region)?.text == expected)
    }

    @Test(
        "a key's bytes are encoded once, its slashes and dots stay",
        arguments: [
            ("a b+c", "/a%20b%2Bc"), ("\u{E4}~", "/%C3%A4~"), ("a//b/../c", "/a//b/../c"), ("100%", "/100%25"),
            ("a?b#c&d", "/a%3Fb%23c%26d"), ("/x", "//x"),
        ])
    func keys(name: String, expected: String) {
        let address = S3Address(bucket: "bkt", key: RawPath(name), place: S3Place())
        #expect(address.object(in: "us-east-1")?.target == expected)
    }

    @Test("names are put below a prefix, and an encoded prefix is decoded")
    func appending() throws {
        let prefix = try #require(S3Address("s3://bkt/my%20photos/", place: S3Place(endpoint: "http://h")))
        #expect(prefix.key == RawPath("my photos/") && prefix.fileName == RawPath(""))
        let file = prefix.appending(RawPath("d/x y"))
        #expect(file.object(in: "r")?.target == "/bkt/my%20photos/d/x%20y" && file.fileName == RawPath("x y"))
        #expect(prefix.appending(RawPath("")) == prefix)
        #expect(S3Address("s3://bkt", place: S3Place())?.appending(RawPath("a")).key == RawPath("a"))
        #expect(file.object(in: "r", query: "uploads")?.target == "/bkt/my%20photos/d/x%20y?uploads")
        #expect(file.bucket(in: "r", query: "uploads")?.target == "/bkt/?uploads")
        #expect(file.text == "s3://bkt/my photos/d/x y")
    }

    @Test(
        "what names no bucket is refused",
        arguments: [
            "s3://", "s3:///k", "http://b/k", "s3://a b/k", "s3://../k", "s3://b@c/k", "s3://b:1/k", "s3://b/%00",
        ])
    func refusing(text: String) {
        #expect(S3Address(text, place: S3Place()) == nil)
    }

    @Test("a region that a server names cannot lead to another host; a bad endpoint is refused")
    func hostileRegion() {
        let address = S3Address(bucket: "bkt", key: RawPath("k"), place: S3Place())
        for region in ["evil.org/", "", "a\r\nb", "a b", "\u{e9}", String(repeating: "a", count: 65)] {
            #expect(S3Region(rawValue: region) == nil)
        }
        // With an endpoint of its own a region may have more in it than a label of a host's name.
        #expect(address.object(in: "evil.org") == nil && address.object(in: "A_b") == nil)
        let own = S3Address(bucket: "bkt", key: RawPath("k"), place: S3Place(endpoint: "http://h"))
        #expect(own.object(in: "A_b")?.text == "http://h/bkt/k")
        #expect(S3Address("s3://bkt/k", place: S3Place(endpoint: "ftp://h")) == nil)
    }

    @Test("what is learnt of a bucket is kept under one name, and the region learnt wins over the given one")
    func origin() {
        var facts = HostFacts()
        let address = S3Address(bucket: "bkt", key: RawPath("k"), place: S3Place(region: "eu-west-1"))
        #expect(address.region(facts) == "eu-west-1")
        facts.region = "us-west-2"
        #expect(address.region(facts) == "us-west-2" && address.origin == "https://bkt.s3.amazonaws.com")
        #expect(
            S3Address(bucket: "bkt", key: RawPath("k"), place: S3Place(endpoint: "http://H:1/x")).origin == "http://h:1"
        )
    }
}
