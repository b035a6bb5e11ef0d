import FoundationEssentials
import LinuxSystem
import SQLiteConnection
import TransferModel

@testable import TransferQueue

/// A directory of its own for one test, and the queue in it; removed with the object.
final class Sandbox: Sendable {
    let directory: RawPath
    let clock = ManualClock()

    init() throws {
        let name = try System.randomBytes(8).map { String($0, radix: 16) }.joined()
        directory = RawPath("/tmp/martlet-queue-\(name)")
    }

    deinit { try? FileManager.default.removeItem(atPath: directory.displayed) }

    /// - Parameter interval: of group commits; by default so long that none comes by itself.
    func open(version: String = "1.0", interval: Duration = .seconds(100_000)) throws(QueueOpenError) -> TransferQueue {
        let clock = clock
        return try TransferQueue.open(
            directory: directory, version: version, clock: { clock.now }, interval: interval)
    }

    func path(_ name: String) -> RawPath { directory.appending(RawPath(name)) }

    func contents(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: path(name).displayed).map { Array($0) } ?? []
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try System.mkdirs(directory.bytes)
        try Data(bytes).write(to: URL(filePath: path(name).displayed))
    }

    /// The queue's file, opened beside it, for looking and for damaging.
    func database(_ access: SQLiteConnection.Access = .readOnly) throws -> SQLiteConnection {
        try SQLiteConnection(path: path("queue.sqlite").bytes, access: access)
    }
}

/// A clock that stands until it is moved.
final class ManualClock: Sendable {
    private let time = Mutex(Timestamp(milliseconds: 1_700_000_000_000))
    var now: Timestamp { time.withLock { $0 } }
    func advance(by duration: Duration) { time.withLock { $0 = $0.advanced(by: duration) } }
}

extension BatchRequest {
    /// An upload of one directory, `/src/NAME`, to `http://host/in/`.
    static func directory(
        _ name: String = "photos", uuid: UUID = UUID(), session: SessionName = .default, held: Bool = false
    ) -> BatchRequest {
        BatchRequest(
            uuid: uuid, session: session,
            work: .upload(
                [UploadSource(path: RawPath("/src/\(name)"), placement: .named(RawPath(name)))], to: "http://host/in/"),
            held: held)
    }

    static func downloads(_ urls: [String], options: TransferOptions = TransferOptions()) -> BatchRequest {
        BatchRequest(
            work: .download(urls.map { DownloadSource(url: $0, directory: RawPath("/dst"), fileName: nil) }),
            options: options)
    }
}

extension WalkedFile {
    init(_ name: String, size: Int64 = 100) {
        self.init(
            name: RawPath(name), identity: SourceIdentity(size: size, modifiedNanoseconds: 7, inode: 9))
    }
}

extension TransferQueue {
    /// Begins the one source of a batch as a directory, which is to be walked next.
    func topToWalk(of batch: BatchID) async throws -> FolderToWalk {
        let source = try await writer.unscannedSources(of: batch)[0].source
        try await writer.begin([FoundSource(source: source, kind: .directory(nil))])
        return try await writer.foldersToWalk(of: source, limit: 1)[0]
    }

    /// Queues `/src/NAME` with files directly in it and in folders, all walked.
    func addTree(
        _ name: String = "photos", files: Int = 0, folders: [String: Int] = [:], size: Int64 = 100,
        session: SessionName = .default, held: Bool = false
    ) async throws -> BatchID {
        let batch = try await writer.add(.directory(name, session: session, held: held)).batch
        let sources = try await writer.unscannedSources(of: batch)
        try await writer.begin(sources.map { FoundSource(source: $0.source, kind: .directory(nil)) })
        var next = try await writer.foldersToWalk(of: sources[0].source, limit: 10)
        while !next.isEmpty {
            let chunks = next.map { place in
                var chunk = WalkedChunk(folder: place.folder, isLast: true)
                let isTop = place.relative.bytes.isEmpty
                let count = isTop ? files : folders[place.relative.displayed] ?? 0
                chunk.files = (0..<count).map { WalkedFile("file\($0)", size: size) }
                if isTop { chunk.folders = folders.keys.sorted().map { RawPath($0) } }
                return chunk
            }
            next = try await writer.insert(walked: chunks).folders
        }
        try await writer.finishScan(batch)
        return batch
    }

    /// Claims from every lane that may run.
    func claimAll(limit: Int = 1000, now: Timestamp = Timestamp(milliseconds: .max)) async throws -> [ClaimedTask] {
        var claimed: [ClaimedTask] = []
        for lane in try await writer.lanes() {
            claimed += try await writer.claim(lane.lane, limit: limit, now: now)
        }
        return claimed
    }

    /// Runs tasks to their end.
    func complete(_ tasks: [ClaimedTask]) async throws {
        for task in tasks {
            writer.record(.running, for: task.id)
            writer.record(.completed(Completion(size: task.size ?? 10, verified: .size)), for: task.id)
        }
        try await writer.commit()
    }

    func eventTypes(after sequence: Int64 = 0) async throws -> [TransferEventType] {
        try await reader.events(after: EventSequence(rawValue: sequence), limit: 100_000).map(\.type)
    }
}

extension QueueWriter {
    /// Steps of SQLite's machine since the queue was opened.
    func virtualMachineSteps() -> Int64 { store.database.steps }

    /// The folders of a node that hold what was sent, found in pages of so many folders of the queue; of a file its own, at each call.
    func foldersToVerify(_ node: NodeID, page: Int, calls: Int = 100) throws -> [FolderToVerify] {
        var found: [FolderToVerify] = []
        var last: Int64?
        for _ in 0..<calls {
            switch try store.arrival.folderToVerify(node, after: last, limit: page) {
            case .found(.folder(let folder)):
                found.append(folder)
                last = folder.look.folder.rawValue
            case .found: return found
            case .further(let after): last = after
            }
        }
        return found
    }

    /// Statements that are kept prepared.
    func statementCount() -> Int { store.database.statementCount }

    /// Rows that were inserted, changed or deleted since the queue was opened.
    func changedRows() throws -> Int64 { try store.database.integer("SELECT total_changes()") ?? 0 }
}
