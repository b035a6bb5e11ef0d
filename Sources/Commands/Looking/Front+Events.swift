import CommandLine
import Configuration
import DisplayText
import MartletKit

extension Front {
    func events(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let consumer = invocation.value(MartletProgram.consumer)
        if let sequence = invocation.value(MartletProgram.acknowledge) {
            guard let consumer else { throw .usage("events: --ack needs a --consumer", "name who has dealt with them") }
            return try await acknowledge(sequence, consumer: consumer, invocation)
        }
        guard try await engineToLookAt(invocation) else { return .done }
        let after = invocation.value(MartletProgram.after).map { EventSequence(rawValue: Int64($0)) }
        let follows = invocation.has(MartletProgram.follow)
        try await ask(takesItsTime: follows) { engine throws(RequestError) in
            try await engine.eachEvent(after: after, consumer: consumer, follows: follows) { event in
                if json { console.json(event) } else { console.line(text(of: event)) }
                if follows { console.flush() }
            }
        }
        return .done
    }

    private func acknowledge(
        _ sequence: Int, consumer: String, _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        struct Acknowledged: Encodable {
            let consumer: String
            let acknowledged: Int
        }
        guard try await engineToLookAt(invocation) else { return .done }
        try await ask { engine throws(RequestError) in
            try await engine.acknowledge(consumer: consumer, through: EventSequence(rawValue: Int64(sequence)))
        }
        if invocation.has(CommonOptions.json) { console.json(Acknowledged(consumer: consumer, acknowledged: sequence)) }
        return .done
    }

    /// `1042 2026-11-21 12:41:07 taskFailed b7 t31 http: …`
    private func text(of event: TransferEvent) -> String {
        let payload = event.payload
        let words: [String?] = [
            "\(event.seq.rawValue)", time(event.at), event.type.words, event.batch?.description,
            event.task?.description, event.batch == nil ? event.session?.rawValue : nil,
            payload.state?.word, payload.bytes.map(console.units.size), payload.offset.map { "at \($0)" },
            payload.waitReasons.map { "for \($0.words)" }, payload.status.map { "\($0)" },
            payload.skipped == true ? "skipped" : nil, payload.finalPath,
            payload.error?.message ?? payload.message,
        ]
        return words.compactMap(\.self).joined(separator: " ").displayed
    }

    /// As many as an engine gives at once.
    static let logLines = 1000

    func log(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let level = invocation.value(MartletProgram.level) ?? .info
        let (batch, task) = try logged(invocation.operands(as: .node).first)
        guard try await engineToLookAt(invocation) else { return .done }
        var after: Int64?
        repeat {
            let cursor = after
            let page = try await ask(takesItsTime: cursor != nil) { engine throws(RequestError) in
                try await engine.log(level: level, batch: batch, task: task, limit: Self.logLines, after: cursor)
            }
            if cursor == nil, page.lines.count >= Self.logLines, let first = page.lines.first {
                console.note(
                    "these are the newest \(Self.logLines) lines, from \(time(first.at)) on; for earlier ones: less \(engine.logFile)*"
                )
            }
            for line in page.lines {
                if json { console.json(line) } else { console.line(text(of: line)) }
            }
            console.flush()
            after = page.next
        } while invocation.has(MartletProgram.follow)
        return .done
    }

    private func logged(_ id: NodeID?) throws(CommandFailure) -> (BatchID?, TaskID?) {
        switch id {
        case nil: return (nil, nil)
        case .batch(let id): return (id, nil)
        case .task(let id): return (nil, id)
        case .folder: throw .usage("log: a folder has no log of its own", "give its batch")
        }
    }

    private func text(of line: LogLine) -> String {
        let words: [String?] = [
            time(line.at), line.level.rawValue.uppercased(), line.subject + line.message,
        ]
        return words.compactMap(\.self).joined(separator: " ").displayed
    }
}
