import LinuxSystem

/// Lines that a client has not taken yet, in their order. What was sent is dropped line by line, so that a long queue costs no more for each
/// byte than a short one.
struct OutgoingLines {
    private var lines: [[UInt8]] = []
    /// Lines at the front of `lines` that are gone.
    private var gone = 0
    /// Bytes of the first line that are gone.
    private var sent = 0
    /// Bytes that were not taken.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ line: [UInt8]) {
        guard !line.isEmpty else { return }
        lines.append(line)
        count += line.count
    }

    /// Has the next bytes sent, until nothing is left or nothing is taken.
    /// - Parameter send: returns how many of the bytes it took; `nil`: none now.
    mutating func send(by send: (UnsafeRawBufferPointer) throws(Errno) -> Int?) throws(Errno) {
        while count > 0 {
            let taken = try lines[gone].withUnsafeBufferPointer { bytes throws(Errno) in
                try send(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[sent...])))
            }
            guard let taken else { return }
            drop(taken)
        }
    }

    private mutating func drop(_ bytes: Int) {
        sent += bytes
        count -= bytes
        guard sent == lines[gone].count else { return }
        lines[gone] = []
        sent = 0
        gone += 1
        if gone == lines.count || gone >= 64 {
            lines.removeFirst(gone)
            gone = 0
        }
    }
}
