import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite("Where URLs lead")
struct RemotePlaceTests {
    private func sftp(_ url: String) -> String? {
        guard let address = RemotePlace(url)?.address as? SFTPAddress else { return nil }
        return "\(address.host) \(address.port.map(String.init) ?? "-") \(address.path.displayed)"
    }

    @Test("an sftp URL's path is absolute, or below the home folder after /~/")
    func secureShell() {
        #expect(sftp("sftp://h/in/x") == "h - /in/x")
        #expect(sftp("sftp://h:2222/~/in/") == "h 2222 in/")
        #expect(sftp("sftp://h/~") == "h - ")
        #expect(sftp("sftp://h/~a") == "h - /~a")
        #expect(sftp("sftp://[::1]:22/a%20b") == "[::1] 22 /a b")
        #expect(sftp("sftp://[::1]/a") == "[::1] - /a")
        #expect(RemotePlace("sftp://h/in/")?.appending(RawPath("d/f"))?.address.fileName == RawPath("f"))
    }

    @Test("schemes over http lose what they add to it")
    func overHTTP() {
        for (url, address) in [
            ("tus+https://h/f/", "https://h/f/"), ("ietf+http://h:81/", "http://h:81/"), ("DAVS://h/x", "https://h/x"),
            ("dav://h/x", "http://h/x"), ("https://h/x", "https://h/x"),
        ] {
            #expect((RemotePlace(url)?.address as? HTTPAddress)?.text == address)
        }
        #expect(RemotePlace("gopher://h/") == nil)
    }

    @Test(
        "the place whose files are compared",
        arguments: [
            ("sftp://h/a/b/", "", false, "/a/b/"), ("sftp://h/a/b", "", true, "/a"), ("sftp://h/x", "", true, "/"),
            ("sftp://h/~/x", "", true, ""), ("ftp://h/a/", "c/d", false, "a/c/d"), ("ftp://h/x", "", true, ""),
            ("dav://h/a/", "c d", false, "/a/c%20d/"), ("dav://h/a/x", "", true, "/a/"),
            ("s3://b/p", "c", false, "p/c/f"),
            ("s3://b/", "", false, "f"), ("s3://b/p/x", "", true, "p/f"),
        ] as [(String, String, Bool, String)])
    func places(_ url: String, _ remote: String, _ isExact: Bool, _ expected: String) throws {
        let place = try #require(RemotePlace(url)?.folder(RawPath(remote), isExact: isExact))
        var listing = try #require(place.listing(beginning: RawPath("f"), facts: HostFacts()))
        guard case .perform(_, let exchange)? = listing.handle(.began(at: noon)).first else {
            Issue.record("nothing is asked")
            return
        }
        switch exchange {
        case .http(let exchange) where exchange.method == .propfind: #expect(exchange.url.target == expected)
        case .http(let exchange):
            #expect(exchange.url.target.hasSuffix("&prefix=" + PercentEncoding.encode(Array(expected.utf8))))
        case .ftp(.list(let path)), .sftp(.openFolder(let path)): #expect(path.displayed == expected)
        default: Issue.record("something else: \(exchange)")
        }
    }
}
