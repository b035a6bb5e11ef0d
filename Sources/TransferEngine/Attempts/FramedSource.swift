import CurlTransport
import LinuxSystem

/// A part of a source as a request's body, with a form around it or nothing. On the engine's loop.
final class FramedSource: TransferBodySource {
    private let before: [UInt8]
    private let range: Range<Int64>
    private let after: [UInt8]
    private let source: SourceFile

    init(_ before: [UInt8], _ range: Range<Int64>, _ after: [UInt8], of source: SourceFile) {
        self.before = before
        self.range = range
        self.after = after
        self.source = source
    }

    /// Bytes of the whole body.
    var length: Int64 { Int64(before.count) + (range.upperBound - range.lowerBound) + Int64(after.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let start = Int64(before.count)
        let end = start + range.upperBound - range.lowerBound
        if offset < start { return Self.copy(before, from: Int(offset), into: buffer) }
        if offset >= end { return Self.copy(after, from: Int(min(offset - end, Int64(after.count))), into: buffer) }
        let left = Int(min(end - offset, Int64(buffer.count)))
        return try source.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(left)), at: range.lowerBound + offset - start)
    }

    private static func copy(_ bytes: [UInt8], from place: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let piece = bytes[place...].prefix(buffer.count)
        buffer.copyBytes(from: piece)
        return piece.count
    }
}
