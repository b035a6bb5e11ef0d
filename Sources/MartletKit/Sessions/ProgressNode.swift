public import TransferModel

/// A node of the tree of progress at an instant, in the words of Foundation's `Progress`: a batch, a folder, a file, or
/// the files of one fate in a folder. Its parents' numbers are sums over it. Bytes are
/// those sent (or received), and those that were at the other end already.
public struct ProgressNode: Sendable, Identifiable {
    /// Everything that is known of it.
    public let row: NodeRow
    public let connection: EngineConnection

    public var id: RowID { row.id }
    public var name: String { row.name }
    public var state: TransferState { row.state }

    /// Bytes; what is still being looked for or of unknown size is not in it.
    public var totalUnitCount: Int64 { row.bytes.total }
    public var completedUnitCount: Int64 { row.bytes.done }
    /// Files.
    public var itemCount: Int64 { row.counts.total }
    public var completedItemCount: Int64 { row.counts.completed }

    /// 0…1. It is 1 only when everything is done: what failed or was cancelled never is, though it is finished.
    public var fractionCompleted: Double {
        let share = row.share
        if share.isComplete { return 1 }
        guard share.whole > 0 else { return 0 }
        return min(0.99, Double(share.part) / Double(share.whole))
    }

    /// True while the total is not known yet.
    public var isIndeterminate: Bool { row.scanning || !row.sizeKnown }
    public var isFinished: Bool { row.state.isTerminal && !row.scanning }
    public var isCancelled: Bool { row.state == .cancelled }
    /// Its own flag.
    public var isPaused: Bool { row.paused }
    /// Its own flag or an ancestor's.
    public var isEffectivelyPaused: Bool { row.effectivelyPaused }
    /// Bytes a second, smoothed.
    public var throughput: Int64 { row.bytesPerSecond }
    /// Seconds; `nil`: unknown.
    public var estimatedTimeRemaining: Int64? { row.secondsLeft }

    public func pause() async throws(RequestError) { try await act(connection.pause) }
    public func resume() async throws(RequestError) { try await act(connection.resume) }
    public func cancel() async throws(RequestError) { try await act(connection.cancel) }
    public func retry() async throws(RequestError) { try await act(connection.retry) }

    /// The nodes directly below, at most so many (1…1000); many files of one fate are one node.
    public func children(limit: Int = 200) async throws(RequestError) -> [ProgressNode] {
        try await connection.section(of: row.id, limit: limit).rows.map {
            ProgressNode(row: $0, connection: connection)
        }
    }

    static func current(_ id: NodeID, on connection: EngineConnection) async throws(RequestError) -> ProgressNode {
        ProgressNode(row: try await connection.node(id), connection: connection)
    }

    private func act(
        _ action: (NodeChoice) async throws(RequestError) -> [NodeResult]
    ) async throws(RequestError) {
        for result in try await action(.rows([row.id])) where result.result == .refused {
            throw RequestError(result.code ?? .refused, result.message ?? "the engine refused it")
        }
    }
}

/// A node now and whenever it changed, until it is over or gone; at most 10 times a second, none for a slow reader
/// that a later one replaces.
public struct ProgressChanges: AsyncSequence, Sendable {
    public typealias Element = ProgressNode
    public typealias Failure = RequestError

    let node: NodeID
    let connection: EngineConnection

    public struct AsyncIterator: AsyncIteratorProtocol {
        let node: NodeID
        let connection: EngineConnection
        var updates: TreeSubscription?
        var isOver = false

        public mutating func next() async throws(RequestError) -> ProgressNode? {
            if isOver { return nil }
            if updates == nil {
                try await connection.connect()
                updates = await connection.view()
                updates?.show(nodes: [node], totals: false)
            }
            guard let updates else { return nil }
            while let update = await updates.makeAsyncIterator().next() {
                guard let change = update.nodes[node] else { continue }
                guard let row = change else { throw RequestError(.noSuchObject, "there is no \(node) (any more)") }
                let progress = ProgressNode(row: row, connection: connection)
                isOver = progress.isFinished
                return progress
            }
            if let failure = updates.failure { throw failure }
            return nil
        }

        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> ProgressNode? {
            try await next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(node: node, connection: connection) }
}
