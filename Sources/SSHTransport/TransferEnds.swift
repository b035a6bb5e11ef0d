package import LinuxSystem

/// The source of written bytes. Called on the transport's loop; it must not call the transport.
package protocol SFTPSource: AnyObject {
    /// Reads up to the buffer's size at an offset of the file, and says how much; 0 is the end. Corresponds to `pread`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
}

/// The destination of read bytes. Called on the transport's loop; it must not call the transport.
package protocol SFTPSink: AnyObject {
    /// Takes the next bytes, all of them, in the order of the file. An error ends the read.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno)
}

/// The bytes that a speed limit lets through.
package enum ThrottleGrant: Equatable, Sendable {
    /// At least one of the bytes that were asked for.
    case bytes(Int)
    /// Nothing before that long; `nil` is until ``SFTPTransport/resumeThrottled()``.
    case wait(Duration?)
}

/// A speed limit for one direction of one operation. Called on the transport's loop; it must not call the transport.
package protocol TransferThrottle: AnyObject {
    func grant(_ wanted: Int) -> ThrottleGrant
    /// So many bytes, never more than granted, are sent or asked for now.
    func take(_ count: Int)
}
