import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite("One folder at a server is listed")
struct RemoteListingTests {
    // Addresses of ours always read.
    private let folder = HTTPAddress("https://host/in/")!
    private let bucket = S3Address("s3://bkt/p/", place: S3Place(endpoint: "https://h"))!

    private func end(_ status: Int, _ listing: ListingEnd? = nil, body: String = "") -> ExchangeEnd {
        var end = ExchangeEnd(answer: HTTPAnswer(status: status, headers: []), body: Array(body.utf8), at: noon)
        end.listing = listing
        return end
    }

    private func dav(_ end: ExchangeEnd) -> (words: [String], isMissing: Bool) {
        var machine = RemoteListing(DavFolderListing(folder, isCloud: false))
        _ = machine.handle(.began(at: noon))
        let actions = machine.handle(.ended(ExchangeID(rawValue: 1), end))
        return (words(actions), machine.found.isMissing)
    }

    @Test("over WebDAV one PROPFIND of depth 1 asks for sizes, and for checksums where there may be some")
    func asks() throws {
        for isCloud in [false, true] {
            var machine = RemoteListing(DavFolderListing(folder, isCloud: isCloud))
            guard case .perform(_, .http(let exchange))? = machine.handle(.began(at: noon)).first,
                case .bytes(let body) = exchange.body
            else {
                Issue.record("nothing is asked")
                return
            }
            #expect(exchange.method == .propfind && exchange.url == folder)
            #expect(exchange.headers.contains(HeaderField("Depth", "1")))
            #expect(exchange.sink == .listing(.multistatus(folder: Array("/in/".utf8))))
            #expect(String(decoding: body, as: UTF8.self).contains("oc:checksums") == isCloud)
        }
    }

    @Test(
        "what the answers to PROPFIND mean",
        .tells("host does not list folders: look there whether all of it has arrived"))
    func davAnswers() {
        let whole = ListingEnd(isWhole: true)
        #expect(dav(end(207, whole)).words == ["finish 0 none"])
        #expect(dav(end(207, ListingEnd(isWhole: false))).words == ["wait backoff badServerResponse"])
        #expect(dav(end(404)) == (["finish 0 none"], true))
        #expect(dav(end(405)).words == ["fail unsupported"])
        #expect(dav(end(200, ListingEnd(isWhole: false))).words == ["fail unsupported"])
        let page = HTTPAnswer(status: 200, headers: [HeaderField("Content-Type", "text/html")])
        #expect(dav(ExchangeEnd(answer: page, at: noon)).words == ["wait backoff badServerResponse"])
        #expect(dav(end(301)).words == ["fail http 301"])
        #expect(dav(end(403)).words == ["fail permissionDenied 403"])
        #expect(dav(end(401)).words == ["wait auth http"])
        #expect(dav(end(503)).words.first?.hasPrefix("wait") == true)
        var cut = end(207, whole)
        cut.failure = .network(.cutOff(by: "host"))
        #expect(dav(cut).words == ["wait backoff networkConnectionLost"])
    }

    @Test("a bucket is asked page by page, and one that leads on for ever is not")
    func pages() {
        var machine = RemoteListing(S3FolderListing(bucket, HostFacts()))
        let first = words(machine.handle(.began(at: noon)))
        #expect(
            first == [
                "1 GET https://h/bkt/?delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=p%2F"
            ])
        let next = machine.handle(.ended(ExchangeID(rawValue: 1), end(200, ListingEnd(isWhole: true, next: "a/b"))))
        #expect(words(next).first?.contains("?continuation-token=a%2Fb&delimiter") == true)
        let same = machine.handle(.ended(ExchangeID(rawValue: 2), end(200, ListingEnd(isWhole: true, next: "a/b"))))
        #expect(words(same) == ["fail unsupported"])

        var endless = RemoteListing(S3FolderListing(bucket, HostFacts()))
        var actions = endless.handle(.began(at: noon))
        var asked = 0
        while case .perform(let id, _)? = actions.last, asked < 1000 {
            asked += 1
            let empty = ListingEnd(isWhole: true, next: "t\(asked)", isEmpty: true)
            actions = endless.handle(.ended(id, end(200, empty)))
        }
        #expect(asked == 100 && words(actions) == ["fail unsupported"])
    }

    @Test("a bucket whose pages lead round in a circle is left", arguments: [2, 3, 7, 50])
    func circle(length: Int) {
        var machine = RemoteListing(S3FolderListing(bucket, HostFacts()))
        var actions = machine.handle(.began(at: noon))
        var asked = 0
        while case .perform(let id, _)? = actions.last, asked < 1000 {
            asked += 1
            let page = ListingEnd(isWhole: true, next: "t\(asked % length)", isEmpty: false)
            actions = machine.handle(.ended(id, end(200, page)))
        }
        #expect(asked <= 4 * length + 4 && words(actions) == ["fail unsupported"])
    }

    @Test("a prefix within a name leaves its folder as it is")
    func prefix() {
        var address = bucket
        address.key = RawPath("p/file-00")
        var machine = RemoteListing(S3FolderListing(address, HostFacts()))
        guard case .perform(_, .http(let exchange))? = machine.handle(.began(at: noon)).first else {
            Issue.record("nothing is asked")
            return
        }
        #expect(exchange.sink == .listing(.bucket(prefix: RawPath("p/"))))
        #expect(exchange.url.text.hasSuffix("&prefix=p%2Ffile-00"))
    }

    private func ftp(_ end: FTPEnd) -> (words: [String], isMissing: Bool) {
        var machine = RemoteListing(FTPFolderListing(host: "h", RawPath("in")))
        _ = machine.handle(.began(at: noon))
        return (words(machine.handle(.ftpEnded(ExchangeID(rawValue: 1), end))), machine.found.isMissing)
    }

    private func reply(_ code: Int, _ text: String = "", whole: Bool? = nil) -> FTPEnd {
        var end = FTPEnd(reply: code, text: text, command: "MLSD", at: noon)
        end.listing = whole.map { ListingEnd(isWhole: $0) }
        return end
    }

    @Test("what the answers to MLSD mean")
    func ftpAnswers() {
        #expect(ftp(reply(226, whole: true)).words == ["finish 0 none"])
        #expect(ftp(reply(226, whole: false)).words == ["fail badServerResponse"])
        for code in [500, 502, 504] { #expect(ftp(reply(code)).words == ["fail unsupported"]) }
        #expect(ftp(reply(550, "No such directory.")) == (["finish 0 none"], true))
        // The folder may well be there: nothing follows.
        #expect(ftp(reply(550, "Permission denied.")).words == ["fail permissionDenied"])
        #expect(ftp(reply(450, "busy")).words == ["wait backoff networkConnectionLost"])
        #expect(ftp(reply(421)).words == ["wait backoff networkConnectionLost"])
    }

    private func sftp(_ replies: [SFTPReply]) -> (words: [String], isMissing: Bool) {
        var machine = RemoteListing(SFTPFolderListing(host: "h", RawPath("in")))
        var actions = machine.handle(.began(at: noon))
        var all: [String] = []
        for reply in replies {
            guard case .perform(let id, _)? = actions.last else { break }
            actions = machine.handle(.sftpEnded(id, SFTPEnd(reply, at: noon)))
            all += actions.compactMap { action in
                if case .perform = action { nil } else { words([action]).first }
            }
        }
        return (all, machine.found.isMissing)
    }

    @Test(
        "over SFTP a folder is read until its end, and one without end is not",
        .tells("h gave an answer to another question"))
    func reads() {
        let handle = SFTPReply.opened(SFTPHandle(rawValue: 1))
        let page = SFTPReply.names([SFTPName(RawPath("a"), SFTPAttributes(size: 1))])
        #expect(
            sftp([handle, page, page, .refused(.endOfFile, "")]).words == ["listed 1", "listed 1", "finish 0 none"])
        #expect(sftp([.refused(.noSuchFile, "")]) == (["finish 0 none"], true))
        #expect(sftp([.refused(.permissionDenied, "")]).words == ["fail permissionDenied"])
        #expect(sftp([handle, .refused(.failure, "")]).words == ["wait backoff badServerResponse"])
        #expect(sftp([handle, .done]).words == ["wait backoff badServerResponse"])
        let empty = Array(repeating: SFTPReply.names([]), count: 1000)
        #expect(sftp([handle] + empty).words.last == "fail unsupported")
        // Links are names, though none that the list says anything of.
        let links = SFTPReply.names([SFTPName(RawPath("a"), SFTPAttributes(size: 1, isLink: true))])
        let many = Array(repeating: links, count: 1000)
        #expect(sftp([handle] + many + [.refused(.endOfFile, "")]).words.last == "finish 0 none")
    }

    @Test("over SFTP what no file can be called is left out, and a size that no file can have is told as such")
    func bounds() {
        var machine = RemoteListing(SFTPFolderListing(host: "h", RawPath("in")))
        _ = machine.handle(.began(at: noon))
        _ = machine.handle(.sftpEnded(ExchangeID(rawValue: 1), SFTPEnd(.opened(SFTPHandle(rawValue: 1)), at: noon)))
        let names = [
            SFTPName(RawPath("."), SFTPAttributes(size: 1)), SFTPName(RawPath("a/b"), SFTPAttributes(size: 1)),
            SFTPName(RawPath("link"), SFTPAttributes(size: 4, isLink: true)),
            SFTPName(RawPath("large"), SFTPAttributes(size: .max)),
            SFTPName(RawPath("beyond"), SFTPAttributes(size: FileSize.largest + 1)),
            SFTPName(RawPath("most"), SFTPAttributes(size: FileSize.largest, modified: 2)),
            SFTPName(RawPath("unknown"), SFTPAttributes(size: nil, isFolder: true)),
        ]
        let listed = machine.handle(.sftpEnded(ExchangeID(rawValue: 2), SFTPEnd(.names(names), at: noon))).first
        #expect(
            listed
                == .listed([
                    RemoteEntry(RawPath("large"), size: .impossible), RemoteEntry(RawPath("beyond"), size: .impossible),
                    RemoteEntry(
                        RawPath("most"), size: .bytes(FileSize.largest), modified: Timestamp(milliseconds: 2000)),
                    RemoteEntry(RawPath("unknown"), size: .unknown, isFolder: true),
                ]))
    }
}
