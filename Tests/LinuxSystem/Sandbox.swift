import Glibc
import LinuxSystem

/// A directory of one test, removed with it.
final class Sandbox {
    let path: [UInt8]

    init() throws {
        let suffix = try System.randomBytes(6).map { String($0, radix: 16) }.joined()
        path = Array("\(Self.root)/linux-system-\(suffix)".utf8)
        try System.mkdirs(path)
    }

    func file(_ name: String) -> [UInt8] { path + Array("/\(name)".utf8) }

    private static var root: String {
        System.environment("TMPDIR").map { String(decoding: $0, as: UTF8.self) } ?? "/tmp"
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: [UInt8]) {
        guard let reader = try? DirectoryReader(path: path) else { return }
        while let entry = try? reader.next() {
            let child = path + [UInt8(ascii: "/")] + entry.name
            if entry.kind == .directory { remove(child) } else { try? System.unlink(child) }
        }
        try? System.rmdir(path)
    }
}

/// Reads a descriptor to its end.
func readAll(_ descriptor: Int32) throws -> String {
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = try chunk.withUnsafeMutableBytes { try System.read(descriptor, $0) }
        if count == 0 { return String(decoding: all, as: UTF8.self) }
        all += chunk[..<count]
    }
}

/// A file's bytes as text.
func contents(of path: [UInt8]) throws -> String {
    let file = try System.open(path)
    defer { file.close() }
    return try readAll(file.rawValue)
}

extension System {
    /// Sets the permission bits of what a path leads to; programs only set those of open files.
    static func chmod(_ path: [UInt8], mode: UInt32) throws(Errno) {
        guard Glibc.chmod(String(decoding: path, as: UTF8.self), mode_t(mode)) == 0 else { throw .current }
    }
}
