import LinuxSystem

/// Collects the pieces of at most 16 KiB that libcurl hands over, so that a sink gets few, large ones.
final class SinkBuffer {
    /// Measured: a larger write gains nothing and leaves the processor's cache.
    static let size = 256 * 1024

    let sink: any TransferBodySink
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0
    /// Bytes the sink has taken.
    private(set) var delivered: Int64 = 0

    /// `expected` bytes, where known, keep the buffer small for small files.
    init(_ sink: any TransferBodySink, expected: Int64?) {
        self.sink = sink
        let capacity = min(Int64(Self.size), max(16 * 1024, expected ?? Int64(Self.size)))
        buffer = .allocate(byteCount: Int(capacity), alignment: 4096)
    }

    deinit { buffer.deallocate() }

    func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        if count + bytes.count > buffer.count { try flush() }
        if bytes.count >= buffer.count {
            try sink.write(bytes)
            delivered += Int64(bytes.count)
            return
        }
        UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    func flush() throws(Errno) {
        if count == 0 { return }
        let full = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        // Before the write: after a failed one the rest is gone, and must not follow later at a wrong place.
        count = 0
        try sink.write(full)
        delivered += Int64(full.count)
    }
}
