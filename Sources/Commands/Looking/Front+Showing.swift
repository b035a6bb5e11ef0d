import CommandLine
import Configuration
import DisplayText
import FoundationEssentials
import MartletKit

extension Front {
    func show(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let history = invocation.has(MartletProgram.history)
        let response = invocation.has(MartletProgram.response)
        guard let id = invocation.operands(as: .node).first else { return .usage }
        if invocation.has(MartletProgram.manifest) || invocation.has(MartletProgram.sha256sum) {
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
                throw .usage("show: a folder has no --json yet", "use list \(id) --json")
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
        let shown = ShownBatch(batch: batch, first: first, why: why, units: console.units)
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

    func why(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let id = invocation.operands(as: .node).first
        guard try await queueToLookAt(invocation) else { return .done }
        let answers = try await ask { engine throws(RequestError) in try await engine.why(id) }
        if invocation.has(CommonOptions.json) {
            for answer in answers { console.json(answer) }
            return .done
        }
        if answers.isEmpty { console.line("nothing waits") }
        for answer in answers {
            console.line(answer.text.displayed)
        }
        return .done
    }
}
