import LinuxSystem
import TransferModel
import TransferQueue

/// The rules that hold at every step and at the end of a run. A broken one is a fault of the world, and ends the run.
final class Rules: @unchecked Sendable {
    let world: World
    private let network: Network
    let contents: Contents
    /// By host and name at the server: the sources that were ever sent there. Known once the task is.
    private var targets: [String: Set<String>] = [:]
    private var queuedAt: [BatchID: MonotonicInstant] = [:]
    /// Tasks that were answered to stand still, and since when; nothing of them goes out.
    private var still: [TaskID: MonotonicInstant] = [:]
    private var stillPlaces: [String: TaskID] = [:]
    /// Bytes that another client has put somewhere.
    private var foreign: Set<String> = []
    /// Tasks that were seen to be completed, and since when.
    private var completedAt: [TaskID: MonotonicInstant] = [:]
    private var seen: [TaskID: TaskSnapshot] = [:]
    let promises: Promises

    init(_ network: Network, _ contents: Contents) {
        self.network = network
        self.contents = contents
        world = network.world
        promises = Promises(in: network.world)
        network.sends = { [unowned self] task, path, what in sends(task, path, what) }
    }

    /// Watches what stands under the names at a server that shows whole files only.
    func watch(_ disk: ServerDisk, publishes: Bool) {
        disk.watch = { [unowned self, unowned disk] path, standing in
            guard publishes, let digest = standing.digest, standing.writer == .martlet else { return }
            shows(digest, at: disk.host + "/" + disk.key(path))
        }
    }

    func wrote(foreign digest: String) { foreign.insert(digest) }

    /// Names at a server that tasks have or had for their files.
    func names(at disk: ServerDisk) -> [String] {
        targets.keys.filter { $0.hasPrefix(disk.host + "/") }.map { String($0.dropFirst(disk.host.count + 1)) }
    }

    /// A batch was queued: what it sends is a version that its sources had from then on.
    func queued(_ batch: BatchID, at time: MonotonicInstant) { queuedAt[batch] = time }

    // MARK: At every step

    /// The final name never shows a mixture or a torso.
    private func shows(_ digest: String, at place: String) {
        if place.hasSuffix(".martlet-part") || foreign.contains(digest) { return }
        let known = contents.versions.keys.contains { path in
            contents.wasVersion(digest, of: path, since: MonotonicInstant(nanoseconds: 0))
        }
        if !known { world.fault("\(place) shows bytes that no file ever had as a whole") }
    }

    /// What was answered stays true: who is paused, cancelled or completed sends nothing.
    private func sends(_ task: TaskID?, _ place: String?, _ what: String) {
        if let task, still[task] != nil { world.fault("\(task) \(what), and stands still by the queue's word") }
        if let place, let task = stillPlaces[place] {
            world.fault("\(task) (\(place)) is sent by \(what), and stands still by the queue's word")
        }
    }

    /// Something may go on from now on that stood still.
    func maySend() {
        still = [:]
        stillPlaces = [:]
    }

    /// The person has an answer: whatever stands still by the queue's word stays so until the person does something again.
    func answered(_ reader: QueueReader) async throws {
        // Of a batch that is still walked there may be more tasks soon.
        let isWalked = try await reader.batches().contains(where: \.scanning)
        let tasks = try await reader.tasks(limit: 10_000)
        promises.told(tasks, try await reader.batches())
        var moving: Set<String> = []
        for task in tasks {
            learn(task)
            let place = self.place(task.destination)
            switch task.state {
            case .paused, .cancelled, .completed, .failed, .created: break
            case .queued, .waiting, .running, .finishing: moving.insert(place)
            }
        }
        maySend()
        for task in tasks {
            let place = self.place(task.destination)
            switch task.state {
            case .paused where task.pausedUntil == nil, .cancelled, .completed, .failed, .created:
                still[task.id] = world.now
                if !moving.contains(place), !isWalked { stillPlaces[place] = task.id }
            default: break
            }
        }
    }

    private func learn(_ task: TaskSnapshot) {
        targets[place(task.destination), default: []].insert(task.source)
        if task.state == .completed, completedAt[task.id] == nil { completedAt[task.id] = world.now }
        seen[task.id] = task
    }

    /// `host/name` of an address at a server, as its disk tells names apart.
    private func place(_ address: String) -> String {
        // A download's, at this machine.
        if address.hasPrefix("/") { return address }
        let host = host(of: address)
        let name = String(address.drop { $0 != ":" }.dropFirst(3 + host.count))
        return host + "/" + (network.disks.first { $0.host == host }?.key(name) ?? name)
    }

    private func host(of address: String) -> String {
        String(address.drop { $0 != ":" }.dropFirst(3).prefix { $0 != "/" })
    }

    var unfinished: [Unfinished] { network.unfinished }
    func count(_ what: String) { world.count(what) }
    func fault(_ what: String) { world.fault(what) }

    /// Every batch has a login that its server takes. Servers of FTP and SFTP let everybody in here: a task that waits for one of them was
    /// refused a file for a moment, after the server had taken bytes of it. No login mends that; the person is told to retry, and does so
    /// later (`Person.settle`).
    func checkLogins(_ reader: QueueReader) async throws {
        for task in try await reader.tasks(limit: 10_000)
        where task.state == .waiting && task.waitReasons.contains(.auth) {
            let address = task.destination.hasPrefix("/") ? task.source : task.destination
            if network.http[host(of: address)] == nil { continue }
            world.fault("\(task.id) waits for a login that it has: \(task.error?.message ?? "")")
        }
    }

    // MARK: At the end

    /// Everything is over, and what is over is true.
    func checkEnd(_ queue: TransferQueue, meddled: Bool) async throws {
        for finding in try await queue.reader.check() {
            world.fault("the queue does not agree with itself: \(finding)")
        }
        let tasks = try await queue.reader.tasks(limit: 10_000)
        promises.told(tasks, try await queue.reader.batches())
        let events = try await queue.reader.events(after: EventSequence(rawValue: 0), limit: 100_000)
        // When each was completed; nothing where the clock cannot tell.
        let times = Dictionary(
            events.compactMap { event in
                event.type == .taskCompleted ? event.task.map { ($0, world.moment(of: event.at.milliseconds)) } : nil
            }
        ) { _, last in last }
        for task in tasks {
            learn(task)
            world.count(
                "\(task.state)\(task.error.map { " (\($0.code.rawValue))" } ?? (task.skipped ? " (skipped)" : ""))")
            guard task.state.isTerminal else {
                world.fault(
                    "\(task.id) is \(task.state) and comes to no end: "
                        + "\(task.waitReasons.map(\.rawValue)) \(task.error?.message ?? "")")
                continue
            }
            if task.state == .completed, !task.skipped { checkArrived(task, doneAt: times[task.id] ?? nil) }
            if let total = task.bytesTotal, task.bytesSent > total {
                world.fault("\(task.id) has sent \(task.bytesSent) of \(total) B")
            }
            if task.state == .failed { world.tell("queue", "\(task.id) failed: \(task.error?.message ?? "")") }
        }
        checkEvents(events, tasks, meddled: meddled)
        checkBatches(events, tasks, try await queue.reader.batches())
        try await checkLeftovers(queue)
    }

    /// Completed: the bytes there are a version of the source.
    /// - Parameter end: when it was recorded to be completed; `nil`: not known.
    private func checkArrived(_ task: TaskSnapshot, doneAt end: MonotonicInstant?) {
        if let end { checkDigest(task, doneAt: end) }
        let place = self.place(task.destination)
        let host = String(place.prefix { $0 != "/" })
        guard let disk = network.disks.first(where: { $0.host == host }) else { return }
        let history = disk.history[String(place.dropFirst(host.count + 1))] ?? []
        let begun = queuedAt[task.batch] ?? MonotonicInstant(nanoseconds: 0)
        let ours = history.lastIndex { standing in
            standing.digest.map { contents.wasVersion($0, of: task.source, since: begun) } ?? false
        }
        guard let ours else {
            return world.fault("\(task.id) is completed, and \(place) never had a version of \(task.source)")
        }
        // Changed later it may be, and not before: it was compared right before that.
        if let end, let digest = history[ours].digest, !contents.wasReadable(digest, of: task.source, at: end) {
            world.fault("\(task.id) is completed, and its source had changed before")
        }
        // What came after it is another client's, or another task's for the same name.
        for later in history[(ours + 1)...] where later.writer == .martlet {
            let others = (targets[place] ?? []).subtracting([task.source])
            let isOthers = later.digest.map { digest in
                others.contains { contents.wasVersion(digest, of: $0, since: MonotonicInstant(nanoseconds: 0)) }
            }
            // A file that is replaced is gone for a moment.
            if isOthers == false {
                return world.fault("\(task.id) is completed, and \(place) has other bytes since \(later.time)")
            }
        }
        if history.last?.digest == nil, (targets[place]?.count ?? 0) <= 1, history.last?.writer == .martlet {
            world.fault("\(task.id) is completed, and \(place) is not there")
        }
    }

    /// The digest that is told is one of the bytes that were there in the end, not of an earlier run's.
    private func checkDigest(_ task: TaskSnapshot, doneAt end: MonotonicInstant) {
        guard let digest = task.digest, digest.algorithm == "sha-256" else { return }
        world.count("digests compared")
        let value = String(digest.value.prefix(16))
        // The file at a server may have changed while it came.
        let isTrue =
            task.destination.hasPrefix("/")
            ? contents.wasVersion(
                value, of: String(task.source.drop { $0 != ":" }.dropFirst(3)), since: queuedAt[task.batch] ?? end)
            : contents.wasReadable(value, of: task.source, at: end)
        if !isTrue { world.fault("\(task.id) is completed with the digest of other bytes than those of its run") }
    }

    /// A batch that is over has told its end after the ends of its files, with as many failures as there are.
    private func checkBatches(_ events: [TransferEvent], _ tasks: [TaskSnapshot], _ batches: [BatchSnapshot]) {
        for batch in batches where batch.state.isTerminal {
            let own = events.filter { $0.batch == batch.id }
            guard let end = own.last(where: { $0.type == .batchFinished }) else {
                world.fault("\(batch.id) is over, and has not told its end")
                continue
            }
            let ends: [TransferEventType] = [.taskCompleted, .taskFailed, .taskCancelled]
            let late = own.filter { ends.contains($0.type) && $0.seq > end.seq }
            for event in late {
                // What a person has looked at afterwards may turn out to be gone.
                let before = own.last { $0.task == event.task && ends.contains($0.type) && $0.seq < event.seq }
                if event.type == .taskFailed, before?.type == .taskCompleted { continue }
                world.fault("\(batch.id) has told its end before that of \(event.task.map { "\($0)" } ?? "a file")")
            }
            if !late.isEmpty { continue }
            let left = tasks.filter { $0.batch == batch.id }
            // Files of it were purged since.
            if end.payload.filesTotal.map(Int.init) != left.count { continue }
            let failed = left.count { $0.state == .failed }
            if end.payload.filesFailed.map(Int.init) != failed {
                world.fault("\(batch.id) has told \(end.payload.filesFailed ?? -1) failures, and has \(failed)")
            }
        }
    }

    /// One terminal event for each run of a task: between two of them it was begun anew.
    private func checkEvents(_ events: [TransferEvent], _ tasks: [TaskSnapshot], meddled: Bool) {
        var last: [TaskID: TransferEventType] = [:]
        for event in events {
            guard let task = event.task else { continue }
            switch event.type {
            case .taskCompleted, .taskFailed, .taskCancelled:
                if event.type == .taskCompleted, last[task] == .taskCompleted {
                    world.fault("\(task) is completed twice, and nothing was begun anew between")
                }
                last[task] = event.type
            case .restarted where !meddled && event.payload.message?.contains("somebody else") == true:
                world.fault("\(task) begins anew because of somebody else, and nobody has been there")
            default: break
            }
        }
        for task in tasks where task.state == .completed && last[task.id] != .taskCompleted {
            world.fault("\(task.id) is completed, and its last end was \(last[task.id].map { "\($0)" } ?? "none")")
        }
    }
}
