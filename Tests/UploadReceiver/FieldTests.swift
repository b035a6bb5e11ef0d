import Digests
import Testing

@testable import UploadReceiver

@Suite("Fields of a request")
struct FieldTests {
    private static let digest = DigestAlgorithm.sha256.digest(of: "hello".utf8)
    private static let member = DigestFields.field(digest)

    @Test(
        "a digest field is read as RFC 9530 has it",
        arguments: [
            (nil, .none), ("", .none), (member, .sha256(digest)), ("sha-512=:AAAA:, \(member)", .sha256(digest)),
            ("\(member);note=1", .sha256(digest)), ("sha-512=:AAAA:", .none), ("md5=:AAAA:", .none),
            ("sha-256=:AAAA:", .malformed), ("sha-256=abc", .malformed), ("sha-256=::", .malformed),
            ("sha-256=:" + digest.hex + ":", .malformed), ("sha-256=:AAAA:, \(member)", .sha256(digest)),
        ] as [(String?, DigestFields.Claim)])
    func claims(field: String?, claim: DigestFields.Claim) {
        #expect(DigestFields.claim(field) == claim)
    }

    @Test("Repr-Digest and Content-Digest must not contradict each other")
    func bothFields() {
        let other = DigestFields.field(DigestAlgorithm.sha256.digest(of: "x".utf8))
        let both = RequestFields(["Repr-Digest": Self.member, "Content-Digest": Self.member])
        #expect(DigestFields.claim(of: both) == .sha256(Self.digest))
        #expect(DigestFields.claim(of: RequestFields(["Content-Digest": Self.member])) == .sha256(Self.digest))
        #expect(
            DigestFields.claim(of: RequestFields(["Repr-Digest": Self.member, "Content-Digest": other])) == .malformed)
    }

    @Test(
        "Want-Repr-Digest asks when its number is not 0",
        arguments: [("sha-256=5", true), ("sha-512=9, sha-256=1", true), ("sha-256=0", false), ("sha-512=3", false)])
    func wants(field: String, wants: Bool) {
        #expect(DigestFields.wantsSHA256(field) == wants)
    }

    @Test("lines of one name are joined, names have no case")
    func joined() {
        let fields = RequestFields(["If-Match": "\"a\"", "IF-MATCH": "\"b\"", "Range": "x"])
        #expect(fields["if-match"] == "\"a\", \"b\"")
        #expect(fields["range"] == "x")
        #expect(fields["etag"] == nil)
    }

    @Test(
        "a bearer token opens, anything else does not",
        arguments: [
            ("Bearer secret", true), ("bearer secret", true), ("Bearer  secret", true), ("Bearer secret2", false),
            ("Bearer secre", false), ("Basic secret", false), ("secret", false), ("Bearer", false),
            ("Bearer secret x", false), (nil, false),
        ] as [(String?, Bool)])
    func token(field: String?, admitted: Bool) {
        #expect(ReceiverConfiguration.Access.token(Array("secret".utf8)).admits(field) == admitted)
        #expect(ReceiverConfiguration.Access.open.admits(field))
    }

    @Test(
        "an address to listen on is numeric, and loopback is recognised",
        arguments: [
            ("127.0.0.1:0", "127.0.0.1:0", true), ("127.8.9.1:80", "127.8.9.1:80", true),
            ("localhost:8080", "127.0.0.1:8080", true), ("0.0.0.0:1", "0.0.0.0:1", false),
            ("192.168.1.2:65535", "192.168.1.2:65535", false), ("[::1]:0", "[::1]:0", true),
            ("[::]:80", "[::]:80", false), ("[::ffff:127.0.0.1]:0", "[::ffff:127.0.0.1]:0", true),
        ])
    func addresses(text: String, authority: String, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.authority == authority)
        #expect(address.isLoopback == isLoopback)
    }

    @Test(
        "what is no such address is refused",
        arguments: [
            "", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "::1:80",
            "[::1]", "example.org:80", "1.2.3:80", "[1.2.3.4]:80", "127.0.0.1:8 0",
        ])
    func noAddress(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(
        "a refusal reaches the client in the manner that fits",
        arguments: [
            (.none, false, false, .afterTheBody), (.known(10), false, false, .afterTheBody),
            (.known(1 << 20), false, false, .afterTheBody), (.known(1 << 21), false, false, .byHand),
            (.known(1 << 21), true, false, .atOnce), (.known(10), true, false, .atOnce),
            (.unknown, false, false, .byHand), (.unknown, true, false, .atOnce), (.unknown, false, true, .atOnce),
            (.known(1 << 21), false, true, .atOnce), (.known(10), false, true, .afterTheBody),
        ] as [(BodyLength, Bool, Bool, RefusalManner)])
    func manner(body: BodyLength, expectsContinue: Bool, isTLS: Bool, manner: RefusalManner) {
        #expect(RefusalManner.atHead(body, expectsContinue: expectsContinue, isTLS: isTLS) == manner)
    }

    @Test("in the middle of a body a small rest is read, a large one is not waited for")
    func mannerInBody() {
        #expect(RefusalManner.inBody(.known(3 << 20), received: 5 << 19, isTLS: false) == .afterTheBody)
        #expect(RefusalManner.inBody(.known(3 << 20), received: 1, isTLS: false) == .byHand)
        #expect(RefusalManner.inBody(.unknown, received: 1, isTLS: false) == .byHand)
        #expect(RefusalManner.inBody(.unknown, received: 1, isTLS: true) == .afterTheBody)
    }

    @Test("the journal's lines say what, how much, how long and who")
    func lines() {
        let path = TargetPath(components: [Array("a".utf8), [0x1B, 0xFF]])
        let time = Duration.milliseconds(1_042)
        let events: [(ReceiverEvent, String)] = [
            (
                .received(path, size: 9, in: time, from: "::1", replaced: false),
                "received a/\\x1b\\xff 9 bytes in 1.042 s from ::1"
            ),
            (
                .received(path, size: 9, in: time, from: "x", replaced: true),
                "replaced a/\\x1b\\xff 9 bytes in 1.042 s from x"
            ),
            (.sent(path, nil, size: 9, in: time, from: "x"), "sent a/\\x1b\\xff 9 bytes in 1.042 s to x"),
            (
                .sent(path, ByteRange(first: 1, last: 2), size: 9, in: time, from: "x"),
                "sent a/\\x1b\\xff bytes 1-2 of 9 in 1.042 s to x"
            ),
            (
                .refused(.other("X\u{7}"), path, .problem(.insufficientStorage, "why"), from: "x"),
                "refused X\\x07 a/\\x1b\\xff: 507 why (x)"
            ),
            (
                .cut(path, .cut, received: 3, expected: 9, from: "x"),
                "not received a/\\x1b\\xff after 3 of 9 bytes: the connection was cut (x)"
            ),
            (
                .cut(path, .silent, received: nil, expected: 9, from: "x"),
                "not sent a/\\x1b\\xff: the connection was silent for too long (x)"
            ),
        ]
        for (event, line) in events { #expect(event.line == line) }
    }
}
