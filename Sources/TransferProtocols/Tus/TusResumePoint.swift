package import TransferModel

/// Resume point of a tus upload: its resources at the server, one for the whole file or one for each part of it. Their addresses give
/// access to them and are secret.
package struct TusResumePoint: ResumePointContent {
    package static var kind: String { ProtocolFacts.tus.id }

    /// One upload resource.
    package struct Part: Codable, Hashable, Sendable {
        /// The range of the source that it holds.
        package var start: Int64
        package var end: Int64
        /// Address of the resource; `nil` before it was made.
        package var url: HTTPAddress?
        /// The cut that ended its last request, if any.
        package var cut: UploadCut?

        package init(_ range: Range<Int64>, url: HTTPAddress? = nil, cut: UploadCut? = nil) {
            start = range.lowerBound
            end = range.upperBound
            self.url = url
            self.cut = cut
        }

        private enum CodingKeys: String, CodingKey { case start, end, cut }
    }

    /// Without gaps, in the order of the file. Empty: nothing is at the server that could be gone on with.
    package var parts: [Part]
    /// The server checks each chunk with this algorithm, as it names it; `nil`: none.
    package var checksum: String?
    /// When the upload was made, by our clock.
    package var begun: Timestamp?
    /// When the server forgets the first of its resources, as it said.
    package var expires: Timestamp?
    /// The request that joins the parts was sent, or was about to be.
    package var isJoining = false
    /// The file is there; its parts may still have to be removed.
    package var isJoined: Bool?
    /// As `TusUpload.unanswered`; `nil`: none.
    package var unanswered: Int?
    /// The server was told, when the one upload was made, that it may replace what is there.
    package var replaces: Bool?

    package init(
        parts: [Part] = [], checksum: String? = nil, begun: Timestamp? = nil, expires: Timestamp? = nil,
        isJoining: Bool = false
    ) {
        self.parts = parts
        self.checksum = checksum
        self.begun = begun
        self.expires = expires
        self.isJoining = isJoining
    }

    /// Bytes of the source that it was made for; 0 without parts.
    package var length: Int64 { parts.last?.end ?? 0 }

    package var secret: String? {
        guard parts.contains(where: { $0.url != nil }) else { return nil }
        return parts.map { $0.url?.text ?? "" }.joined(separator: "\n")
    }

    package mutating func restore(secret: String?) {
        let lines = (secret ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == parts.count else { return }
        for (index, line) in lines.enumerated() { parts[index].url = HTTPAddress(String(line))?.asSecret }
    }

    package var isPlausible: Bool {
        guard ResumeBounds.counts.contains(unanswered ?? 0), ResumeBounds.lengths.contains(length) else { return false }
        var end: Int64 = 0
        for part in parts {
            guard part.start == end, part.end >= part.start else { return false }
            if let cut = part.cut, !cut.isPlausible { return false }
            end = part.end
        }
        return true
    }
}
