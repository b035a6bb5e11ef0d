import FoundationEssentials
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

extension TransferService {
    /// Most read-backs that run at once.
    private static let mostReadBacks = 8
    /// Most that are kept, those that are over included.
    static let mostKeptReadBacks = 64
    /// A run that nobody has asked about for so long is stopped.
    private static let readBackPatience = Duration.seconds(30)

    func readBack(_ request: ReadBackRequest) async throws -> ReadBackAnswer {
        let run = try await run(of: request)
        run.lastAsked = .awake
        run.isTold = run.progress.isOver
        if let failure = run.failure { throw failure }
        return ReadBackAnswer(progress: run.told(besides: request.seen ?? 0))
    }

    private func run(of request: ReadBackRequest) async throws -> ReadBackRun {
        if let known = readBacks[request.run] {
            guard known.id == request.id else {
                throw RequestError(.usage, "this run reads \(known.id) back: begin another one")
            }
            return known
        }
        // Begun anew it would leave out what the first half has found.
        guard request.seen == nil else {
            throw RequestError(
                .refused,
                "the engine has begun anew since, or nobody asked it for \(Self.readBackPatience.components.seconds) s")
        }
        switch try await queue.writer.folderToVerify(request.id, after: nil) {
        case .unknown:
            throw RequestError(.noSuchObject, "there is no \(request.id): \(quoted: .list) shows what there is")
        case .refused(let message): throw RequestError(.refused, message)
        case .none, .folder: break
        }
        // Another request of this run may have come meanwhile.
        if let known = readBacks[request.run] { return known }
        // Those that are over stay for a while, until their last answer was fetched.
        guard readBacks.values.count(where: { !$0.progress.isOver }) < Self.mostReadBacks else {
            throw RequestError(
                .refused,
                "\(Self.mostReadBacks) other read-backs are running: start this one when one of them has ended")
        }
        try forgetToldReadBack()
        let run = ReadBackRun(request.id)
        readBacks[request.run] = run
        Task { await read(run) }
        scheduleExpiry(of: request.run)
        return run
    }

    /// Makes room for another run, in the place of one whose last answer was given the longest ago.
    private func forgetToldReadBack() throws(RequestError) {
        guard readBacks.count >= Self.mostKeptReadBacks else { return }
        let told = readBacks.filter { $0.value.isTold }.min { $0.value.lastAsked < $1.value.lastAsked }
        guard let told else {
            throw RequestError(
                .refused, "\(Self.mostKeptReadBacks) other read-backs are waiting to be asked for: try again later")
        }
        told.value.expiry.map { loop.cancel($0) }
        readBacks[told.key] = nil
    }

    private func scheduleExpiry(of name: UUID) {
        readBacks[name]?.expiry = loop.schedule(after: Self.readBackPatience) { [weak self] in
            self?.assumeIsolated { $0.expireIfAbandoned(name) }
        }
    }

    private func expireIfAbandoned(_ name: UUID) {
        guard let run = readBacks[name] else { return }
        if run.lastAsked.duration(to: .awake) < Self.readBackPatience { return scheduleExpiry(of: name) }
        run.meter.stop()
        readBacks[name] = nil
    }

    private func read(_ run: ReadBackRun) async {
        do {
            // What was completed a moment ago is told, but may not stand in the queue yet.
            try await queue.writer.commit()
            let only: TaskID? = if case .task(let id) = run.id { id } else { nil }
            var after: Int64?
            reading: while !run.meter.isStopped {
                switch try await queue.writer.folderToVerify(run.id, after: after) {
                case .folder(let found):
                    try await read(found.look, only: only, run)
                    if only != nil { break reading }
                    after = found.look.folder.rawValue
                case .none: break reading
                case .unknown: throw RequestError(.noSuchObject, "\(run.id) was removed while it was read back")
                case .refused(let message): throw RequestError(.refused, message)
                }
            }
        } catch let error as RequestError {
            run.failure = error
        } catch {
            run.failure = RequestError(.internal, "the queue cannot be read (\(error)): see \(quoted: .log)")
        }
        run.end()
    }

    private func read(_ look: DueLook, only task: TaskID?, _ run: ReadBackRun) async throws {
        var last: TaskID?
        while !run.meter.isStopped {
            let atOnce = await min(Self.mostAtOnce, engine.limits().transfersPerHost)
            let files = try await queue.reader.filesToReadBack(in: look.folder, only: task, after: last, limit: atOnce)
            guard let end = files.last else { return }
            last = end.task
            let (engine, meter) = (engine, run.meter)
            let outcomes = try await withThrowingTaskGroup(of: (FileToReadBack, ReadBackOutcome).self) { group in
                for file in files { group.addTask { (file, try await engine.readBack(file, in: look, meter)) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (file, outcome) in outcomes { run.add(file, outcome) }
        }
    }

    /// Files that are read in parallel: for small ones the round trip takes longest.
    private static let mostAtOnce = 4
}
