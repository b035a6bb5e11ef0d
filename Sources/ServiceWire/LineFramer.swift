/// Cuts a stream of bytes into lines. Each byte is looked at once, however the stream is cut into pieces.
package struct LineFramer: Sendable {
    /// A line that is longer is a fault of the sender, whose connection ends.
    package struct LineTooLong: Error, Equatable {
        package var limit: Int
    }

    /// A request may have so many bytes before the handshake.
    package static let limitBeforeHello = 64 << 10
    /// …and after it: a batch of some 50,000 paths.
    package static let limit = 8 << 20

    /// The longest line allowed from now on, without its newline.
    package var limit: Int
    /// The beginning of a line whose newline has not come; holds none itself.
    private var partial: [UInt8] = []

    package init(limit: Int = LineFramer.limit) { self.limit = limit }

    /// Bytes kept for a line that is not complete.
    package var pendingBytes: Int { partial.count }

    /// Takes in what arrived and gives out the lines that are complete, without newlines; empty lines are left out.
    ///
    /// After an error the framer is of no use any more: the connection is to be closed.
    package mutating func append(_ bytes: some Collection<UInt8>) throws(LineTooLong) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes[...]
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            partial.append(contentsOf: rest[..<newline])
            rest = rest[rest.index(after: newline)...]
            if partial.count > limit { throw LineTooLong(limit: limit) }
            if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
            if !partial.isEmpty { lines.append(partial) }
            // A huge line's memory is not kept for the small ones that follow.
            partial.removeAll(keepingCapacity: partial.count <= 4096)
        }
        partial.append(contentsOf: rest)
        if partial.count > limit { throw LineTooLong(limit: limit) }
        return lines
    }
}
