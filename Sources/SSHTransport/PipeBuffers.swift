import Glibc
import LinuxSystem

/// Bytes on their way into a pipe. One owner, on the transport's loop.
final class OutgoingBuffer {
    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private var start = 0
    private var end = 0

    deinit { memory.deallocate() }

    var count: Int { end - start }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { source in
            reserve(source.count)
            UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + source.count]).copyMemory(from: source)
        }
        end += bytes.count
    }

    /// Adds a packet's beginning and up to `count` bytes that `fill` puts behind it; `head` is told how many came. A `fill` that throws
    /// or comes back with nothing adds nothing. So a file's bytes are copied once only, from the kernel to here.
    func append<Failure: Error>(
        headLength: Int, _ count: Int, head: (Int) -> [UInt8],
        fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        reserve(headLength + count)
        let data = end + headLength
        let filled = try fill(UnsafeMutableRawBufferPointer(rebasing: memory[data..<data + count]))
        if filled <= 0 { return 0 }
        let bytes = head(filled)
        precondition(bytes.count == headLength, "a packet's head has a known length")
        bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[end..<data]).copyMemory(from: $0) }
        end = data + filled
        return filled
    }

    /// Writes what the pipe takes, and says how much that was.
    func write(to descriptor: Int32) throws(Errno) -> Int {
        var written = 0
        while start < end {
            do {
                let count = try System.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<end]))
                start += count
                written += count
            } catch .wouldBlock {
                return written
            }
        }
        (start, end) = (0, 0)
        return written
    }

    private func reserve(_ count: Int) {
        if end + count <= memory.count { return }
        let used = end - start
        let source = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<end])
        if used + count <= memory.count, start >= used {
            // The two parts do not overlap.
            memory.copyMemory(from: source)
        } else {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(memory.count * 2, used + count), alignment: 16)
            larger.copyMemory(from: source)
            memory.deallocate()
            memory = larger
        }
        (start, end) = (0, used)
    }
}

/// Bytes that came out of a pipe, cut into packets. One owner, on the transport's loop.
final class IncomingBuffer {
    /// The error when the peer's bytes are no packet.
    struct Malformed: Error {
        /// The first bytes of it.
        let beginning: [UInt8]
    }

    private let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 2 * (PacketLimits.packet + 4), alignment: 16)
    private var start = 0
    private var end = 0

    deinit { memory.deallocate() }

    /// Reads once; 0 at the end, `nil` when there is nothing now.
    func read(from descriptor: Int32) throws(Errno) -> Int? {
        if start == end {
            (start, end) = (0, 0)
        } else if memory.count - end < memory.count / 2 {
            // What is left of a packet is at most half of the memory.
            let used = end - start
            if let base = memory.baseAddress { memmove(base, base + start, used) }
            (start, end) = (0, used)
        }
        do {
            let count = try System.read(descriptor, UnsafeMutableRawBufferPointer(rebasing: memory[end...]))
            end += count
            return count
        } catch .wouldBlock {
            return nil
        }
    }

    /// The next whole packet without its length; valid until the next `read`.
    func next() throws(Malformed) -> UnsafeRawBufferPointer? {
        let held = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<end])
        if held.count < 4 { return nil }
        let length = Int(UInt32(bigEndian: held.loadUnaligned(as: UInt32.self)))
        // The shortest packet is a type and a number.
        if length < 5 || length > PacketLimits.packet { throw Malformed(beginning: Array(held.prefix(200))) }
        if held.count < 4 + length { return nil }
        start += 4 + length
        return UnsafeRawBufferPointer(rebasing: held[4..<4 + length])
    }
}
