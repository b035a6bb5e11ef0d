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
        let bytes = Array(path.utf8)
        if let slash = path.lastIndex(of: "/") { try? System.mkdirs(Array(path[..<slash].utf8), mode: 0o700) }
        if let status = try? System.stat(bytes), status.size > Self.most {
            try? System.rename(bytes, to: bytes + Array(".1".utf8))
        }
        _ = try? System.open(bytes, flags: O_WRONLY | O_CREAT | O_APPEND, mode: 0o600)
        offset = (try? System.stat(bytes))?.size ?? 0
    }

    /// Whole lines that were added since. Looks at the disk, briefly.
    package mutating func newLines() -> [[UInt8]] {
        guard let size = (try? System.stat(Array(path.utf8)))?.size, size != offset else { return [] }
        if size < offset { (offset, rest) = (0, []) }
        guard let file = try? System.open(Array(path.utf8)) else { return [] }
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
