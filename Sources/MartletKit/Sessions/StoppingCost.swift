/// The cost of stopping transfers to servers that cannot resume: one sentence for every screen and command, before it is
/// done and after it.
package struct StoppingCost: Hashable, Sendable {
    package enum Stop: Hashable, Sendable {
        case pause, cancel
    }

    package let stop: Stop
    /// More than none.
    package let bytes: Int64

    /// - Returns: `nil`: it costs nothing.
    package init?(_ stop: Stop, bytes: Int64) {
        guard bytes > 0 else { return nil }
        (self.stop, self.bytes) = (stop, bytes)
    }

    /// Without an end mark.
    /// - Parameter size: bytes as whoever reads it is shown them.
    package func sentence(_ size: (Int64) -> String) -> String {
        switch stop {
        case .pause: "\(size(bytes)) already sent must be sent again: it cannot resume there"
        case .cancel: "\(size(bytes)) already sent are lost: it cannot resume there, and undo sends them again"
        }
    }
}
