package import TransferModel

/// The parameters of a chunked upload to Nextcloud.
package struct NextcloudPlan: Sendable, Hashable {
    /// The server's least and its most of chunks in one upload (Nextcloud's developer manual, chunked upload v2).
    static let smallestChunk: Int64 = 5 << 20
    static let mostChunks: Int64 = 10_000
    /// A cut costs at most the chunks on their way.
    package static let usualChunk: Int64 = 10 << 20

    /// The final address: `…/remote.php/dav/files/USER/path`.
    package var address: HTTPAddress
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: NextcloudResumePoint?
    /// Resume point of an attempt that sent the file whole: its temporary file serves nothing any more.
    package var whole: DavResumePoint?
    /// Wanted bytes of each chunk, the last excepted; made larger when there would be too many.
    package var chunk: Int64
    /// Chunks that may be on their way at once, at least 1.
    package var parallel: Int

    package init(
        address: HTTPAddress, subject: UploadSubject, facts: HostFacts = HostFacts(),
        resume: NextcloudResumePoint? = nil, chunk: Int64 = usualChunk, parallel: Int = 3
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
        self.chunk = chunk
        self.parallel = max(1, parallel)
    }
}

/// Resume point of a chunked upload: its folder at the server, and how the file was cut.
package struct NextcloudResumePoint: RenamingResumePoint {
    package static var kind: String { ProtocolFacts.nextcloud.id }

    /// The folder's name below the user's uploads.
    package var folder: String
    package var generation: Int
    package var chunk: Int64
    /// The folder was made: its absence is a loss.
    package var isMade = false
    /// The MOVE that puts the file together may have been asked for; what stood at the destination before.
    package var isAssembling = false
    package var before: RemoteVersion?
    /// The version that the MOVE was to name.
    package var version: NamedVersion?
    /// When its answer was lost: the server may copy for an hour after that.
    package var lostAt: Timestamp?
    package var vanished: Int?

    package init(folder: String, generation: Int = 1, chunk: Int64) {
        self.folder = folder
        self.generation = generation
        self.chunk = chunk
    }

    package mutating func disclaim() { (isAssembling, lostAt) = (false, nil) }

    package var isPlausible: Bool {
        RemoteEntry.isName(Array(folder.utf8)) && ResumeBounds.generations.contains(generation)
            && ResumeBounds.chunks.contains(chunk) && ResumeBounds.counts.contains(vanished ?? 0)
            && version?.isPlausible ?? true && before?.isPlausible ?? true
    }
}

/// The addresses of a file's chunks: `…/remote.php/dav/files/USER/path` has its uploads at `…/remote.php/dav/uploads/USER/`.
struct NextcloudPlace: Hashable, Sendable {
    let address: HTTPAddress
    private let uploads: String

    /// `nil` for an address that is not Nextcloud's.
    init?(_ address: HTTPAddress) {
        let marks = Array("/remote.php/dav/files/")
        let path = Array(address.target)
        guard let start = path.indices.first(where: { path[$0...].starts(with: marks) }) else { return nil }
        let user = path[(start + marks.count)...].prefix { $0 != "/" && $0 != "?" }
        guard !user.isEmpty, path.dropFirst(start + marks.count + user.count + 1).first != nil else { return nil }
        self.address = address
        uploads = String(path[..<start]) + "/remote.php/dav/uploads/" + String(user) + "/"
    }

    func folder(_ name: String) -> HTTPAddress { HTTPAddress(address, target: uploads + name) }

    /// Chunks are put together in the order of their names.
    func chunk(_ number: Int, in folder: String) -> HTTPAddress {
        let digits = String(number)
        return HTTPAddress(
            address, target: uploads + folder + "/" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits)
    }

    /// Moving this puts the file together.
    func whole(in folder: String) -> HTTPAddress { HTTPAddress(address, target: uploads + folder + "/.file") }
}
