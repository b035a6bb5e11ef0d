/// An open file for a reader on another thread: its last byte is given away only while the file is the one that was opened, so that nobody
/// gets the whole of a mixture of two versions.
package struct UnchangedFile: Sendable {
    private let descriptor: OwnedDescriptor
    private let size: Int64
    private let modifiedNanoseconds: Int64

    /// - Parameters:
    ///   - descriptor: not closed before the last reading.
    ///   - size: bytes that the file had when it was opened.
    ///   - modifiedNanoseconds: the time of its modification then, since 1970.
    package init(_ descriptor: OwnedDescriptor, size: Int64, modifiedNanoseconds: Int64) {
        (self.descriptor, self.size, self.modifiedNanoseconds) = (descriptor, size, modifiedNanoseconds)
    }

    /// Reads at an exact offset. Corresponds to `pread`, and `fstat` for the last bytes.
    /// - Returns: a number of bytes; 0 at the end, and instead of the last bytes when the file has changed.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let count = try System.pread(descriptor.rawValue, buffer, at: offset)
        return offset + Int64(count) < size || isUnchanged ? count : 0
    }

    /// Asked after the reading: what was changed before it is seen.
    private var isUnchanged: Bool {
        guard let now = try? System.fstat(descriptor.rawValue) else { return false }
        return now.size == size && now.modifiedNanoseconds == modifiedNanoseconds
    }
}
