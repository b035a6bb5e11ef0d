import TransferModel
import Testing
import WireOperations

@testable import TransferProtocols

@Suite("A place is asked whether it can be used")
struct PlaceProbeTests {
    private let at = Timestamp(milliseconds: 1_795_264_860_000)
    // A URL of ours always reads.
    private let address = HTTPAddress("https://host/in/")!

    private func first(_ probe: inout PlaceProbe) -> (ExchangeID, Exchange)? {
        guard case .perform(let id, let exchange)? = probe.handle(.began(at: at)).first else { return nil }
        return (id, exchange)
    }

    private func end(_ status: Int, _ headers: [(String, String)] = [], _ body: String = "") -> ExchangeEnd {
        ExchangeEnd(
            answer: HTTPAnswer(status: status, headers: headers.map { HeaderField($0.0, $0.1) }),
            body: Array(body.utf8), at: at)
    }

    private func isFinished(_ actions: [ProtocolAction]) -> Bool {
        if case .finish? = actions.last { true } else { false }
    }

    private func error(_ actions: [ProtocolAction]) -> TransferError? {
        switch actions.last {
        case .wait(let demand)?: demand.error
        case .fail(let error)?: error
        default: nil
        }
    }

    @Test("a server that speaks tus says so; one that does not is told from one that was asked for it")
    func http() throws {
        var probe = PlaceProbe(WebProbe(address, asks: .any))
        let (id, exchange) = try #require(first(&probe))
        guard case .http(let request) = exchange else {
            Issue.record("something else: \(exchange)")
            return
        }
        #expect(request.method == .options)
        #expect(isFinished(probe.handle(.ended(id, end(204, [("Tus-Version", "1.0.0"), ("Tus-Resumable", "1.0.0")])))))
        #expect(probe.found.protocolName == "tus")
        var plain = PlaceProbe(WebProbe(address, asks: .tus))
        let asked = try #require(first(&plain))
        #expect(
            error(plain.handle(.ended(asked.0, end(404))))?.message
                == "\(address.server) does not say that it speaks tus: choose another --protocol")
        var put = PlaceProbe(WebProbe(address, asks: .any))
        let third = try #require(first(&put))
        #expect(isFinished(put.handle(.ended(third.0, end(405)))))
        #expect(put.found.protocolName == "put" && put.found.writable == nil)
    }

    @Test("a refused login is the answer, whatever else is asked", arguments: [401, 403])
    func refused(_ status: Int) throws {
        for question in [PlaceProbe(WebProbe(address, asks: .any)), PlaceProbe(DavProbe(address))] {
            var probe = question
            let (id, _) = try #require(first(&probe))
            #expect(error(probe.handle(.ended(id, end(status))))?.httpStatus == status)
            #expect(probe.handle(.ended(id, end(200))).isEmpty)
        }
    }

    @Test("WebDAV tells of room and of rights")
    func dav() throws {
        let body = """
            <d:multistatus xmlns:d="DAV:"><d:response><d:href>/in/</d:href><d:propstat><d:prop>
            <d:resourcetype><d:collection/></d:resourcetype><d:quota-available-bytes>4096</d:quota-available-bytes>
            <d:current-user-privilege-set><d:privilege><d:read/></d:privilege></d:current-user-privilege-set>
            </d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
            """
        var probe = PlaceProbe(DavProbe(address))
        let (id, _) = try #require(first(&probe))
        #expect(isFinished(probe.handle(.ended(id, end(207, [], body)))))
        #expect(probe.found.exists == true && probe.found.freeBytes == 4096 && probe.found.writable == false)
        var missing = PlaceProbe(DavProbe(address))
        let asked = try #require(first(&missing))
        #expect(isFinished(missing.handle(.ended(asked.0, end(404)))))
        #expect(missing.found.exists == false && missing.found.freeBytes == nil)
        var plain = PlaceProbe(DavProbe(address))
        let third = try #require(first(&plain))
        #expect(
            error(plain.handle(.ended(third.0, end(405))))?.message
                == "\(address.server) does not know WebDAV: write https:// instead")
    }

    @Test("SFTP: the folder, then the room; a file is no folder; a server without room to tell is fine")
    func sftp() throws {
        var features = SFTPFeatures()
        features.tellsFreeSpace = true
        var probe = PlaceProbe(SFTPProbe(host: "h", RawPath("")))
        let (id, exchange) = try #require(first(&probe))
        #expect(exchange == .sftp(.status(RawPath("."))))
        let folder = SFTPEnd(.attributes(SFTPAttributes(size: 0, isFolder: true)), features: features, at: at)
        guard case .perform(let second, .sftp(.freeSpace))? = probe.handle(.sftpEnded(id, folder)).first else {
            Issue.record("room was not asked for")
            return
        }
        #expect(isFinished(probe.handle(.sftpEnded(second, SFTPEnd(.freeSpace(99), features: features, at: at)))))
        #expect(probe.found.exists == true && probe.found.freeBytes == 99)
        var missing = PlaceProbe(SFTPProbe(host: "h", RawPath("/x")))
        let asked = try #require(first(&missing))
        #expect(isFinished(missing.handle(.sftpEnded(asked.0, SFTPEnd(.refused(.noSuchFile, "no"), at: at)))))
        #expect(missing.found.exists == false)
        var file = PlaceProbe(SFTPProbe(host: "h", RawPath("/x")))
        let third = try #require(first(&file))
        let found = SFTPEnd(.attributes(SFTPAttributes(size: 3)), at: at)
        let error = error(file.handle(.sftpEnded(third.0, found)))
        #expect(error?.code == .destinationUnwritable && error?.message == "/x at h is a file: name a folder")
        var locked = PlaceProbe(SFTPProbe(host: "h", RawPath("/x")))
        let fourth = try #require(first(&locked))
        let refusal = TransferError(.http, "the key was refused")
        #expect(self.error(locked.handle(.sftpEnded(fourth.0, SFTPEnd(.notLetIn(.auth, refusal), at: at)))) == refusal)
    }

    @Test("FTP: a folder that is missing is no error, a refused login is")
    func ftp() throws {
        for (reply, refused, exists) in [(250, false, true), (550, false, false)] {
            var probe = PlaceProbe(FTPProbe(host: "h", RawPath("in")))
            let (id, exchange) = try #require(first(&probe))
            #expect(exchange == .ftp(.enter(RawPath("in"))))
            var end = FTPEnd(reply: reply, at: at)
            end.answer.isLoginRefused = refused
            #expect(isFinished(probe.handle(.ftpEnded(id, end))))
            #expect(probe.found.exists == exists)
        }
        var probe = PlaceProbe(FTPProbe(host: "h", RawPath("in")))
        let (id, _) = try #require(first(&probe))
        var end = FTPEnd(reply: 530, text: "Login incorrect.", at: at)
        end.answer.isLoginRefused = true
        #expect(error(probe.handle(.ftpEnded(id, end)))?.message.contains("530") == true)
    }

    @Test("S3: a bucket that lists is one that can be used")
    func s3() throws {
        let bucket = try #require(S3Address("s3://photos/2024/", place: S3Place(region: "eu-1")))
        var probe = PlaceProbe(S3Probe(bucket, HostFacts()))
        let (id, exchange) = try #require(first(&probe))
        guard case .http(let request) = exchange else {
            Issue.record("something else: \(exchange)")
            return
        }
        #expect(request.url.text.contains("list-type=2") && request.signing != nil)
        #expect(isFinished(probe.handle(.ended(id, end(200, [], "<ListBucketResult/>")))))
        var refused = PlaceProbe(S3Probe(bucket, HostFacts()))
        let asked = try #require(first(&refused))
        let body = "<Error><Code>InvalidAccessKeyId</Code></Error>"
        #expect(error(refused.handle(.ended(asked.0, end(403, [], body))))?.message.contains("keys") == true)
    }
}
