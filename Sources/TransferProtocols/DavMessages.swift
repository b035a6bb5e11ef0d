/// What an upload over WebDAV is to do.
package struct DavPlan: Sendable, Hashable {
    /// The final address; its folder may be missing.
    package var address: HTTPAddress
    package var subject: UploadSubject
    package var facts: HostFacts
    package var resume: DavResumePoint?

    package init(
        address: HTTPAddress, subject: UploadSubject, facts: HostFacts = HostFacts(), resume: DavResumePoint? = nil
    ) {
        self.address = address
        self.subject = subject
        self.facts = facts
        self.resume = resume
    }

    /// Nextcloud and ownCloud keep the time and take checksums; they are known by their paths.
    var isCloud: Bool { address.target.contains("/remote.php/") || address.target.contains("/public.php/") }
}

/// Of an upload over WebDAV: the temporary file, and how far it came.
package struct DavResumePoint: ResumePointContent {
    package static var kind: String { "dav" }

    /// The path of the temporary file's address, percent-encoded.
    package var temporary: String
    package var generation: Int
    /// Bytes of an attempt were lost: the next one is a restart to be seen.
    package var wasCut = false
    /// All bytes are there and the MOVE may have been asked for.
    package var publishing = false

    package init(temporary: String, generation: Int = 1) {
        self.temporary = temporary
        self.generation = generation
    }

    package var isPlausible: Bool { generation > 0 && temporary.hasPrefix("/") }
}
