import Digests
import LinuxSystem
import Synchronization

/// All uploads: those on the disk, and which of them requests are about. Any thread.
final class UploadStore: Sendable {
    let limits: ReceiverConfiguration.Limits
    let folder: UploadFolder
    private let publisher: Publisher
    private let journal: ReceiverJournal
    private let worker: BlockingWorker

    private struct State {
        var live: [UploadID: (upload: LiveUpload, users: Int)] = [:]
        /// Where the last append of an unfinished upload ended in order: going on there is no resumption.
        var orderlyEnds: [UploadID: UInt64] = [:]
        /// Of uploads that no request is about and that are not over.
        var digests: [UploadID: ArrivalDigest.Parked] = [:]
    }

    // Held while an upload is opened, so that there is never more than one object of it.
    private let state = Mutex(State())

    init(
        in root: OwnedDescriptor, _ limits: ReceiverConfiguration.Limits, _ publisher: Publisher,
        _ journal: ReceiverJournal
    ) throws(Errno) {
        self.limits = limits
        self.publisher = publisher
        self.journal = journal
        folder = UploadFolder(in: root)
        worker = try BlockingWorker(name: "uploads", threads: 4)
    }

    /// Waits for what was begun. No request is served any more.
    func stop() {
        worker.stop()
        folder.end()
    }

    /// Begins an upload. The caller releases it.
    func create(_ record: UploadRecord, named id: UploadID? = nil) throws(Errno) -> LiveUpload {
        let id = if let id { id } else { try UploadID() }
        let data = try folder.create(id, record)
        let upload = LiveUpload(id, record, data: data, folder, worker)
        state.withLock { $0.live[id] = (upload, 1) }
        return upload
    }

    /// The upload of this name; `nil` when there is none. The caller releases it.
    func acquire(_ id: UploadID) throws(Errno) -> LiveUpload? {
        try state.withLock { state throws(Errno) -> LiveUpload? in
            if let entry = state.live[id] {
                if entry.upload.isRemoved { return nil }
                state.live[id] = (entry.upload, entry.users + 1)
                return entry.upload
            }
            let loaded = try folder.load(id)
            let parked = state.digests.removeValue(forKey: id)
            guard let loaded else { return nil }
            let upload = LiveUpload(id, loaded, parked, folder, worker)
            state.live[id] = (upload, 1)
            return upload
        }
    }

    func release(_ upload: LiveUpload) {
        state.withLock { state in
            // One that was removed may have a successor of the same name.
            guard let entry = state.live[upload.id], entry.upload === upload else { return }
            state.live[upload.id] = entry.users > 1 ? (upload, entry.users - 1) : nil
            // At once, not when the last reference goes: the lock on the bytes would turn the next request away.
            if entry.users == 1 { state.digests[upload.id] = upload.close() }
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

    /// Whether writing on at `offset` continues what was interrupted.
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
            return .refused(.file(.failed(error)))
        }
    }

    /// How far an upload is. One that has its length and was not published, because the receiver was killed or the name was
    /// taken, is published now: its client takes the length for the end.
    func status(_ upload: LiveUpload) -> UploadEnd {
        let facts = upload.facts
        if !facts.isPublished, facts.record.role != .partial, facts.record.isWhole(at: facts.offset) {
            return finish(upload)
        }
        return keep(upload)
    }

    /// Publishes a whole upload. Its record stays for whoever did not get the answer.
    func finish(_ upload: LiveUpload) -> UploadEnd {
        if upload.isRemoved { return .refused(.noSuchUpload) }
        do {
            let offset = try upload.sync()
            let record = upload.record
            guard let data = upload.data else { return .refused(.completed) }
            let digest = record.needsDigest ? try Self.digest(upload, data, offset) : nil
            if let claim = record.claim, claim != digest {
                // Nothing that could be appended would make it right.
                remove(upload)
                return .refused(.file(.digestDiffers))
            }
            if record.length == nil { try upload.setLength(offset) }
            let file = WholeUpload(upload, data, try folder.openFolder(making: false), digest)
            let end = Self.end(
                publisher.publishSynced(file, record.path, record.conditions), record, offset: offset, digest)
            if case .published = end { state.withLock { $0.orderlyEnds[upload.id] = nil } }
            return end
        } catch {
            return .refused(.file(.failed(error)))
        }
    }

    func remove(_ upload: LiveUpload) {
        upload.remove()
        state.withLock { $0.orderlyEnds[upload.id] = nil }
    }

    /// Reads the file only where it was not hashed while it came: a part of it may have come to an earlier receiver.
    private static func digest(
        _ upload: LiveUpload, _ data: OwnedDescriptor, _ offset: UInt64
    ) throws(Errno) -> DigestValue? {
        let size = try System.fstat(data.rawValue).size
        if let known = upload.arrivalDigest?.value(ofSize: offset), size == Int64(offset) { return known }
        return try FileDigester.digest(of: data)
    }

    private static func end(
        _ outcome: PublishOutcome, _ record: UploadRecord, offset: UInt64, _ digest: DigestValue?
    ) -> UploadEnd {
        switch outcome {
        case .created(let facts): .published(facts, offset: offset, replaced: false, digest)
        case .replaced(let facts): .published(facts, offset: offset, replaced: true, digest)
        case .refused: .refused(record.refusal(over: nil))
        case .blocked: .refused(.file(.notAFile))
        case .failed(let error): .refused(.file(.failed(error)))
        }
    }
}

/// How an append, or a question, ended.
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
