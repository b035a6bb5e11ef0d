import Digests
import Testing

@testable import UploadReceiver

@Suite("What the fields of resumable uploads say")
struct UploadFieldTests {
    @Test(
        "a request names its protocol",
        arguments: [
            ([:], .none), (["tus-resumable": "1.0.0"], .known(.tus)), (["tus-resumable": "0.2.2"], .foreignTus),
            (["upload-draft-interop-version": "3"], .known(.ietf(.three))),
            (["upload-draft-interop-version": " 8 "], .known(.ietf(.eight))),
            (["upload-draft-interop-version": "9"], .foreignDraft),
            (["upload-draft-interop-version": "x"], .foreignDraft),
        ] as [(KeyValuePairs<String, String>, SpokenDialect)])
    func dialect(fields: KeyValuePairs<String, String>, expected: SpokenDialect) {
        #expect(SpokenDialect(RequestFields(fields)) == expected)
    }

    @Test(
        "both names of completeness are read, and a contradiction is none",
        arguments: [
            ([:], .unsaid), (["upload-complete": "?1"], .complete), (["upload-complete": "?0"], .incomplete),
            (["upload-incomplete": "?1"], .incomplete), (["upload-incomplete": "?0"], .complete),
            (["upload-complete": "?1", "upload-incomplete": "?0"], .complete),
            (["upload-complete": "?1", "upload-incomplete": "?1"], .malformed),
            (["upload-complete": "true"], .malformed),
            (["upload-complete": "?1", "Upload-Complete": "?1"], .malformed),
        ] as [(KeyValuePairs<String, String>, Completeness)])
    func completeness(fields: KeyValuePairs<String, String>, expected: Completeness) {
        #expect(Completeness(RequestFields(fields)) == expected)
    }

    @Test("sizes are decimal digits that a file can have")
    func counts() {
        #expect(CountField(nil) == .absent)
        #expect(CountField("0") == .count(0))
        #expect(CountField(" 12 ") == .count(12))
        #expect(CountField("9223372036854775807") == .count(UInt64(Int64.max)))
        for text in ["", "-1", "+1", "1.0", "0x1", "9223372036854775808", "99999999999999999999", "1, 1", "٣"] {
            #expect(CountField(text) == .malformed, "\(text)")
        }
    }

    private func path(_ target: String, _ metadata: String) throws -> String {
        let target = try TargetPath(target: Array(target.utf8))
        return try UploadName.path(target, try #require(UploadMetadata(metadata)), unnamed: "new").displayed
    }

    private func coded(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    @Test(
        "tus metadata and the target make the name",
        arguments: [
            ("/d/", "a b", nil, "d/a b"), ("/d", "a", nil, "d/a"), ("/", "a", "x/y/a", "x/y/a"),
            ("/d/", "a", "x/y", "d/x/y/a"), ("/", "a", "null", "a"), ("/", "a", "", "a"), ("/", nil, "x/b", "x/b"),
            ("/d", nil, nil, "d"), ("/d/", nil, nil, "d/new"), ("/d/", "", nil, "d/new"),
        ] as [(String, String?, String?, String)])
    func names(target: String, name: String?, relative: String?, expected: String) throws {
        var members: [String] = []
        if let name { members.append("filename \(coded(name))") }
        if let relative { members.append("relativePath \(coded(relative))") }
        #expect(try path(target, members.joined(separator: ",")) == expected)
    }

    @Test(
        "no name leads out of the folder, or into ours",
        arguments: ["..", ".", "a/b", "/etc/passwd", "a\0b", ".martlet-uploads", ".martlet-incoming"])
    func badNames(name: String) {
        #expect(throws: TargetProblem.self) { try path("/", "filename \(coded(name))") }
        #expect(throws: TargetProblem.self) { try path("/", "filename \(coded("f")),relativePath \(coded("../x"))") }
        #expect(throws: TargetProblem.self) {
            try path("/", "relativePath \(coded(".martlet-uploads/0123456789abcdef0123456789abcdef.info"))")
        }
    }

    @Test("metadata that cannot be read is refused")
    func badMetadata() {
        #expect(UploadMetadata(nil)?.isEmpty == true)
        #expect(UploadMetadata("filename YQ==, is_private")?["is_private"] == [])
        for field in ["filename !!!", "a YQ==,a YQ==", "a YQ== YQ=="] { #expect(UploadMetadata(field) == nil) }
    }

    @Test(
        "a file name is found in Content-Disposition",
        arguments: [
            (nil, nil), ("inline", nil), ("attachment; filename=a.txt", "a.txt"),
            ("inline; filename=\"a; b\\\"c.txt\"", "a; b\"c.txt"), ("inline; filename=\"\"", nil),
            ("inline; filename=\"x\"; filename*=UTF-8''%E2%82%AC%20x", "€ x"), ("inline; filename*=latin1''x", nil),
        ] as [(String?, String?)])
    func dispositions(field: String?, expected: String?) {
        #expect(UploadName.fileName(inDisposition: field).map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test("checksums are read, and others named")
    func checksums() throws {
        func claim(_ field: String) throws(UploadRefusal) -> PieceClaim? {
            try PieceClaim.tus(RequestFields(["upload-checksum": field]))
        }
        let digest = DigestAlgorithm.sha1.digest(of: "hello".utf8)
        #expect(try claim("sha1 \(digest.base64)") == PieceClaim(algorithm: .sha1, value: digest))
        #expect(throws: UploadRefusal.unknownChecksum) { try claim("crc32 AAAA") }
        #expect(throws: UploadRefusal.unknownChecksum) { try claim("sha1") }
        #expect(throws: UploadRefusal.badField("Upload-Checksum")) { try claim("sha256 \(digest.base64)") }
        #expect(try PieceClaim.tus(RequestFields()) == nil)
    }

    @Test("an upload's URL is recognised, and nothing else")
    func ids() throws {
        let id = try UploadID()
        #expect(UploadID(target: Array(id.target.utf8)) == id)
        #expect(UploadID(target: Array("http://h:1\(id.target)".utf8)) == id)
        for target in [id.target + "/", id.target.uppercased(), "/\(id.text)", "/.martlet-uploads/", id.target + "0"] {
            #expect(UploadID(target: Array(target.utf8)) == nil)
        }
        #expect(try UploadID() != id)
    }
}

@Suite("The record of an upload")
struct UploadRecordTests {
    private func full() throws -> UploadRecord {
        var record = UploadRecord(
            path: TargetPath(components: [Array("a b".utf8), [0xff, 0x0a, UInt8(ascii: "%")]]), completesByLength: true)
        record.length = 12
        record.role = .joined("final;/.martlet-uploads/x /.martlet-uploads/y")
        record.conditions = try #require(Preconditions(RequestFields(["if-match": "\"x\", W/\"y\""])))
        record.conditionsAreImplied = true
        record.claim = DigestAlgorithm.sha256.digest(of: "x".utf8)
        record.wantsDigest = true
        record.metadata = "filename YQ==,b"
        record.created = 1_700_000_000_123
        record.resumedAt = [5, 10]
        return record
    }

    @Test("it is read as it was written")
    func roundTrip() throws {
        let record = try full()
        #expect(UploadRecord(text: record.text) == record)
        let least = UploadRecord(path: TargetPath(components: [[1]]), completesByLength: false)
        #expect(UploadRecord(text: least.text) == least)
    }

    @Test("torn anywhere before its end it is none; torn in a resumption it loses only that")
    func torn() throws {
        let text = try full().text
        let end = try #require(text.range(of: "\nend\n"))
        for length in 0..<text.utf8.distance(from: text.startIndex, to: end.lowerBound) {
            #expect(UploadRecord(text: String(decoding: text.utf8.prefix(length), as: UTF8.self)) == nil)
        }
        #expect(UploadRecord(text: text + "resum")?.resumedAt == [5, 10])
        #expect(UploadRecord(text: "") == nil)
        #expect(UploadRecord(text: text.replacing("length 12", with: "length x")) == nil)
        #expect(UploadRecord(text: text.replacing("path ", with: "path ../")) == nil)
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? { ranges(of: text).first }
}
