import LinuxSystem
package import TransferModel

package actor QueueReader {
    private let executor: ThreadExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    init(executor: ThreadExecutor) { self.executor = executor }

    /// Unfinished batches in the queue's order, then finished ones, the last first.
    package func batches(session: SessionName? = nil, limit: Int = 1000) throws -> [BatchSnapshot] { fatalError() }
    package func batch(_ id: BatchID) throws -> BatchSnapshot? { fatalError() }
    /// Tasks in the order of their numbers, `after` excluded.
    /// - Parameter states: as shown (a queued task of a paused batch is `paused`); empty: any.
    package func tasks(
        batch: BatchID? = nil, session: SessionName? = nil, states: [TransferState] = [], after: TaskID? = nil,
        limit: Int
    ) throws -> [TaskSnapshot] { fatalError() }
    package func task(_ id: TaskID, history: Bool = false, response: Bool = false) throws -> TaskSnapshot? {
        fatalError()
    }
    /// The nodes that a selector means, page by page in the order of their numbers.
    package func nodes(matching selector: NodeSelector, after: NodeID? = nil, limit: Int) throws -> [NodeID] {
        fatalError()
    }
    /// The row of a node; `nil`: there is no such node.
    package func row(of node: NodeID) throws -> RowID? { fatalError() }
    package func row(_ id: RowID) throws -> NodeRow? { fatalError() }
    /// `nil`: the parent is gone.
    package func section(_ request: SectionRequest) throws -> TreeSection? { fatalError() }
    /// The folder and those above it, the batch's root last.
    package func chain(of folder: FolderID) throws -> [FolderID] { fatalError() }
    package func totals() throws -> QueueTotals { fatalError() }
    /// Bytes that are still to cross the wire, by batch that is not finished; unknown sizes count as 0.
    package func bytesLeft() throws -> [BatchID: Int64] { fatalError() }
    /// What `why` is made of; `nil`: no such node.
    package func standing(of node: NodeID) throws -> NodeStanding? { fatalError() }
    package func events(after sequence: EventSequence, limit: Int) throws -> [TransferEvent] { fatalError() }
    package func lastEvent() throws -> EventSequence { fatalError() }
    /// How far a consumer has acknowledged; 0 when it is not known.
    package func cursor(of consumer: String) throws -> EventSequence { fatalError() }
    package func statistics() throws -> QueueStatistics { fatalError() }
    /// What is wrong with the queue, for a person; empty when all agrees.
    package func check() throws -> [String] { fatalError() }
}
