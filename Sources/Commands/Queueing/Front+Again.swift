import CommandLine
import MartletKit

extension Front {
    /// Queues the sources of a batch once more.
    func again(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
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
        guard let word = invocation.operands.first, case .batch(let batch)? = NodeID(bytes: word.bytes) else {
            throw .usage("again: \(invocation.operands.first?.shown ?? "it") is no batch", "give its ID, such as b7")
        }
        guard let place = invocation.operands.dropFirst().first else { return (batch, nil) }
        guard let text = place.text else { throw .usage("again: DEST is not UTF-8", "percent-encode it") }
        return (batch, text)
    }
}
