import CommandLine
import Configuration
import MartletKit

/// `martlet list`.
struct ListCommand: EngineCommand {
    let context: CommandContext

    static let command = Command(
        "list", "batches; with a batch, its tasks",
        details: ["Where nothing was ever queued no engine is started."],
        operands: [Operand(ValueSyntax<NodeID>.node, .optional)],
        operandForm: "[ID|SELECTORS]",
        groups: [CommonOptions.selectors, CommonOptions.output],
        examples: [
            .init(line: "martlet list --filter 'size>1G !@done'", effect: "What is large and not through")
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        console.endsWithReader()
        guard try await context.queueToLookAt(invocation) else { return .done }
        let json = invocation.has(CommonOptions.json)
        guard let selection = try Selection(invocation, command: "list") else {
            return context.tell(try await context.batches(of: nil), json: json)
        }
        try await context.requireKnown(selection)
        switch selection {
        case .matching(let selector) where selector.batch == nil && !selector.meansTasks:
            return context.tell(try await context.batches(of: selector.session), json: json)
        case .matching(let selector):
            try await listTasks(selector, json: json)
        case .ids(let ids):
            for id in ids { try await listTasks(of: id, json: json) }
        }
        return .done
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
            let table = context.taskTable
            if !json, console.outputIsTerminal { console.line(table.header) }
            context.tell(found, table, json: json)
        case .folder(let batch, let path):
            _ = try await ask { engine throws(RequestError) in try await engine.node(id) }
            try await listTasks(NodeSelector(batch: batch), below: path, json: json)
        }
    }

    private func listTasks(
        _ selector: NodeSelector, below folder: RawPath? = nil, json: Bool
    ) async throws(CommandFailure) {
        let table = context.taskTable
        if !json, console.outputIsTerminal { console.line(table.header) }
        try await ask(answersLate: true) { engine throws(RequestError) in
            try await engine.eachTask(selector) { task in
                if let folder, !task.isBelow(folder) { return }
                context.tell(task, table, json: json)
            }
        }
    }
}

extension TaskSnapshot {
    /// True of a file in that folder or below it. Names that look the same may be two (é as one character and as two).
    func isBelow(_ folder: RawPath) -> Bool {
        let path = folderPath.bytes
        return path == folder.bytes || path.starts(with: folder.bytes + [UInt8(ascii: "/")])
    }
}
