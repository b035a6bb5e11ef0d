package import TransferModel

/// The methods by name: all that a client can ask. One row of ``MethodTable`` each.
package enum MethodName: String, Codable, Sendable, CaseIterable {
    case hello
    case batchAdd = "batch.add"
    case batchList = "batch.list"
    case batchShow = "batch.show"
    case batchOrder = "batch.order"
    case taskList = "task.list"
    case taskShow = "task.show"
    case why
    case nodesPause = "nodes.pause"
    case nodesResume = "nodes.resume"
    case nodesCancel = "nodes.cancel"
    case nodesRetry = "nodes.retry"
    case nodesUndo = "nodes.undo"
    case nodesUndoable = "nodes.undoable"
    case nodesPurge = "nodes.purge"
    case nodesClear = "nodes.clear"
    case nodesMove = "nodes.move"
    case nodesSet = "nodes.set"
    case nodesRunNow = "nodes.runNow"
    case nodesVerify = "nodes.verify"
    case nodesReadBack = "nodes.readBack"
    case nodeShow = "node.show"
    case treeRead = "tree.read"
    case treeFind = "tree.find"
    case viewSet = "view.set"
    case totals
    case throughput
    case eventsRead = "events.read"
    case eventsFollow = "events.follow"
    case eventsUnfollow = "events.unfollow"
    case eventsAcknowledge = "events.acknowledge"
    case engineStatus = "engine.status"
    case engineStop = "engine.stop"
    case engineGoOn = "engine.goOn"
    case limitsGet = "limits.get"
    case limitsSet = "limits.set"
    case logRead = "log.read"
    case leftoversList = "leftovers.list"
    case leftoversAbort = "leftovers.abort"
    case leftoversSearch = "leftovers.search"
    case destinationTest = "destination.test"
    case destinationKeep = "destination.keep"
    case destinationForget = "destination.forget"
    case destinationRestore = "destination.restore"
}

/// The notifications of the engine, by name.
package enum NotificationName: String, Codable, Sendable, CaseIterable {
    case viewChanged = "view.changed"
    case eventsHappened = "events.happened"
    case engineEnds = "engine.ends"
}

/// A method with the types of its parameters and its answer.
package struct Method<Parameters: Codable & Sendable, Result: Codable & Sendable>: Sendable {
    package let name: MethodName

    fileprivate init(_ name: MethodName) { self.name = name }
}

/// The methods with their types.
package enum Methods {
    package static let hello = Method<Hello, Welcome>(.hello)
    package static let batchAdd = Method<BatchRequest, BatchAdded>(.batchAdd)
    package static let batchList = Method<BatchListRequest, BatchPage>(.batchList)
    package static let batchShow = Method<BatchShowRequest, BatchShown>(.batchShow)
    package static let batchOrder = Method<BatchOrderRequest, BatchOrdered>(.batchOrder)
    package static let taskList = Method<TaskListRequest, TaskPage>(.taskList)
    package static let taskShow = Method<TaskShowRequest, TaskShown>(.taskShow)
    package static let why = Method<WhyRequest, WhyAnswers>(.why)
    package static let nodesPause = Method<PauseRequest, NodeResults>(.nodesPause)
    package static let nodesResume = Method<NodesRequest, NodeResults>(.nodesResume)
    package static let nodesCancel = Method<NodesRequest, NodeResults>(.nodesCancel)
    package static let nodesRetry = Method<NodesRequest, NodeResults>(.nodesRetry)
    package static let nodesUndo = Method<UndoRequest, NodeResults>(.nodesUndo)
    package static let nodesUndoable = Method<Nothing, UndoSteps>(.nodesUndoable)
    package static let nodesPurge = Method<NodesRequest, NodeResults>(.nodesPurge)
    package static let nodesClear = Method<NodesRequest, NodeResults>(.nodesClear)
    package static let nodesMove = Method<MoveRequest, NodeResults>(.nodesMove)
    package static let nodesSet = Method<SetRequest, NodeResults>(.nodesSet)
    package static let nodesRunNow = Method<NodesRequest, NodeResults>(.nodesRunNow)
    package static let nodesVerify = Method<VerifyRequest, VerifyAnswer>(.nodesVerify)
    package static let nodesReadBack = Method<ReadBackRequest, ReadBackAnswer>(.nodesReadBack)
    package static let nodeShow = Method<NodeShowRequest, NodeShown>(.nodeShow)
    package static let treeRead = Method<SectionRequest, SectionRead>(.treeRead)
    package static let treeFind = Method<FindRequest, FoundRow>(.treeFind)
    package static let viewSet = Method<ViewRequest, Nothing>(.viewSet)
    package static let totals = Method<Nothing, QueueTotals>(.totals)
    package static let throughput = Method<ThroughputRequest, ThroughputReport>(.throughput)
    package static let eventsRead = Method<EventsReadRequest, EventPage>(.eventsRead)
    package static let eventsFollow = Method<EventsFollowRequest, EventsFollowing>(.eventsFollow)
    package static let eventsUnfollow = Method<Nothing, Nothing>(.eventsUnfollow)
    package static let eventsAcknowledge = Method<EventsAcknowledgeRequest, Nothing>(.eventsAcknowledge)
    package static let engineStatus = Method<Nothing, EngineStatus>(.engineStatus)
    package static let engineStop = Method<EngineStopRequest, EngineStopAnswer>(.engineStop)
    package static let engineGoOn = Method<Nothing, EngineGoOnAnswer>(.engineGoOn)
    package static let leftoversList = Method<LeftoversRequest, LeftoverList>(.leftoversList)
    package static let leftoversAbort = Method<LeftoversAbortRequest, NodeResults>(.leftoversAbort)
    package static let leftoversSearch = Method<LeftoverSearchRequest, LeftoverSearchAnswer>(.leftoversSearch)
    package static let destinationTest = Method<DestinationTestRequest, DestinationTested>(.destinationTest)
    package static let destinationKeep = Method<DestinationKeepRequest, Nothing>(.destinationKeep)
    package static let destinationForget = Method<DestinationForgetRequest, DestinationForgotten>(.destinationForget)
    package static let destinationRestore = Method<DestinationForgetRequest, DestinationForgotten>(.destinationRestore)
    package static let limitsGet = Method<Nothing, TransferLimits>(.limitsGet)
    package static let limitsSet = Method<LimitsChange, TransferLimits>(.limitsSet)
    package static let logRead = Method<LogReadRequest, LogReadAnswer>(.logRead)
}
