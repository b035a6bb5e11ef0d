import TransferModel

/// Resume point of a plain PUT, which cannot go on: the version of the source that it left there, and its lost answers.
package struct PutResumePoint: ResumePointContent {
    package static var kind: String { ProtocolFacts.put.id }
    package static var afterCut: AfterCut { .beginsAgain }
    package static var leavesParts: Bool { false }

    /// The server stored an earlier version of the source for us: the next PUT replaces it, whatever the rule for foreign files.
    package var stored: Bool
    /// The server's tag of that version.
    package var etag: String?
    /// Whole files that were sent, and whose answers were lost, one after the other.
    package var unanswered: Int?
    package init(stored: Bool, etag: String?) {
        self.stored = stored
        self.etag = etag
    }

    package var isPlausible: Bool { ResumeBounds.counts.contains(unanswered ?? 0) }
}
