import Testing

@testable import UploadReceiver

@Suite("Target paths")
struct TargetPathTests {
    @Test(
        "a target becomes names of bytes",
        arguments: [
            ("/", [], true), ("/a", ["a"], false), ("/a/b/", ["a", "b"], true), ("//a///b", ["a", "b"], false),
            ("/a%20b", ["a b"], false), ("/%E5%86%99%E7%9C%9F", ["写真"], false), ("/写真", ["写真"], false),
            ("/...", ["..."], false), ("/..a", ["..a"], false), ("/a%25", ["a%"], false),
            ("/%2e%2E%2e", ["..."], false),
            ("http://host:80/a/b", ["a", "b"], false), ("https://host", [], true),
            ("/http://x", ["http:", "x"], false),
            ("/a/.martlet-incoming", ["a", ".martlet-incoming"], false),
        ] as [(String, [String], Bool)])
    func names(target: String, names: [String], isFolder: Bool) throws {
        let path = try TargetPath(target: target.utf8)
        #expect(path.components == names.map { Array($0.utf8) })
        #expect(path.isFolder == isFolder)
    }

    @Test("a name that is not UTF-8 keeps its bytes")
    func rawBytes() throws {
        #expect(try TargetPath(target: "/%ff%FE".utf8).components == [[0xFF, 0xFE]])
        #expect(try TargetPath(target: [UInt8(ascii: "/"), 0xFF]).components == [[0xFF]])
    }

    @Test(
        "a target that could leave the folder, or is no path, is refused",
        arguments: [
            ("/..", .leavesTheFolder), ("/a/../b", .leavesTheFolder), ("/%2e%2e/x", .leavesTheFolder),
            ("/.%2E", .leavesTheFolder), ("/.", .leavesTheFolder), ("/a/./b", .leavesTheFolder),
            ("/..%2f..%2fetc", .forbiddenByte), ("/a%00b", .forbiddenByte), ("/%2F", .forbiddenByte),
            ("/a%", .badEscape), ("/a%2", .badEscape), ("/a%zz", .badEscape), ("/%/..", .badEscape), ("a", .notAPath),
            ("", .notAPath), ("*", .notAPath), ("/.martlet-incoming/x", .reserved), ("/.martlet%2Dincoming", .reserved),
            ("/.Martlet-Uploads", .reserved),
            ("//.martlet-incoming", .reserved), ("/" + String(repeating: "n", count: 256), .nameTooLong),
        ] as [(String, TargetProblem)])
    func refused(target: String, problem: TargetProblem) {
        #expect(throws: problem) { try TargetPath(target: target.utf8) }
    }

    @Test("a name in a listing is percent-encoded and comes back the same")
    func encoding() throws {
        let name = (1...255).map { UInt8($0) }.filter { $0 != UInt8(ascii: "/") }
        #expect(try TargetPath(target: ("/" + TargetPath.percentEncoded(name)).utf8).components == [name])
        #expect(TargetPath.percentEncoded(Array("a b-ü".utf8)) == "a%20b-%C3%BC")
    }

    @Test("what is shown of a path has no control characters and no invalid bytes")
    func display() {
        let path = TargetPath(components: [Array("a\u{1B}[2J".utf8), [0xFF, UInt8(ascii: "b")]])
        #expect(path.displayed == "a\\x1b[2J/\\xffb")
    }
}
