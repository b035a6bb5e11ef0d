package import LinuxSystem

/// The source of a body's bytes. Called on the transport's loop, from inside libcurl: it must not call the transport.
package protocol TransferBodySource: AnyObject {
    /// Reads up to the buffer's size at an offset of the body, and says how much; 0 means that there is no more, which
    /// before the announced length fails the exchange with ``ExchangeCause/sourceEnded(at:)``. Corresponds to `pread`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
}

/// The destination of an answer's bytes. Called on the transport's loop, from inside libcurl: it must not call the transport.
package protocol TransferBodySink: AnyObject {
    /// Takes the next bytes, all of them; pieces are collected to 256 KiB before. An error fails the exchange.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno)
}

/// The destination of the bytes behind an opened gate.
package enum GateDestination {
    /// To a sink, in large pieces, the last before the exchange's end is told.
    case sink(any TransferBodySink)
    /// To memory, up to a limit.
    case buffer(limit: Int)
    /// Nowhere.
    case discard
}
