import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// What unfinished uploads have left at servers.
extension TransferService {
    private static let standing: [TransferState] = [.queued, .waiting, .paused, .failed, .cancelled]

    func leftovers(_ request: LeftoversRequest) async throws -> LeftoverPage {
        let limit = min(500, max(1, request.limit ?? 500))
        let found = try await queue.writer.remains(
            in: Self.standing, after: request.after ?? TaskID(rawValue: 0), limit: limit)
        var page: [Leftover] = []
        for remains in found {
            guard let task = try await queue.reader.task(remains.task.id), let name = remains.protocolName else {
                continue
            }
            page.append(
                Leftover(
                    task: task.id, batch: task.batch, state: task.state, protocol: name, destination: task.destination,
                    since: remains.finishedAt))
        }
        return LeftoverPage(leftovers: page, next: found.count == limit ? found.last?.task.id : nil)
    }

    func abortLeftovers(_ request: LeftoversAbortRequest) async throws -> NodeResults {
        var results: [NodeResult] = []
        for id in request.tasks {
            results.append(try await abortLeftover(of: id))
        }
        return NodeResults(results: results)
    }

    private func abortLeftover(of id: TaskID) async throws -> NodeResult {
        guard let task = try await queue.reader.task(id) else {
            return NodeResult(id: .task(id), result: .refused, code: .noSuchObject, message: "there is no task \(id)")
        }
        let before = TaskID(rawValue: id.rawValue - 1)
        let found = try await queue.writer.remains(in: Self.standing, after: before, limit: 1)
        guard let remains = found.first, remains.task.id == id else {
            return NodeResult(id: .task(id), result: .already)
        }
        guard task.state == .failed || task.state == .cancelled else {
            return NodeResult(
                id: .task(id), result: .refused, code: .refused,
                message: "\(id) is \(task.state.rawValue) and goes on from it: cancel it first")
        }
        guard let error = await engine.remove(remains) else { return NodeResult(id: .task(id), result: .done) }
        return NodeResult(id: .task(id), result: .refused, code: .refused, message: error.message)
    }
}
