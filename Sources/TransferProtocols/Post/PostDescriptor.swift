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
        isRepeatable = job.headers.contains { $0.name.lowercased() == "idempotency-key" }
    }
}
