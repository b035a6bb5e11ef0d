import CommandLine
import Configuration
import DisplayText
import MartletKit

extension Front {
    func list(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await queueToLookAt(invocation) else { return .done }
        let json = invocation.has(CommonOptions.json)
        guard let selection = try Selection(invocation, command: "list") else {
            return try await listBatches(session: nil, json: json)
        }
        try await requireKnown(selection)
        switch selection {
        case .matching(let selector) where selector.batch == nil && !selector.meansTasks:
            return try await listBatches(session: selector.session, json: json)
        case .matching(let selector):
            try await listTasks(selector, json: json)
        case .ids(let ids):
            for id in ids { try await listTasks(of: id, json: json) }
        }
        return .done
    }

    /// A queue that was never made has nothing in it, and no engine is started to say so.
    func queueToLookAt(_ invocation: Invocation) async throws(CommandFailure) -> Bool {
        guard surroundings.queueExists else { return try await engineToLookAt(invocation) }
        try await tellOfStart(invocation)
        return true
    }

    /// Whoever stopped the engine and only wants to look should know that looking sets the work going again.
    private func tellOfStart(_ invocation: Invocation) async throws(CommandFailure) {
        guard console.errorIsTerminal, !invocation.has(CommonOptions.json) else { return }
        let counts = try await ask { engine throws(RequestError) -> FileCounts? in
            if try await engine.isEngineRunning() { return nil }
            try await engine.connect()
            return try await engine.totals().counts
        }
        if let counts, counts.active + counts.queued + counts.waiting > 0 {
            console.note("no engine was running: one is started, and what is queued goes on")
        }
    }

    /// Refuses a selector that names a session in which nothing was ever queued.
    func requireKnown(_ selection: Selection?) async throws(CommandFailure) {
        guard case .matching(let selector)? = selection, let session = selector.session else { return }
        let batches = try await ask { engine throws(RequestError) in
            try await engine.batches(session: session, states: [])
        }
        guard batches.isEmpty else { return }
        throw CommandFailure(
            .noSuchObject, .noSuchObject, "there is no session \(session.rawValue)", "see martlet session list")
    }

    private func listBatches(session: SessionName?, json: Bool) async throws(CommandFailure) -> ExitStatus {
        let batches = try await ask { engine throws(RequestError) in
            try await engine.batches(session: session, states: [])
        }
        return list(batches, json: json)
    }

    /// Batches, one line each.
    func list(_ batches: [BatchSnapshot], json: Bool) -> ExitStatus {
        if json {
            for batch in batches { console.json(batch) }
            return .done
        }
        let table = TextTable(
            columns: [
                .init(title: "ID", width: 4), .init(title: "State", width: 9),
                .init(title: "Files", width: 11, alignment: .right), .init(title: "Size", width: 6, alignment: .right),
                .init(title: "Done", width: 4, alignment: .right), .init(title: "Speed", width: 7, alignment: .right),
                .init(title: "ETA", width: 6, alignment: .right),
            ],
            lastTitle: "Name", width: console.outputIsTerminal ? console.width : nil)
        if console.outputIsTerminal {
            if batches.isEmpty { console.note("nothing is queued") } else { console.line(table.header) }
        }
        for batch in batches { console.line(table.row(cells(of: batch), batch.name, remark: batch.remark)) }
        return .done
    }

    private func cells(of batch: BatchSnapshot) -> [String] {
        let units = console.units
        let moves = batch.state.isActive
        return [
            batch.id.description, batch.state.word,
            "\(batch.filesCompleted)/\(batch.filesTotal)\(batch.scanning ? "+" : "")",
            units.size(batch.bytesTotal), batch.percentText,
            moves && batch.bytesPerSecond > 0 ? units.rate(batch.bytesPerSecond) : "-",
            moves ? batch.secondsLeft.map(shownDuration(seconds:)) ?? "-" : "-",
        ]
    }

    private func listTasks(of id: NodeID, json: Bool) async throws(CommandFailure) {
        switch id {
        case .batch(let batch):
            // A batch that is not there is an error, an empty one is not.
            _ = try await ask { engine throws(RequestError) in try await engine.batch(batch) }
            try await listTasks(NodeSelector(batch: batch), json: json)
        case .task(let task):
            let found = try await ask { engine throws(RequestError) in
                try await engine.task(task, history: false, response: false)
            }
            let table = taskTable
            if !json, console.outputIsTerminal { console.line(table.header) }
            tell(found, table, json: json)
        case .folder(let batch, let path):
            _ = try await ask { engine throws(RequestError) in try await engine.node(id) }
            try await listTasks(NodeSelector(batch: batch), below: path.displayed, json: json)
        }
    }

    private func listTasks(
        _ selector: NodeSelector, below folder: String? = nil, json: Bool
    ) async throws(CommandFailure) {
        let table = taskTable
        if !json, console.outputIsTerminal { console.line(table.header) }
        try await ask(takesItsTime: true) { engine throws(RequestError) in
            try await engine.eachTask(selector) { task in
                if let folder, task.folder != folder, !task.folder.hasPrefix(folder + "/") { return }
                tell(task, table, json: json)
            }
        }
    }

    var taskTable: TextTable {
        TextTable(
            columns: [
                .init(title: "ID", width: 6), .init(title: "State", width: 9),
                .init(title: "Size", width: 6, alignment: .right), .init(title: "Done", width: 4, alignment: .right),
                .init(title: "Speed", width: 7, alignment: .right),
            ],
            lastTitle: "Name", width: console.outputIsTerminal ? console.width : nil)
    }

    func tell(_ task: TaskSnapshot, _ table: TextTable, json: Bool) {
        guard !json else { return console.json(task) }
        let units = console.units
        let cells = [
            task.id.description, task.state.word, task.bytesTotal.map(units.size) ?? "-", task.percentText,
            task.bytesPerSecond > 0 ? units.rate(task.bytesPerSecond) : "-",
        ]
        console.line(table.row(cells, task.path, remark: task.remark))
    }
}
