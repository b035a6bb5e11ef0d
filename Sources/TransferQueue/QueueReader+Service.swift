package import FoundationEssentials
package import TransferModel

// What the service needs beside the rest; bodies follow with the reader's.
extension QueueReader {
    /// The batch that was queued with this UUID; `nil`: none.
    package func batchID(uuid: UUID) throws -> BatchID? { fatalError() }
    /// What a row of the screen stands for: the node itself, or the tasks of a group page by page in the order of
    /// their numbers. Empty: there is no such row (any more).
    package func nodes(in row: RowID, after: TaskID? = nil, limit: Int = 1000) throws -> [NodeID] { fatalError() }
}
