import Testing

@testable import TransferModel

@Suite("The plain facts of protocols")
struct ProtocolFactsTests {
    @Test("schemes and their ports, in the order in which messages name them")
    func schemes() {
        let known = TransferScheme.allCases.map { "\($0.rawValue) \($0.defaultPort.map(String.init) ?? "-")" }
        #expect(
            known == [
                "http 80", "https 443", "tus+http 80", "tus+https 443", "ietf+http 80", "ietf+https 443", "dav 80",
                "davs 443", "s3 -", "sftp 22", "ftp 21", "ftps 990", "ftpes 21",
            ])
        #expect(TransferScheme(of: "FTPES://h/")?.rawValue == "ftpes")
        #expect(TransferScheme(rawValue: "webdav") == nil && TransferScheme(of: "h/x") == nil)
    }

    @Test("what a scheme can")
    func abilities() {
        func schemes(_ can: (TransferScheme) -> Bool) -> String {
            TransferScheme.allCases.filter(can).map(\.rawValue).joined(separator: " ")
        }
        #expect(schemes { !$0.downloads } == "tus+http tus+https ietf+http ietf+https")
        #expect(schemes(\.lists) == "dav davs s3 sftp ftp ftps ftpes")
        #expect(schemes(\.hasQuery) == "http https tus+http tus+https ietf+http ietf+https dav davs")
        #expect(schemes(\.facts.isNegotiated) == "http https")
        #expect(schemes(\.facts.urlNamesNoHost) == "s3")
    }

    @Test(
        "the name shown of a transfer",
        arguments: [
            ("https://h/x", "put", "get"), ("tus+https://h/", "tus", "tus"), ("ietf+http://h/", "ietf", "ietf"),
            ("dav://h/x", "webdav", "get"), ("davs://h/remote.php/dav/files/ana/x", "nextcloud", "get"),
            ("s3://b/x", "s3", "s3"), ("sftp://h/x", "sftp", "sftp"), ("ftpes://h/x", "ftp", "ftp"),
        ])
    func names(_ url: String, _ upload: String, _ download: String) throws {
        let facts = try #require(TransferScheme(of: url)?.facts)
        #expect(facts.name(at: url, of: .upload) == upload)
        #expect(facts.name(at: url, of: .download) == download)
        #expect(ProtocolFacts.named(upload)?.name == upload && ProtocolFacts.named(download)?.name == download)
    }
}
