import Glibc
package import LinuxSystem

/// A directory of one test, removed with it.
package final class Sandbox: Sendable {
    package let path: [UInt8]

    package init(_ name: String = "martlet-test") throws {
        let suffix = try System.randomBytes(6).map { String($0, radix: 16) }.joined()
        let root = System.environment("TMPDIR").map { String(decoding: $0, as: UTF8.self) } ?? "/tmp"
        path = try System.realpath(Array(root.utf8)) + Array("/\(name)-\(suffix)".utf8)
        try System.mkdirs(path)
    }

    package func path(_ name: String) -> [UInt8] { path + Array("/\(name)".utf8) }

    /// Writes a file, with the directories that lead to it.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> [UInt8] {
        try write(Array(name.utf8), bytes)
    }

    @discardableResult
    package func write(_ name: [UInt8], _ bytes: [UInt8]) throws -> [UInt8] {
        let file = path + [UInt8(ascii: "/")] + name
        if let slash = file.lastIndex(of: UInt8(ascii: "/")) { try System.mkdirs(Array(file[..<slash])) }
        let opened = try System.open(file, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try bytes.withUnsafeBytes { try System.writeAll(opened.rawValue, $0) }
        return file
    }

    /// Adds to a file, as a program that goes on writing.
    package func append(_ name: String, _ bytes: [UInt8]) throws {
        let opened = try System.open(path(name), flags: O_WRONLY | O_APPEND)
        try bytes.withUnsafeBytes { try System.writeAll(opened.rawValue, $0) }
    }

    /// The bytes of a file; `nil`: there is none.
    package func read(_ name: String) -> [UInt8]? {
        guard let opened = try? System.open(path(name)), let status = try? System.fstat(opened.rawValue) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.size))
        let count = try? bytes.withUnsafeMutableBytes { try System.preadAll(opened.rawValue, $0, at: 0) }
        return count == bytes.count ? bytes : nil
    }

    /// The names in a directory, sorted.
    package func names(_ directory: String = "") -> [String] {
        guard let reader = try? DirectoryReader(path: path(directory)) else { return [] }
        var names: [String] = []
        while let entry = try? reader.next() { names.append(String(decoding: entry.name, as: UTF8.self)) }
        return names.sorted()
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: [UInt8]) {
        // A test may have taken the permission away.
        try? System.chmod(path, mode: 0o700)
        guard let reader = try? DirectoryReader(path: path) else { return }
        while let entry = try? reader.next() {
            let child = path + [UInt8(ascii: "/")] + entry.name
            if entry.kind == .directory { remove(child) } else { try? System.unlink(child) }
        }
        try? System.rmdir(path)
    }
}

extension System {
    /// Sets the permission bits of what a path leads to; programs only set those of open files.
    package static func chmod(_ path: [UInt8], mode: UInt32) throws(Errno) {
        guard Glibc.chmod(String(decoding: path, as: UTF8.self), mode_t(mode)) == 0 else { throw .current }
    }
}
