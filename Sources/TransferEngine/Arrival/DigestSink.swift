import CurlTransport
import Digests
import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols

/// Takes the bytes of a remote file for their SHA-256 alone, over as many answers as it takes. On the engine's loop.
final class DigestSink: TransferBodySink, SFTPSink {
    private var running = RunningDigest(.sha256)
    /// Bytes of the file that were taken, from its start.
    private(set) var position: Int64 = 0
    /// Bytes still to be dropped: the server began earlier than it was asked to.
    private var skip: Int64 = 0
    /// More are not the file's: it is another one.
    private let size: Int64
    private(set) var isTooLong = false
    /// Counts answers that began at the file's start.
    private(set) var starts = 0
    private let meter: ReadBackMeter?

    /// - Parameter size: of what was sent; no sink takes more than that.
    init(size: Int64, _ meter: ReadBackMeter? = nil) { (self.size, self.meter) = (size, meter) }

    /// An answer begins at `opening.offset`, which is where the bytes so far end, or the file's start.
    /// - Returns: false: it would leave a gap.
    func begin(_ opening: GateOpening) -> Bool {
        if opening.offset == 0 {
            running = RunningDigest(.sha256)
            meter?.moved(by: -position)
            position = 0
            starts += 1
        }
        skip = opening.skip
        return opening.offset == position
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        // Ends the exchange; `read` then finds the meter stopped.
        if meter?.isStopped == true { throw .canceled }
        let dropped = Int(min(skip, Int64(bytes.count)))
        skip -= Int64(dropped)
        let rest = UnsafeRawBufferPointer(rebasing: bytes[dropped...])
        if Int64(rest.count) > size - position {
            isTooLong = true
            throw .fileTooLarge
        }
        running.update(rest)
        position += Int64(rest.count)
        meter?.moved(by: Int64(rest.count))
    }

    /// SHA-256 of the bytes that were read. Asked once, at the end.
    var value: TransferDigest { TransferDigest(sha256: running.value()) }
}
