import TransferModel

/// The resume point of a plain PUT, which cannot go on, is the version that it left there.
extension StoredVersion: ResumePointContent {
    package static var kind: String { ProtocolFacts.put.id }
    package static var afterCut: AfterCut { .beginsAgain }
    package static var leavesParts: Bool { false }

    /// The answers that were lost count no more: a person has looked.
    package var retried: StoredVersion? {
        guard unanswered != nil else { return nil }
        var version = self
        version.unanswered = nil
        return version
    }

    package var isPlausible: Bool {
        ResumeBounds.counts.contains(unanswered ?? 0) && version?.isPlausible ?? true
            && etag == etag.flatMap(Validator.tag) && ResumeBounds.seconds.contains(shown ?? 0)
    }
}
