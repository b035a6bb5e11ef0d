import Digests
import TransferModel

extension ProtocolDescriptor {
    static let post = ProtocolDescriptor(
        .post, at: HTTPAddress.self, resumePoint: PostResumePoint.self,
        upload: { job, address in PostUpload(PostPlan(job, address)) })

    /// A POST whose body is a form around the file.
    static let form = ProtocolDescriptor(
        .form, at: HTTPAddress.self, resumePoint: PostResumePoint.self,
        upload: { job, address in PostUpload(PostPlan(job, address)) })
}

extension PostPlan {
    fileprivate init(_ job: UploadJob, _ address: HTTPAddress) {
        self.init(
            address: address, subject: job.subject,
            form: job.options.form.map { PostForm(fileField: $0.fileField, fields: job.formFields) },
            resume: job.resume?.content(PostResumePoint.self))
        key = job.headers.first { $0.isIdempotencyKey }.map { Self.key($0.value, job) }
    }

    /// The given key with a mark of the task and of its source's version, the same for all attempts: a server takes another file with the
    /// same key for the first, and stores nothing.
    private static func key(_ given: String, _ job: UploadJob) -> String {
        let subject = job.subject
        // A changed source may have the size and time of the one before.
        let changes = job.resume?.sourceChanges ?? 0
        let version = "\(subject.token) \(subject.size) \(subject.modifiedNanoseconds) \(changes)"
        let mark = mark(of: version)
        // The draft of the field has a string in quotation marks, those who came before it a bare one.
        guard given.count > 1, given.hasPrefix("\""), given.hasSuffix("\"") else { return "\(given)-\(mark)" }
        return "\(given.dropLast())-\(mark)\""
    }

    /// Twelve bytes that tell this text from all others, and not what it is.
    static func mark(of text: String) -> String {
        Hexadecimal.encode(DigestAlgorithm.sha256.digest(of: Array(text.utf8)).bytes.prefix(12))
    }
}
