import Digests
import LinuxSystem

/// Serves one request that begins an upload or goes on with one, as its machine says.
final class UploadWriteRequest: ServedRequest {
    enum Entry {
        case creation(UploadCreation)
        /// A PATCH; `demandsVersion` when it named no dialect, which tus uploads do not take.
        case append(UploadID, UploadAppend, demandsVersion: Bool)
    }

    private let context: ReceiverContext
    private let head: RequestHead
    private let entry: Entry
    private let dialect: UploadDialect
    private var machine: AppendMachine
    private var upload: LiveUpload?
    private var seat: LiveUpload.Seat?
    private var piece: UploadPiece?
    /// Bytes of this request.
    private var received: UInt64 = 0
    private let settling = Settling()
    private var reports: ProgressReports
    /// True when the client knows the upload's URL; otherwise a beginning that is cut is of no use to anybody.
    private var urlIsKnown: Bool
    private var isAnswered = false
    /// While it is shown as under way.
    private var shown: UploadsUnderWay.Shown?

    init(_ context: ReceiverContext, _ head: RequestHead, _ entry: Entry) {
        self.context = context
        self.head = head
        self.entry = entry
        let append: UploadAppend
        switch entry {
        case .creation(let creation): (append, urlIsKnown) = (creation.append, false)
        case .append(_, let patch, _): (append, urlIsKnown) = (patch, true)
        }
        dialect = append.dialect
        reports = ProgressReports(from: append.offset)
        machine = AppendMachine(append, limits: context.configuration.limits)
    }

    func headArrived() -> Answer? {
        do {
            switch entry {
            case .creation(let creation): try create(creation)
            case .append(let id, let append, let demandsVersion): try goOn(id, append, demandsVersion)
            }
            if let claim = machine.append.piece { piece = try makePiece(claim) }
            announce()
            show()
            return nil
        } catch {
            return refuse(error)
        }
    }

    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? {
        switch machine.arrived(bytes.count) {
        case .ignore: return nil
        case .refuse(let refusal): return refuse(refusal)
        case .store:
            do {
                guard try store(bytes) else { return refuse(machine.tookOver()) }
                received += UInt64(bytes.count)
                shown?.advance(to: machine.append.offset + received)
                tellProgress()
                return nil
            } catch {
                return refuse(machine.storingFailed(error))
            }
        }
    }

    func bodyEnded() -> RequestStep {
        // The server hands on the end of a body only where its beginning was taken. Were it otherwise the client asks again, and the receiver
        // serves on.
        guard let upload, let seat else { return .answer(refuse(.busy)) }
        let action = machine.bodyEnded(piece: piece?.digest)
        if case .refuse(let refusal) = action { return .answer(refuse(refusal)) }
        let uploads = context.uploads
        return .work { [settling, piece = piece?.file] done in
            let isSettled = upload.settle(
                seat,
                {
                    settling.end = Self.settle(upload, piece, isLast: action == .publish, in: uploads)
                }, done: done)
            if !isSettled {
                settling.end = .refused(.busy)
                done()
            }
        }
    }

    func workEnded() -> RequestStep {
        machine.settled()
        // Only the work that `bodyEnded` gave out ends, and it gave it out for an upload.
        guard let upload else { preconditionFailure("settled without an upload") }
        switch settling.end {
        case .refused(let refusal): return .answer(refuse(refusal))
        case .kept(let offset):
            isAnswered = true
            // More is to come: it stays to be seen for a moment.
            hide(isOver: false)
            context.uploads.noteOrderlyEnd(upload, at: offset)
            if case .creation(let creation) = entry {
                urlIsKnown = true
                let bodyCame = creation.append.body != .none
                return .answer(answers(upload.id).created(upload.record, offset: offset, bodyCame: bodyCame))
            }
            return .answer(answers(upload.id).appended(upload.record, offset: offset))
        case .published(let facts, let offset, let replaced, let digest):
            return .answer(finish(upload, facts, offset, replaced, digest))
        case .removed: return .answer(refuse(.noSuchUpload))
        }
    }

    func ended(_ ending: ExchangeEnding) {
        piece = nil
        hide(isOver: true)
        guard let upload else { return }
        if let seat { upload.leave(seat) }
        let facts = upload.facts
        if !isAnswered, case .published(_, let offset, let replaced, _) = settling.end {
            // Nobody waited for the answer, and it is there all the same.
            context.report(published: facts.record, size: offset, replaced: replaced, from: head.peer)
        } else if !isAnswered {
            if !urlIsKnown { context.uploads.remove(upload) }
            context.journal.report(
                .interrupted(
                    facts.record.path, ending, at: urlIsKnown ? facts.offset : nil, of: facts.record.length,
                    from: head.peer))
        }
        context.uploads.release(upload)
        self.upload = nil
    }

    // MARK: The beginning

    private func create(_ creation: UploadCreation) throws(UploadRefusal) {
        var record = creation.record
        record.created = WallClock.milliseconds
        try look(at: record)
        if let refusal = context.uploads.refusalToBegin() { throw refusal }
        try machine.look(UploadFacts(record: record, offset: 0, isPublished: false), context)
        do {
            let upload = try context.uploads.create(record)
            self.upload = upload
            // Nobody else knows it, so the seat is free.
            seat = upload.takeSeat(head.socket)
        } catch {
            throw .after(error)
        }
    }

    private func look(at record: UploadRecord) throws(UploadRefusal) {
        if let refusal = context.refusal(toPublish: record) { throw refusal }
    }

    private func goOn(_ id: UploadID, _ append: UploadAppend, _ demandsVersion: Bool) throws(UploadRefusal) {
        guard let upload = try context.acquire(id) else { throw .noSuchUpload }
        self.upload = upload
        if demandsVersion, upload.record.completesByLength { throw .tusVersion }
        // First the seat: only then the offset stands still.
        guard let seat = upload.takeSeat(head.socket) else { throw .busy }
        self.seat = seat
        do {
            let facts = upload.facts
            // What is told of the offset must be on the disk.
            if facts.offset != append.offset { _ = try upload.sync() }
            if let length = try machine.look(facts, context) { try upload.setLength(length) }
            if context.uploads.isResumption(upload, at: append.offset) { upload.noteResumption(at: append.offset) }
        } catch let error as Errno {
            throw .after(error)
        } catch let refusal as UploadRefusal {
            throw refusal
        } catch {
            // What is called above throws these two types; the language cannot say so of a `do` with several calls.
            preconditionFailure("neither of the two kinds of error that are thrown here")
        }
    }

    private func makePiece(_ claim: PieceClaim) throws(UploadRefusal) -> UploadPiece {
        do {
            return try UploadPiece(claim, in: context.uploads.folder)
        } catch {
            throw .after(error)
        }
    }

    // MARK: The bytes

    private func store(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Bool {
        guard let upload, let seat else { return false }
        guard let piece else {
            switch try upload.append(bytes, seat) {
            case .seatLost: return false
            case .checkpointDue: context.uploads.checkpoint(upload)
            case .stored: break
            }
            return true
        }
        guard upload.isHeld(by: seat) else { return false }
        try piece.append(bytes)
        return true
    }

    private static func settle(
        _ upload: LiveUpload, _ piece: OwnedDescriptor?, isLast: Bool, in uploads: UploadStore
    ) -> UploadEnd {
        do {
            if let piece { try upload.append(contentsOf: piece, unless: { uploads.isStopping }) }
        } catch {
            return .refused(.after(error))
        }
        return isLast ? uploads.finish(upload) : uploads.keep(upload)
    }

    // MARK: 104

    /// Tells the client where its upload can be resumed, as soon as there is something to resume.
    private func announce() {
        guard case .ietf(let version) = dialect, case .creation(let creation) = entry, let upload, head.takesInterim,
            creation.append.body != .none
        else { return }
        urlIsKnown = interim(answers(upload.id).announcement(version))
    }

    private func tellProgress() {
        guard case .ietf(let version) = dialect, version.hasProgress, head.takesInterim, let upload else { return }
        let synced = upload.syncedOffset
        guard reports.isDue(at: synced) else { return }
        _ = interim(UploadAnswers.interim(version, [.offset(synced)]))
    }

    /// Sends an interim answer; returns true when all of it went out. The socket's buffer is empty but for the rest of an earlier
    /// answer. Half an interim answer would spoil the final one, so the connection ends then.
    private func interim(_ bytes: [UInt8]) -> Bool {
        let sent = (try? bytes.withUnsafeBytes { try System.send(head.socket, $0) }) ?? 0
        if sent > 0, sent < bytes.count { try? System.shutdown(head.socket, .both) }
        return sent == bytes.count
    }

    // MARK: The end

    private func finish(
        _ upload: LiveUpload, _ facts: FileFacts, _ offset: UInt64, _ replaced: Bool, _ digest: DigestValue?
    ) -> Answer {
        isAnswered = true
        hide(isOver: true)
        let record = upload.record
        context.report(published: record, size: offset, replaced: replaced, from: head.peer)
        var (isCreation, bodyCame) = (false, true)
        if case .creation(let creation) = entry { (isCreation, bodyCame) = (true, creation.append.body != .none) }
        return answers(upload.id).finished(
            record, offset: offset, isCreation: isCreation, bodyCame: bodyCame, created: !replaced, facts: facts,
            digest: digest.map { .digest($0) })
    }

    private func refuse(_ refusal: UploadRefusal) -> Answer {
        piece = nil
        isAnswered = true
        hide(isOver: true)
        let path: TargetPath
        if let upload {
            path = upload.record.path
            if let seat { upload.leave(seat) }
            if !urlIsKnown { context.uploads.remove(upload) }
        } else if case .creation(let creation) = entry {
            path = creation.record.path
        } else {
            path = TargetPath(components: [])
        }
        let answer = refusal.answer(in: dialect).with(UploadAnswers.version(dialect))
        context.journal.report(.refused(head.method, path, answer, from: head.peer))
        return answer
    }

    private func show() {
        // What brings no bytes is nothing to look at.
        guard let upload, machine.append.body != .none else { return }
        let record = upload.record
        shown = context.journal.underWay?.show(
            upload.id, record.path, received: machine.append.offset, total: machine.length)
    }

    /// Before its last line is written, so that this replaces the one that was redrawn.
    private func hide(isOver: Bool) {
        shown?.end(isOver: isOver)
        shown = nil
    }

    private func answers(_ id: UploadID) -> UploadAnswers { context.answers(dialect, id) }
}

/// The place where a job leaves its result.
///
/// Unchecked: `end` is written by the job before it calls `done`, and read only after that.
final class Settling: @unchecked Sendable {
    var end = UploadEnd.refused(.busy)
}

extension AppendMachine {
    /// `looked`, with the disk asked for its room; gives back a length that is to be remembered.
    @discardableResult
    fileprivate mutating func look(_ facts: UploadFacts, _ context: ReceiverContext) throws(UploadRefusal) -> UInt64? {
        let room: UInt64
        do {
            room = try context.room.free()
        } catch {
            throw .after(error)
        }
        switch looked(facts, freeSpace: room) {
        case .receive(let newLength): return newLength
        case .refuse(let refusal): throw refusal
        }
    }
}
