package import MartletKit

/// The engine as the commands need it. ``EngineConnection`` is the one that talks to it; a test brings a fake.
package protocol Engine: LoginKeeper {
    func isEngineRunning() async throws(RequestError) -> Bool
    func connect() async throws(RequestError)
    func status() async throws(RequestError) -> EngineStatus?
    func stopEngine(_ manner: StopManner) async throws(RequestError) -> EngineStop
    func startEngine() async throws(RequestError) -> Bool

    func add(_ request: BatchRequest) async throws(RequestError) -> (batch: BatchSnapshot, existed: Bool)
    func order(of batch: BatchID) async throws(RequestError) -> BatchRequest
    func batches(session: SessionName?, states: [TransferState]) async throws(RequestError) -> [BatchSnapshot]
    func batch(_ id: BatchID) async throws(RequestError) -> BatchSnapshot
    func batchWithKeys(_ id: BatchID) async throws(RequestError) -> BatchSnapshot
    func task(_ id: TaskID, history: Bool, response: Bool) async throws(RequestError) -> TaskSnapshot
    func node(_ id: NodeID) async throws(RequestError) -> NodeRow
    func totals() async throws(RequestError) -> QueueTotals
    func why(_ id: NodeID?) async throws(RequestError) -> [WhyAnswer]

    /// The first tasks of a batch, in the order of their numbers.
    func firstTasks(of batch: BatchID) async throws(RequestError) -> [TaskSnapshot]
    /// The first of the tasks that the selector means, at most so many.
    func someTasks(_ selector: NodeSelector, most: Int) async throws(RequestError) -> [TaskSnapshot]
    /// Calls `body` with each task that the selector means, page by page.
    func eachTask(
        _ selector: NodeSelector, _ body: (TaskSnapshot) -> Void
    ) async throws(RequestError)
    /// Calls `body` with each stored event behind the cursor, and with `follows` with those to come until the task is
    /// cancelled.
    func eachEvent(
        after: EventSequence?, consumer: String?, follows: Bool, _ body: (TransferEvent) -> Void
    ) async throws(RequestError)
    func acknowledge(consumer: String, through sequence: EventSequence) async throws(RequestError)
    /// The path of the log, the older ones beside it.
    var logFile: String { get }
    func log(
        level: LogLevel, batch: BatchID?, task: TaskID?, limit: Int, after: Int64?
    ) async throws(RequestError) -> (lines: [LogLine], next: Int64)

    func pause(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult]
    func resume(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult]
    func cancel(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult]
    func retry(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult]
    func change(_ nodes: NodeChoice, _ deed: NodeDeed) async throws(RequestError) -> NodesChanged
    func takeBack(_ choice: UndoChoice) async throws(RequestError) -> NodesChanged
    func undoable() async throws(RequestError) -> [UndoStep]
    /// The time in which a change can be taken back; `nil`: not known.
    func graceTime() async -> Duration?
    func limits() async throws(RequestError) -> TransferLimits
    func setLimits(_ wish: LimitsWish) async throws(RequestError) -> TransferLimits
    func purge(_ nodes: NodeChoice) async throws(RequestError) -> [NodeResult]
    func purgeFinished() async throws(RequestError) -> [NodeResult]
    /// Calls `take` with each folder at the server when that has listed it. - Returns: how many files it has, sent or not.
    func verify(_ id: NodeID, take: (VerifiedFolder) -> Void) async throws(RequestError) -> Int64
    /// Calls `take` some times a second with how far reading the files back is; each finding comes once.
    func readBack(_ id: NodeID, take: (ReadBackProgress) -> Void) async throws(RequestError)
    func leftovers() async throws(RequestError) -> [Leftover]
    func abortLeftovers(of tasks: [TaskID], forgets: Bool) async throws(RequestError) -> [NodeResult]
    func bucketUploads(
        at url: String, place: S3Place?, keys: S3Keys?, destination: String?, aborting uploads: [String]
    ) async throws(RequestError) -> BucketUploads

    func test(_ request: BatchRequest) async throws(RequestError) -> DestinationReport

    /// Says that something about these nodes, or anything at all, has changed; at most 10 times a second.
    func changes(of nodes: [NodeID]) -> AsyncStream<Void>
}

extension EngineConnection: Engine {
    package nonisolated func someTasks(
        _ selector: NodeSelector, most: Int
    ) async throws(RequestError) -> [TaskSnapshot] {
        var found: [TaskSnapshot] = []
        var tasks = tasks(
            batch: selector.batch, session: selector.session, states: selector.states, filter: selector.filter
        ).makeAsyncIterator()
        while found.count < most, let task = try await tasks.next() { found.append(task) }
        return found
    }

    package nonisolated func eachTask(
        _ selector: NodeSelector, _ body: (TaskSnapshot) -> Void
    ) async throws(RequestError) {
        var tasks = tasks(
            batch: selector.batch, session: selector.session, states: selector.states, filter: selector.filter
        ).makeAsyncIterator()
        while let task = try await tasks.next() { body(task) }
    }

    package nonisolated func eachEvent(
        after: EventSequence?, consumer: String?, follows: Bool, _ body: (TransferEvent) -> Void
    ) async throws(RequestError) {
        var events = events(after: after, consumer: consumer, follows: follows).makeAsyncIterator()
        while let event = try await events.next() { body(event) }
    }

    package nonisolated func changes(of nodes: [NodeID]) -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let following = Task {
                let view = await view()
                // More nodes than a view may have are covered by the sums, which change with every one of them.
                view.show(nodes: Array(nodes.prefix(1000)), totals: true)
                for await _ in view { continuation.yield() }
            }
            continuation.onTermination = { _ in following.cancel() }
        }
    }
}
