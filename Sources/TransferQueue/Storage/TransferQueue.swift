import FoundationEssentials
package import LinuxSystem
import SQLiteConnection
package import TransferModel

/// The durable queue of one engine: `queue.sqlite` and `secrets.sqlite` in a directory that it holds the lock of.
///
/// Start reading at `Schema` (what is stored), then `QueueStore` (a transaction, and the subjects that make the changes), `QueueWriter`
/// (when changes become durable) and `QueueReader` (what can be asked).
package final class TransferQueue: Sendable {
    package let writer: QueueWriter
    package let reader: QueueReader
    package let directory: RawPath

    private let lock: QueueLock
    private let feed: ChangeFeed

    private init(
        files: QueueFiles, lock: QueueLock, writer: QueueWriter, reader: QueueReader, feed: ChangeFeed
    ) {
        directory = files.directory
        self.lock = lock
        self.writer = writer
        self.reader = reader
        self.feed = feed
    }

    /// Opens the queue in `directory`, which is made when it is missing, and holds its lock until `close`.
    /// Tasks that were running when the last engine ended stand in line again. Blocks.
    /// - Parameter version: this program's, for the lock file and the event `engineStarted`.
    package static func open(directory: RawPath, version: String) throws(QueueOpenError) -> TransferQueue {
        try open(directory: directory, version: version, clock: { .now }, platform: LinuxPlatform())
    }

    /// As above, with a clock, a group commit's interval and a platform of the caller's.
    package static func open(
        directory: RawPath, version: String, clock: @escaping @Sendable () -> Timestamp,
        interval: Duration = QueueWriter.usualInterval, platform: any Platform = LinuxPlatform()
    ) throws(QueueOpenError) -> TransferQueue {
        let files = QueueFiles(directory: directory)
        try files.makeDirectory()
        let lock = try QueueLock(files, version: version)
        do {
            try files.refuseEmptied()
            try QueueFiles.makePrivate(files.queue)
            let store = try QueueStore.open(files, version: version, clock: clock, platform)
            let feed = ChangeFeed()
            let writer = QueueWriter(
                loop: try platform.loop(named: "queue writer"), store: store, feed: feed, clock: clock,
                interval: interval)
            let reader = QueueReader(
                loop: try platform.loop(named: "queue reader"), database: try QueueReader.connect(files),
                clock: clock)
            return TransferQueue(files: files, lock: lock, writer: writer, reader: reader, feed: feed)
        } catch {
            lock.release()
            throw QueueOpenError(error, file: files.queue)
        }
    }

    /// A reader alone, also beside a running engine: for `martletd --check`. Takes no lock and changes nothing.
    package static func openForReading(directory: RawPath) throws(QueueOpenError) -> QueueReader {
        let files = QueueFiles(directory: directory)
        do {
            try files.refuseEmptied()
            _ = try System.stat(files.queue.bytes)
            let database = try QueueReader.connect(files)
            try Migrator.verify(database)
            return QueueReader(loop: try EventLoop(name: "queue reader"), database: database, clock: { .now })
        } catch {
            throw QueueOpenError(error, file: files.queue)
        }
    }

    /// Changes by commits from now on, merged while nobody asks. Any number of listeners.
    package func changes() -> QueueChanges { QueueChanges(feed) }

    /// Commits what is recorded, ends the threads and gives up the lock. Later calls throw `QueueError.closed`.
    package func close() async throws(QueueError) {
        var failure: QueueError?
        do {
            try await writer.close()
        } catch {
            failure = error
        }
        await reader.close()
        feed.close()
        lock.release()
        if let failure { throw failure }
    }

    /// As if this process had been killed: nothing more is committed, the kernel takes the lock. For tests.
    func abandon() async {
        await writer.abandon()
        await reader.close()
        feed.close()
        lock.release()
    }
}

extension QueueStore {
    /// Opens or makes the database, brings its schema up to date and cleans up after an engine that was killed.
    static func open(
        _ files: QueueFiles, version: String, clock: @escaping @Sendable () -> Timestamp, _ platform: any Platform
    ) throws -> QueueStore {
        let database = try SQLiteConnection(path: files.queue.bytes, access: .readWrite)
        // The lock is ours, so nobody else writes; a reader may be opening its own view of the log.
        database.setBusyTimeout(milliseconds: 2000)
        try database.execute(
            script: """
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = FULL;
                PRAGMA journal_size_limit = 16777216;
                PRAGMA cache_size = -12288;
                PRAGMA temp_store = FILE;
                """)
        database.keepLog()
        // The engine before this one may have been killed after a sync that failed: what it left in the log is read, and not on the disk.
        try database.rewriteLog()
        try Migrator.current.migrate(database, now: clock(), after: refuseCircles)
        try refuseDamage(database)
        let store = try QueueStore(
            database: database, secrets: SecretStore(file: files.secrets), clock: clock, platform: platform)
        let surelyNow = try store.surelyNow()
        store.queue.notes.surelyNow = surelyNow
        try store.transact {
            try store.running.requeueClaimed()
            try store.noteHiddenProxies()
            var payload = EventPayload()
            payload.message = version
            try store.queue.appendEvent(.engineStarted, batch: nil, payload: payload)
        }
        try store.hideProxies()
        try store.noteSecrets()
        try store.secrets.keepOnly(at: surelyNow) { uuid in
            try database.integer("SELECT 1 FROM batches WHERE uuid = ?", .blob(uuid.bytes)) != nil
        } needs: { task in
            try database.first(
                """
                SELECT (SELECT d.handle FROM task_details d WHERE d.task = t.id AND d.resume_point IS NOT NULL)
                FROM tasks t WHERE t.id = ?
                """, .integer(task.rawValue)
            ) { row in row.optionalInteger(0).map { .handle($0) } ?? .query } ?? .nothing
        }
        store.files = files
        store.marks = try QueueMarks(files)
        _ = store.takeChange()
        return store
    }

    /// The time by the clock, but no later than a day after what earlier engines saw last. What is forgotten by its age is forgotten for good,
    /// and a machine may come up with a clock that is years ahead.
    private func surelyNow() throws -> Timestamp {
        // The very last may be of a time in which the clock was ahead.
        let seen = try database.integer("SELECT min(at) FROM (SELECT at FROM events ORDER BY seq DESC LIMIT 5)")
        guard let seen else { return clock() }
        return min(clock(), Timestamp(milliseconds: seen).advanced(by: .seconds(86_400)))
    }

    /// A parent always has a smaller number than its folder: every walk up the tree relies on that to end, those of migrations
    /// too.
    private static func refuseCircles(_ database: SQLiteConnection) throws {
        guard let folder = try database.integer("SELECT id FROM folders WHERE parent >= id LIMIT 1") else { return }
        throw SQLiteError(
            extendedCode: SQLiteError.Code.corrupt.rawValue,
            message: "folder \(folder) lies in a folder that was made after it", sql: nil)
    }

    /// Looks through a small queue for damage (milliseconds). A large one is checked by `martletd --check`, and SQLite
    /// says so whenever it meets a damaged page.
    private static func refuseDamage(_ database: SQLiteConnection) throws {
        let size = try database.first("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") {
            $0.integer(0)
        }
        guard let size, size <= 8 << 20 else { return }
        let finding = try database.first("PRAGMA quick_check(1)") { $0.text(0) }
        if let finding, finding != "ok" {
            throw SQLiteError(extendedCode: SQLiteError.Code.corrupt.rawValue, message: finding, sql: nil)
        }
    }

    /// Before the connection goes: an orderly end leaves no log behind.
    func finish() {
        // What is committed is safe in the log; copying it into the database is only tidy.
        try? database.execute(script: "PRAGMA wal_checkpoint(TRUNCATE)")
        database.forgetStatements()
    }
}

extension QueueOpenError {
    init(_ error: any Error, file: RawPath) {
        switch error {
        case let error as QueueOpenError: self = error
        case let error as SecretsFailure: self = .secrets(error)
        case QueueError.secrets(let failure): self = .secrets(failure)
        case let error as Errno: self = .system(error, doing: "open \(file.displayed)")
        case let error as QueueError:
            if case .database(let error) = error {
                self.init(error, file: file)
            } else {
                self = .corrupt(file: file.displayed, detail: "\(error)")
            }
        case let error as SQLiteError where error.code == .corrupt || error.code == .notADatabase:
            self = .corrupt(file: file.displayed, detail: error.message)
        case let error as SQLiteError: self = .database(error)
        default: self = .corrupt(file: file.displayed, detail: "\(error)")
        }
    }
}
