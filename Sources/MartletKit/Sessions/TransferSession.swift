public import FoundationEssentials
public import TransferModel

/// A named owner of transfers that go on in the engine, in URLSession's words.
///
/// ```swift
/// let session = try await TransferSession(configuration: .background(withIdentifier: "photos"))
/// let batch = try await session.addBatch("June", uploading: ["/home/ana/june"], to: "https://example.org/in/")
/// for await progress in batch.progressChanges() { print(progress.fractionCompleted) }
/// ```
///
/// There are no delegates and no closures: what happened is an asynchronous sequence of stored events, so nothing is
/// missed while nobody listens.
public final class TransferSession: Sendable {
    public let configuration: TransferSessionConfiguration
    /// For everything that this class has no word for.
    public let connection: EngineConnection

    /// Attaches to the session of that name; the engine is started when it is not running.
    public init(
        configuration: TransferSessionConfiguration, connection: EngineConnection? = nil
    ) async throws(RequestError) {
        self.configuration = configuration
        if let connection {
            self.connection = connection
        } else {
            self.connection = try EngineConnection(ConnectionOptions(reconnects: true))
        }
        try await self.connection.connect()
    }

    public var identifier: SessionName { configuration.identifier }

    // MARK: Adding

    /// One file to upload by PUT to exactly this URL. Durable when this returns, and suspended: `resume()` starts it.
    public func uploadTask(with url: URL, fromFile file: URL) async throws(RequestError) -> TransferTask {
        try await uploadTask(with: url, fromFile: Self.path(of: file))
    }

    /// As `uploadTask(with:fromFile:)` with a URL, for a path that need not be text. Absolute, without a slash at its end.
    public func uploadTask(with url: URL, fromFile file: RawPath) async throws(RequestError) -> TransferTask {
        _ = try Self.folder(of: file)
        let source = UploadSource(path: file, placement: .exactly)
        return try await single(.upload([source], to: url.absoluteString), name: file.lastComponent)
    }

    /// One URL to download to exactly this file. Durable when this returns, and suspended: `resume()` starts it.
    public func downloadTask(with url: URL, to file: URL) async throws(RequestError) -> TransferTask {
        try await downloadTask(with: url, to: Self.path(of: file))
    }

    /// As `downloadTask(with:to:)` with a URL, for a path that need not be text. Absolute, without a slash at its end.
    public func downloadTask(with url: URL, to file: RawPath) async throws(RequestError) -> TransferTask {
        let folder = try Self.folder(of: file)
        let source = DownloadSource(url: url.absoluteString, directory: folder, fileName: file.lastComponent)
        return try await single(.download([source]), name: file.lastComponent)
    }

    /// Many files and directories in one transaction; running as soon as this returns, unless `held`.
    /// - Parameters:
    ///   - paths: absolute; a directory arrives with everything below it under its own name.
    ///   - destination: `https://…/`
    public func addBatch(
        _ name: String? = nil, uploading paths: [RawPath], to destination: URL, held: Bool = false
    ) async throws(RequestError) -> TransferBatch {
        let sources = paths.map { UploadSource(path: $0, placement: .named($0.lastComponent)) }
        return try await addBatch(
            request(.upload(sources, to: destination.absoluteString), name: name, held: held))
    }

    /// Many downloads in one transaction; running as soon as this returns, unless `held`.
    public func addBatch(
        _ name: String? = nil, downloading sources: [DownloadSource], held: Bool = false
    ) async throws(RequestError) -> TransferBatch {
        try await addBatch(request(.download(sources), name: name, held: held))
    }

    /// A batch with all of its options. Its session is this one, whatever the request says.
    public func addBatch(_ request: BatchRequest) async throws(RequestError) -> TransferBatch {
        var request = request
        request.session = identifier
        let added = try await connection.add(request)
        return TransferBatch(id: added.batch.id, uuid: added.batch.uuid, connection: connection)
    }

    // MARK: Finding again

    /// The batches of this session.
    public var batches: [TransferBatch] {
        get async throws(RequestError) {
            try await connection.batches(session: identifier).map {
                TransferBatch(id: $0.id, uuid: $0.uuid, connection: connection)
            }
        }
    }

    /// The session's transfers by direction, as URLSession's `tasks`. For many of them use `allTasks`.
    public var tasks: (uploads: [TransferTask], downloads: [TransferTask]) {
        get async throws(RequestError) {
            var found: (uploads: [TransferTask], downloads: [TransferTask]) = ([], [])
            var snapshots: [TaskSnapshot] = []
            for try await snapshot in allTasks { snapshots.append(snapshot) }
            let alone = Set(try await connection.batches(session: identifier).filter(\.isOneFile).map(\.id))
            for snapshot in snapshots {
                let task = handle(snapshot, isAlone: alone.contains(snapshot.batch))
                if snapshot.direction == .upload { found.uploads.append(task) } else { found.downloads.append(task) }
            }
            return found
        }
    }

    /// Snapshots of every transfer of this session, in order, fetched page by page.
    public var allTasks: TaskSequence { connection.tasks(session: identifier) }

    /// A transfer by its number.
    public func task(_ id: TaskID) async throws(RequestError) -> TransferTask {
        let snapshot = try await connection.task(id)
        return handle(snapshot, isAlone: try await connection.batch(snapshot.batch).isOneFile)
    }

    /// The handle of the only task of a batch acts on the batch, as the handle does that `uploadTask` returned.
    private func handle(_ snapshot: TaskSnapshot, isAlone: Bool) -> TransferTask {
        TransferTask(
            node: isAlone ? .batch(snapshot.batch) : .task(snapshot.id), batch: snapshot.batch, connection: connection)
    }

    // MARK: Events

    /// The events of this session behind a cursor, then those to come, in order, none lost and none twice.
    /// - Parameter after: `nil`: behind what was acknowledged under the session's name.
    public func events(after: EventSequence? = nil) -> TransferEvents {
        connection.events(after: after, consumer: after == nil ? consumer : nil, session: identifier)
    }

    /// Everything up to this event has been dealt with; `events()` goes on behind it next time.
    public func acknowledge(through sequence: EventSequence) async throws(RequestError) {
        try await connection.acknowledge(consumer: consumer, through: sequence)
    }

    private var consumer: String { "session:\(identifier)" }

    private func single(_ work: BatchRequest.Work, name: RawPath) async throws(RequestError) -> TransferTask {
        let batch = try await addBatch(request(work, name: name.displayed, held: true))
        return TransferTask(node: .batch(batch.id), batch: batch.id, connection: connection)
    }

    private func request(_ work: BatchRequest.Work, name: String?, held: Bool) -> BatchRequest {
        var options = TransferOptions()
        options.requestTimeoutSeconds = configuration.timeoutIntervalForRequest
        options.giveUpAfterSeconds = configuration.timeoutIntervalForResource
        options.ifExists = configuration.existingFilePolicy
        var secrets = TransferSecrets()
        secrets.headers = configuration.httpAdditionalHeaders
        return BatchRequest(
            session: identifier, name: name.flatMap { BatchName(rawValue: BatchName.cut($0)) }, work: work, held: held,
            priority: configuration.priority,
            options: options, secrets: secrets)
    }

    /// The folder that a file's path leads to.
    private static func folder(of file: RawPath) throws(RequestError) -> RawPath {
        guard file.endsInName, let folder = file.parent else {
            throw RequestError(
                .usage, "\(file) is no absolute path of a file: begin it with a slash, and end it in a name")
        }
        return folder
    }

    private static func path(of file: URL) throws(RequestError) -> RawPath {
        guard file.isFileURL, file.path.hasPrefix("/") else {
            throw RequestError(.usage, "\(file.absoluteString) is no absolute file URL")
        }
        return RawPath(file.path)
    }
}
