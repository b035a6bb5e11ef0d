import Testing
import TransferModel

@testable import TransferProtocols

@Suite("Listings are read as they come")
struct ListingReaderTests {
    /// What a listing comes to, given in pieces of so many bytes.
    private func read(_ text: String, _ format: ListingFormat, piece: Int) -> ([RemoteEntry], ListingEnd) {
        read(Array(text.utf8), format, piece: piece)
    }

    private func read(_ bytes: [UInt8], _ format: ListingFormat, piece: Int) -> ([RemoteEntry], ListingEnd) {
        let reader = ListingReader(format)
        var entries: [RemoteEntry] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            entries += reader.take(Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        let (last, end) = reader.finish()
        return (entries + last, end)
    }

    private func dav(_ responses: String) -> String {
        "\n<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\" xmlns:oc=\"http://owncloud.org/ns\">\(responses)</d:multistatus>"
    }

    private func response(_ href: String, _ properties: String) -> String {
        "<d:response><d:href>\(href)</d:href><d:propstat><d:prop>\(properties)</d:prop><d:status>HTTP/1.1 200 OK</d:status>"
            + "</d:propstat></d:response>"
    }

    private let folder = "<d:resourcetype><d:collection/></d:resourcetype>"
    private func size(_ bytes: String) -> String {
        "<d:resourcetype/><d:getcontentlength>\(bytes)</d:getcontentlength>"
    }

    @Test(
        "a folder over WebDAV: its own entry is left out, names are decoded, checksums are read",
        arguments: [1, 7, 100_000])
    func multistatus(_ piece: Int) {
        let text = dav(
            response("/in/", folder)
                + response("/in/a%20b.txt", size("12") + "<d:getetag>\"e1\"</d:getetag>")
                + response(
                    "http://other.name/in/caf%C3%A9",
                    size("5") + "<d:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</d:getlastmodified>")
                + response("/in/sub/", folder)
                + response(
                    "/in/sum",
                    size("3")
                        + "<oc:checksums><oc:checksum>SHA1:da39a3ee5e6b4b0d3255bfef95601890afd80709 MD5:d41d8cd98f00b204e9800998ecf8427e ADLER32:1</oc:checksum></oc:checksums>"
                ))
        let (entries, end) = read(text, .multistatus(folder: Array("/in/".utf8)), piece: piece)
        #expect(end.isWhole)
        #expect(entries.map(\.name.displayed) == ["a b.txt", "café", "sub", "sum"])
        #expect(entries.map(\.size) == [.bytes(12), .bytes(5), .unknown, .bytes(3)])
        #expect(entries.map(\.isFolder) == [false, false, true, false])
        #expect(entries[0].etag == "e1" && entries[1].modified?.milliseconds == 784_111_777_000)
        #expect(entries[3].digests.map(\.algorithm) == ["sha-1", "md5"])
    }

    @Test("behind a proxy the server's own name for the folder holds")
    func renamed() {
        let text = dav(response("/internal/in/", folder) + response("/internal/in/a", size("1")))
        let (entries, end) = read(text, .multistatus(folder: Array("/in".utf8)), piece: 50)
        #expect(end.isWhole && entries.map(\.name.displayed) == ["a"])
    }

    @Test("what is no file of the folder is left out, and a length that cannot be is told apart from none")
    func hostile() {
        let text = dav(
            response("/in/", folder) + response("/in/a/b", size("1")) + response("/in/..", size("1"))
                + response("/in/%2e%2e", size("1")) + response("/in/x%2Fy", size("1")) + response("/other/z", size("1"))
                + response("/in/%00", size("1")) + response("/in/n", size("-5"))
                + response("/in/m", size("99999999999999999999"))
                + response("/in/k", size("9007199254740993")) + response("/in/u", "<d:resourcetype/>")
                + "<d:response><d:href>/in/gone</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>"
                + response("/in/a", size("1")) + response("/in/a", size("2")))
        let (entries, end) = read(text, .multistatus(folder: Array("/in".utf8)), piece: 1000)
        #expect(end.isWhole)
        #expect(entries.map(\.name.displayed) == ["n", "m", "k", "u", "a", "a"])
        #expect(entries.map(\.size) == [.impossible, .impossible, .impossible, .unknown, .bytes(1), .bytes(2)])
    }

    @Test(
        "what breaks off, is no list, or would be read without end proves nothing",
        arguments: [
            "", "<html><body>login</body></html>", "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/in/a</d:href>",
            "<d:multistatus xmlns:d=\"other\"/>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
            "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/in/" + String(repeating: "x", count: 3 << 20),
        ])
    func broken(_ text: String) {
        #expect(!read(text, .multistatus(folder: Array("/in".utf8)), piece: 4096).1.isWhole)
    }

    @Test(
        "a page of a bucket: keys are decoded, what lies deeper is a folder, and the next page has its token",
        arguments: [3, 4096])
    func bucket(_ piece: Int) {
        let text = """
            <?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name>
            <IsTruncated>true</IsTruncated><Contents><Key>p%2Fa+b</Key><LastModified>2026-11-21T12:41:07.250Z</LastModified>
            <ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>7</Size></Contents>
            <Contents><Key>p/</Key><Size>0</Size></Contents><Contents><Key>other</Key><Size>1</Size></Contents>
            <Contents><Key>p/x/y</Key><Size>1</Size></Contents>
            <CommonPrefixes><Prefix>p/sub/</Prefix></CommonPrefixes>
            <EncodingType>url</EncodingType><NextContinuationToken>t==</NextContinuationToken></ListBucketResult>
            """
        let (entries, end) = read(text, .bucket(prefix: RawPath("p/")), piece: piece)
        #expect(end == ListingEnd(isWhole: true, next: "t=="))
        #expect(entries.map(\.name.displayed) == ["a b", "sub"])
        #expect(entries.first?.etag == "d41d8cd98f00b204e9800998ecf8427e" && entries.first?.size == .bytes(7))
        #expect(entries.last?.isFolder == true)
    }

    @Test("a page with a key or a token that no bucket has is no page, and nothing of it is kept")
    func longKeys() {
        func isWhole(key: Int, token: Int) -> Bool {
            let text =
                "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>"
                + String(repeating: "k", count: key) + "</Key></Contents><NextContinuationToken>"
                + String(repeating: "t", count: token) + "</NextContinuationToken></ListBucketResult>"
            return read(text, .bucket(prefix: RawPath("")), piece: 4096).1.isWhole
        }
        #expect(isWhole(key: 3 << 10, token: 8 << 10))
        #expect(!isWhole(key: 3 << 10 + 1, token: 1) && !isWhole(key: 1, token: 8 << 10 + 1))
    }

    @Test("a page that says that there is more and not where is no page")
    func noToken() {
        let text = "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"
        #expect(!read(text, .bucket(prefix: RawPath("")), piece: 100).1.isWhole)
        #expect(!read("<Error><Code>SlowDown</Code></Error>", .bucket(prefix: RawPath("")), piece: 100).1.isWhole)
    }

    @Test(
        "lines of MLSD: any order and case of facts, names with blanks and bytes that are no text",
        arguments: [1, 1000])
    func machineLines(_ piece: Int) {
        var bytes = Array(
            """
            type=cdir;modify=20261121124107; .\r
            type=pdir; ..\r
            Type=file;Size=12;Modify=20261121124107.123; a  b.txt\r
            size=3;type=FILE; c;d=e\r
            type=dir;modify=20261121124107; sub\r
             bare\r
            type=file;size=x; odd\r
            type=file;size=1; up/../x\r
            type=file;size=1; 
            """.utf8)
        bytes += [0xFF, 0x41]
        let (entries, end) = read(bytes, .machineLines, piece: piece)
        #expect(end.isWhole)
        #expect(
            entries.map(\.name) == ["a  b.txt", "c;d=e", "sub", "bare", "odd"].map { RawPath($0) } + [
                RawPath([0xFF, 0x41])
            ])
        #expect(entries.map(\.size) == [.bytes(12), .bytes(3), .unknown, .unknown, .impossible, .bytes(1)])
        #expect(entries[0].modified?.milliseconds == Timestamp("2026-11-21T12:41:07Z")?.milliseconds)
        #expect(entries.map(\.isFolder) == [false, false, true, false, false, false])
    }

    @Test("what LIST says is no list for machines, nor is a line without end")
    func noMachineLines() {
        #expect(!read("-rw-r--r-- 1 a b 12 Nov 21 a\r\n", .machineLines, piece: 10).1.isWhole)
        #expect(!read(String(repeating: "x", count: 100_000), .machineLines, piece: 1000).1.isWhole)
        #expect(read("", .machineLines, piece: 10).1.isWhole)
    }

    @Test("a folder of a hundred thousand names comes in pieces, each entry once")
    func large() {
        let reader = ListingReader(.multistatus(folder: Array("/in".utf8)))
        _ = reader.take(Array("<d:multistatus xmlns:d=\"DAV:\">".utf8) + Array(response("/in/", folder).utf8))
        var count = 0
        for number in 0..<100_000 { count += reader.take(Array(response("/in/\(number)", size("1")).utf8)).count }
        _ = reader.take(Array("</d:multistatus>".utf8))
        #expect(count == 100_000 && reader.finish().1.isWhole)
    }
}
