package import FoundationEssentials
package import TransferModel

/// Answer of `batch.add`, sent when the batch is durable.
package struct BatchAdded: Codable, Hashable, Sendable {
    package var batch: BatchSnapshot
    /// A batch with this UUID was there already, and nothing was added.
    package var existed: Bool

    package init(batch: BatchSnapshot, existed: Bool) {
        self.batch = batch
        self.existed = existed
    }
}

/// Parameters of `batch.list`: unfinished batches in the queue's order, then finished ones, the last first.
package struct BatchListRequest: Codable, Hashable, Sendable {
    package var session: SessionName?
    /// Those of these states; missing or empty: any.
    package var states: [TransferState]?
    /// 1…10000, default 1000.
    package var limit: Int?

    package init(session: SessionName? = nil, states: [TransferState]? = nil, limit: Int? = nil) {
        self.session = session
        self.states = states
        self.limit = limit
    }
}

/// Answer of `batch.list`.
package struct BatchPage: Codable, Hashable, Sendable {
    package var batches: [BatchSnapshot]
    package init(batches: [BatchSnapshot]) { self.batches = batches }
}

/// Parameters of `batch.show`: one of the first two.
package struct BatchShowRequest: Codable, Hashable, Sendable {
    package var batch: BatchID?
    /// The UUID that the client gave; asks whether a batch whose answer was lost is there.
    package var uuid: UUID?
    /// True for the profile that its keys are of, which waits for the secrets.
    package var keys: Bool?

    package init(batch: BatchID, keys: Bool? = nil) { (self.batch, self.keys) = (batch, keys) }
    package init(uuid: UUID) { self.uuid = uuid }
}

/// Answer of `batch.show`.
package struct BatchShown: Codable, Hashable, Sendable {
    package var batch: BatchSnapshot
    package init(batch: BatchSnapshot) { self.batch = batch }
}

/// Parameters of `batch.order`.
package struct BatchOrderRequest: Codable, Hashable, Sendable {
    package var batch: BatchID
    package init(batch: BatchID) { self.batch = batch }
}

/// Answer of `batch.order`: what queues the uploads of a batch again. It says no secrets; `like` gives them.
package struct BatchOrdered: Codable, Hashable, Sendable {
    package var order: BatchRequest
    package init(order: BatchRequest) { self.order = order }
}

/// Parameters of `task.list`: a page of tasks in the order of numbers.
package struct TaskListRequest: Codable, Hashable, Sendable {
    package var batch: BatchID?
    package var session: SessionName?
    package var states: [TransferState]?
    /// Only tasks that match this expression, as a selector's.
    package var filter: String?
    package var after: TaskID?
    /// 1…1000, default 500.
    package var limit: Int?

    package init(
        batch: BatchID? = nil, session: SessionName? = nil, states: [TransferState]? = nil, filter: String? = nil,
        after: TaskID? = nil, limit: Int? = nil
    ) {
        self.batch = batch
        self.session = session
        self.states = states
        self.filter = filter
        self.after = after
        self.limit = limit
    }
}

/// Answer of `task.list`.
package struct TaskPage: Codable, Hashable, Sendable {
    package var tasks: [TaskSnapshot]
    @OrNull package var next: TaskID?

    package init(tasks: [TaskSnapshot], next: TaskID?) {
        self.tasks = tasks
        _next = OrNull(wrappedValue: next)
    }
}

/// Parameters of `task.show`.
package struct TaskShowRequest: Codable, Hashable, Sendable {
    package var task: TaskID
    /// Fill the task's `history`.
    package var history: Bool?
    /// Fill the task's `response`.
    package var response: Bool?

    package init(task: TaskID, history: Bool? = nil, response: Bool? = nil) {
        self.task = task
        self.history = history
        self.response = response
    }
}

/// Answer of `task.show`.
package struct TaskShown: Codable, Hashable, Sendable {
    package var task: TaskSnapshot
    package init(task: TaskSnapshot) { self.task = task }
}
