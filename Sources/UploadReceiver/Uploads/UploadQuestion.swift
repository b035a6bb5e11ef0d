import LinuxSystem

/// Serves HEAD and DELETE of an upload. Both take the upload away from whoever writes to it: the client that asks has lost
/// that connection, whether this side knows it or not.
final class UploadQuestion: ServedRequest {
    private let context: ReceiverContext
    private let head: RequestHead
    private let id: UploadID
    private let dialect: UploadDialect
    private let removes: Bool
    private let demandsVersion: Bool
    private var upload: LiveUpload?
    private let settling = Settling()

    init(
        _ context: ReceiverContext, _ head: RequestHead, _ id: UploadID, _ dialect: UploadDialect, removes: Bool,
        demandsVersion: Bool
    ) {
        self.context = context
        self.head = head
        self.id = id
        self.dialect = dialect
        self.removes = removes
        self.demandsVersion = demandsVersion
    }

    func headArrived() -> Answer? {
        do {
            if case .ietf = dialect { try refuseFields() }
            upload = try context.acquire(id)
            guard let upload else { throw UploadRefusal.noSuchUpload }
            if demandsVersion, upload.record.completesByLength { throw UploadRefusal.tusVersion }
            return nil
        } catch let refusal as UploadRefusal {
            return refuse(refusal)
        } catch {
            preconditionFailure("no other kind of error is thrown here")
        }
    }

    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? { nil }

    func bodyEnded() -> RequestStep {
        guard let upload else { preconditionFailure("a refused request has no end") }
        let (uploads, settling, removes) = (context.uploads, settling, removes)
        return .work { done in
            upload.takeOver(
                {
                    if upload.isRemoved {
                        settling.end = .refused(.noSuchUpload)
                    } else if removes {
                        uploads.remove(upload)
                        settling.end = .removed
                    } else {
                        settling.end = uploads.status(upload)
                    }
                }, done: done)
        }
    }

    func workEnded() -> RequestStep {
        guard let upload else { preconditionFailure("answered without an upload") }
        let answers = context.answers(dialect, id)
        let record = upload.record
        switch settling.end {
        case .refused(let refusal): return .answer(refuse(refusal))
        case .removed:
            context.journal.report(.removed(record.path, at: upload.facts.offset, from: head.peer))
            return .answer(answers.removed())
        case .published(_, let offset, let replaced, _):
            context.report(published: record, size: offset, replaced: replaced, from: head.peer)
            fallthrough
        case .kept: return .answer(answers.status(upload.facts, lastWritten: upload.lastWritten))
        }
    }

    func ended(_ ending: ExchangeEnding) {
        if let upload { context.uploads.release(upload) }
        upload = nil
    }

    /// The drafts want these refused, so that nobody takes the answer for one to an append.
    private func refuseFields() throws(UploadRefusal) {
        for name in ["Upload-Offset", "Upload-Complete", "Upload-Incomplete", "Upload-Length"]
        where head.fields[name.lowercased()] != nil {
            throw .unwantedField(name)
        }
    }

    private func refuse(_ refusal: UploadRefusal) -> Answer {
        var answer = refusal.answer(in: dialect).with(UploadAnswers.version(dialect))
        if !removes { answer.fields.append(.notStored) }
        return answer
    }
}
