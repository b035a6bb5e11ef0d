import Digests
import LinuxSystem

/// All uploads: those on the disk, and which of them requests are about. Any thread.
final class UploadStore: Sendable {
    let limits: ReceiverConfiguration.Limits
    let folder: UploadFolder
    private let publisher: Publisher
    private let journal: ReceiverJournal
    private let worker: BlockingWorker

    private struct State {
        var live: [UploadID: (upload: LiveUpload, users: Int)] = [:]
        /// The offset at which the last append of an unfinished upload ended in order: going on there is no resumption.
        var orderlyEnds: [UploadID: UInt64] = [:]
        /// The running digests of unfinished uploads that no request is about.
        var digests: [UploadID: ArrivalDigest.Parked] = [:]
        /// When the last request about an unfinished upload came. The wall clock may step by years when a machine without one hears
        /// the time; what was used just now is not old then.
        var usedAt: [UploadID: MonotonicInstant] = [:]
        /// Joins that are being made.
        var joins: Set<UploadID> = []
        var census = UploadCensus()
        var isStopping = false
    }

    // Held while an upload is opened, so that there is never more than one object of it.
    private let state = Mutex(State())

    init(
        in root: OwnedDescriptor, _ room: DiskRoom, _ limits: ReceiverConfiguration.Limits, _ publisher: Publisher,
        _ journal: ReceiverJournal
    ) throws(Errno) {
        self.limits = limits
        self.publisher = publisher
        self.journal = journal
        folder = UploadFolder(in: root, room)
        worker = try BlockingWorker(name: "uploads", threads: 4)
    }

    /// From now on nothing long begins, and what is under way ends soon, without a result.
    func giveUp() { state.withLock { $0.isStopping = true } }

    /// True when the receiver is stopping.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Waits for what was begun. No request is served any more.
    func stop() {
        worker.stop()
        folder.end()
    }

    /// Begins an upload. The caller releases it.
    func create(_ record: UploadRecord, named id: UploadID? = nil) throws(Errno) -> LiveUpload {
        let id = if let id { id } else { try UploadID() }
        let (data, record) = try folder.create(id, record)
        let upload = LiveUpload(id, record, data: data, folder, worker)
        state.withLock { state in
            state.live[id] = (upload, 1)
            state.usedAt[id] = .now
            state.census.made(id)
        }
        return upload
    }

    /// The reason for which no upload may begin now; `nil` when one may.
    func refusalToBegin() -> UploadRefusal? {
        state.withLock { $0.census.unfinished.count >= limits.unfinishedUploads }
            ? .tooMany(limits.unfinishedUploads) : nil
    }

    /// Counts anew what was found on the disk, and forgets complete uploads beyond the limit.
    func count(_ contents: UploadFolder.Contents) {
        state.withLock { state in
            state.census.count(
                unfinished: contents.unfinished, complete: contents.complete, live: state.live.keys)
        }
        forgetSurplus()
    }

    /// A complete upload's record is for a client that did not get the answer: of very many the oldest go.
    private func forgetSurplus() {
        for id in state.withLock({ $0.census.forget(beyond: limits.rememberedUploads) }) {
            guard let upload = try? acquire(id) else { continue }
            upload.takeOver(
                { [self] in if upload.facts.isPublished { remove(upload) } }, done: { [self] in release(upload) })
        }
    }

    /// Takes the right to make this join; false while another request makes it.
    func beginJoin(_ id: UploadID) -> Bool { state.withLock { $0.joins.insert(id).inserted } }

    func endJoin(_ id: UploadID) { state.withLock { _ = $0.joins.remove(id) } }

    /// The upload of this name; `nil` when there is none. The caller releases it.
    func acquire(_ id: UploadID) throws(Errno) -> LiveUpload? {
        try state.withLock { state throws(Errno) -> LiveUpload? in
            if let entry = state.live[id] {
                if entry.upload.isRemoved { return nil }
                state.live[id] = (entry.upload, entry.users + 1)
                return entry.upload
            }
            let finding = try folder.load(id)
            let parked = state.digests.removeValue(forKey: id)
            let loaded: UploadFolder.Loaded
            switch finding {
            case .none: return nil
            case .torn:
                try folder.removeUnmade(id)
                state.census.removed(id)
                return nil
            case .upload(let found): loaded = found
            }
            guard try isThere(loaded) else {
                folder.remove(id)
                return nil
            }
            let upload = LiveUpload(id, loaded, parked, folder, worker)
            state.live[id] = (upload, 1)
            return upload
        }
    }

    /// Returns true when the upload's bytes still exist, here or under their name. Somebody who clears the disk may have removed them and
    /// left the record, which alone must not say that the file arrived.
    private func isThere(_ loaded: UploadFolder.Loaded) throws(Errno) -> Bool {
        if loaded.data != nil || loaded.record.isPublished || !loaded.record.tellsPublication { return true }
        if case .partial = loaded.record.role { return false }
        return try publisher.has(loaded.record.path, size: loaded.size, inode: loaded.record.inode)
    }

    func release(_ upload: LiveUpload) {
        state.withLock { state in
            // One that was removed may have a successor of the same name.
            guard let entry = state.live[upload.id], entry.upload === upload else { return }
            state.live[upload.id] = entry.users > 1 ? (upload, entry.users - 1) : nil
            // At once, not when the last reference goes: the lock on the bytes would turn the next request away.
            guard entry.users == 1 else { return }
            state.digests[upload.id] = upload.close()
            if upload.isRemoved || upload.facts.isPublished { state.usedAt[upload.id] = nil }
        }
    }

    /// A request is about this upload.
    func noteUse(_ upload: LiveUpload) { state.withLock { $0.usedAt[upload.id] = .now } }

    /// Returns true when a request of this run was about this unfinished upload within the last `seconds`.
    func wasUsed(_ id: UploadID, within seconds: Int64) -> Bool {
        state.withLock { state in
            state.usedAt[id].map { $0.duration(to: .now) < .seconds(seconds) } ?? false
        }
    }

    /// A line about the receiver's own doings.
    func tell(_ notice: String) { journal.report(.notice(notice)) }

    /// For a job that belongs to several uploads.
    func submit(_ work: @escaping @Sendable () -> Void) { worker.submit(work) }

    /// Puts on the disk what came so far, sometime; the request writes on meanwhile.
    func checkpoint(_ upload: LiveUpload) {
        state.withLock { state in
            if let entry = state.live[upload.id] { state.live[upload.id] = (entry.upload, entry.users + 1) }
        }
        worker.submit { [self] in
            upload.checkpoint()
            release(upload)
        }
    }

    /// An append ended in order, and more may follow.
    func noteOrderlyEnd(_ upload: LiveUpload, at offset: UInt64) {
        state.withLock { $0.orderlyEnds[upload.id] = offset }
    }

    /// Returns true when an append at `offset` continues an upload that was interrupted.
    func isResumption(_ upload: LiveUpload, at offset: UInt64) -> Bool {
        offset > 0 && state.withLock { $0.orderlyEnds[upload.id] != offset }
    }

    // MARK: What ends an append or answers a question. All of it blocks and is done on jobs.

    /// Puts what came on the disk.
    func keep(_ upload: LiveUpload) -> UploadEnd {
        if upload.isRemoved { return .refused(.noSuchUpload) }
        do {
            return .kept(offset: try upload.sync())
        } catch {
            return .refused(.after(error))
        }
    }

    /// Syncs an upload and returns its offset. One that has its length and was not published, because the receiver was killed or the
    /// name was taken, is published now: its client takes the length for the end.
    func status(_ upload: LiveUpload) -> UploadEnd {
        let facts = upload.facts
        if upload.isNameUnsynced {
            do throws(Errno) {
                let record = facts.record
                guard try publisher.has(record.path, size: facts.offset, inode: record.inode) else {
                    return .refused(.noSuchUpload)
                }
                try publisher.syncName(of: record.path)
            } catch {
                return .refused(.after(error))
            }
            notePublished(upload)
        }
        if !facts.isPublished, facts.record.role != .partial, facts.record.isWhole(at: facts.offset) {
            return finish(upload)
        }
        return keep(upload)
    }

    private func notePublished(_ upload: LiveUpload) {
        upload.markNameSynced()
        folder.appendLine(UploadRecord.publication, to: upload.id)
        state.withLock { state in
            state.orderlyEnds[upload.id] = nil
            state.census.published(upload.id)
        }
        forgetSurplus()
    }

    /// Publishes a whole upload. Its record stays for whoever did not get the answer.
    func finish(_ upload: LiveUpload) -> UploadEnd {
        if upload.isRemoved { return .refused(.noSuchUpload) }
        do {
            let record = upload.record
            let offset = try upload.sync(withRecord: record.outlivesPublication)
            guard let data = upload.data else { return .refused(.completed) }
            // Whoever found it whole may have been told before the disk lost a part of it.
            if let length = record.length, length != offset { return .refused(.file(.failed(.inputOutput))) }
            let digest = record.needsDigest ? try digest(upload, data, offset) : nil
            if let claim = record.claim, claim != digest {
                // Nothing that could be appended would make it right.
                remove(upload)
                return .refused(.file(.digestDiffers))
            }
            if record.length == nil { try upload.setLength(offset) }
            let file = WholeUpload(upload, data, try folder.openFolder(making: false), digest)
            let end = Self.end(
                publisher.publishSynced(file, record.path, record.conditions), record, offset: offset, digest)
            if case .published = end {
                notePublished(upload)
            }
            return end
        } catch {
            return .refused(.after(error))
        }
    }

    func remove(_ upload: LiveUpload) {
        upload.remove()
        state.withLock { state in
            state.orderlyEnds[upload.id] = nil
            state.census.removed(upload.id)
        }
    }

    /// Reads the file only where it was not hashed while it came: a part of it may have come to an earlier receiver.
    private func digest(
        _ upload: LiveUpload, _ data: OwnedDescriptor, _ offset: UInt64
    ) throws(Errno) -> DigestValue? {
        let size = try System.fstat(data.rawValue).size
        if let known = upload.arrivalDigest?.value(ofSize: offset), size == Int64(offset) { return known }
        guard let digest = try FileDigester.digest(of: data, size: UInt64(size), unless: { self.isStopping })
        else { throw .canceled }
        return digest
    }

    private static func end(
        _ outcome: PublishOutcome, _ record: UploadRecord, offset: UInt64, _ digest: DigestValue?
    ) -> UploadEnd {
        switch outcome {
        case .created(let facts): .published(facts, offset: offset, replaced: false, digest)
        case .replaced(let facts): .published(facts, offset: offset, replaced: true, digest)
        case .refused: .refused(record.refusal(over: nil))
        case .blocked: .refused(.file(.notAFile))
        case .failed(let error): .refused(.after(error))
        }
    }
}

/// The result of an append, or of a question.
enum UploadEnd: Sendable {
    /// So many bytes are on the disk, or were published before.
    case kept(offset: UInt64)
    /// The file has its name.
    case published(FileFacts, offset: UInt64, replaced: Bool, DigestValue?)
    case removed
    case refused(UploadRefusal)
}

/// A whole upload on its way to its name.
private final class WholeUpload: ArrivedFile {
    let descriptor: OwnedDescriptor
    let folderDescriptor: OwnedDescriptor
    let name: [UInt8]
    private let upload: LiveUpload
    private let digest: DigestValue?

    init(_ upload: LiveUpload, _ data: OwnedDescriptor, _ folder: OwnedDescriptor, _ digest: DigestValue?) {
        self.upload = upload
        self.digest = digest
        descriptor = data
        folderDescriptor = folder
        name = UploadFolder.data(upload.id)
    }

    func seal() throws(Errno) -> FileFacts { try FileFacts.sealing(descriptor.rawValue, digest: digest) }
    func markPublished() { upload.markPublished() }
}
