import CommandLine
import Configuration
import DisplayText
import MartletKit
import Wording

/// `martlet events`.
struct EventsCommand: EngineCommand {
    let context: CommandContext

    static let after = Option(
        "after", ValueSyntax<Int>.count(0...Int.max).named("SEQ"), "only events after this number")
    static let follow = Option.flag("follow", "go on with what happens from now")
    static let consumer = Option(
        "consumer", ValueSyntax<String>.text("NAME"), "go on after the last event that NAME acknowledged")
    static let acknowledge = Option(
        "ack", ValueSyntax<Int>.count(0...Int.max).named("SEQ"), "NAME has dealt with everything up to this number")

    static let command = Command(
        "events", "what happened, each with a number that a consumer can go on from",
        details: ["Never starts an engine."],
        groups: [OptionGroup("Options", [after, follow, consumer, acknowledge, CommonOptions.json])])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        let consumer = invocation.value(Self.consumer)
        if let sequence = invocation.value(Self.acknowledge) {
            guard let consumer else { throw .usage("events: --ack needs a --consumer", "name who has dealt with them") }
            return try await acknowledge(sequence, consumer: consumer, invocation)
        }
        console.endsWithReader()
        guard try await context.engineToLookAt(invocation) else { return .done }
        let after = invocation.value(Self.after).map { EventSequence(rawValue: Int64($0)) }
        let follows = invocation.has(Self.follow)
        try await ask(answersLate: follows) { engine throws(RequestError) in
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
        guard try await context.engineToLookAt(invocation) else { return .done }
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
            "\(event.seq.rawValue)", context.time(event.at), event.type.words, event.batch?.description,
            event.task?.description, event.batch == nil ? event.session?.rawValue : nil,
            payload.state?.word, payload.bytes.map(console.units.size), payload.offset.map { "at \($0)" },
            payload.waitReasons.map { "for \($0.words)" }, payload.status.map { "\($0)" },
            payload.skipped == true ? "skipped" : nil, payload.finalPath,
            payload.error?.message ?? payload.message,
        ]
        return words.compactMap(\.self).joined(separator: " ").displayed
    }
}
