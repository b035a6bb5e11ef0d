import LinuxSystem
import ServiceWire
import TransferModel
import TransferQueue

/// Events on their way into the log.
struct EventLogging {
    /// The last one that is there.
    var last = EventSequence(rawValue: 0)
    var isBusy = false
    /// Failures and waits that are counted instead of having a line each.
    var failures = FailureRuns()
    /// Tells what was counted.
    var timer: LoopTimer?
}

/// Writing the log, and reading it for clients.
extension TransferService {
    // MARK: What happened

    /// Writes what happened into the log, in its own time.
    func logEvents() {
        guard !eventLogging.isBusy, eventLogging.last < eventFeed.last else { return }
        eventLogging.isBusy = true
        Task {
            while eventLogging.last < eventFeed.last,
                let events = try? await queue.reader.events(after: eventLogging.last, limit: 1000)
            {
                for event in events {
                    note(event)
                    noteForDesktop(event)
                }
                eventLogging.last = events.last?.seq ?? eventFeed.last
            }
            eventLogging.isBusy = false
            tellFailures()
            planDesktop()
        }
    }

    private func note(_ event: TransferEvent) {
        if let cause = FailureRuns.Cause(event), !eventLogging.failures.isFirst(cause, at: event.at) { return }
        if event.type == .batchFinished, let batch = event.batch {
            tell(eventLogging.failures.end(of: batch), at: event.at)
        }
        if event.type == .resumed, let batch = event.batch {
            tell(eventLogging.failures.endWaits(of: batch), at: event.at)
        }
        log.write(event)
    }

    private func tell(_ untold: [FailureRuns.Untold], at time: Timestamp) {
        for run in untold { log.write(.warning, run.message, batch: run.cause.batch, at: time) }
    }

    /// Tells what has been counted for long enough, and comes again for the rest.
    private func tellFailures() {
        let now = Timestamp(milliseconds: WallClock.milliseconds)
        tell(eventLogging.failures.due(now), at: now)
        guard eventLogging.timer == nil, let next = eventLogging.failures.next else { return }
        // A clock that was set back does not put it off.
        let wait = min(FailureRuns.interval, max(.milliseconds(1), next.since(now)))
        eventLogging.timer = loop.schedule(after: wait) { [weak self] in
            self?.assumeIsolated { service in
                service.eventLogging.timer = nil
                service.tellFailures()
            }
        }
    }

    // MARK: What people did

    /// Logs what a person did: whoever looks for the reason later finds who it was. One line for each of the first nodes, one
    /// for all others.
    func logging(
        _ deed: String, by client: String?, _ note: String = "", _ body: () async throws -> NodeResults
    ) async throws -> NodeResults {
        let results = try await body()
        await tell(deed, results, by: client, note)
        return results
    }

    private func tell(_ deed: String, _ results: NodeResults, by client: String?, _ note: String) async {
        let done = results.results.filter { $0.result == .done }
        let said = "\(deed) by \(client ?? "a client")"
        for (node, changed) in done.prefix(Self.mostNamed).map({ ($0.id, $0.files) }) {
            let (batch, all) = await standing(of: node)
            let files = changed ?? all
            let path =
                if case .folder(_, let path) = node { "\(path.displayed)/ " } else { batch == nil ? "\(node) " : "" }
            let task: TaskID? = if case .task(let id) = node { id } else { nil }
            let count = task == nil ? files.map { ", \($0) \($0 == 1 ? "file" : "files")" } ?? "" : ""
            log.write(.user, path + said + count + note, batch: batch, task: task)
        }
        let others = done.count + Int(results.untold?.done ?? 0) - Self.mostNamed
        if others > 0 { log.write(.user, "\(others) more: \(said)\(note)") }
        if done.isEmpty, results.limits != nil { log.write(.user, said) }
    }

    /// Lines of the log for one change.
    private static let mostNamed = 5

    /// Its batch, and the files below it.
    private func standing(of node: NodeID) async -> (BatchID?, files: Int64?) {
        let row = try? await queue.reader.row(of: node)
        let files = if let row { try? await queue.reader.row(row)?.counts.total } else { Int64?.none }
        return (row?.batch, files)
    }

    // MARK: Reading

    func wakeLogWaiters(for line: LogLine) {
        logWaiters.wake { $0.level <= line.level }
    }

    /// Lines of the log. `nil`: the client has gone.
    /// - Parameter read: waits for a line, as long as this is the number of the client's last read that waits; `nil`: does not wait.
    func readLog(_ request: LogReadRequest, for client: Int, waitingAs read: Int? = nil) async -> LogReadAnswer? {
        var after = request.after
        let level = request.level ?? .info
        while true {
            let (lines, next) = log.read(
                level: level, batch: request.batch, task: request.task, after: after,
                limit: min(1000, max(1, request.limit ?? 200)))
            if !lines.isEmpty {
                return LogReadAnswer(lines: (try? await queue.reader.placed(lines)) ?? lines, next: next)
            }
            guard let read, clients[client]?.lastLogRead == read else { return LogReadAnswer(lines: [], next: next) }
            after = next
            await withCheckedContinuation { logWaiters.add(client, level: level, $0) }
            if clients[client] == nil { return nil }
        }
    }
}

extension QueueReader {
    /// The lines with what their batches and files are called; of what is forgotten they have the IDs alone.
    func placed(_ lines: [LogLine]) throws -> [LogLine] {
        var batches: [BatchID: String] = [:]
        return try together {
            var placed: [LogLine] = []
            for line in lines {
                placed.append(line)
                placed[placed.count - 1].place = try place(of: line, &batches)
            }
            return placed
        }
    }

    /// - Parameter batches: the names that are known already.
    private func place(of line: LogLine, _ batches: inout [BatchID: String]) throws -> String? {
        let task: TransferModel.TaskSnapshot? =
            if let id = line.task { try task(id, history: false, response: false) } else { nil }
        // A file without a name of its own would look like its batch.
        guard (line.task == nil) == (task == nil), let batch = line.batch ?? task?.batch else { return nil }
        if batches[batch] == nil { batches[batch] = try row(.batch(batch)).map { RawPath($0.name).displayed } }
        guard let name = batches[batch] else { return nil }
        guard let task else { return name }
        return task.folder.isEmpty ? "\(name) \(task.name)" : "\(name) \(task.folder)/\(task.name)"
    }
}
