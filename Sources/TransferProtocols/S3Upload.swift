import TransferModel

/// An upload to S3.
package struct S3Upload: ProtocolMachine {
    /// Whose resume points mean this machine.
    package static var kind: String { S3ResumePoint.kind }

    private let plan: S3Plan

    package init(_ plan: S3Plan) { self.plan = plan }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        [.fail(TransferError(.unsupported, "S3 is being built: queue it again by put"))]
    }
}
