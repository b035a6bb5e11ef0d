package import TransferModel

/// One file that is to be sent: all that a protocol makes its machine of.
package struct UploadJob: Sendable {
    /// The batch's destination, and the file's path below it; an empty one is the destination itself.
    package let destination: any PlaceAddress
    package let path: RawPath
    package let subject: UploadSubject
    package let facts: HostFacts
    package let resume: ResumePoint?
    package let options: TransferOptions
    /// The user's own.
    package let headers: [HeaderField]
    package let formFields: [HeaderField]

    package init(
        destination: any PlaceAddress, path: RawPath, subject: UploadSubject, facts: HostFacts, resume: ResumePoint?,
        options: TransferOptions, headers: [HeaderField] = [], formFields: [HeaderField] = []
    ) {
        self.destination = destination
        self.path = path
        self.subject = subject
        self.facts = facts
        self.resume = resume
        self.options = options
        self.headers = headers
        self.formFields = formFields
    }

    /// The subject, for servers to which no version can be named in a condition: the machine compares what stands there with the earlier
    /// version of the source that was stored.
    var replacing: UploadSubject {
        var subject = subject
        if subject.ifExists != .replace { subject.own = resume?.ownVersion }
        return subject
    }

    /// The destination's folder, for a file over HTTP.
    func folder(of file: HTTPAddress) -> HTTPAddress {
        let base = path.bytes.isEmpty ? nil : destination as? HTTPAddress
        return base ?? file.folder ?? file
    }
}

/// One file that is to be fetched.
package struct DownloadJob: Sendable {
    /// The final name, when a person gave one.
    package var name: RawPath?
    package var verify: VerificationWish?
    package var ifChanged: ChangedSourcePolicy
    package var expects: TransferDigest?
    package var facts: HostFacts
    package var resume: GetResumePoint?
    /// It is read to be compared: all of it must be one version, whatever `verify` says.
    package var isReadBack: Bool

    /// Bytes count as they come, whatever version they are of.
    var takesAsItComes: Bool { verify == VerificationWish.none && !isReadBack }

    package init(
        name: RawPath?, verify: VerificationWish?, ifChanged: ChangedSourcePolicy, expects: TransferDigest?,
        facts: HostFacts, resume: GetResumePoint?, isReadBack: Bool = false
    ) {
        self.isReadBack = isReadBack
        self.name = name
        self.verify = verify
        self.ifChanged = ifChanged
        self.expects = expects
        self.facts = facts
        self.resume = resume
    }
}

/// The remains of an upload that nobody wants any more.
package struct RemovalJob: Sendable {
    package let point: ResumePoint
    package let facts: HostFacts
}

/// The question whether a place can be used.
package struct ProbeJob: Sendable {
    package let options: TransferOptions
    package let facts: HostFacts
}

/// A folder that is to be listed.
package struct ListingJob: Sendable {
    /// The beginning of all names that matter, where a server can leave the others out.
    package let beginning: RawPath
    package let facts: HostFacts
}

/// A file that is asked for by its name.
package struct FileJob: Sendable {
    package let name: RawPath
}

/// An upload that ran when an engine was killed, and of which nothing is recorded.
package struct GuessJob: Sendable {
    package let token: UploadToken
    /// Bytes of its source.
    package let size: Int64
    package let modifiedNanoseconds: Int64
    package let facts: HostFacts

    package init(token: UploadToken, size: Int64, modifiedNanoseconds: Int64, facts: HostFacts) {
        (self.token, self.size, self.modifiedNanoseconds, self.facts) = (token, size, modifiedNanoseconds, facts)
    }
}
