import Digests
import Testing

@Suite("Digests")
struct DigestTests {
    @Test(
        "SHA-256 gives FIPS 180-4's published values",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func sha256(text: String, hex: String) {
        #expect(DigestAlgorithm.sha256.digest(of: text.utf8).hex == hex)
    }

    @Test("SHA-256 of a million a's is FIPS 180-4's third published value")
    func millionLetters() {
        let million = repeatElement(UInt8(ascii: "a"), count: 1_000_000)
        let hex = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(DigestAlgorithm.sha256.digest(of: million).hex == hex)
    }

    @Test(
        "MD5 gives RFC 1321's published values",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ])
    func md5(text: String, hex: String) {
        #expect(DigestAlgorithm.md5.digest(of: text.utf8).hex == hex)
    }

    @Test(
        "SHA-1 gives FIPS 180's published values",
        arguments: [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ])
    func sha1(text: String, hex: String) {
        #expect(DigestAlgorithm.sha1.digest(of: text.utf8).hex == hex)
    }

    @Test(
        "HMAC-SHA256 gives RFC 4231's published values",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            ([], [], "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ])
    func hmac(key: [UInt8], message: [UInt8], hex: String) {
        #expect(MessageAuthentication.sha256(key: key, message: message).hex == hex)
    }

    @Test("a digest fed in pieces equals the digest of the whole")
    func pieces() {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let running = RunningDigest(.sha256)
        for start in stride(from: 0, to: bytes.count, by: 777) {
            running.update(bytes[start..<min(start + 777, bytes.count)])
        }
        #expect(running.value() == DigestAlgorithm.sha256.digest(of: bytes))
    }

    @Test("reading the value does not end the digest, and a copy goes its own way")
    func valueAndCopy() {
        let running = RunningDigest(.sha256)
        running.update("a".utf8)
        #expect(running.value() == DigestAlgorithm.sha256.digest(of: "a".utf8))
        let copy = running.copy()
        running.update("bc".utf8)
        copy.update("x".utf8)
        #expect(running.value() == DigestAlgorithm.sha256.digest(of: "abc".utf8))
        #expect(copy.value() == DigestAlgorithm.sha256.digest(of: "ax".utf8))
    }

    @Test("secrets are equal only when every byte and the length agree")
    func comparison() {
        #expect(SecretComparison.areEqual(Array("token".utf8), Array("token".utf8)))
        #expect(!SecretComparison.areEqual(Array("token".utf8), Array("tokem".utf8)))
        #expect(!SecretComparison.areEqual(Array("token".utf8), Array("token ".utf8)))
        #expect(!SecretComparison.areEqual(Array("token".utf8), []))
    }
}

@Suite("Hexadecimal and base64")
struct EncodingTests {
    @Test(
        "base64 gives RFC 4648's published values both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64(plain: String, coded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == coded)
        #expect(Base64.decode(coded) == Array(plain.utf8))
    }

    @Test(
        "what base64 never writes is refused",
        arguments: ["Zg=", "Zg", "Z===", "====", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "Zg==Zg==", "Zm-_"])
    func strictBase64(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("hexadecimal keeps every byte, reads both cases, refuses the rest")
    func hexadecimal() {
        let all = (0...255).map { UInt8($0) }
        #expect(Hexadecimal.decode(Hexadecimal.encode(all)) == all)
        #expect(Hexadecimal.encode([0, 0xAB, 0xF]) == "00ab0f")
        #expect(Hexadecimal.decode("00Ab0F") == [0, 0xAB, 0xF])
        #expect(Hexadecimal.decode("0") == nil)
        #expect(Hexadecimal.decode("0g") == nil)
    }

    @Test("base64 of every length up to 100 comes back the same")
    func roundTrip() {
        for count in 0...100 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }
}
