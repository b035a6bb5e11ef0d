import LinuxSystem

/// Recognises the requests about resumable uploads and chooses the type that serves each.
extension ReceiverContext {
    /// A request to an upload's own URL.
    func request(for head: RequestHead, to id: UploadID) -> Result<any ServedRequest, Rejection> {
        let spoken = SpokenDialect(head.fields)
        guard let dialect = spoken.forUpload else {
            let refusal: UploadRefusal = spoken == .foreignTus ? .tusVersion : .unknownDraft
            return reject(refusal, .tus, path: nil)
        }
        switch Self.method(head, dialect) {
        case .head:
            return .success(UploadQuestion(self, head, id, dialect, removes: false, demandsVersion: spoken == .none))
        case .delete:
            return .success(UploadQuestion(self, head, id, dialect, removes: true, demandsVersion: spoken == .none))
        case .patch:
            do {
                let append = try UploadAppend.patch(head, dialect)
                return .success(
                    UploadWriteRequest(self, head, .append(id, append, demandsVersion: spoken == .none)))
            } catch {
                return reject(error, dialect, path: nil)
            }
        case .get, .put, .post, .options, .other:
            let answer = Answer.problem(.methodNotAllowed, "an upload takes HEAD, PATCH and DELETE")
            return .failure(Rejection(path: nil, answer: answer.with([.allowedOnUpload])))
        }
    }

    /// A POST or PUT to a path that is, or may be, the beginning of an upload; `nil` when it is plain HTTP.
    func beginning(
        _ head: RequestHead, _ path: TargetPath, _ conditions: Preconditions
    ) -> Result<any ServedRequest, Rejection>? {
        let spoken = SpokenDialect(head.fields)
        do {
            switch spoken {
            case .foreignTus where head.method == .post: throw UploadRefusal.tusVersion
            case .known(.tus) where head.method == .post:
                return .success(try tusBeginning(head, path, conditions))
            case .known(.ietf(let version)):
                return try draftBeginning(head, path, conditions, version).map { .success($0) }
            case .none, .foreignTus, .foreignDraft, .known(.tus):
                // Whoever announces a part must not find it published as a whole.
                if Completeness(head.fields) == .incomplete { throw UploadRefusal.unknownDraft }
                return nil
            }
        } catch {
            let refusal = error as? UploadRefusal ?? .file(.failed(.inputOutput))
            if case .known(let dialect) = spoken { return reject(refusal, dialect, path: path) }
            return reject(refusal, .tus, path: path)
        }
    }

    private func tusBeginning(
        _ head: RequestHead, _ path: TargetPath, _ conditions: Preconditions
    ) throws -> any ServedRequest {
        if let list = head.fields["upload-concat"].map({ trimmed($0) }), list.hasPrefix(UploadJoin.prefix) {
            let join = try UploadJoin(head, String(list), path, conditions, unnamed: Self.unnamed())
            return UploadJoinRequest(self, head, join)
        }
        return UploadWriteRequest(
            self, head, .creation(try UploadCreation.tus(head, path, conditions, unnamed: Self.unnamed())))
    }

    private func draftBeginning(
        _ head: RequestHead, _ path: TargetPath, _ conditions: Preconditions, _ version: InteropVersion
    ) throws -> (any ServedRequest)? {
        let completes: Bool
        switch Completeness(head.fields) {
        case .malformed: throw UploadRefusal.badField("Upload-Complete")
        case .unsaid: return nil
        case .complete: completes = true
        case .incomplete: completes = false
        }
        if let answer = PutRequest.unsupported(head) { return FixedRequest(answer) }
        let creation = try UploadCreation.ietf(
            head, version, path, conditions, completes: completes, unnamed: Self.unnamed())
        return OneRequestUpload.isWorthwhile(creation, head)
            ? OneRequestUpload(self, head, creation, version) : UploadWriteRequest(self, head, .creation(creation))
    }

    /// tus lets clients behind old proxies hide the method in a POST.
    private static func method(_ head: RequestHead, _ dialect: UploadDialect) -> RequestMethod {
        guard head.method == .post, dialect == .tus, let name = head.fields["x-http-method-override"] else {
            return head.method
        }
        return RequestMethod(String(trimmed(name)))
    }

    private func reject(
        _ refusal: UploadRefusal, _ dialect: UploadDialect, path: TargetPath?
    ) -> Result<any ServedRequest, Rejection> {
        .failure(Rejection(path: path, answer: refusal.answer(in: dialect).with(UploadAnswers.version(dialect))))
    }

    private static func unnamed() throws(Errno) -> String { "upload-" + String(try UploadID().text.prefix(8)) }
}

/// Helpers that the requests about uploads share.
extension ReceiverContext {
    func answers(_ dialect: UploadDialect, _ id: UploadID) -> UploadAnswers {
        UploadAnswers(dialect: dialect, id: id, limits: configuration.limits, now: WallClock.seconds)
    }

    /// The reason for which a file could not be published under its name as things stand; `nil` when it could.
    func refusal(toPublish record: UploadRecord) -> UploadRefusal? {
        if record.role == .partial { return nil }
        if record.path.isFolder { return .file(.namesAFolder) }
        let existing: Existing
        do {
            existing = try folder.look(at: record.path)
        } catch {
            return .after(error)
        }
        let conditions = record.conditions
        if conditions.outcome(of: existing.facts, isRead: false) == .failed
            || (conditions.demandsAbsence && existing != .nothing)
        {
            return record.refusal(over: existing.facts)
        }
        switch existing {
        case .nothing, .file: return nil
        case .folder, .other: return .file(.notAFile)
        }
    }

    /// The upload of this name; `nil` when there is none.
    func acquire(_ id: UploadID) throws(UploadRefusal) -> LiveUpload? {
        do {
            let upload = try uploads.acquire(id)
            if let upload { uploads.noteUse(upload) }
            return upload
        } catch {
            throw .after(error)
        }
    }

    func report(published record: UploadRecord, size: UInt64, replaced: Bool, from peer: String) {
        let milliseconds = max(0, WallClock.milliseconds - record.created)
        journal.report(
            .received(
                record.path, size: size, in: .milliseconds(milliseconds), from: peer, replaced: replaced,
                resumedAt: record.resumedAt))
    }
}
