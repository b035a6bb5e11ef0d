import CommandLine
import Configuration
import MartletKit

/// `martlet again`: queues the sources of a batch once more.
struct AgainCommand: QueueingCommand {
    let context: CommandContext

    static let command = Command(
        "again", "queue the uploads of a batch once more, to the same place or another",
        details: [
            "The sources are looked through anew, with the options of that batch; options given here count more. Without DEST they go where "
                + "they went. What becomes of files that are there already says --if-exists, as for upload.",
            "The login, the headers and the form's fields of that batch are used again at the same server only. For another server give them "
                + "here, as for upload. The batch itself stays as it is: 'martlet cancel' ends what is left of it.",
        ],
        operands: [Operand(ValueSyntax<BatchID>.batch), Operand(ValueSyntax<String>.url("DEST"), .optional)],
        groups: QueueOptions.upload,
        examples: [
            .init(line: "martlet again b7", effect: "Send what has changed or come since"),
            .init(line: "martlet again b7 https://nas.example/photos/", effect: "The address was wrong"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (batch, place) = try operands(invocation)
        let order = try await ask { engine throws(RequestError) in try await engine.order(of: batch) }
        guard let repeated = RepeatedUpload(order) else {
            throw .usage("again: \(batch) is no batch of uploads", "queue its URLs with martlet download")
        }
        var request = try uploadRequest(
            repeated.words, to: place ?? repeated.destination, like: repeated, invocation)
        if !invocation.has(QueueOptions.name) { request.name = order.name }
        if !invocation.has(QueueOptions.session) { request.session = order.session }
        if !invocation.has(QueueOptions.priority) { request.priority = order.priority }
        return try await queue(request, invocation)
    }

    private func operands(_ invocation: Invocation) throws(CommandFailure) -> (BatchID, String?) {
        // The command has exactly one operand of this kind, or it would have been refused.
        let batch = invocation.operands(as: .batch)[0]
        guard let place = invocation.operands.dropFirst().first else { return (batch, nil) }
        guard let text = place.text else { throw .usage("again: DEST is not UTF-8", "percent-encode it") }
        return (batch, text)
    }
}
