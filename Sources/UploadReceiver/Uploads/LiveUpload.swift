import LinuxSystem

/// An upload that a request is about. There is one object for each upload in use, however many connections ask for it.
///
/// One request at a time has the seat and writes; whoever takes the seat interrupts the one before, which may be a dead
/// line that only this side still believes in. Every byte is written under the lock and by the holder of the seat only, so
/// once the seat is lost nothing more of that request gets in. What takes long (syncing, publishing, removing) is a job;
/// an upload's jobs run one after the other, and nobody gets the seat meanwhile.
final class LiveUpload: Sendable {
    let id: UploadID
    private let folder: UploadFolder
    private let worker: BlockingWorker
    /// The running digest; `nil` when none is needed or some bytes did not come through this receiver.
    let arrivalDigest: ArrivalDigest?

    /// The right to write, until somebody else takes it.
    struct Seat: Equatable {
        fileprivate let number: UInt64
        fileprivate let socket: Int32
    }

    typealias Work = @Sendable () -> Void

    private struct State {
        var record: UploadRecord
        /// `nil`: published.
        var data: OwnedDescriptor?
        /// The size of `data`.
        var offset: UInt64
        /// True from when the file got its final name until that name is known to be on the disk.
        var isNameUnsynced = false
        /// Bytes of it that are on the disk for certain.
        var synced: UInt64 = 0
        var isRecordSynced: Bool
        /// A checkpoint found that bytes were lost; whoever syncs next is told.
        var untoldLoss: Errno?
        var isRemoved = false
        /// Seconds since 1970.
        var lastWritten: Int64
        var lastSeat: UInt64 = 0
        var holder: Seat?
        var isCheckpointing = false
        var isBusy = false
        var waiting: [(work: Work, done: Work)] = []
    }

    // This lock is held across the writing system call: making "is the seat still mine" and "write" one step is its purpose.
    private let state: Mutex<State>
    /// Held while bytes are put on the disk. The system tells once that it lost some: of two that sync at the same time one would hear
    /// nothing, and take what is lost for stored.
    private let syncing = Mutex<Void>(())

    /// One that was just made; `data` is empty.
    init(
        _ id: UploadID, _ record: UploadRecord, data: OwnedDescriptor, _ folder: UploadFolder, _ worker: BlockingWorker
    ) {
        self.id = id
        self.folder = folder
        self.worker = worker
        arrivalDigest = ArrivalDigest(for: record)
        state = Mutex(
            State(record: record, data: data, offset: 0, isRecordSynced: false, lastWritten: WallClock.seconds))
    }

    /// One that was on the disk; `parked` was left when it was used before.
    init(
        _ id: UploadID, _ loaded: UploadFolder.Loaded, _ parked: ArrivalDigest.Parked?, _ folder: UploadFolder,
        _ worker: BlockingWorker
    ) {
        self.id = id
        self.folder = folder
        self.worker = worker
        arrivalDigest = ArrivalDigest.of(loaded, parked)
        // The receiver that made it may have been killed before it synced the record.
        var state = State(
            record: loaded.record, data: loaded.data, offset: loaded.size, isRecordSynced: false,
            lastWritten: loaded.lastWritten)
        // Killed between its name and the note of that.
        let record = loaded.record
        state.isNameUnsynced =
            loaded.data == nil && !record.isPublished && record.tellsPublication && record.role != .partial
        self.state = Mutex(state)
    }

    var facts: UploadFacts {
        state.withLock { UploadFacts(record: $0.record, offset: $0.offset, isPublished: $0.data == nil) }
    }
    var record: UploadRecord { state.withLock { $0.record } }
    var isRemoved: Bool { state.withLock { $0.isRemoved } }
    /// Seconds since 1970.
    var lastWritten: Int64 { state.withLock { $0.lastWritten } }
    /// Bytes that may be reported to the client without waiting for the disk.
    var syncedOffset: UInt64 { state.withLock { $0.isRecordSynced ? $0.synced : 0 } }

    // MARK: The seat

    /// Takes the seat and interrupts who had it; `nil` while a job is under way or the upload is gone.
    func takeSeat(_ socket: Int32) -> Seat? {
        state.withLock { state in
            if state.isBusy || state.isRemoved { return nil }
            Self.unseat(&state)
            state.lastSeat += 1
            // From here on nobody takes it for abandoned.
            state.lastWritten = WallClock.seconds
            state.holder = Seat(number: state.lastSeat, socket: socket)
            return state.holder
        }
    }

    /// Takes the seat away from whoever has it.
    func interrupt() { state.withLock { Self.unseat(&$0) } }

    /// The exchange that had the seat is over; the connection's descriptor means nothing from now on.
    func leave(_ seat: Seat) { state.withLock { if $0.holder == seat { $0.holder = nil } } }

    func isHeld(by seat: Seat) -> Bool { state.withLock { $0.holder == seat } }

    enum Appended { case stored, checkpointDue, seatLost }

    /// Writes bytes at the end. What was written before an error stays and counts. Who is told that a checkpoint is due
    /// has `checkpoint` called.
    func append(_ bytes: UnsafeRawBufferPointer, _ seat: Seat) throws(Errno) -> Appended {
        try folder.room.take(bytes.count)
        let (appended, start) = try state.withLock { state throws(Errno) -> (Appended, UInt64) in
            let start = state.offset
            guard state.holder == seat, let data = state.data else { return (.seatLost, start) }
            try Self.write(bytes, data, &state)
            let isDue = state.offset - state.synced >= Self.checkpointSize && !state.isCheckpointing
            if isDue { state.isCheckpointing = true }
            return (isDue ? .checkpointDue : .stored, start)
        }
        // What got in before an error it is not told of, so it takes nothing that comes after that.
        if appended != .seatLost { arrivalDigest?.update(bytes, at: start) }
        return appended
    }

    /// Puts on the disk what there is so far, beside the writing. Blocks.
    func checkpoint() {
        // When the disk fails, its bytes are taken back and whoever writes is interrupted: the client asks where it stands.
        _ = try? sync(isCheckpoint: true)
        state.withLock { $0.isCheckpointing = false }
    }

    /// Nobody uses it any more: the bytes are unlocked for whoever opens them next, be it this receiver. Gives back what
    /// spares that one the reading.
    func close() -> ArrivalDigest.Parked? {
        let (data, isRemoved) = state.withLock { ($0.data, $0.isRemoved) }
        guard let data else { return nil }
        let parked = isRemoved ? nil : ArrivalDigest.Parked(arrivalDigest, of: data)
        data.close()
        return parked
    }

    // MARK: Jobs

    /// Ends the writing and does `work` next, then `done`; false, and nothing is done, when the seat is lost.
    func settle(_ seat: Seat, _ work: @escaping Work, done: @escaping Work) -> Bool {
        state.withLock { state in
            guard state.holder == seat else { return false }
            state.holder = nil
            enqueue(work, done, &state)
            return true
        }
    }

    /// Interrupts the writing and does `work` when the jobs before it are done, then `done`.
    func takeOver(_ work: @escaping Work, done: @escaping Work) {
        state.withLock { state in
            Self.unseat(&state)
            enqueue(work, done, &state)
        }
    }

    /// Puts bytes and record on the disk and says how many bytes are there. Blocks; on a job or while nobody writes.
    /// - Parameter withRecord: false: the upload ends with this request, so a record that is not on the disk yet need not get there.
    func sync(withRecord: Bool = true) throws(Errno) -> UInt64 {
        try sync(isCheckpoint: false, withRecord: withRecord)
    }

    private func sync(isCheckpoint: Bool, withRecord: Bool = true) throws(Errno) -> UInt64 {
        try syncing.withLock { _ throws(Errno) in
            let untold = state.withLock { state in
                defer { if !isCheckpoint { state.untoldLoss = nil } }
                return state.untoldLoss
            }
            // The end of a body may have been taken before the loss was found: what is there now is not what it ended.
            if let untold { throw untold }
            let (data, offset, synced, isRecordSynced) = state.withLock {
                ($0.data, $0.offset, $0.synced, $0.isRecordSynced)
            }
            guard let data else { return offset }
            if synced < offset {
                do throws(Errno) { try System.fdatasync(data.rawValue) } catch {
                    takeBackUnsynced(data, untold: isCheckpoint ? error : nil)
                    throw error
                }
            }
            if !isRecordSynced, withRecord { try folder.sync(id) }
            ReceiverFaultPoint.synced.pass()
            state.withLock { state in
                state.synced = max(state.synced, offset)
                if withRecord { state.isRecordSynced = true }
            }
            return offset
        }
    }

    /// The disk has lost bytes, nobody says which, and says so only once: the next sync would succeed. So everything that was not
    /// synced before goes, and its client sends it again.
    private func takeBackUnsynced(_ data: OwnedDescriptor, untold: Errno?) {
        let isLost = state.withLock { state in
            state.untoldLoss = untold
            Self.unseat(&state)
            do throws(Errno) {
                try System.ftruncate(data.rawValue, to: Int64(state.synced))
                state.offset = state.synced
                return false
            } catch {
                // Bytes that cannot be taken back must not be there when somebody goes on.
                state.isRemoved = true
                return true
            }
        }
        if isLost { folder.remove(id) }
    }

    /// Appends a whole file, unless the receiver stops meanwhile. On a job.
    func append(contentsOf file: OwnedDescriptor, unless mustEnd: () -> Bool) throws(Errno) {
        var position: Int64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try System.preadAll(file.rawValue, buffer, at: position)
            if count == 0 { return }
            position += Int64(count)
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if mustEnd() { throw .canceled }
            try folder.room.take(count)
            let start = try state.withLock { state throws(Errno) in
                guard let data = state.data else { throw .canceled }
                let start = state.offset
                try Self.write(bytes, data, &state)
                return start
            }
            arrivalDigest?.update(bytes, at: start)
        }
    }

    /// The length has become known. Durable when it returns.
    func setLength(_ length: UInt64) throws(Errno) {
        var record = record
        record.length = length
        try folder.rewrite(id, record)
        state.withLock { $0.record.length = length }
    }

    /// Remembers that it was not written in one go.
    func noteResumption(at offset: UInt64) {
        let isNoted = state.withLock { state in
            if state.record.resumedAt.count >= Self.mostResumptions { return false }
            state.record.resumedAt.append(offset)
            return true
        }
        if isNoted { folder.appendLine(UploadRecord.resumption(at: offset), to: id) }
    }

    /// More are not remembered: who comes back without end must not fill the disk with lines.
    private static let mostResumptions = 1000

    /// The bytes, for who publishes or joins them; `nil` when they were published.
    var data: OwnedDescriptor? { state.withLock { $0.data } }

    func markPublished() { state.withLock { ($0.data, $0.isNameUnsynced) = (nil, true) } }

    /// True when the file has its final name, and the name may not be on the disk yet.
    var isNameUnsynced: Bool { state.withLock { $0.isNameUnsynced } }

    /// Notes that the final name is on the disk.
    func markNameSynced() { state.withLock { $0.isNameUnsynced = false } }

    /// Removes it from the disk. On a job.
    func remove() {
        state.withLock { $0.isRemoved = true }
        folder.remove(id)
    }

    // MARK: Inside

    /// The most bytes that may be in memory only; then they are sent to the disk.
    private static let checkpointSize: UInt64 = 8 << 20

    private static func unseat(_ state: inout State) {
        // The library has not closed the descriptor: it ends the exchange first, which leaves the seat under this lock.
        if let holder = state.holder { try? System.shutdown(holder.socket, .both) }
        state.holder = nil
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, _ data: OwnedDescriptor, _ state: inout State
    ) throws(Errno) {
        var rest = bytes
        state.lastWritten = WallClock.seconds
        while !rest.isEmpty {
            let count = try System.pwrite(data.rawValue, rest, at: Int64(state.offset))
            state.offset += UInt64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private func enqueue(_ work: @escaping Work, _ done: @escaping Work, _ state: inout State) {
        if state.isBusy {
            state.waiting.append((work, done))
        } else {
            state.isBusy = true
            worker.submit { [self] in run(work, done) }
        }
    }

    private func run(_ work: Work, _ done: Work) {
        work()
        state.withLock { state in
            state.isBusy = false
            if state.waiting.isEmpty { return }
            let next = state.waiting.removeFirst()
            enqueue(next.work, next.done, &state)
        }
        // After that, so that the client who hears of it finds the upload free.
        done()
    }
}

extension WallClock {
    /// Seconds since 1970, UTC.
    static var seconds: Int64 { milliseconds / 1000 }
}
