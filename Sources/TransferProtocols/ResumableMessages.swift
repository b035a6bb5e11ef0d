/// The versions of the IETF draft "Resumable Uploads for HTTP" that are spoken here. A request names exactly one; a server that
/// does not know it treats the request as if nothing had been said.
package enum ResumableDraft {
    /// The newest interop version.
    package static let latest = 8
    /// In the order in which they are tried. 7 and 4 were never shipped.
    package static let versions = [8, 6, 5, 3]
}

/// What a resumable upload of the IETF draft is to do.
package struct ResumablePlan: Sendable, Hashable {
    /// The file's address: what a plain PUT would go to.
    package var address: HTTPAddress
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: ResumableResumePoint?
    /// Bytes in one request at most, when a person said so.
    package var chunk: Int64?

    package init(
        address: HTTPAddress, subject: UploadSubject, facts: HostFacts = HostFacts(),
        resume: ResumableResumePoint? = nil, chunk: Int64? = nil
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
        self.chunk = chunk
    }
}
