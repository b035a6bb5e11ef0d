import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Names that clients look for. A client has one search; what it has found is kept for the next question about the
/// same words.
extension TransferService {
    /// So long one answer may take; a search that needs more goes on with the next question.
    private static let findPatience = Duration.milliseconds(50)

    func find(_ request: FindRequest, of client: ServiceClient) async throws -> FoundRow {
        guard !request.text.isEmpty || request.after != nil else {
            throw RequestError(.usage, "tree.find: the text is empty, and there is no row to find the way to")
        }
        let filter = try request.filter.map { text throws(RequestError) in try ViewFilter(text).filter }
        var search = NameSearch(request.text, filter: filter)
        // What matches a filter changes all the time; names do not.
        if let before = client.search, before.text == request.text, before.filter == filter,
            filter == nil || !before.isComplete
        {
            search = before
        }
        let begun = MonotonicInstant.now
        repeat {
            search = try await queue.reader.goOn(search, motion: await motion(for: search.filter))
        } while !search.isComplete && begun.duration(to: .now) < Self.findPatience
        if !request.text.isEmpty { client.search = search }
        return try await queue.reader.found(
            search, after: request.after, here: request.here == true, backwards: request.backwards == true,
            order: request.order ?? TreeOrder(), flat: request.flat == true)
    }

    /// Live figures of tasks, as far as a filter asks for them.
    func motion(for filter: TransferFilter?) async -> [TaskID: FilterMotion] {
        guard filter?.needs.contains(.live) == true else { return [:] }
        var motion: [TaskID: FilterMotion] = [:]
        for task in await engine.live().tasks {
            motion[task.task] = FilterMotion(
                state: task.state, sent: task.bytesSent, bytesPerSecond: task.bytesPerSecond,
                secondsLeft: task.secondsLeft, isStalled: task.isStalled)
        }
        return motion
    }
}
