/// One row of the protocol: a method or a notification, its fields, and since which version it is there.
///
/// A field's name ends in `?` when it may be missing; in an answer that means it is left out when unknown.
package struct MethodRow: Equatable, Sendable {
    package var name: String
    package var parameters: [String]
    package var result: [String]
    package var since: ProtocolVersion
}

/// The protocol as a table. `Resources/protocol/README.md` shows the same rows to people, and a test compares them.
package enum MethodTable {
    package static func row(_ name: MethodName) -> MethodRow {
        let facts = facts(name)
        return MethodRow(
            name: name.rawValue, parameters: words(facts.parameters), result: words(facts.result),
            since: ProtocolVersion(major: 1, minor: 0))
    }

    package static func row(_ name: NotificationName) -> MethodRow {
        let parameters =
            switch name {
            case .viewChanged: "view sections nodes totals? filter?"
            case .eventsHappened: "events next last"
            case .engineEnds: ""
            }
        return MethodRow(
            name: name.rawValue, parameters: words(parameters), result: [], since: ProtocolVersion(major: 1, minor: 0))
    }

    /// All that is to be known of a method beside its types, which ``Methods`` has.
    fileprivate static func facts(_ name: MethodName) -> MethodFacts {
        switch name {
        case .hello:
            MethodFacts(
                "protocolVersion client? sshAgent? sessionBus?", "protocolVersion engineVersion pid now? graceSeconds?")
        case .batchAdd:
            MethodFacts(
                "uuid session? name? work held? priority? options? secrets? destination? like?", "batch existed")
        case .batchList: MethodFacts("session? states? limit?", "batches", isQuestion: true)
        case .batchShow: MethodFacts("batch? uuid? keys?", "batch", isQuestion: true)
        case .batchOrder: MethodFacts("batch", "order", isQuestion: true)
        case .taskList: MethodFacts("batch? session? states? filter? after? limit?", "tasks next", isQuestion: true)
        case .taskShow: MethodFacts("task history? response?", "task", isQuestion: true)
        case .why: MethodFacts("id?", "answers", isQuestion: true)
        case .nodesPause: MethodFacts("ids? rows? selector? until?", nodeResults)
        case .nodesResume, .nodesCancel, .nodesRetry, .nodesPurge, .nodesClear, .nodesRunNow:
            MethodFacts("ids? rows? selector?", nodeResults)
        case .nodesUndo: MethodFacts("ids? rows? selector? operation?", nodeResults)
        case .nodesUndoable: MethodFacts("", "steps", isQuestion: true)
        case .nodesMove: MethodFacts("ids? rows? to before?", nodeResults)
        case .nodesSet: MethodFacts("ids? rows? selector? settings secrets?", nodeResults)
        case .nodesVerify: MethodFacts("id after?", "folder next total")
        case .nodesReadBack: MethodFacts("id run seen?", "progress")
        case .nodeShow: MethodFacts("id", "node", isQuestion: true)
        case .treeRead: MethodFacts("parent? limit order? flat? showing?", "section", isQuestion: true)
        case .treeFind:
            MethodFacts(
                "text after? here? backwards? order? flat? filter?", "way matches complete wrapped", isQuestion: true)
        case .viewSet: MethodFacts("view? sections? nodes? totals? filter?", "")
        case .totals:
            MethodFacts(
                "",
                "batches unfinished? counts bytes bytesPerSecondUp bytesPerSecondDown secondsLeft problems problemCauses needsPerson? "
                    + "needsSpace? needsServer? viewers stopping trouble? troubleFinding? limitUp limitDown",
                isQuestion: true)
        case .throughput:
            MethodFacts(
                "batch?", "series batch? sentToday? receivedToday? errors? errorSeconds? process?", isQuestion: true)
        case .eventsRead:
            MethodFacts(
                "after? consumer? session? limit? wait?", "events next last", isQuestion: true, answersLate: true)
        case .eventsFollow: MethodFacts("after? consumer? session?", "after")
        case .eventsUnfollow: MethodFacts("", "")
        case .eventsAcknowledge: MethodFacts("consumer through", "")
        case .engineStatus:
            MethodFacts(
                "",
                "running pid version uptime protocolVersion socket queuePath sessions batches tasksActive "
                    + "tasksWaiting bytesPerSecondUp bytesPerSecondDown residentBytes stopping", isQuestion: true)
        case .engineStop: MethodFacts("finishRunning? finishResumable? wait?", "takenBack", answersLate: true)
        case .engineGoOn: MethodFacts("", "wasStopping")
        case .limitsGet: MethodFacts("", limits, isQuestion: true)
        case .limitsSet:
            MethodFacts("up? down? upTimetable? downTimetable? transfers? transfersPerHost? scoped?", limits)
        case .leftoversList: MethodFacts("after? limit?", "leftovers next", isQuestion: true)
        case .leftoversAbort: MethodFacts("tasks forget?", nodeResults, answersLate: true)
        case .leftoversSearch: MethodFacts("url s3? keys? destination? abort?", "uploads more?", answersLate: true)
        case .destinationTest: MethodFacts("url options? secrets? destination?", "report", answersLate: true)
        case .destinationKeep: MethodFacts("name secrets url? s3?", "")
        case .destinationForget, .destinationRestore: MethodFacts("name", "existed")
        case .logRead:
            MethodFacts("level? batch? task? limit? after? wait?", "lines next", isQuestion: true, answersLate: true)
        }
    }

    private static let nodeResults = "results operation? undone? limits? startsAgain? untold?"
    private static let limits = "up down upTimetable downTimetable transfers transfersPerHost scoped operation?"

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}

extension MethodName {
    /// It only asks and changes nothing, so that it may be asked again when its answer was lost.
    package var isQuestion: Bool { MethodTable.facts(self).isQuestion }

    /// It waits for an event, a server or the end of something.
    package var answersLate: Bool { MethodTable.facts(self).answersLate }
}

private struct MethodFacts {
    let parameters: String
    let result: String
    let isQuestion: Bool
    let answersLate: Bool

    init(_ parameters: String, _ result: String, isQuestion: Bool = false, answersLate: Bool = false) {
        self.parameters = parameters
        self.result = result
        self.isQuestion = isQuestion
        self.answersLate = answersLate
    }
}
