import Digests
package import TransferModel

/// What a tus upload is to do.
package struct TusPlan: Sendable, Hashable {
    /// Where uploads are made: the destination folder's address.
    package var endpoint: HTTPAddress
    /// Where the file would be read afterwards if the server also serves it: asked when an answer was lost. By default below `endpoint`.
    package var fileAddress: HTTPAddress
    package var subject: UploadSubject
    /// The file's path below `endpoint` with its name; `nil` when it is directly there.
    package var relativePath: RawPath?
    package var facts: HostFacts
    package var resume: TusResumePoint?
    /// Bytes in one request at most, when a person said so.
    package var chunk: Int64?
    /// Uploads of parts of a large file that may go on side by side, where the server can join them.
    package var parts: Int

    package init(
        endpoint: HTTPAddress, subject: UploadSubject, relativePath: RawPath? = nil, facts: HostFacts = HostFacts(),
        resume: TusResumePoint? = nil, chunk: Int64? = nil, parts: Int = 1, fileAddress: HTTPAddress? = nil
    ) {
        self.endpoint = endpoint
        self.fileAddress = fileAddress ?? endpoint.appending(relativePath ?? subject.name)
        self.subject = subject
        self.relativePath = relativePath
        self.facts = facts
        self.resume = resume
        self.chunk = chunk
        self.parts = parts
    }
}
