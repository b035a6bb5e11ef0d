package import TransferModel

/// Changes of the order: durable, with a number to undo them by.
extension QueueWriter {
    /// Changes the order of batches, or of what is in a batch.
    /// - Parameters:
    ///   - asOne: the tasks are one group and stand together.
    ///   - earlier: `NodeChange.moved` of the group's page before.
    package func move(
        _ nodes: [NodeID], to place: MovePlace, asOne: Bool = false, with earlier: TaskID? = nil, joining: Int64? = nil
    ) throws(QueueError) -> NodeChange {
        try change { try store.ordering.move(nodes, to: place, asOne: asOne, with: earlier, joining: joining) }
    }

    /// Lets nodes run before all others, once, in spite of times and waits.
    package func runNow(_ nodes: [NodeID], joining: Int64? = nil) throws(QueueError) -> NodeChange {
        try change { try store.urgent.runNow(nodes, joining: joining) }
    }
}
