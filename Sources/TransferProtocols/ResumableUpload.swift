import TransferModel

/// An upload by this protocol.
package struct ResumableUpload: ProtocolMachine {
    private let plan: ResumablePlan

    /// Whose resume points mean this machine.
    package static var kind: String { ResumableResumePoint.kind }

    package init(_ plan: ResumablePlan) { self.plan = plan }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        [.fail(TransferError(.unsupported, "this protocol is being built: queue it again by put"))]
    }
}
