import Testing

@testable import TransferModel

/// Header fields that Martlet writes itself.
@Suite struct OwnedFieldsTests {
    private func secrets(_ name: String) -> TransferSecrets {
        var secrets = TransferSecrets()
        secrets.headers = [HeaderField("X-Team", "a"), HeaderField(name, "1")]
        return secrets
    }

    @Test(
        "each is refused by its name where it is given, with what does it instead; a batch that has it goes on",
        arguments: [
            ("Content-Length", "leave it out, each request has its own"),
            ("transfer-encoding", "leave it out, each request has its own"),
            ("Expect", "leave it out, each request has its own"),
            ("Range", "leave it out, Martlet asks for the bytes that are missing"),
            ("If-Range", "leave it out, Martlet asks for the bytes that are missing"),
            ("Accept-Encoding", "leave it out, a file is stored as it is and not in a coding of the server's"),
            ("If-None-Match", "say with --if-exists what becomes of a file that is there"),
            ("Overwrite", "say with --if-exists what becomes of a file that is there"),
            ("Want-Repr-Digest", "ask for the digest with --verify digest"),
            ("X-HTTP-Method-Override", "choose with --method or --protocol how the file is sent"),
            ("Upload-Offset", "leave it out, and choose the protocol with --protocol"),
            ("Tus-Resumable", "leave it out, and choose the protocol with --protocol"),
            ("DEPTH", "leave it out, and name the place as DEST or URL"),
            ("X-OC-Mtime", "leave it out, each file has its own"),
            ("x-amz-meta-martlet-token", "leave it out, each file has its own"),
        ])
    func refused(name: String, remedy: String) {
        let secrets = secrets(name)
        let said = "Martlet writes the header field \(name) itself: \(remedy)"
        #expect(secrets.givenRefusal == said && secrets.refusal == nil)
        let request = BatchRequest(work: .download([]), secrets: secrets)
        #expect(request.refusal == said)
    }

    @Test(
        "all others are the person's to choose",
        arguments: [
            "Authorization", "User-Agent", "Referer", "Cookie", "Content-Type", "Content-Encoding", "Upload-Token",
            "If", "Idempotency-Key", "x-amz-acl", "x-amz-meta-team", "x-amz-server-side-encryption",
        ])
    func chosen(name: String) {
        #expect(secrets(name).givenRefusal == nil)
    }

    @Test("a field that is no field is refused before one that is Martlet's")
    func malformed() {
        var secrets = secrets("Range")
        secrets.headers.append(HeaderField("A", "b\nX-Evil: 1"))
        #expect(secrets.givenRefusal == "a header field is not one line 'Name: value'")
    }
}
