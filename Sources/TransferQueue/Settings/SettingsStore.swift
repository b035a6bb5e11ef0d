import FoundationEssentials
import SQLiteConnection
import TransferModel

/// Changes of what is queued or running: priority, limit, time, and what a batch was queued with.
struct SettingsStore: QueueSubject {
    let queue: QueueConnection
    let tasks: TaskStore
    let sets: TaskSets
    let attempts: AttemptStore
    let finder: NodeFinder
    let undoLog: UndoLog
    let limits: LimitStore
    let lanes: LaneStore

    /// - Parameter joining: this is more of the last change, to be taken back with it.
    func set(_ nodes: [NodeID], _ settings: NodeSettings, joining: Int64? = nil) throws -> NodeChange {
        let page = try undoLog.page(joining: joining)
        var change = try finder.forEach(nodes) { node, target, nodeChange in
            switch target {
            case .batch(let batch, let root): try set(node, batch, root: root, settings, page, &nodeChange)
            case .folder(let batch, let folder, _): try set(node, batch, folder, settings, page, &nodeChange)
            case .task(let row): try set(node, row, settings, page, &nodeChange)
            }
        }.asOperation(page.operation)
        change.duties.insert(.settings)
        return change
    }

    private func set(
        _ node: NodeID, _ batch: BatchID, root: Int64, _ settings: NodeSettings, _ page: ChangePage,
        _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if !settings.ofUnfinishedWork.isEmpty, try finder.isOver(folder: root, in: batch) {
            return finder.refused(
                node,
                "\(node) is over: only --name, --if-exists, --ca and --pin can be changed, for what is tried again")
        }
        let id = SQLiteValue.integer(batch.rawValue)
        let found = try database.first(
            "SELECT priority, urgent, not_before, options, name FROM batches WHERE id = ?", id
        ) { row in
            (
                priority: row.integer(0), isUrgent: row.integer(1) != 0, notBefore: row.optionalInteger(2),
                options: StoredJSON.value(TransferOptions.self, row.text(3)) ?? TransferOptions(), name: row.text(4)
            )
        }
        guard let found else { return NodeResult(id: node, result: .already) }
        var before = UndoBefore()
        if let priority = settings.priority {
            before.priority = found.priority
            before.urgent = found.isUrgent
            try database.run(
                "UPDATE batches SET priority = ?, urgent = 0 WHERE id = ?", .integer(Int64(priority.level)), id)
        }
        if let rate = settings.limit { try limit(rate, .batch(batch), &before) }
        if let time = settings.notBefore {
            before.notBefore = UndoBefore.Was(found.notBefore)
            // A run-now was for once: a start that is asked for after it is one in its turn.
            if time > clock(), found.isUrgent {
                before.urgent = true
                try database.run("UPDATE batches SET urgent = 0 WHERE id = ?", id)
            }
            try setNotBefore(time > clock() ? time.milliseconds : nil, of: batch, root: root, &nodeChange)
        }
        if let seconds = settings.giveUpAfterSeconds {
            before.giveUp = found.options.giveUpAfterSeconds
            try setOptions(of: batch) { $0.giveUpAfterSeconds = seconds }
        }
        if let policy = settings.ifExists {
            before.ifExists = found.options.ifExists
            try setIfExists(policy, of: batch, root: root, &nodeChange)
        }
        if let file = settings.caFile {
            before.caFile = UndoBefore.Was(found.options.caFile)
            try setOptions(of: batch) { $0.caFile = file }
        }
        if let pin = settings.pin {
            before.pin = UndoBefore.Was(found.options.pin)
            try setOptions(of: batch) { $0.pin = pin }
        }
        if let name = settings.name {
            before.name = found.name
            try database.run("UPDATE batches SET name = ? WHERE id = ?", .text(name.rawValue), id)
        }
        try undoLog.note(.set, node, batch: batch, before, page: page)
        queue.noteSettings(batch)
        return NodeResult(id: node, result: .done)
    }

    private func set(
        _ node: NodeID, _ batch: BatchID, _ folder: Int64, _ settings: NodeSettings, _ page: ChangePage,
        _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if let refusal = refusal(of: settings, node, batch, isTask: false) { return refusal }
        if try finder.isOver(folder: folder, in: batch) {
            return finder.refused(node, "\(node) is over: nothing of it can change")
        }
        var before = UndoBefore()
        if let priority = settings.priority {
            before.folderPriorities = try undoLog.given(.priority, below: folder)
            try lanes.setLane(Int64(priority.level), below: folder, in: batch, page)
            try attempts.stopEarly(sets.claimed(below: folder), of: batch, &nodeChange)
            nodeChange.reordered.insert(batch)
        }
        if let rate = settings.limit { try limit(rate, .folder(FolderID(rawValue: folder)), &before) }
        try undoLog.note(.set, node, batch: batch, before, page: page)
        queue.noteSettings(batch)
        return NodeResult(id: node, result: .done)
    }

    private func set(
        _ node: NodeID, _ row: TaskRow, _ settings: NodeSettings, _ page: ChangePage, _ nodeChange: inout NodeChange
    ) throws -> NodeResult {
        if let refusal = refusal(of: settings, node, row.batch, isTask: true) { return refusal }
        if row.state.isTerminal { return finder.refused(node, "\(node) is over: nothing of it can change") }
        var before = UndoBefore()
        if let priority = settings.priority {
            try lanes.setLane(Int64(priority.level), of: row, page)
            try attempts.stopEarly([row.id], of: row.batch, &nodeChange)
            nodeChange.reordered.insert(row.batch)
        }
        if let rate = settings.limit { try limit(rate, .task(row.id), &before) }
        if let time = settings.notBefore {
            let old = try tasks.details(row)
            let hasTime = old.wait.contains(WaitReasons(.notBefore))
            before.notBefore = UndoBefore.Was(hasTime ? old.retryAt : nil)
            if !hasTime, !old.wait.isEmpty { before.retryAt = UndoBefore.Was(old.retryAt) }
            if time > clock(), settings.priority == nil, try lanes.isNow(row.lane) {
                let priority = try paths.place(of: row.folder)?.priority ?? LanePriority.ofBatch
                try lanes.setLane(priority, of: row, page)
                nodeChange.reordered.insert(row.batch)
            }
            try setNotBefore(time, of: row.id, &nodeChange)
        }
        try undoLog.note(.set, node, batch: row.batch, before, page: page)
        queue.noteSettings(row.batch)
        return NodeResult(id: node, result: .done)
    }

    /// Refuses settings that only a whole batch can have, and a time for a folder; `nil`: nothing to refuse.
    private func refusal(of settings: NodeSettings, _ node: NodeID, _ batch: BatchID, isTask: Bool) -> NodeResult? {
        if settings.name != nil { return finder.refused(node, "only a batch has a name of its own: give its ID") }
        if let seconds = settings.giveUpAfterSeconds {
            return finder.refused(
                node, "--give-up-after is its batch's: \(quoted: .set(.batch(batch), "--give-up-after", "\(seconds)s"))"
            )
        }
        if let rule = settings.ifExists {
            return finder.refused(
                node, "--if-exists is its batch's: \(quoted: .set(.batch(batch), "--if-exists", rule.rawValue))")
        }
        if let file = settings.caFile {
            // A name that is shown in another way than it is may be that of another file.
            let name = file.shown.base64 == nil ? file.displayed : "FILE"
            return finder.refused(node, "--ca is its batch's: \(quoted: .set(.batch(batch), "--ca", name))")
        }
        if let pin = settings.pin {
            return finder.refused(node, "--pin is its batch's: \(quoted: .set(.batch(batch), "--pin", pin))")
        }
        if !isTask, settings.notBefore != nil {
            return finder.refused(node, "a folder has no time of its own: set that of its batch, or of single files")
        }
        return nil
    }

    private func limit(_ rate: Int64, _ scope: LimitScope, _ before: inout UndoBefore) throws {
        before.scope = scope.stored
        before.rate = UndoBefore.Was(try limits.limit(of: scope))
        try limits.setLimit(rate, of: scope)
    }

    // MARK: Of a batch

    /// A time that is still to come takes from the engine what it has of the batch, also what runs, as the time of a single file does.
    /// Single files that a person wanted at once go on.
    func setNotBefore(_ time: Int64?, of batch: BatchID, root: Int64, _ nodeChange: inout NodeChange) throws {
        try database.run(
            "UPDATE batches SET not_before = ? WHERE id = ?", SQLiteValue(time), .integer(batch.rawValue))
        try attempts.stopEarly(sets.claimed(below: root), of: batch, &nodeChange)
    }

    /// An upload that may replace what is there decides so when it begins: where it may not any more the engine gives it back, and the next
    /// attempt goes by the new policy. A download asks at its end, and a POST never.
    func setIfExists(
        _ policy: ExistingFilePolicy, of batch: BatchID, root: Int64, _ nodeChange: inout NodeChange
    ) throws {
        var replaced = false
        try setOptions(of: batch) { options in
            replaced = options.ifExists == .replace && options.heedsExistingFiles
            options.ifExists = policy
        }
        guard replaced, policy != .replace else { return }
        let direction = try database.integer("SELECT direction FROM batches WHERE id = ?", .integer(batch.rawValue))
        guard direction.map({ TransferDirection(stored: $0) }) == .upload else { return }
        for id in try sets.claimed(below: root) {
            if let row = try tasks.task(id) { nodeChange.begunAnew.append(row.claim) }
        }
    }

    func setOptions(of batch: BatchID, _ change: (inout TransferOptions) -> Void) throws {
        let id = SQLiteValue.integer(batch.rawValue)
        let text = try database.first("SELECT options FROM batches WHERE id = ?", id) { $0.text(0) }
        guard var options = StoredJSON.value(TransferOptions.self, text) else { return }
        change(&options)
        try database.run("UPDATE batches SET options = ? WHERE id = ?", .text(try StoredJSON.text(options)), id)
    }

    // MARK: Of a task

    /// A time that has passed lets it go. A file that is over stays over.
    func setNotBefore(_ time: Timestamp, of id: TaskID, _ nodeChange: inout NodeChange) throws {
        guard time > clock() else { return try endNotBefore(of: id, retryAt: clock().milliseconds) }
        if let running = try tasks.task(id), running.claimed, !running.flags.contains(.publishing) {
            try attempts.stop(running, as: .queued, .waiting, &nodeChange)
        }
        guard let old = try tasks.task(id), !old.flags.contains(.publishing), !old.state.isTerminal else { return }
        let oldDetails = try tasks.details(old)
        var (row, details) = (old, oldDetails)
        details.wait.insert(WaitReasons(.notBefore))
        details.waitSince = details.waitSince ?? clock().milliseconds
        details.retryAt = time.milliseconds
        if row.state != .paused { row.state = .waiting }
        try tasks.save(&row, was: old, details, was: oldDetails)
    }

    /// A task has no time of its own any more.
    /// - Parameter retryAt: when what else it waits for is over by itself; until now it was to be at that time.
    func endNotBefore(of id: TaskID, retryAt: Int64?) throws {
        guard let old = try tasks.task(id), !old.state.isTerminal else { return }
        let oldDetails = try tasks.details(old)
        var (row, details) = (old, oldDetails)
        guard details.wait.contains(WaitReasons(.notBefore)) else { return }
        details.wait.subtract(WaitReasons(.notBefore))
        let isDue = retryAt.map { $0 <= clock().milliseconds } ?? false
        let needsPerson = details.wait.reasons.contains(where: \.needsPerson)
        details.retryAt = isDue ? nil : retryAt
        if details.wait.isEmpty || isDue && !needsPerson {
            details.clearWait()
            if row.state == .waiting { row.state = .queued }
        }
        try tasks.save(&row, was: old, details, was: oldDetails)
    }
}
