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
        let (parameters, result) = fields(name)
        return MethodRow(
            name: name.rawValue, parameters: words(parameters), result: words(result),
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

    private static func fields(_ name: MethodName) -> (parameters: String, result: String) {
        switch name {
        case .hello:
            ("protocolVersion client? sshAgent? sessionBus?", "protocolVersion engineVersion pid now? graceSeconds?")
        case .batchAdd:
            ("uuid session? name? work held? priority? options? secrets? destination? like?", "batch existed")
        case .batchList: ("session? states? limit?", "batches")
        case .batchShow: ("batch? uuid?", "batch")
        case .batchOrder: ("batch", "order")
        case .taskList: ("batch? session? states? filter? after? limit?", "tasks next")
        case .taskShow: ("task history? response?", "task")
        case .why: ("id?", "answers")
        case .nodesPause: ("ids? rows? selector? until?", nodeResults)
        case .nodesResume, .nodesCancel, .nodesRetry, .nodesPurge, .nodesClear, .nodesRunNow:
            ("ids? rows? selector?", nodeResults)
        case .nodesUndo: ("ids? rows? selector? operation?", nodeResults)
        case .nodesUndoable: ("", "steps")
        case .nodesMove: ("ids? rows? to before?", nodeResults)
        case .nodesSet: ("ids? rows? selector? settings secrets?", nodeResults)
        case .nodesVerify: ("id after?", "folder next total")
        case .nodesReadBack: ("id run seen?", "progress")
        case .nodeShow: ("id", "node")
        case .treeRead: ("parent? limit order? flat? showing?", "section")
        case .treeFind: ("text after? here? backwards? order? flat? filter?", "way matches complete wrapped")
        case .viewSet: ("view? sections? nodes? totals? filter?", "")
        case .totals:
            (
                "",
                "batches unfinished? counts bytes bytesPerSecondUp bytesPerSecondDown secondsLeft problems problemCauses needsPerson? "
                    + "needsSpace? needsServer? viewers stopping trouble? troubleFinding? limitUp limitDown"
            )
        case .throughput:
            ("batch?", "series batch? sentToday? receivedToday? errors? errorSeconds? process?")
        case .eventsRead: ("after? consumer? session? limit? wait?", "events next last")
        case .eventsFollow: ("after? consumer? session?", "after")
        case .eventsUnfollow: ("", "")
        case .eventsAcknowledge: ("consumer through", "")
        case .engineStatus:
            (
                "",
                "running pid version uptime protocolVersion socket queuePath sessions batches tasksActive "
                    + "tasksWaiting bytesPerSecondUp bytesPerSecondDown residentBytes stopping"
            )
        case .engineStop: ("finishRunning? finishResumable? wait?", "takenBack")
        case .engineGoOn: ("", "wasStopping")
        case .limitsGet: ("", limits)
        case .limitsSet:
            ("up? down? upTimetable? downTimetable? transfers? transfersPerHost? scoped?", limits)
        case .leftoversList: ("after? limit?", "leftovers next")
        case .leftoversAbort: ("tasks forget?", nodeResults)
        case .leftoversSearch: ("url s3? keys? destination? abort?", "uploads more?")
        case .destinationTest: ("url options? secrets? destination?", "report")
        case .destinationKeep: ("name secrets url? s3?", "")
        case .destinationForget, .destinationRestore: ("name", "existed")
        case .logRead: ("level? batch? task? limit? after? wait?", "lines next")
        }
    }

    private static let nodeResults = "results operation? undone? limits? startsAgain? untold?"
    private static let limits = "up down upTimetable downTimetable transfers transfersPerHost scoped operation?"

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
