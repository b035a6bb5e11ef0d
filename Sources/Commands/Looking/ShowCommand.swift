import CommandLine
import Configuration
import MartletKit

/// `martlet show`.
struct ShowCommand: EngineCommand {
    let context: CommandContext

    static let history = Option.flag("history", "what happened to the task so far")
    static let response = Option.flag("response", "the server's last answer")
    static let manifest = Option.flag(
        "manifest",
        "a line for each completed file: SHA-256 where it is known, bytes, time, how it was proved, ETag, where it is, and its path"
    )
    static let sha256sum = Option.flag(
        "sha256sum",
        "the same as 'sha256sum -c' reads it, with paths below the destination; files without a known SHA-256 are left out"
    )

    static let command = Command(
        "show", "everything about a batch or task",
        operands: [Operand(.node)],
        groups: [OptionGroup("Options", [history, response, manifest, sha256sum, CommonOptions.json])])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let history = invocation.has(Self.history)
        let response = invocation.has(Self.response)
        guard let id = invocation.operands(as: .node).first else { return .usage }
        if invocation.has(Self.manifest) || invocation.has(Self.sha256sum) {
            return try await manifest(id, invocation)
        }
        if history || response {
            guard case .task = id else {
                throw .usage("show: --history and --response are for tasks", "give a task such as t31")
            }
        }
        switch id {
        case .batch(let id):
            let batch = try await ask { engine throws(RequestError) in try await engine.batch(id) }
            if json { console.json(batch) } else { try await tellAll(of: batch) }
        case .task(let id):
            let task = try await ask { engine throws(RequestError) in
                try await engine.task(id, history: history, response: response)
            }
            if json { console.json(task) } else { try await tellAll(of: task) }
        case .folder:
            guard !json else {
                throw .usage("show: a folder has no --json yet", "use list \(id.written) --json")
            }
            let node = try await ask { engine throws(RequestError) in try await engine.node(id) }
            lines(of: node, id).forEach(tell)
        }
        return .done
    }

    /// Prints a batch, and asks for what it does not know itself: where its files come from, and why it does not move.
    private func tellAll(of batch: BatchSnapshot) async throws(CommandFailure) {
        let first = try await ask { engine throws(RequestError) in
            try await engine.firstTasks(of: batch.id)
        }
        var why: WhyAnswer?
        if batch.state == .waiting {
            why = try await ask { engine throws(RequestError) in try await engine.why(.batch(batch.id)) }.first
        }
        var upload: RepeatedUpload?
        if batch.direction == .upload {
            let order = try? await ask { engine throws(RequestError) in try await engine.order(of: batch.id) }
            upload = order.flatMap { RepeatedUpload($0) }
        }
        let shown = ShownBatch(batch: batch, first: first, upload: upload, why: why, units: console.units)
        lines(of: shown).forEach(tell)
    }

    /// Prints a task. Its history says why it began from zero, and is looked up where that happened.
    private func tellAll(of task: TaskSnapshot) async throws(CommandFailure) {
        var history = task.history
        if history == nil, task.restarts > 0 {
            history = try await ask { engine throws(RequestError) in
                try await engine.task(task.id, history: true, response: false)
            }
            .history
        }
        lines(of: task, lastRestart: history?.last { $0.what == "restarted" }?.message).forEach(tell)
    }
}
