/// What a chunked upload to Nextcloud is to do.
package struct NextcloudPlan: Sendable, Hashable {
    /// The server's least and its most of chunks in one upload (Nextcloud's developer manual, chunked upload v2).
    static let smallestChunk: Int64 = 5 << 20
    static let mostChunks: Int64 = 10_000

    /// The final address: `…/remote.php/dav/files/USER/path`.
    package var address: HTTPAddress
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: NextcloudResumePoint?
    /// How long each chunk is to be, the last excepted; made larger when there would be too many.
    package var chunk: Int64
    /// How many chunks may be on their way at once.
    package var parallel: Int

    package init(
        address: HTTPAddress, subject: UploadSubject, facts: HostFacts = HostFacts(),
        resume: NextcloudResumePoint? = nil, chunk: Int64 = 10 << 20, parallel: Int = 3
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
        self.chunk = chunk
        self.parallel = max(1, parallel)
    }
}

/// Of a chunked upload: its folder at the server, and how the file was cut.
package struct NextcloudResumePoint: ResumePointContent {
    package static var kind: String { "nextcloud" }

    /// The folder's name below the user's uploads.
    package var folder: String
    package var generation: Int
    package var chunk: Int64
    /// The folder was made: its absence is a loss.
    package var isMade = false
    /// The MOVE that puts the file together may have been asked for; what stood at the destination before.
    package var isAssembling = false
    package var before: RemoteVersion?

    package init(folder: String, generation: Int = 1, chunk: Int64) {
        self.folder = folder
        self.generation = generation
        self.chunk = chunk
    }

    package var isPlausible: Bool { !folder.isEmpty && !folder.contains("/") && generation > 0 && chunk > 0 }
}
