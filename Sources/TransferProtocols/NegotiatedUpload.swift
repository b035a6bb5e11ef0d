/// What an upload by `https://` without a protocol is to do: all that any of the three protocols needs.
package struct NegotiatedPlan: Sendable, Hashable {
    /// What is asked: the destination folder.
    package var folder: HTTPAddress
    package var put: PutPlan
    package var tus: TusPlan
    package var resumable: ResumablePlan

    package init(folder: HTTPAddress, put: PutPlan, tus: TusPlan, resumable: ResumablePlan) {
        self.folder = folder
        self.put = put
        self.tus = tus
        self.resumable = resumable
    }
}

/// An upload that asks the server first which protocol it speaks.
package struct NegotiatedUpload: ProtocolMachine {
    private var inner: PutUpload

    package init(_ plan: NegotiatedPlan) { inner = PutUpload(plan.put) }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] { inner.handle(event) }
}
