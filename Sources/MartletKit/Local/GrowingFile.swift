import Glibc
import LinuxSystem

/// A file that others write lines to, read as it grows.
package struct GrowingFile: Sendable {
    package let path: String
    private var offset: Int64
    /// The beginning of a line whose end has not come.
    private var rest: [UInt8] = []

    /// A file that is longer than this when it is opened begins anew; what was in it is kept beside it once.
    private static let most: Int64 = 256 << 10
    /// More than this at once is passed over: somebody prints without an end.
    private static let mostAtOnce = 64 << 10

    /// Makes the file and its folder when they are not there; what it holds already is not told.
    package init(_ path: String) {
        self.path = path
        if Self.size(OwnFile(path)) > Self.most { try? OwnFile(path).setAside(as: ".1") }
        offset = Self.size(OwnFile(path))
    }

    private static func size(_ file: OwnFile) -> Int64 {
        guard let opened = try? file.open(flags: O_WRONLY | O_CREAT | O_APPEND) else { return 0 }
        return (try? System.fstat(opened.rawValue))?.size ?? 0
    }

    /// Whole lines that were added since. Looks at the disk, briefly.
    package mutating func newLines() -> [[UInt8]] {
        guard let size = (try? System.lstat(Array(path.utf8)))?.size, size != offset else { return [] }
        guard let file = try? OwnFile(path).open(flags: O_RDONLY) else { return [] }
        if size < offset { (offset, rest) = (0, []) }
        if size - offset > Int64(Self.mostAtOnce) { (offset, rest) = (size - Int64(Self.mostAtOnce), []) }
        var chunk = [UInt8](repeating: 0, count: Int(size - offset))
        let count = try? chunk.withUnsafeMutableBytes { buffer throws(Errno) in
            try System.preadAll(file.rawValue, buffer, at: offset)
        }
        guard let count, count > 0 else { return [] }
        offset += Int64(count)
        var lines = (rest + chunk[..<count]).split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        rest = lines.popLast() ?? []
        // A line without an end is told in pieces.
        if rest.count > Self.mostAtOnce { (lines, rest) = (lines + [rest], []) }
        return lines.filter { !$0.isEmpty }
    }
}
