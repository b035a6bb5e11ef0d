package import TransferModel

/// A form around the file: `multipart/form-data` (RFC 7578).
package struct PostForm: Sendable, Hashable {
    /// The name of the field that holds the file.
    package var fileField: String
    /// Other fields, before the file, in this order: name and value.
    package var fields: [HeaderField]

    package init(fileField: String, fields: [HeaderField] = []) {
        self.fileField = fileField
        self.fields = fields
    }
}

/// What a POST is to do.
package struct PostPlan: Sendable, Hashable {
    package var address: HTTPAddress
    package var subject: UploadSubject
    /// `nil`: the body is the file and nothing else.
    package var form: PostForm?
    package var resume: PostResumePoint?

    package init(
        address: HTTPAddress, subject: UploadSubject, form: PostForm? = nil, resume: PostResumePoint? = nil
    ) {
        self.address = address
        self.subject = subject
        self.form = form
        self.resume = resume
    }
}

/// Of a POST only this: whether one is on its way whose answer nobody has recorded.
package struct PostResumePoint: ResumePointContent {
    package static var kind: String { "post" }

    /// The run that sent it. A person who begins a new run knows what the old one may have done.
    package var token: String
    package var isSent: Bool

    package init(token: String, isSent: Bool) {
        self.token = token
        self.isSent = isSent
    }
}
