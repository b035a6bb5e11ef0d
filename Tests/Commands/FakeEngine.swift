import FoundationEssentials
import LinuxSystem
import MartletKit

@testable import Commands

/// An engine of values: answers from what a test put there, and remembers what was asked of it.
final class FakeEngine: Engine {
    struct State {
        var isRunning = true
        /// It does not say which batches there are before something comes of this.
        var silence: AsyncStream<Void>?
        var takesStopBack = false
        /// It is not at its end before something comes of this.
        var work: AsyncStream<Void>?
        var batches: [BatchSnapshot] = []
        var tasks: [TaskSnapshot] = []
        var nodes: [NodeID: NodeRow] = [:]
        var events: [TransferEvent] = []
        var answers: [WhyAnswer] = []
        var results: [NodeResult] = []
        var status: EngineStatus?
        var remains: [Leftover] = []
        var verified: [VerifiedFolder] = []
        /// Files beside those of `verified`.
        var unsent: Int64 = 0
        var readBack: [ReadBackProgress] = []
        /// Breaks a read-back off after these.
        var readBackEnd: RequestError?
        var totals = QueueTotals()
        var uploads: [BucketUpload] = []
        var findsAllUploads = true
        /// Of the last `set`.
        var renewed: TransferSecrets?
        /// Thrown by every question.
        var failure: RequestError?
        var limits = TransferLimits(up: nil, down: nil, transfers: 8, transfersPerHost: 8)
        var wishes: [LimitsWish] = []
        var undone: UndoneDeed?
        var undoable: [UndoStep] = []
        var undoneLimits: TransferLimits?
        var asked: [String] = []
        var requests: [BatchRequest] = []
        var orders: [BatchID: BatchRequest] = [:]
        var logins: [String: TransferSecrets] = [:]
        /// The URL and the endpoint that a login was given for.
        var loginServers: [String: [String?]] = [:]
        var logLines = 1
        var forgotten: [String: TransferSecrets] = [:]
        var report = DestinationReport(ok: true, milliseconds: 84, login: .ok)
        /// What becomes of the batches when something is said to have changed, one step each time.
        var steps: [@Sendable (inout [BatchSnapshot]) -> Void] = []
    }

    let state: Mutex<State>

    init(_ prepare: (inout State) -> Void = { _ in }) {
        var start = State()
        prepare(&start)
        state = Mutex(start)
    }

    var asked: [String] { state.withLock(\.asked) }
    var requests: [BatchRequest] { state.withLock(\.requests) }

    private func ask<Value: Sendable>(
        _ what: String, _ answer: (inout State) throws(RequestError) -> Value
    ) throws(RequestError) -> Value {
        let result = state.withLock { state -> Result<Value, RequestError> in
            state.asked.append(what)
            if let failure = state.failure { return .failure(failure) }
            do throws(RequestError) { return .success(try answer(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func missing(_ id: some CustomStringConvertible) -> RequestError {
        RequestError(.noSuchObject, "there is no \(id): see martlet list")
    }

    /// What was said of the login that is kept, by destination.
    func keepLogin(
        _ secrets: TransferSecrets, of destination: String, at url: String, s3: S3Place?
    ) async throws(RequestError) {
        try ask("keep \(destination)") { state in
            state.logins[destination] = secrets
            state.loginServers[destination] = [url, s3?.endpoint]
        }
    }
    func forgetLogin(of destination: String) async throws(RequestError) -> Bool {
        try ask("forget \(destination)") { state in
            state.forgotten[destination] = state.logins.removeValue(forKey: destination)
            return state.forgotten[destination] != nil
        }
    }
    func restoreLogin(of destination: String) async throws(RequestError) -> Bool {
        try ask("restore \(destination)") { state in
            state.logins[destination] = state.forgotten.removeValue(forKey: destination)
            return state.logins[destination] != nil
        }
    }
    func test(_ request: BatchRequest) async throws(RequestError) -> DestinationReport {
        try ask("test") { state in
            state.requests.append(request)
            return state.report
        }
    }

    func isEngineRunning() async throws(RequestError) -> Bool { state.withLock(\.isRunning) }
    func connect() async throws(RequestError) { try ask("connect") { $0.isRunning = true } }
    func status() async throws(RequestError) -> EngineStatus? { try ask("status") { $0.status } }
    func stopEngine(_ manner: StopManner) async throws(RequestError) -> EngineStop {
        if let work = self.state.withLock(\.work) { for await _ in work { break } }
        return try ask("stop \(manner)") { state in
            if state.takesStopBack { return .takenBack }
            defer { state.isRunning = false }
            return state.isRunning ? .stopped : .notRunning
        }
    }
    func startEngine() async throws(RequestError) -> Bool {
        try ask("start") { state in
            state.isRunning = true
            return state.status?.stopping ?? false
        }
    }

    func add(_ request: BatchRequest) async throws(RequestError) -> (batch: BatchSnapshot, existed: Bool) {
        try ask("add") { state in
            state.requests.append(request)
            let batch = BatchSnapshot.sample(7, .running)
            state.batches.append(batch)
            return (batch, false)
        }
    }

    func order(of batch: BatchID) async throws(RequestError) -> BatchRequest {
        try ask("order \(batch)") { state throws(RequestError) in
            guard let order = state.orders[batch] else { throw Self.missing(batch) }
            return order
        }
    }

    func batches(session: SessionName?, states: [TransferState]) async throws(RequestError) -> [BatchSnapshot] {
        if let silence = self.state.withLock(\.silence) { for await _ in silence { break } }
        return try ask("batches") { $0.batches.filter { session == nil || $0.session == session } }
    }

    func batch(_ id: BatchID) async throws(RequestError) -> BatchSnapshot {
        try ask("batch \(id)") { state throws(RequestError) in
            guard let batch = state.batches.first(where: { $0.id == id }) else { throw Self.missing(id) }
            if !state.steps.isEmpty { state.steps.removeFirst()(&state.batches) }
            return batch
        }
    }

    func batchWithKeys(_ id: BatchID) async throws(RequestError) -> BatchSnapshot { try await batch(id) }

    func task(_ id: TaskID, history: Bool, response: Bool) async throws(RequestError) -> TaskSnapshot {
        try ask("task \(id)") { state throws(RequestError) in
            guard let task = state.tasks.first(where: { $0.id == id }) else { throw Self.missing(id) }
            return task
        }
    }

    func node(_ id: NodeID) async throws(RequestError) -> NodeRow {
        try ask("node \(id)") { state throws(RequestError) in
            guard let row = state.nodes[id] else { throw Self.missing(id) }
            return row
        }
    }

    func totals() async throws(RequestError) -> QueueTotals { try ask("totals") { $0.totals } }
    func why(_ id: NodeID?) async throws(RequestError) -> [WhyAnswer] {
        try ask("why \(id?.description ?? "")") { $0.answers }
    }

    func firstTasks(of batch: BatchID) async throws(RequestError) -> [TaskSnapshot] {
        try ask("first \(batch)") { state in state.tasks.filter { $0.batch == batch } }
    }

    func someTasks(_ selector: NodeSelector, most: Int) async throws(RequestError) -> [TaskSnapshot] {
        var found: [TaskSnapshot] = []
        try await eachTask(selector) { found.append($0) }
        return Array(found.prefix(most))
    }

    func eachTask(
        _ selector: NodeSelector, _ body: (TaskSnapshot) -> Void
    ) async throws(RequestError) {
        let (batch, states) = (selector.batch, selector.states)
        let filter = selector.filter.map { " \($0)" } ?? ""
        let tasks = try ask("tasks \(states.map(\.rawValue).joined(separator: ","))\(filter)") { state in
            state.tasks.filter { (batch == nil || $0.batch == batch) && (states.isEmpty || states.contains($0.state)) }
        }
        tasks.forEach(body)
    }

    func eachEvent(
        after: EventSequence?, consumer: String?, follows: Bool, _ body: (TransferEvent) -> Void
    ) async throws(RequestError) {
        let events = try ask("events \(after?.rawValue ?? 0) \(consumer ?? "-")") { state in
            state.events.filter { $0.seq.rawValue > after?.rawValue ?? 0 }
        }
        events.forEach(body)
    }

    func acknowledge(consumer: String, through sequence: EventSequence) async throws(RequestError) {
        try ask("acknowledge \(consumer) \(sequence.rawValue)") { _ in }
    }

    var logFile: String { "/state/log/martletd.log" }

    func log(
        level: LogLevel, batch: BatchID?, task: TaskID?, limit: Int, after: Int64?
    ) async throws(RequestError) -> (lines: [LogLine], next: Int64) {
        try ask("log \(level.rawValue)") { state in
            let line = LogLine(
                at: .sample, level: .warning, batch: BatchID(rawValue: 7), task: nil, message: "slow \u{1B}[2J")
            return (Array(repeating: line, count: min(limit, state.logLines)), 1)
        }
    }

    func pause(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] { try change("pause", nodes) }
    func resume(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] { try change("resume", nodes) }
    func cancel(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] { try change("cancel", nodes) }
    func retry(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] { try change("retry", nodes) }
    func change(_ nodes: NodeChoice, _ deed: NodeDeed) async throws(RequestError) -> NodesChanged {
        if case .set(_, let secrets) = deed { state.withLock { $0.renewed = secrets } }
        return NodesChanged(results: try change("\(deed)", nodes))
    }
    func undoable() async throws(RequestError) -> [UndoStep] { try ask("undoable") { $0.undoable } }
    func graceTime() async -> Duration? { .seconds(10) }
    func takeBack(_ choice: UndoChoice) async throws(RequestError) -> NodesChanged {
        if case .operation(let number) = choice {
            let results = try ask("undo step \(number)") { $0.results }
            return state.withLock { NodesChanged(results: results, undone: $0.undone) }
        }
        let nodes: NodeChoice? = if case .nodes(let nodes) = choice { nodes } else { nil }
        let results = try change("undo", nodes)
        return state.withLock { NodesChanged(results: results, undone: $0.undone, limits: $0.undoneLimits) }
    }
    func limits() async throws(RequestError) -> TransferLimits { try ask("limits") { $0.limits } }
    func setLimits(_ wish: LimitsWish) async throws(RequestError) -> TransferLimits {
        try ask("setLimits") { state in
            state.wishes.append(wish)
            return state.limits
        }
    }
    func purge(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult] { try change("purge", nodes) }
    func purgeFinished() async throws(RequestError) -> [NodeResult] { try change("purge", nil) }
    func verify(_ id: NodeID, take: (VerifiedFolder) -> Void) async throws(RequestError) -> Int64 {
        let (folders, unsent) = try ask("verify \(id)") { ($0.verified, $0.unsent) }
        for folder in folders { take(folder) }
        return folders.reduce(unsent) { $0 + $1.files }
    }
    func readBack(_ id: NodeID, take: (ReadBackProgress) -> Void) async throws(RequestError) {
        for progress in try ask("readBack \(id)", { $0.readBack }) { take(progress) }
        if let end = state.withLock({ $0.readBackEnd }) { throw end }
    }
    func leftovers() async throws(RequestError) -> [Leftover] { try ask("leftovers") { $0.remains } }
    func abortLeftovers(of tasks: [TaskID], forgets: Bool) async throws(RequestError) -> [NodeResult] {
        try change(forgets ? "forget" : "abort", .ids(tasks.map { .task($0) }))
    }
    func bucketUploads(
        at url: String, place: S3Place?, keys: S3Keys?, destination: String?, aborting uploads: [String]
    ) async throws(RequestError) -> BucketUploads {
        let found = try ask(
            (["search", url, keys?.accessKeyID ?? "of \(destination ?? "nobody")"] + uploads).joined(separator: " ")
        ) { state in
            state.uploads.map { upload in
                var upload = upload
                if uploads.contains(upload.uploadID) { upload.result = .done }
                return upload
            }
        }
        return BucketUploads(found, isWhole: state.withLock { $0.findsAllUploads })
    }

    private func change(_ what: String, _ nodes: NodeChoice?) throws(RequestError) -> [NodeResult] {
        let named =
            switch nodes {
            case .ids(let ids): ids.map(\.description).joined(separator: " ")
            case .matching(let selector): "\(selector.batch?.description ?? "*") \(selector.states.map(\.rawValue))"
            case .rows, nil: "everything"
            }
        return try ask("\(what) \(named)") { $0.results }
    }

    /// Says that something changed as often as there are steps left, and twice more.
    func changes(of nodes: [NodeID]) -> AsyncStream<Void> {
        let count = state.withLock(\.steps).count + 2
        return AsyncStream { continuation in
            for _ in 0..<count { continuation.yield() }
        }
    }
}

extension Timestamp {
    /// 2026-11-21 12:41:07.250 UTC
    static let sample = Timestamp(milliseconds: 1_795_264_867_250)
}

extension BatchSnapshot {
    static func sample(
        _ number: Int64, _ state: TransferState, reasons: [WaitReason] = [], failed: Int64 = 0, cancelled: Int64 = 0
    ) -> BatchSnapshot {
        var counts = FileCounts()
        counts.completed = 5
        counts.failed = failed
        counts.cancelled = cancelled
        if !state.isTerminal { counts.running = 3 }
        // The UUID's text is one.
        let uuid = UUID(uuidString: "6F1A3C52-0000-4000-8000-0000000000FF")!
        return BatchSnapshot(
            id: BatchID(rawValue: number), uuid: uuid, session: .default, name: "photos", direction: .upload,
            state: state, scanning: false, paused: state == .paused, priority: .normal, createdAt: .sample,
            finishedAt: nil, destination: "https://nas/photos/", counts: counts,
            bytes: ByteCounts(total: 1 << 30, sent: 700 << 20, accepted: 690 << 20), bytesPerSecond: 10 << 20,
            secondsLeft: 32, waitReasons: reasons,
            causes: failed > 0 ? [CauseCount(code: .http, count: failed, message: "403 Forbidden")] : [])
    }
}

extension TaskSnapshot {
    static func sample(_ number: Int64, _ state: TransferState, batch: Int64 = 7, name: String = "a.jpg")
        -> TaskSnapshot
    {
        var task = TaskSnapshot(
            id: TaskID(rawValue: number), uuid: UUID(uuidString: "6F1A3C52-0000-4000-8000-000000000001")!,
            batch: BatchID(rawValue: batch), session: .default, direction: .upload, state: state, priority: .normal,
            name: RawPath(name), folder: RawPath("raw/2024"), source: RawPath("/home/u/raw/2024/\(name)"),
            destination: RawPath("https://nas/photos/\(name)"), bytesTotal: 1000, createdAt: .sample)
        task.bytesSent = state == .completed ? 1000 : 450
        return task
    }
}
