import Glibc
@testable import MartletKit
import TestSupport
import Testing

@Suite("A file that others write to is read as it grows")
struct GrowingFileTests {
    private func append(_ text: String, _ path: String) throws {
        let file = try #require(fopen(path, "a"))
        fputs(text, file)
        fclose(file)
    }

    @Test("what was there is not told; whole lines are, once; a file that was begun anew from its beginning")
    func lines() throws {
        let folder = try Sandbox()
        let path = String(decoding: folder.path, as: UTF8.self) + "/log/screen.log"
        _ = GrowingFile(path)
        try append("old\n", path)
        var file = GrowingFile(path)
        #expect(file.newLines() == [])
        try append("one\ntw", path)
        #expect(file.newLines() == [Array("one".utf8)])
        try append("o\n\nthree\n", path)
        #expect(file.newLines() == [Array("two".utf8), Array("three".utf8)])
        #expect(file.newLines() == [])
        try SmallFile.replace(path, with: Array("new\n".utf8))
        #expect(file.newLines() == [Array("new".utf8)])
    }

    @Test("who prints without line ends is told in pieces, and nothing is joined over what was passed over")
    func endless() throws {
        let folder = try Sandbox()
        let path = String(decoding: folder.path, as: UTF8.self) + "/log/screen.log"
        var file = GrowingFile(path)
        for _ in 0..<3 { try append(String(repeating: "x", count: 40 << 10), path); _ = file.newLines() }
        try append("\nend\n", path)
        #expect(file.newLines().map(\.count).allSatisfy { $0 <= 80 << 10 })
        try append("half", path)
        #expect(file.newLines() == [])
        try append(String(repeating: "y\n", count: 40 << 10), path)
        #expect(file.newLines().allSatisfy { $0 == Array("y".utf8) })
    }

    @Test("one that has grown long is put aside when the next screen opens")
    func long() throws {
        let folder = try Sandbox()
        let path = String(decoding: folder.path, as: UTF8.self) + "/screen.log"
        try SmallFile.replace(path, with: [UInt8](repeating: 0x0A, count: 300 << 10))
        _ = GrowingFile(path)
        #expect(SmallFile.contents(path) == [])
        #expect(SmallFile.contents(path + ".1")?.count == 300 << 10)
    }
}
