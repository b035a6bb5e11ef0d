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

/// The parameters of a POST.
package struct PostPlan: Sendable, Hashable {
    package var address: HTTPAddress
    package var subject: UploadSubject
    /// `nil`: the body is the file and nothing else.
    package var form: PostForm?
    package var resume: PostResumePoint?
    /// Made of the user's `Idempotency-Key`: by it the server knows a second POST of this version of the file for the first.
    package var key: String?

    /// The key of a POST to where redirects led: like all that was given it is for the first server alone.
    func key(_ chain: RedirectChain) -> String? { chain.mayCarrySecrets ? key : nil }

    package init(
        address: HTTPAddress, subject: UploadSubject, form: PostForm? = nil, resume: PostResumePoint? = nil
    ) {
        self.address = address
        self.subject = subject
        self.form = form
        self.resume = resume
    }
}

/// Resume point of a POST. It says only whether one may have happened, and under which key.
package struct PostResumePoint: ResumePointContent {
    package static var kind: String { ProtocolFacts.post.id }
    package static var afterCut: AfterCut { .isUnknown }
    package static var leavesParts: Bool { false }
    /// A person who retries a POST has read why it failed, and wants it sent again.
    package var retried: PostResumePoint? { PostResumePoint(token: token, isSent: false) }

    /// The task that sent it. After a cancel its retry is told once that the request may have been carried out, and sends nothing.
    package var token: String
    package var isSent: Bool
    /// A mark of the key that went with it, which the server knows it by; `nil`: none did, and it is never repeated.
    package var under: String?

    package init(token: String, isSent: Bool, under key: String? = nil) {
        self.token = token
        self.isSent = isSent
        under = key.map { PostPlan.mark(of: $0) }
    }

    /// The server knows a repetition with this key for the POST that may have happened, or there was none.
    func allows(_ key: String?, of token: String) -> Bool {
        !isSent || self.token != token || under != nil && under == key.map { PostPlan.mark(of: $0) }
    }
}

/// The request of a POST.
enum PostMessages {
    static func post(_ plan: PostPlan, _ chain: RedirectChain) -> Exchange {
        var headers: [HeaderField] = []
        var body = HTTPExchange.Body.source(0..<plan.subject.size)
        if let form = plan.form {
            headers.append(HeaderField("Content-Type", "multipart/form-data; boundary=\(boundary(plan))"))
            let (before, after) = frame(plan, form)
            body = .framed(before: before, 0..<plan.subject.size, after: after)
        } else {
            headers.append(HeaderField("Content-Type", plan.subject.mediaType))
        }
        if let key = plan.key(chain) { headers.append(HeaderField("Idempotency-Key", key)) }
        return .http(
            HTTPExchange(.post, chain.address, headers: headers, body: body, mayCarrySecrets: chain.mayCarrySecrets))
    }

    /// Bytes of the whole body.
    static func length(_ plan: PostPlan) -> Int64 {
        guard let form = plan.form else { return plan.subject.size }
        let (before, after) = frame(plan, form)
        return plan.subject.size + Int64(before.count + after.count)
    }

    /// The same for all attempts of a run. What is sent is not searched for it: 128 random bits do not come up by chance.
    private static func boundary(_ plan: PostPlan) -> String { "martlet-\(plan.subject.token)" }

    private static func frame(_ plan: PostPlan, _ form: PostForm) -> (before: [UInt8], after: [UInt8]) {
        let line = "--\(boundary(plan))"
        var before: [UInt8] = []
        for field in form.fields {
            before += Array("\(line)\r\nContent-Disposition: form-data; name=\"".utf8) + quoted(Array(field.name.utf8))
            before += Array("\"\r\n\r\n\(field.value)\r\n".utf8)
        }
        before += Array("\(line)\r\nContent-Disposition: form-data; name=\"".utf8) + quoted(Array(form.fileField.utf8))
        before += Array("\"; filename=\"".utf8) + quoted(plan.subject.name.bytes)
        before += Array("\"\r\nContent-Type: \(plan.subject.mediaType)\r\n\r\n".utf8)
        return (before, Array("\r\n\(line)--\r\n".utf8))
    }

    /// As browsers write names: bytes as they are, but quotation marks and line ends percent-encoded (RFC 7578 section 2, WHATWG HTML
    /// section "multipart form data").
    private static func quoted(_ name: [UInt8]) -> [UInt8] {
        name.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\""): Array("%22".utf8)
            case 13: Array("%0D".utf8)
            case 10: Array("%0A".utf8)
            default: [byte]
            }
        }
    }
}
