import Testing
import TransferModel
import WireOperations

@testable import SSHTransport

/// Bytes written as hexadecimal digits, blanks between.
func bytes(_ text: String) -> [UInt8] {
    let digits = text.filter { $0 != " " }.compactMap { UInt8(String($0), radix: 16) }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

private func string(_ text: String) -> [UInt8] { [0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8) }

private func answer(_ packet: [UInt8]) -> SFTPAnswer? { packet.withUnsafeBytes { SFTPAnswer.parse($0)?.answer } }

private func greeting(_ extensions: [(String, String)], version: UInt8 = 3) -> ServerGreeting? {
    var packet: [UInt8] = [2, 0, 0, 0, version]
    for (name, value) in extensions { packet += string(name) + string(value) }
    return packet.withUnsafeBytes { ServerGreeting($0) }
}

@Suite struct PacketTests {
    @Test("requests have the bytes of the draft")
    func requests() {
        let path = RawPath("/a")
        let handle: [UInt8] = [0xAB]
        let file = SFTPHandle(rawValue: 9)
        let table: [(SFTPOperation, String)] = [
            (.openForWriting(path), "00000013 03 00000007 00000002 2f61 0000000a 00000000"),
            (.openForReading(path), "00000013 03 00000007 00000002 2f61 00000001 00000000"),
            (.status(path), "0000000b 11 00000007 00000002 2f61"),
            (.handleStatus(file), "0000000a 08 00000007 00000001 ab"),
            (.setSize(file, 258), "00000016 0a 00000007 00000001 ab 00000001 0000000000000102"),
            (.setModified(file, 5), "00000016 0a 00000007 00000001 ab 00000008 00000005 00000005"),
            (.setModified(file, -1), "00000016 0a 00000007 00000001 ab 00000008 00000000 00000000"),
            (.close(file), "0000000a 04 00000007 00000001 ab"),
            (.remove(path), "0000000b 0d 00000007 00000002 2f61"),
            (
                .rename(path, to: RawPath("b"), replaces: false),
                "00000010 12 00000007 00000002 2f61 00000001 62"
            ),
        ]
        for (request, expected) in table {
            #expect(RequestPackets.single(7, request, handle: handle) == bytes(expected), "\(request)")
        }
        let renames = RequestPackets.single(7, .rename(path, to: path, replaces: true), handle: [])
        #expect(
            renames == bytes("0000002d c8 00000007") + string("posix-rename@openssh.com") + string("/a") + string("/a"))
        let syncs = RequestPackets.single(7, .sync(file), handle: handle)
        #expect(syncs == bytes("0000001f c8 00000007") + string("fsync@openssh.com") + bytes("00000001 ab"))
        let write = RequestPackets.write(7, handle, at: 256, 3)
        #expect(write == bytes("00000019 06 00000007 00000001 ab 0000000000000100 00000003"))
        #expect(write.count == RequestPackets.writeHeadLength(handle))
        let read = RequestPackets.read(7, handle, 256..<266)
        #expect(read == bytes("00000016 05 00000007 00000001 ab 0000000000000100 0000000a"))
    }

    @Test("answers are taken apart, with what servers add and leave out")
    func answers() {
        #expect(answer(bytes("65 00000007 00000000")) == .status(nil, ""))
        #expect(answer(bytes("65 00000007 00000004") + string("No\u{1B}")) == .status(.failure, "No\\x1b"))
        #expect(answer(bytes("66 00000007 00000002 abcd")) == .handle([0xAB, 0xCD]))
        #expect(answer(bytes("69 00000007 00000000")) == .attributes(SFTPAttributes(size: nil)))
        #expect(
            answer(bytes("69 00000007 0000000f 0000000000000009 00000001 00000002 000041ed 00000003 00000004 ff"))
                == .attributes(SFTPAttributes(size: 9, modified: 4, isFolder: true)))
        #expect(
            answer(bytes("69 00000007 00000004 0000a1ff")) == .attributes(SFTPAttributes(size: nil, isLink: true)))
        #expect(
            answer(bytes("69 00000007 00000001 ffffffffffffffff"))
                == .attributes(SFTPAttributes(size: FileSize.beyond)))
        // Names of a folder: what stands behind the times of one is no part of the next.
        #expect(
            answer(
                bytes(
                    "68 00000007 00000002 00000001 61 00000000 80000001 0000000000000005 00000001 00000001 78 00000001 79 "
                        + "00000001 62 00000000 00000004 000041ed"))
                == .names([
                    SFTPName(RawPath("a"), SFTPAttributes(size: 5)),
                    SFTPName(RawPath("b"), SFTPAttributes(size: nil, isFolder: true)),
                ]))
        #expect(answer(bytes("68 00000007 00000000")) == .names([]))
        // A count alone makes nothing, whatever it says.
        #expect(answer(bytes("68 00000007 ffffffff 00000001 61 00000000 00000000")) == nil)
        #expect(answer(bytes("68 00000007 00000001 ffffffff 61")) == nil)
        bytes("67 00000007 00000002 0102").withUnsafeBytes { packet in
            guard case (7, .data(let data))? = SFTPAnswer.parse(packet) else {
                Issue.record("no data")
                return
            }
            #expect(Array(data) == [1, 2])
        }
    }

    @Test(
        "what ends too early or is no answer is none",
        arguments: [
            "", "65", "65 000000", "65 00000007", "65 00000007 0000", "66 00000007", "66 00000007 00000003 abcd",
            "66 00000007 ffffffff ab", "67 00000007 00000003 0102", "69 00000007 00000001 00000000",
            "69 00000007 00000002 00000000", "69 00000007 00000004", "69 00000007 00000008 00000001", "03 00000007",
            "02 00000003",
        ])
    func malformed(packet: String) {
        #expect(answer(bytes(packet)) == nil)
    }

    @Test("no bytes whatever make the codec trap")
    func noise() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var packet = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if let first = packet.first { packet[0] = [101, 102, 103, 105, 201, 2, first].randomElement() ?? 0 }
            packet.withUnsafeBytes { bytes in
                _ = SFTPAnswer.parse(bytes)
                _ = ServerGreeting(bytes)
            }
            _ = PacketLimits(packet)
            _ = FreeSpaceReply.parse(packet)
        }
    }

    @Test("a greeting tells what the server can, and whether it is OpenSSH's")
    func greetings() throws {
        let openSSH = [
            ("posix-rename@openssh.com", "1"), ("statvfs@openssh.com", "2"), ("fstatvfs@openssh.com", "2"),
            ("hardlink@openssh.com", "1"), ("fsync@openssh.com", "1"), ("lsetstat@openssh.com", "1"),
            ("limits@openssh.com", "1"), ("expand-path@openssh.com", "1"), ("copy-data", "1"),
            ("home-directory", "1"), ("users-groups-by-id@openssh.com", "1"),
        ]
        let known = try #require(greeting(openSSH))
        #expect(known.features.renamesOver && known.features.syncs && known.features.tellsFreeSpace)
        #expect(known.features.isOpenSSH && known.tellsLimits)
        let other = try #require(greeting(openSSH + [("vendor-id", "x")]))
        #expect(other.features.syncs && !other.features.isOpenSSH)
        let later = try #require(greeting([("fsync@openssh.com", "2"), ("posix-rename@openssh.com", "1")]))
        #expect(!later.features.syncs && later.features.renamesOver && !later.features.isOpenSSH)
        #expect(try #require(greeting([])).features == SFTPFeatures())
        #expect(bytes("02 00000003 00000001 61").withUnsafeBytes { ServerGreeting($0) } == nil)
        #expect(bytes("65 00000003").withUnsafeBytes { ServerGreeting($0) } == nil)
    }

    @Test("limits are obeyed, never above what we take, never zero")
    func limits() throws {
        func limits(_ numbers: UInt64...) -> PacketLimits? {
            PacketLimits(numbers.flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } })
        }
        let openSSH = try #require(limits(262_144, 261_120, 261_120, 1019))
        #expect(openSSH.read == 261_120 && openSSH.write == 261_120)
        let endless = try #require(limits(0, 0, UInt64.max, 0))
        #expect(endless.read == 262_144 && endless.write == 262_144)
        let small = try #require(limits(34_000, 0, 1, 5))
        #expect(small.read == 32_976 && small.write == 1)
        #expect(try #require(limits(1, 1 << 40, 0, 0)).write == 1024)
        #expect(limits(1, 2, 3) == nil)
    }
}
