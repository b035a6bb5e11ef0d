package import TransferModel

/// Resume point of a resumable upload of the IETF draft: its resource at the server, whose address is secret, and the version that it was
/// made with, which it must be gone on with.
package struct ResumableResumePoint: ResumePointContent {
    package static var kind: String { ProtocolFacts.ietf.id }

    /// The interop version of the draft.
    package var version: Int
    /// Bytes of the source that it was made for.
    package var length: Int64
    /// Address of the upload; `nil`: nothing is at the server that could be gone on with.
    package var url: HTTPAddress?
    /// The cut that ended its last request, if any.
    package var cut: UploadCut?
    /// When the upload was made, by our clock.
    package var begun: Timestamp?
    /// When the server forgets it, as it said.
    package var expires: Timestamp?
    /// The server was told, when it was made, that it may replace what is there.
    package var replaces: Bool?
    /// As `StoredVersion.unanswered`; `nil`: none.
    package var unanswered: Int?

    package init(
        version: Int, length: Int64, url: HTTPAddress?, cut: UploadCut? = nil, begun: Timestamp? = nil,
        expires: Timestamp? = nil
    ) {
        self.version = version
        self.length = length
        self.url = url
        self.cut = cut
        self.begun = begun
        self.expires = expires
    }

    private enum CodingKeys: String, CodingKey { case version, length, cut, begun, expires, replaces, unanswered }

    package var secret: String? { url?.text }

    package mutating func restore(secret: String?) { url = secret.flatMap { HTTPAddress($0)?.asSecret } }

    package var isPlausible: Bool {
        ResumableDraft.versions.contains(version) && ResumeBounds.lengths.contains(length) && cut?.isPlausible ?? true
            && ResumeBounds.counts.contains(unanswered ?? 0)
    }

    /// The answers that were lost count no more: a person has looked.
    package var retried: ResumableResumePoint? {
        guard unanswered != nil else { return nil }
        var point = self
        point.unanswered = nil
        return point
    }
}
