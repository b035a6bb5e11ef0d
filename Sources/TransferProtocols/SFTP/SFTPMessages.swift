package import TransferModel

/// The parameters of an upload over SFTP.
package struct SFTPUploadPlan: Sendable, Hashable {
    /// The server's name, for what people are told.
    package var host: String
    /// The final path at the server; a relative one starts in the home folder.
    package var path: RawPath
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: SFTPResumePoint?

    package init(
        host: String, path: RawPath, subject: UploadSubject, facts: HostFacts = HostFacts(),
        resume: SFTPResumePoint? = nil
    ) {
        self.host = host
        self.path = path
        self.subject = subject
        self.facts = facts
        self.resume = resume
    }

    /// Modification time of the source in SFTP's unit: whole seconds since 1970, cut to what 32 bits hold.
    var modified: Int64 { Self.seconds(subject.modifiedNanoseconds) }

    static func seconds(_ nanoseconds: Int64) -> Int64 { kept(nanoseconds / 1_000_000_000) }

    /// A time in seconds as a server can keep it.
    static func kept(_ seconds: Int64) -> Int64 {
        min(max(0, seconds), Int64(UInt32.max))
    }
}

/// The parameters of a download over SFTP. Its resume point is that of every download; size and time of modification stand for the version.
package struct SFTPDownloadPlan: Sendable, Hashable {
    package var host: String
    package var path: RawPath
    /// The final name, when a person gave one.
    package var name: RawPath?
    package var verify: VerificationWish?
    /// A digest that a person gave.
    package var expects: TransferDigest?
    /// Resume point of an earlier attempt, its offset cut to what the temporary file really has.
    package var resume: GetResumePoint?
    /// When the file is another one than the one that was begun.
    package var ifChanged = ChangedSourcePolicy.restart
    /// Bytes count as they come, whatever version they are of.
    package var takesAsItComes: Bool

    package init(
        host: String, path: RawPath, name: RawPath? = nil, verify: VerificationWish? = nil,
        expects: TransferDigest? = nil, resume: GetResumePoint? = nil
    ) {
        self.host = host
        self.path = path
        self.name = name
        self.verify = verify
        takesAsItComes = verify == VerificationWish.none
        self.expects = expects
        self.resume = resume
    }
}

/// Resume point of an upload over SFTP: the name under which its bytes are gathered, and their version of the source.
package struct SFTPResumePoint: RenamingResumePoint {
    package static var kind: String { ProtocolFacts.sftp.id }

    /// The temporary file beside the target; the target itself on a server that cannot rename.
    package var temporary: RawPath
    /// Counts the temporary files of this task: another version of the source takes a new one, because the old may still be written to.
    package var generation: Int
    /// Length of the source whose bytes they are. A file of this size and time at the target is ours.
    package var size: Int64
    /// Seconds since 1970.
    package var modified: Int64
    /// The rename was asked for, and the answer was lost.
    package var publishing = false
    /// The server showed the temporary file with the time that we gave it: under the final name it has that, too.
    package var keepsTime: Bool?
    /// As `FTPResumePoint.removesOld`.
    package var removesOld: Bool?
    /// The server had every byte of the temporary file, by its own word, and none was sent since: only its name is missing.
    package var isComplete: Bool?
    /// Attempts whose rename the server refused without saying that it has none.
    package var refusedRenames: Int?
    /// As `FTPResumePoint.owned`.
    package var owned: OwnedName?
    /// As `FTPResumePoint.longest`.
    package var longest: Int64?
    package var vanished: Int?
    /// Bytes behind the first unacknowledged one that may have been on their way when the upload was cut; `nil`: a point of an older
    /// version, which allowed `SFTPUpload.mostReach`.
    package var reach: Int64?
    /// Only for who clears up: an engine was killed, and nobody knows whether the file was made. No upload goes on from it.
    package private(set) var isGuess: Bool?

    package mutating func disclaim() { publishing = false }

    package init(temporary: RawPath, generation: Int, size: Int64, modified: Int64) {
        self.temporary = temporary
        self.generation = generation
        self.size = size
        self.modified = modified
    }

    /// A guess at what a small upload may have left behind, of which no resume point was made durable.
    /// - Parameter path: its final path.
    package init(guessedFor path: RawPath, token: UploadToken, size: Int64, modifiedNanoseconds: Int64) {
        self.init(
            temporary: TemporaryName.beside(path, token: token.text), generation: 1, size: size,
            modified: SFTPUploadPlan.seconds(modifiedNanoseconds))
        isGuess = true
    }

    package var isPlausible: Bool {
        ResumeBounds.lengths.contains(size) && ResumeBounds.seconds.contains(modified)
            && ResumeBounds.generations.contains(generation) && owned?.isPlausible ?? true
            && !temporary.bytes.isEmpty && ResumeBounds.counts.contains(refusedRenames ?? 0)
            && ResumeBounds.counts.contains(vanished ?? 0) && ResumeBounds.lengths.contains(longest ?? 0)
            && Self.reaches.contains(reach ?? SFTPUpload.mostReach)
    }

    private static let reaches = SFTPUpload.leastReach...SFTPUpload.mostReach
}
