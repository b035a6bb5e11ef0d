import TransferModel
import TransferProtocols
import TransferQueue

/// Chooses the protocol that sends a file, by the destination's scheme, the user's options, what the host can, and what an earlier
/// attempt left there. What a new protocol needs is said in `ProtocolMachine.swift`.
extension BatchContext {
    /// The machine for a file below the destination; an empty path is the destination itself. `nil`: there is no such address.
    func uploadMachine(
        _ subject: UploadSubject, below remote: RawPath, facts: HostFacts, resume: ResumePoint?
    ) -> (any ProtocolMachine)? {
        guard let destination, let place = destination.appending(remote) else { return nil }
        var subject = subject
        subject.contentType = order.secrets.headers.first(where: \.isContentType)?.value
        switch place.address {
        case .http(let address):
            let upload = HTTPUpload(
                folder: remote.bytes.isEmpty ? address.folder : base ?? address.folder, address: address,
                below: remote, subject: subject, facts: facts, resume: resume, options: order.options,
                formFields: order.secrets.formFields, headers: order.secrets.headers)
            return upload.machine(scheme: place.scheme)
        case .s3(let address):
            return S3Upload(
                S3Plan(
                    address: address, subject: subject, facts: facts, resume: resume?.content(S3ResumePoint.self),
                    chunk: order.options.chunkBytes))
        case .ftp(let address):
            return FTPUpload(
                FTPUploadPlan(
                    host: address.server, path: address.path, subject: subject.replacing(earlierVersionOf: resume),
                    facts: facts,
                    resume: resume?.content(FTPResumePoint.self)))
        case .sftp(let host, let port, let path):
            return SFTPUpload(
                SFTPUploadPlan(
                    host: RemotePlace.server(host, port), path: path,
                    subject: subject.replacing(earlierVersionOf: resume), facts: facts,
                    resume: resume?.content(SFTPResumePoint.self)))
        }
    }

    private var base: HTTPAddress? {
        if case .http(let address)? = destination?.address { address } else { nil }
    }
}

/// An upload over HTTP whose protocol is still to be chosen.
private struct HTTPUpload {
    /// The destination's folder, and the file's own address.
    let folder: HTTPAddress
    let address: HTTPAddress
    let below: RawPath
    let subject: UploadSubject
    let facts: HostFacts
    let resume: ResumePoint?
    let options: TransferOptions
    let formFields: [HeaderField]
    /// The user's own.
    let headers: [HeaderField]

    func machine(scheme: TransferScheme) -> any ProtocolMachine {
        // What is begun goes on by what began it.
        switch resume?.kind {
        case TusResumePoint.kind: return TusUpload(tus)
        case ResumableResumePoint.kind: return ResumableUpload(resumable)
        default: break
        }
        switch scheme {
        case .dav, .davs: return dav
        case .tusHTTP, .tusHTTPS: return TusUpload(tus)
        case .ietfHTTP, .ietfHTTPS: return ResumableUpload(resumable)
        default: break
        }
        switch options.uploadBy ?? facts.uploadBy.flatMap(HTTPUploadProtocol.init(rawValue:)) {
        case .tus: return TusUpload(tus)
        case .ietf: return ResumableUpload(resumable)
        case .put: return PutUpload(put)
        case .post, .form: return PostUpload(post)
        case nil:
            return NegotiatedUpload(NegotiatedPlan(folder: folder, put: put, tus: tus, resumable: resumable))
        }
    }

    /// As `subject`, for servers without a version to name in a condition.
    private var replacing: UploadSubject { subject.replacing(earlierVersionOf: resume) }

    /// Nextcloud takes large files in pieces that it remembers; other servers take them whole.
    private var dav: any ProtocolMachine {
        let chunk = options.chunkBytes ?? NextcloudPlan.usualChunk
        let isChunked = address.target.contains("/remote.php/dav/files/") && subject.size > chunk
        // A MOVE that may have happened, or a digest that was not heard, is asked after by what sent the file whole.
        let whole = resume?.content(DavResumePoint.self)
        let isInDoubt = whole.map { $0.publishing || $0.unanswered != nil } ?? false
        if resume?.kind == NextcloudResumePoint.kind || isChunked && facts.cannotChunk != true && !isInDoubt {
            return NextcloudUpload(
                NextcloudPlan(
                    address: address, subject: replacing, facts: facts,
                    resume: resume?.content(NextcloudResumePoint.self), chunk: chunk))
        }
        return DavUpload(
            DavPlan(address: address, subject: replacing, facts: facts, resume: resume?.content(DavResumePoint.self)))
    }

    private var post: PostPlan {
        var plan = PostPlan(
            address: address, subject: subject,
            form: options.form.map { PostForm(fileField: $0.fileField, fields: formFields) },
            resume: resume?.content(PostResumePoint.self))
        plan.isRepeatable = headers.contains { $0.name.lowercased() == "idempotency-key" }
        return plan
    }

    private var put: PutPlan {
        // One that was told to be plain is not asked for more.
        var put = PutPlan(
            address: address, size: subject.size, ifExists: subject.ifExists, verify: subject.verify,
            begunBefore: subject.begunBefore,
            resume: stored,
            // What OPTIONS does not announce a 104 may still bring.
            offersResume: options.uploadBy == nil && subject.size >= Self.leastToResume)
        put.unanswered = resume?.isOutdated == true ? 0 : resume?.content(PutResumePoint.self)?.unanswered ?? 0
        put.tellsDigests = facts.tellsDigests
        put.interopVersion = facts.versionToOffer
        put.offerIsTrial = facts.isOfferATrial
        return put
    }

    /// A smaller file is sent again as quickly as its offset is asked for.
    private static let leastToResume: Int64 = 1 << 20

    /// The earlier version of the source that the server has stored, when it has all of it.
    private var stored: PutResumePoint? { resume?.ownVersion }

    private var tus: TusPlan {
        let isNested = below.bytes.contains(UInt8(ascii: "/"))
        var plan = TusPlan(
            endpoint: folder, subject: subject, relativePath: isNested ? below : nil, facts: facts,
            resume: resume?.content(TusResumePoint.self), chunk: options.chunkBytes, fileAddress: address)
        plan.stored = stored
        return plan
    }

    private var resumable: ResumablePlan {
        var plan = ResumablePlan(
            address: address, subject: subject, facts: facts, resume: resume?.content(ResumableResumePoint.self),
            chunk: options.chunkBytes)
        plan.stored = stored
        return plan
    }
}

extension UploadSubject {
    /// For servers that tell no version: what lies there is ours when an earlier version of the source was stored, and the rule for foreign
    /// files is not for it.
    fileprivate func replacing(earlierVersionOf resume: ResumePoint?) -> UploadSubject {
        guard resume?.ownVersion != nil else { return self }
        var subject = self
        subject.ifExists = .replace
        return subject
    }
}

extension HTTPAddress {
    /// The folder that it lies in: everything up to the last slash of the path.
    fileprivate var folder: HTTPAddress { resolving("./") ?? self }
}
