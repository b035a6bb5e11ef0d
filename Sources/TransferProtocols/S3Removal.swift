import TransferModel

/// Takes away what an upload to S3 that was cancelled has left there: its parts, which cost money as long as they lie.
package struct S3Removal: ProtocolMachine {
    private let point: S3ResumePoint

    /// - Parameter facts: what is known of the bucket, under its `origin`.
    package init(_ point: S3ResumePoint, facts: HostFacts = HostFacts()) { self.point = point }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        [.fail(TransferError(.unsupported, "S3 is being built: queue it again by put"))]
    }
}
