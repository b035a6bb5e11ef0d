import TransferModel

/// An upload by this protocol.
package struct TusUpload: ProtocolMachine {
    private let plan: TusPlan

    /// Whose resume points mean this machine.
    package static var kind: String { TusResumePoint.kind }

    package init(_ plan: TusPlan) { self.plan = plan }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        [.fail(TransferError(.unsupported, "this protocol is being built: queue it again by put"))]
    }
}
