import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Queues batches.
struct AddingStore: QueueSubject {
    let queue: QueueConnection
    let secrets: SecretStore
    let lanes: LaneStore
    let limits: LimitStore
    let walks: WalkStore

    func batch(with uuid: UUID) throws -> BatchID? {
        try database.integer("SELECT id FROM batches WHERE uuid = ?", .blob(uuid.bytes)).map { BatchID(rawValue: $0) }
    }

    /// Queues a batch, in a transaction of the caller's. Downloads become tasks here; uploads only sources, which are walked later.
    func add(_ given: BatchRequest) throws -> AddedBatch {
        var request = given
        request.hideProxies()
        if let known = try batch(with: request.uuid) { return AddedBatch(batch: known, existed: true) }
        let now = clock()
        let session = try session(named: request.session, now: now)
        // The number AUTOINCREMENT will give, needed before for the root folder.
        let last = try Numbers.sound(
            try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'batches'") ?? 0, "the last batch")
        let batch = BatchID(rawValue: last + 1)
        let root = queue.numbers.folder
        let plan = try Plan(request)
        let position =
            try Numbers.sound(
                try database.integer("SELECT max(position) FROM batches") ?? 0, "the last batch's position") + 1
        try database.run(
            """
            INSERT INTO batches (id, uuid, session, name, direction, priority, position, held, paused, scanning, not_before,
            destination, options, root, first_event, created_at, kept_secrets, shares_names)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(batch.rawValue), .blob(request.uuid.bytes), .integer(session),
            .text(request.name?.rawValue ?? plan.name), .integer(plan.direction.stored),
            .integer(Int64(request.priority.level)),
            .integer(position), .integer(request.held ? 1 : 0), .integer(plan.direction == .upload ? 1 : 0),
            SQLiteValue(request.options.notBefore?.milliseconds), .text(plan.destination),
            .text(try StoredJSON.text(request.options)), .integer(root), .integer(queue.numbers.event),
            .integer(now.milliseconds), .text(try KeptSecret.stored(request.kept)), .integer(plan.sharesNames ? 1 : 0))
        try walks.insertFolder(batch: batch, parent: nil, name: [], source: nil, hidden: false, walk: nil)
        if let rate = request.options.bytesPerSecond, rate > 0 { try limits.setLimit(rate, of: .batch(batch)) }
        try queue.appendEvent(.batchQueued, batch: batch, at: now)
        queue.change.batches.insert(batch)
        queue.change.mayRun = true
        queue.touched.insert(batch)
        switch request.work {
        case .upload(let sources, let destination):
            try insert(sources, batch: batch, origin: plan.origin)
            try secrets.write(
                batch: request.uuid, secrets: request.secrets, destinationQuery: RemoteAddress(destination)?.query,
                queries: [])
        case .download(let sources):
            let queries = try insert(sources, batch: batch, root: root, secrets: request.secrets)
            try secrets.write(
                batch: request.uuid, secrets: request.secrets, destinationQuery: nil, queries: queries)
        }
        return AddedBatch(batch: batch, existed: false)
    }

    /// The parts of a batch that follow from a request alone.
    struct Plan {
        var name: String
        var direction: TransferDirection
        /// URL without query, or the local folder.
        var destination: String
        var origin: String
        /// The contents of one source lie beside other sources at the server: two files may meet there.
        var sharesNames = false

        init(_ request: BatchRequest) throws {
            if let endpoint = request.options.s3?.endpoint, RemoteAddress(endpoint).map({ $0.query != nil }) ?? true {
                // What it holds may be a password: it is not shown.
                throw QueueError.badRequest(
                    "the S3 endpoint is not a plain URL: write https://HOST, and give the keys beside it")
            }
            switch request.work {
            case .upload(let sources, let to):
                guard let first = sources.first else {
                    throw QueueError.badRequest("no source: name at least one file")
                }
                guard let address = RemoteAddress(to) else {
                    throw QueueError.badRequest("not a URL with a host and without user info: \(Self.harmless(to))")
                }
                guard sources.count == 1 || sources.allSatisfy({ $0.placement != .exactly }) else {
                    throw QueueError.badRequest(
                        "several sources cannot have one name: end the destination with a slash")
                }
                var names: Set<RawPath> = []
                for case .named(let name) in sources.lazy.map(\.placement) where !names.insert(name).inserted {
                    throw QueueError.badRequest("two sources are named \(name.displayed): queue them as two batches")
                }
                sharesNames = sources.count > 1 && sources.contains { $0.placement == .contents }
                direction = .upload
                destination = address.plain
                origin = address.origin
                name = Self.name(first.path.lastComponent.displayed, of: sources.count)
            case .download(let sources):
                guard let first = sources.first else { throw QueueError.badRequest("no URL: name at least one") }
                direction = .download
                destination = first.directory.displayed
                origin = ""
                let segment = RemoteAddress(first.url)?.lastSegment ?? []
                name = Self.name((first.fileName ?? RawPath(segment)).displayed, of: sources.count)
            }
        }

        private static func name(_ first: String, of count: Int) -> String {
            let name = first.isEmpty ? "/" : first
            return BatchName.cut(count == 1 ? name : "\(name) and \(count - 1) more")
        }

        /// A URL for a message: what may be secret of it is left out. A password may have slashes and question marks in it.
        static func harmless(_ url: String) -> String {
            let parts = PercentEncoding.ofMarks(in: url).split(separator: "@", omittingEmptySubsequences: false)
            let plain = (parts.last ?? "").prefix { $0 != "?" && $0 != "#" }
            if parts.count <= 1 { return RawPath(String(plain)).displayed }
            // An @ behind the user info belongs to a path or a query, or the password has the marks of these.
            let before = parts.dropLast().joined(separator: "@")
            guard let scheme = before.firstRange(of: "://") else { return "..." }
            let isSure = !before[scheme.upperBound...].contains { "/?#".contains($0) }
            return isSure ? RawPath(String(plain)).displayed : "..."
        }
    }

    private func session(named name: SessionName, now: Timestamp) throws -> Int64 {
        if let known = try database.integer("SELECT id FROM sessions WHERE name = ?", .text(name.rawValue)) {
            return known
        }
        try database.run(
            "INSERT INTO sessions (uuid, name, created_at) VALUES (?, ?, ?)", .blob(queue.newUUID().bytes),
            .text(name.rawValue), .integer(now.milliseconds))
        // The row was inserted above.
        return try database.integer("SELECT id FROM sessions WHERE name = ?", .text(name.rawValue)) ?? 0
    }

    private func insert(_ sources: [UploadSource], batch: BatchID, origin: String) throws {
        _ = try lanes.lane(batch: batch, origin: origin)
        let insert = try database.statement(
            "INSERT INTO sources (batch, path, placement, name, progress) VALUES (?, ?, ?, ?, \(progress: .new))")
        for source in sources {
            let (placement, name): (StoredPlacement, [UInt8]?) =
                switch source.placement {
                case .named(let name): (.named, name.bytes)
                case .contents: (.contents, nil)
                case .exactly: (.exactly, nil)
                }
            try insert.bind(1, batch.rawValue)
            try insert.bind(2, source.path.bytes)
            try insert.bind(3, placement.rawValue)
            try insert.bind(4, SQLiteValue(name))
            try insert.run()
        }
    }

    // MARK: Downloads

    /// Returns what the URLs hold that may be secret, for the secrets store.
    private func insert(
        _ downloads: [DownloadSource], batch: BatchID, root: Int64, secrets: TransferSecrets
    ) throws -> [(task: TaskID, query: String)] {
        var directories: [RawPath: Int64] = [:]
        var lanesByOrigin: [String: Int64] = [:]
        var queries: [(task: TaskID, query: String)] = []
        let firstTask = queue.numbers.task
        var named: Set<DownloadSource> = []
        // Named twice it would be fetched twice, and the second one would find the first one's file in its place.
        for download in downloads where named.insert(download).inserted {
            guard let address = RemoteAddress(download.url) else {
                throw QueueError.badRequest(
                    "not a URL with a host and without user info: \(Plan.harmless(download.url))")
            }
            if directories[download.directory] == nil {
                directories[download.directory] = try insert(directory: download.directory, batch: batch)
            }
            if lanesByOrigin[address.origin] == nil {
                lanesByOrigin[address.origin] = try lanes.lane(batch: batch, origin: address.origin)
            }
            let task = TaskID(rawValue: queue.numbers.task)
            queue.numbers.task += 1
            let name = download.fileName ?? RawPath(Self.fileName(address.lastSegment))
            // Both were set above.
            let (lane, directory) = (lanesByOrigin[address.origin]!, directories[download.directory]!)
            try database.run(
                """
                INSERT INTO tasks (id, folder, lane, source, state, claimed, flags, run, accepted, name)
                VALUES (?, ?, ?, ?, \(state: .queued), 0, ?, 0, 0, ?)
                """, .integer(task.rawValue), .integer(root), .integer(lane), .integer(directory),
                .integer(TaskFlags.details.rawValue), .blob(name.bytes))
            try database.run(
                "INSERT INTO task_details (task, url, has_query, file_name) VALUES (?, ?, ?, ?)",
                .integer(task.rawValue), .text(address.plain), .integer(address.query == nil ? 0 : 1),
                SQLiteValue(download.fileName?.bytes))
            if let query = address.query { queries.append((task, query)) }
            queue.ledger.add(Tally(files: 1), folder: root, state: .queued)
            queue.ledger.addReady(1, lane: lane)
        }
        // Buckets are of one service.
        let servers = Set(
            lanesByOrigin.keys.map { origin in
                TransferScheme(of: origin).flatMap { $0.facts.urlNamesNoHost ? $0.rawValue : nil } ?? origin
            })
        if servers.count > 1, secrets.hasLogin {
            throw QueueError.badRequest(
                "a user, a password and a token go to one server, and the URLs name \(servers.count): queue one batch for each"
            )
        }
        if servers.count > 1, secrets.netrcFile != nil, secrets.s3Command != nil {
            throw QueueError.badRequest("\(TransferSecrets.oneIsAsked): queue one batch for each server")
        }
        try walks.noteTasks(batch, first: firstTask)
        return queries
    }

    private func insert(directory: RawPath, batch: BatchID) throws -> Int64 {
        try database.run(
            "INSERT INTO sources (batch, path, placement, progress) VALUES (?, ?, ?, \(progress: .done))",
            .integer(batch.rawValue),
            .blob(directory.bytes), .integer(StoredPlacement.downloads.rawValue))
        return try database.integer("SELECT max(id) FROM sources") ?? 0
    }

    /// A name that a URL suggests, made fit to be one.
    private static func fileName(_ segment: [UInt8]) -> [UInt8] {
        let name = segment.split(whereSeparator: { $0 == 0 || $0 == UInt8(ascii: "/") }).last.map { Array($0) } ?? []
        return name.isEmpty || name == Array(".".utf8) || name == Array("..".utf8) ? Array("download".utf8) : name
    }
}
