import FoundationEssentials
import ServiceWire
import TransferModel

/// One of everything with every field set, to compare what is really sent with the table and the schemas.
enum Samples {
    static let time = Timestamp(milliseconds: 1_795_264_867_250)
    static let uuid = UUID(uuidString: "6f9619ff-8b86-d011-b42d-00c04fc964ff")!  // A constant that is one.
    static let batch = BatchID(rawValue: 7)
    static let task = TaskID(rawValue: 31)
    static let folder = FolderID(rawValue: 3)
    static let finding = Finding("no", aside: "so", isOfFile: true, .replacing("look, or ", " then"))
    static let error = {
        var error = TransferError(.http, finding, httpStatus: 404, curlCode: 22)
        (error.said, error.detail) = ("gone", "PUT /p/x -> 404, try 1")
        return error
    }()
    static let advice = Advice.idle("wait, or \(quoted: .set(.batch(batch), "--limit", "off"))")
    static let why = {
        var why = WhyAnswer(
            id: .batch(batch), state: .waiting, waitReasons: [.auth], since: time, retryAt: time, tasks: 1,
            sentence: "s", unblock: "", because: "b (l)")
        why.remedy = advice
        (why.becauseInShort, why.becauseIsClause) = ("b", true)
        return why
    }()
    static let seq = EventSequence(rawValue: 12)

    static var snapshot: BatchSnapshot {
        var counts = FileCounts()
        counts.completed = 3
        counts.failed = 1
        var snapshot = BatchSnapshot(
            id: batch, uuid: uuid, session: .default, name: "photos", direction: .upload, state: .failed,
            scanning: false, paused: false, priority: .high, createdAt: time, finishedAt: time,
            destination: "https://h/p/", counts: counts,
            bytes: ByteCounts(total: 10, sent: 9, accepted: 8, verified: 7),
            bytesPerSecond: 5, secondsLeft: 1, waitReasons: [.auth, .backoff],
            causes: [CauseCount(code: .http, count: 1, finding: finding, httpStatus: 404, lastAt: time)])
        snapshot.waits = [
            WaitCount(reason: .backoff, code: .cannotFindHost, count: 1, finding: finding, lastAt: time),
            WaitCount(
                reason: .hostBackoff, code: .timedOut, count: 1, finding: finding, lastAt: time, server: "h:8080",
                retryAt: time),
        ]
        snapshot.keysProfile = "lab"
        (snapshot.causes[0].said, snapshot.causes[0].detail) = (error.said, error.detail)
        for place in snapshot.waits.indices {
            (snapshot.waits[place].said, snapshot.waits[place].detail) = (error.said, error.detail)
        }
        return snapshot
    }

    static var taskSnapshot: TaskSnapshot {
        var task = TaskSnapshot(
            id: task, uuid: uuid, batch: batch, session: .default, direction: .upload, state: .failed, priority: .low,
            name: RawPath([0xff]), folder: RawPath("a/b"), source: RawPath([0x2f, 0xff]),
            destination: RawPath([0x2f, 0xfe]), bytesTotal: 5, createdAt: time)
        task.protocol = "put"
        task.cause = .http
        task.secondsLeft = 2
        task.resumedFrom = [3]
        task.retryAt = time
        task.error = error
        task.digest = TransferDigest(algorithm: "sha-256", value: "00ff")
        task.finalPath = "/x"
        task.answered = 201
        task.startedAt = time
        task.finishedAt = time
        task.parts = [
            PartRun(first: 1, last: 8, state: .completed, bytesTotal: 64, bytesSent: 64),
            PartRun(first: 9, last: 9, state: .running, bytesTotal: 8, bytesSent: 7),
        ]
        task.attempt = AttemptFigures(averageBytesPerSecond: 4, bestBytesPerSecond: 6, resumable: true)
        task.rules = TaskRules(
            giveUpAfterSeconds: 5, verify: .digest, expects: TransferDigest(algorithm: "sha-256", value: "00ff"))
        task.modifiedAt = time
        task.history = [HistoryEntry(time: time, what: "attempt", cause: .http, attempt: 1, message: "no")]
        task.response = TransferResponse(status: 404, headers: [HeaderField("A", "b")], body: "gone")
        return task
    }

    static var event: TransferEvent {
        var payload = EventPayload()
        payload.bytes = 1
        payload.offset = 2
        payload.skipped = true
        payload.verified = .size
        payload.digest = TransferDigest(algorithm: "md5", value: "00")
        payload.finalPath = "/x"
        payload.error = error
        payload.waitReasons = [.hostBackoff]
        payload.retryAt = time
        payload.status = 503
        payload.filesTotal = 4
        payload.filesFailed = 1
        payload.state = .failed
        payload.message = "m"
        return TransferEvent(
            seq: seq, at: time, session: .default, batch: batch, task: task, type: .taskFailed, payload: payload)
    }

    static var row: NodeRow {
        var row = NodeRow(
            id: .group(batch, folder, RowID.Fate(.failed, cause: .http)), name: "raw", state: .failed,
            counts: FileCounts(), bytes: ByteCounts())
        row.waitReasons = [.auth]
        row.secondsLeft = 1
        row.retryAt = time
        row.error = error
        return row
    }

    static var section: TreeSection {
        var section = TreeSection(parent: .folder(batch, folder), rows: [row], total: 1)
        (section.order, section.flat, section.counts) = (order, true, FileCounts())
        return section
    }

    static let order = TreeOrder(.size, reversed: true)
    static let sectionRequest = SectionRequest(
        parent: .batch(batch), limit: 9, order: order, flat: true, showing: .task(batch, task))

    static var totals: QueueTotals {
        var totals = QueueTotals()
        totals.secondsLeft = 3
        totals.unfinished = 1
        totals.needsPerson = 1
        totals.needsSpace = 2
        totals.needsServer = 3
        let full = Finding("the disk that holds the queue is full", .step("make room there"))
        (totals.trouble, totals.troubleFinding) = (full.message, full)
        return totals
    }

    static var throughput: ThroughputReport {
        var report = ThroughputReport(series: [SpeedSeries(seconds: 5, up: [1, 2], down: [3, 4])], batch: batch)
        (report.sentToday, report.receivedToday, report.errors, report.errorSeconds) = (5, 6, 7, 300)
        report.process = ProcessUse(cpuMilliseconds: 1, uptimeMilliseconds: 2, residentBytes: 3, openFiles: 4)
        return report
    }

    static var request: BatchRequest {
        var options = TransferOptions()
        options.verify = .digest
        options.sha256 = String(repeating: "0f", count: 32)
        options.bytesPerSecond = 1
        options.limitOf = "n"
        options.notBefore = time
        options.include = ["*.raw"]
        options.caFile = RawPath("/ca")
        options.pin = "sha256//x"
        options.proxies = ["https_proxy": "http://p:1"]
        options.uploadBy = .form
        options.form = UploadForm()
        options.chunkBytes = 1
        options.sshCommand = "ssh -F f"
        options.s3 = S3Place(endpoint: "http://h:9000", region: "r")
        let sources = [
            UploadSource(path: RawPath([0x2f, 0xff]), placement: .named(RawPath([0xff]))),
            UploadSource(path: RawPath("/a"), placement: .contents),
            UploadSource(path: RawPath("/b"), placement: .exactly),
        ]
        return BatchRequest(
            uuid: uuid, session: .default, name: BatchName(rawValue: "n"), work: .upload(sources, to: "https://h/"),
            held: true,
            priority: .low, options: options, secrets: secrets, destination: "nas", like: batch)
    }

    static let secrets: TransferSecrets = {
        var secrets = TransferSecrets()
        secrets.user = "u"
        secrets.password = "p"
        secrets.passwordCommand = "pass"
        secrets.headers = [HeaderField("A", "b")]
        secrets.netrcFile = RawPath("/n")
        secrets.formFields = [HeaderField("album", "June")]
        secrets.proxies = ["http_proxy": "http://u:p@p:1"]
        secrets.s3 = S3Keys(accessKeyID: "k", secretAccessKey: "s", sessionToken: "t")
        secrets.s3?.expires = Timestamp(milliseconds: 1)
        secrets.s3Origin = .profile("lab")
        secrets.s3Command = ["keys", "of", "p"]
        secrets.s3Environment = ["AWS_CONFIG_FILE": "/lab"]
        return secrets
    }()

    static let scoped = ScopedLimit(kind: .host, name: "h", rate: 1)

    static let limits = {
        var limits = TransferLimits(
            up: 1, down: 2, transfers: 3, transfersPerHost: 4, upTimetable: "08:00,1 09:00,off", scoped: [scoped])
        limits.operation = 7
        return limits
    }()

    /// Parameters of each method, and of each notification.
    static func parameters(_ name: MethodName) -> any Codable {
        let nodes = NodesRequest(
            ids: [.batch(batch), .folder(batch, path: RawPath([0xff]))], rows: [.task(batch, task)],
            selector: NodeSelector(batch: batch, session: .default, states: [.failed], filter: "@err"))
        return switch name {
        case .hello: Hello(client: "test 1", sshAgent: RawPath("/run/agent"), sessionBus: "unix:path=/run/bus")
        case .batchAdd: request
        case .batchList: BatchListRequest(session: .default, states: [.running], limit: 1)
        case .batchShow:
            {
                var both = BatchShowRequest(batch: batch)
                (both.uuid, both.keys) = (uuid, true)
                return both
            }()
        case .batchOrder: BatchOrderRequest(batch: batch)
        case .taskList:
            TaskListRequest(
                batch: batch, session: .default, states: [.failed], filter: "size>1G", after: task, limit: 2)
        case .taskShow: TaskShowRequest(task: task, history: true, response: true)
        case .why: WhyRequest(id: .task(task))
        case .nodesPause: PauseRequest(nodes, until: time)
        case .nodesResume, .nodesCancel, .nodesRetry, .nodesPurge, .nodesClear, .nodesRunNow: nodes
        case .nodesUndoable: Nothing()
        case .throughput: ThroughputRequest(batch: batch)
        case .nodesUndo: UndoRequest(ids: nodes.ids, rows: nodes.rows, selector: nodes.selector, operation: 4)
        case .nodesMove: MoveRequest(ids: nodes.ids, rows: nodes.rows, to: .before, before: .task(task))
        case .nodesSet:
            SetRequest(
                ids: nodes.ids, rows: nodes.rows, selector: nodes.selector,
                settings: NodeSettings(
                    priority: .high, limit: 1, notBefore: time, giveUpAfterSeconds: 2, name: BatchName(rawValue: "n")),
                secrets: secrets)
        case .nodeShow: NodeShowRequest(id: .batch(batch))
        case .treeRead: sectionRequest
        case .treeFind:
            FindRequest(
                text: "img", after: .batch(batch), here: true, backwards: true, order: order, flat: true, filter: "@err"
            )
        case .viewSet:
            ViewRequest(
                view: 1, sections: [sectionRequest], nodes: [.task(task)],
                totals: true,
                filter: "@err"
            )
        case .totals, .eventsUnfollow, .engineStatus, .engineGoOn, .limitsGet: Nothing()
        case .eventsRead: EventsReadRequest(after: seq, consumer: "c", session: .default, limit: 1, wait: true)
        case .eventsFollow: EventsFollowRequest(after: seq, consumer: "c", session: .default)
        case .eventsAcknowledge: EventsAcknowledgeRequest(consumer: "c", through: seq)
        case .engineStop: EngineStopRequest(finishRunning: true, finishResumable: false, wait: true)
        case .limitsSet:
            LimitsChange(
                up: 0, down: 1, upTimetable: "off", downTimetable: "08:00,1M", transfers: 2, transfersPerHost: 3,
                scoped: [scoped])
        case .nodesVerify: VerifyRequest(id: .task(task), after: 3)
        case .nodesReadBack: ReadBackRequest(id: .task(task), run: uuid, seen: 2)
        case .leftoversList: LeftoversRequest(after: task, limit: 1)
        case .leftoversAbort: LeftoversAbortRequest(tasks: [task], forget: true)
        case .leftoversSearch:
            LeftoverSearchRequest(
                url: "s3://b/p", s3: S3Place(endpoint: "https://h", region: "r"),
                keys: S3Keys(accessKeyID: "a", secretAccessKey: "b", sessionToken: "c"), destination: "nas",
                abort: ["u"])
        case .destinationTest:
            DestinationTestRequest(
                url: "https://host/", options: TransferOptions(), secrets: TransferSecrets(), destination: "nas")
        case .destinationKeep:
            DestinationKeepRequest(
                name: "nas", secrets: TransferSecrets(), url: "s3://b/p",
                s3: S3Place(endpoint: "https://h", region: "r"))
        case .destinationForget, .destinationRestore: DestinationForgetRequest(name: "nas")
        case .logRead: LogReadRequest(level: .error, batch: batch, task: task, limit: 1, after: 2, wait: true)
        }
    }

    private static var upload: BucketUpload {
        var upload = BucketUpload(destination: "s3://b/p/k", uploadID: "u", begun: time, task: task)
        upload.result = .refused
        upload.message = "m"
        return upload
    }

    static func result(_ name: MethodName) -> any Codable {
        return switch name {
        case .hello: Welcome(engineVersion: "1", pid: 2, now: time, graceSeconds: 10)
        case .batchAdd: BatchAdded(batch: snapshot, existed: true)
        case .batchOrder: BatchOrdered(order: request)
        case .batchList: BatchPage(batches: [snapshot])
        case .batchShow: BatchShown(batch: snapshot)
        case .taskList: TaskPage(tasks: [taskSnapshot], next: task)
        case .taskShow: TaskShown(task: taskSnapshot)
        case .why:
            WhyAnswers(answers: [why])
        case .destinationTest:
            DestinationTested(
                report: DestinationReport(
                    ok: true, milliseconds: 4, protocol: "dav", login: .ok, exists: true, freeBytes: 9))
        case .destinationKeep: Nothing()
        case .destinationForget, .destinationRestore: DestinationForgotten(existed: true)
        case .leftoversList:
            LeftoverList(
                leftovers: [
                    Leftover(
                        task: task, batch: batch, state: .failed, protocol: "tus", destination: "tus+https://h/x",
                        since: time)
                ], next: task)
        case .leftoversSearch: LeftoverSearchAnswer(uploads: [upload], more: true)
        case .nodesVerify:
            VerifyAnswer(
                folder: VerifiedFolder(
                    destination: "dav://h/x", files: 2, found: 1,
                    absent: [AbsentTask(task: task, path: "a/b", error: TransferError(.notThere, "m"))], unlisted: "u"),
                next: 3, total: 4)
        case .nodesReadBack:
            ReadBackAnswer(
                progress: ReadBackProgress(
                    files: 3, same: 1, bytes: 9,
                    findings: [AbsentTask(task: task, path: "a/b", error: TransferError(.notThere, "m"))], isOver: true)
            )
        case .nodesPause, .nodesResume, .nodesCancel, .nodesRetry, .nodesUndo, .nodesPurge, .nodesClear, .nodesMove,
            .nodesSet,
            .nodesRunNow, .leftoversAbort:
            NodeResults(
                results: [NodeResult(id: .task(task), refused: .noSuchObject, advice)],
                operation: 4, undone: .limit, limits: limits, startsAgain: true,
                untold: UntoldResults(done: 1, already: 2, refused: 3))
        case .nodesUndoable:
            UndoSteps(steps: [
                UndoStep(
                    operation: 4, deed: .cancel, at: time, node: .batch(batch), nodes: 2, name: "photos",
                    startsAgain: true)
            ])
        case .nodeShow: NodeShown(node: row)
        case .treeRead: SectionRead(section: section)
        case .treeFind: FoundRow(way: [.batch(batch), .task(batch, task)], matches: 2, wrapped: true)
        case .viewSet, .eventsUnfollow, .eventsAcknowledge: Nothing()
        case .engineStop: EngineStopAnswer(takenBack: true)
        case .engineGoOn: EngineGoOnAnswer(wasStopping: true)
        case .totals: totals
        case .throughput: throughput
        case .eventsRead: EventPage(events: [event], next: seq, last: seq)
        case .eventsFollow: EventsFollowing(after: seq)
        case .engineStatus:
            EngineStatus(
                pid: 1, version: "1", uptime: 2, protocolVersion: "1.0", socket: "/s", queuePath: "/q", sessions: 1,
                batches: 2, tasksActive: 3, tasksWaiting: 4, bytesPerSecondUp: 5, bytesPerSecondDown: 6,
                residentBytes: 7)
        case .limitsGet, .limitsSet: limits
        case .logRead:
            LogReadAnswer(
                lines: [LogLine(at: time, level: .error, batch: batch, task: task, place: "b f", message: "m")], next: 3
            )
        }
    }

    static func parameters(_ name: NotificationName) -> any Codable {
        switch name {
        case .viewChanged:
            ViewChange(
                view: 1, sections: [section], nodes: [WatchedNode(id: .batch(batch), node: row)], totals: totals,
                filter: FilterCount(text: "@err", matched: 1, total: 2, complete: true))
        case .eventsHappened: EventPage(events: [event], next: seq, last: seq)
        case .engineEnds: Nothing()
        }
    }
}
