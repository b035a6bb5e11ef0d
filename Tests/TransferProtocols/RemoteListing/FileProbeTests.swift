import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite("One file is asked for by its name")
struct FileProbeTests {
    // An address of ours always reads.
    private let address = HTTPAddress("https://host/in/.env")!
    private let name = RawPath(".env")

    private func probe(
        _ inquirer: any Inquirer<RemoteEntry?>, _ event: ProtocolEvent
    ) -> (words: [String], entry: RemoteEntry?) {
        var machine = FileProbe(inquirer)
        _ = machine.handle(.began(at: noon))
        return (words(machine.handle(event)), machine.found)
    }

    private func dav(_ status: Int, _ body: String = "") -> (words: [String], entry: RemoteEntry?) {
        let end = ExchangeEnd(answer: HTTPAnswer(status: status, headers: []), body: Array(body.utf8), at: noon)
        return probe(DavFileProbe(address, name: name), .ended(ExchangeID(rawValue: 1), end))
    }

    @Test(
        "over WebDAV by PROPFIND of depth 0",
        .tells("host cannot be asked for a file by its name"))
    func overDav() {
        let body = """
            <d:multistatus xmlns:d="DAV:"><d:response><d:href>/in/.env</d:href><d:propstat><d:prop><d:getcontentlength>7\
            </d:getcontentlength></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
            """
        let found = dav(207, body)
        #expect(found.words == ["finish 0 none"] && found.entry == RemoteEntry(name, size: .bytes(7)))
        #expect(dav(404) == (["finish 0 none"], nil))
        #expect(dav(405) == (["fail unsupported"], nil))
        #expect(dav(503).words.first?.hasPrefix("wait") == true)
    }

    @Test("over FTP by SIZE; a refusal to say is no answer")
    func overFTP() {
        func ftp(_ code: Int, _ text: String = "", size: Int64? = nil) -> (words: [String], entry: RemoteEntry?) {
            let end = FTPEnd(reply: code, text: text, command: "SIZE", size: size, at: noon)
            let file = FTPFileProbe(host: "h", RawPath("in/.env"), name: name)
            return probe(file, .ftpEnded(ExchangeID(rawValue: 1), end))
        }
        #expect(ftp(213, size: 7).entry == RemoteEntry(name, size: .bytes(7)))
        #expect(ftp(550, "No such file") == (["finish 0 none"], nil))
        #expect(ftp(550, "Permission denied") == (["fail permissionDenied"], nil))
        #expect(ftp(500) == (["fail unsupported"], nil))
        #expect(ftp(421).words == ["wait backoff networkConnectionLost"])
    }

    @Test(
        "over SFTP by STAT",
        .tells("h does not allow us to list its folder"))
    func overSFTP() {
        func sftp(_ outcome: SFTPEnd.Outcome) -> (words: [String], entry: RemoteEntry?) {
            let event = ProtocolEvent.sftpEnded(ExchangeID(rawValue: 1), SFTPEnd(outcome, at: noon))
            return probe(SFTPFileProbe(host: "h", RawPath("in/.env"), name: name), event)
        }
        let found = sftp(.answered(.attributes(SFTPAttributes(size: 7, modified: 3))))
        #expect(found.entry == RemoteEntry(name, size: .bytes(7), modified: Timestamp(milliseconds: 3000)))
        // A time that no clock shows is the last one that can be told.
        let late = sftp(.answered(.attributes(SFTPAttributes(size: 7, modified: .max))))
        #expect(late.entry?.modified == Timestamp(seconds: .max))
        #expect(sftp(.answered(.refused(.noSuchFile, ""))) == (["finish 0 none"], nil))
        #expect(sftp(.answered(.refused(.permissionDenied, ""))).words == ["fail permissionDenied"])
    }
}
