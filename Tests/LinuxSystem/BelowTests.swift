import Glibc
import LinuxSystem
import Testing

/// Paths below an open directory, by the call that does it at once and by the steps that stand in for it.
@Suite struct BelowTests {
    private let sandbox: Sandbox
    init() throws { sandbox = try Sandbox() }

    private func write(_ name: [UInt8], _ text: String) throws {
        let file = try System.open(sandbox.path + [UInt8(ascii: "/")] + name, flags: O_WRONLY | O_CREAT)
        try Array(text.utf8).withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
    }

    private func link(_ target: String, _ name: String) {
        #expect(symlink(target, String(decoding: sandbox.file(name), as: UTF8.self)) == 0)
    }

    private func text(_ path: [UInt8], _ flags: Int32 = O_RDONLY) throws -> String {
        let root = try System.openPlace(sandbox.path)
        let file = try System.open(path, below: root.rawValue, flags: flags)
        return try readAll(file.rawValue)
    }

    /// Runs `body` with the kernel's call, then without: a kernel that is too old, and a container's filter that does not know it.
    private func bothWays(_ mark: String, _ body: () throws -> Void) throws {
        try body()
        #if DEBUG
            for error in [Errno.notImplemented, .notPermitted, .wouldBlock] {
                ForcedFailures.fail(.openat2, on: .path(containing: mark), with: error, times: .max)
                defer { ForcedFailures.clear(.path(containing: mark)) }
                try body()
            }
        #endif
    }

    @Test func `a path leads to its file, whatever bytes its names have`() throws {
        let mark = "below-names"
        let odd: [UInt8] = [0xFF, 0x0A, 0x20, UInt8(ascii: ".")]
        let folder = Array("\(mark)/".utf8) + odd
        try System.mkdirs(sandbox.path + [UInt8(ascii: "/")] + folder)
        try write(folder + [UInt8(ascii: "/")] + odd, "here")
        try bothWays(mark) {
            let found = try text(folder + [UInt8(ascii: "/")] + odd)
            #expect(found == "here")
            #expect(throws: Errno.noSuchFile) { try text(folder + Array("/none".utf8)) }
            #expect(throws: Errno.notDirectory) { try text(folder + [UInt8(ascii: "/")] + odd + Array("/x".utf8)) }
        }
    }

    @Test func `a link is refused in every place of a path, and is itself what its status tells`() throws {
        let mark = "below-links"
        try System.mkdirs(sandbox.file("\(mark)/a/b"))
        try write(Array("\(mark)/a/b/f".utf8), "inside")
        link("a", "\(mark)/first")
        link("b", "\(mark)/a/second")
        link("f", "\(mark)/a/b/third")
        let root = try System.openPlace(sandbox.path)
        try bothWays(mark) {
            let found = try text(Array("\(mark)/a/b/f".utf8))
            #expect(found == "inside")
            for path in ["first/b/f", "a/second/f", "a/b/third"] {
                #expect(throws: Errno.tooManyLinks, "\(path)") { try text(Array("\(mark)/\(path)".utf8)) }
            }
            for path in ["first", "a/second"] {
                #expect(throws: Errno.tooManyLinks, "\(path)") {
                    try text(Array("\(mark)/\(path)".utf8), O_RDONLY | O_DIRECTORY)
                }
            }
            for (path, kind) in [("a/b/f", FileKind.regular), ("a/b/third", .symbolicLink), ("a", .directory)] {
                let status = try System.status(of: Array("\(mark)/\(path)".utf8), below: root.rawValue)
                #expect(status.kind == kind, "\(path)")
            }
            #expect(throws: Errno.tooManyLinks) {
                try System.status(of: Array("\(mark)/first/b/f".utf8), below: root.rawValue)
            }
        }
    }

    @Test func `a path leads nowhere else`() throws {
        let mark = "below-outside"
        try System.mkdirs(sandbox.file("d/a"))
        try write(Array(mark.utf8), "outside")
        let root = try System.openPlace(sandbox.file("d"))
        let paths = ["../\(mark)", "a/../../\(mark)", String(decoding: sandbox.file(mark), as: UTF8.self)]
        try bothWays(mark) {
            for path in paths {
                #expect(throws: Errno.crossDevice, "\(path)") {
                    try System.open(Array(path.utf8), below: root.rawValue)
                }
            }
        }
    }
}
