package import TransferModel

/// The state of one part of a file that its protocol sends in several: `ProtocolMachine.partStandings` tells them all.
package struct PartStanding: Hashable, Sendable {
    package var state: PartRun.State
    /// Its length.
    package var bytes: Int64
    /// Bytes that the server has of it.
    package var held: Int64
    /// The exchange that carries its next bytes now; how many it has sent the engine knows.
    package var exchange: ExchangeID?

    package init(_ state: PartRun.State, bytes: Int64, held: Int64 = 0, exchange: ExchangeID? = nil) {
        self.state = state
        self.bytes = bytes
        self.held = held
        self.exchange = exchange
    }
}
