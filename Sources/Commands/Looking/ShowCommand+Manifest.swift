import CommandLine
import MartletKit

extension ShowCommand {
    /// Prints the sent or received files of a batch, folder or task, a line for each, as they come.
    func manifest(_ id: NodeID, _ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let checks = invocation.has(Self.sha256sum)
        let left = ManifestRest()
        let write = { [console] (task: TaskSnapshot, destination: String) in
            guard task.state == .completed else { return left.unfinished += 1 }
            let entry = ManifestEntry(task, destination: destination)
            if json { return console.json(entry) }
            guard checks else { return console.line(entry.line) }
            guard let line = entry.checkLine else { return left.unknown += 1 }
            console.line(bytes: line)
        }
        switch id {
        case .task(let task):
            let shown = try await ask { engine throws(RequestError) in
                try await engine.task(task, history: false, response: false)
            }
            let batch = try await ask { engine throws(RequestError) in try await engine.batch(shown.batch) }
            write(shown, batch.destination)
        case .batch(let id): try await manifest(of: id, below: nil, write)
        case .folder(let id, let path): try await manifest(of: id, below: path, write)
        }
        if left.unfinished > 0 { console.note("\(left.unfinished) files that are not completed are left out") }
        if left.unknown > 0 {
            console.note("\(left.unknown) files are left out, since no SHA-256 of them is known")
        }
        return .done
    }

    private func manifest(
        of id: BatchID, below folder: RawPath?, _ write: @escaping (TaskSnapshot, String) -> Void
    ) async throws(CommandFailure) {
        let batch = try await ask { engine throws(RequestError) in try await engine.batch(id) }
        try await ask(answersLate: true) { engine throws(RequestError) in
            try await engine.eachTask(NodeSelector(batch: id)) { task in
                if let folder, !task.isBelow(folder) { return }
                write(task, batch.destination)
            }
        }
    }
}

/// Counts of the files that are not in a manifest. On the command's own task.
private final class ManifestRest {
    var unfinished = 0
    var unknown = 0
}
