import ServiceWire
public import TransferModel

/// Tasks, fetched page by page while they are read.
public struct TaskSequence: AsyncSequence, Sendable {
    public typealias Element = TaskSnapshot
    public typealias Failure = RequestError

    let connection: EngineConnection
    let request: TaskListRequest

    public struct AsyncIterator: AsyncIteratorProtocol {
        let connection: EngineConnection
        var request: TaskListRequest
        var page: ArraySlice<TaskSnapshot> = []
        var isLast = false
        var pager = Pager<TaskID>()

        public mutating func next() async throws(RequestError) -> TaskSnapshot? {
            while page.isEmpty {
                if isLast { return nil }
                let answer = try await connection.call(Methods.taskList, request)
                page = answer.tasks[...]
                if let next = answer.next { try pager.move(to: next) }
                request.after = answer.next
                isLast = answer.next == nil
            }
            return page.removeFirst()
        }

        public mutating func next(isolation: isolated (any Actor)?) async throws(RequestError) -> TaskSnapshot? {
            try await next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(connection: connection, request: request) }
}
