package import LinuxSystem

/// The source of a body's bytes. Called on the transport's loop, from inside libcurl: it must not call the transport.
package protocol TransferBodySource: AnyObject {
    /// Reads up to the buffer's size at an offset of the body, and says how much; 0 means that there is no more, which
    /// before the announced length fails the exchange with ``CurlFailureCause/sourceEnded(at:)``. Corresponds to `pread`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int
}

/// The destination of an answer's bytes. Called on the transport's loop, from inside libcurl: it must not call the transport.
package protocol TransferBodySink: AnyObject {
    /// Takes the next bytes, all of them; pieces are collected to 256 KiB before. An error fails the exchange.
    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno)

    /// It has enough for now: its exchange pauses, and what has come since, at most a piece, is written all the same.
    var isFull: Bool { get }

    /// Calls `goOn` once it is not full any more; on the loop, from outside of libcurl. Only for a full one.
    func whenRoom(_ goOn: @escaping () -> Void)
}

/// A sink that takes whatever comes.
extension TransferBodySink {
    package var isFull: Bool { false }
    package func whenRoom(_ goOn: @escaping () -> Void) {}
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

/// The progress of an exchange.
package struct CurlProgress: Sendable, Equatable {
    /// Bytes of the request's body that have arrived at the peer's machine: what is in this machine's send queue has not.
    package let arrived: Int64
    /// Bytes of the final answer's body.
    package let received: Int64
    /// Those of them that the sink has; `flush` makes it all.
    package let delivered: Int64

    package init(arrived: Int64, received: Int64, delivered: Int64) {
        self.arrived = arrived
        self.received = received
        self.delivered = delivered
    }
}
