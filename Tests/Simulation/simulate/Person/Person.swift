import FoundationEssentials
import TransferEngine
import TransferModel
import TransferQueue

/// The person: queues, changes, and takes back; one thing after the other, at moments that the seed chooses.
///
/// An act waits for its answer, as a person does at a screen. A kill of the engine leaves it without one.
final class Person: @unchecked Sendable {
    let world: World
    let rules: Rules
    private let sources: Sources
    let downloads: Downloads
    let network: Network
    var chance: Chance
    /// Addresses of folders at servers.
    private let destinations: [Destination]
    var batches: [BatchID] = []
    /// Where each goes, or comes from.
    var places: [BatchID: Destination] = [:]
    private var isActing = false
    private var acts = 0
    var lastName = 0

    init(
        _ sources: Sources, _ downloads: Downloads, _ network: Network, _ rules: Rules, to destinations: [Destination],
        seed: UInt64
    ) {
        self.sources = sources
        self.downloads = downloads
        self.network = network
        self.rules = rules
        self.destinations = destinations
        world = network.world
        chance = Chance(seed: seed ^ 0x9E50)
    }

    /// True while the answer to an act is awaited.
    var isWaiting: Bool { isActing }

    /// The engine was killed: no answer comes any more.
    func forgetAct() {
        isActing = false
        acts += 1
    }

    /// Begins an act, unless the answer to another is awaited.
    func act(_ life: EngineLife) {
        guard !isActing, let queue = life.queue, let engine = life.engine else { return }
        let front = Front(queue: queue, engine: engine)
        perform(life) { [self] in try await choose(front) }
    }

    /// Breaks off what is under way, and most often has it go on right afterwards.
    func interrupt(_ life: EngineLife) {
        guard !isActing, let queue = life.queue, let engine = life.engine else { return }
        let front = Front(queue: queue, engine: engine)
        perform(life) { [self] in
            let running = try await queue.reader.tasks(states: [.running, .finishing], limit: 100)
            guard let task = running.randomElement(using: &chance) else { return }
            let node = NodeID.task(task.id)
            world.count("interruptions by the person")
            let isCancel = chance.oneIn(5)
            world.tell("person", "\(isCancel ? "cancels" : "pauses") \(node), which runs")
            let writer = queue.writer
            if chance.oneIn(2) {
                // At another screen somebody else does not wait for the answer.
                async let stopped = front.take(try await isCancel ? writer.cancel([node]) : writer.pause([node]))
                await world.pause(chance.duration(.microseconds(100), .milliseconds(300)))
                try await goOn(front, node)
                _ = try await stopped
            } else {
                try await front.take(try await isCancel ? writer.cancel([node]) : writer.pause([node]))
                if !chance.oneIn(4) { try await goOn(front, node) }
            }
        }
    }

    /// Takes a stop back.
    private func goOn(_ front: Front, _ node: NodeID) async throws {
        world.tell("person", "has \(node) go on")
        rules.maySend()
        decides()
        let now = Timestamp(milliseconds: world.wallMilliseconds)
        if chance.oneIn(2) { try await front.take(try await front.queue.writer.undo(.last, now: now)) }
        try await front.take(try await front.queue.writer.resume([node]))
    }

    /// Does what lets everything come to its end: a person who has come back to look.
    func settle(_ life: EngineLife) {
        guard !isActing, let queue = life.queue, let engine = life.engine else { return }
        let front = Front(queue: queue, engine: engine)
        perform(life) { [self] in
            rules.maySend()
            let all = try await queue.reader.batches().filter { !$0.state.isTerminal }.map { NodeID.batch($0.id) }
            if all.isEmpty { return }
            for case .batch(let batch) in all { try await renew(front, batch) }
            world.tell("person", "resumes and retries all that is not over")
            try await front.take(try await queue.writer.resume(all))
            for batch in all {
                guard case .batch(let id) = batch else { continue }
                let tasks = try await queue.reader.tasks(batch: id, states: [.waiting, .paused], limit: 1000)
                let nodes = tasks.map { NodeID.task($0.id) }
                if nodes.isEmpty { continue }
                try await front.take(try await queue.writer.resume(nodes))
                decides()
                try await front.retry(nodes)
            }
        }
    }

    /// Gives every batch that is not over a login that its server takes, and does nothing else: all that waited for one goes on by itself.
    func renewAll(_ life: EngineLife) {
        guard !isActing, let queue = life.queue, let engine = life.engine else { return }
        let front = Front(queue: queue, engine: engine)
        perform(life) { [self] in
            for batch in try await queue.reader.batches() where !batch.state.isTerminal {
                try await renew(front, batch.id, orAny: true)
            }
        }
    }

    /// Sees to what was asked once no act is under way: nothing of it is undone any more.
    private func perform(_ life: EngineLife, _ body: @escaping @Sendable () async throws -> Void) {
        isActing = true
        rules.promises.isActing = true
        acts += 1
        let number = acts
        Task {
            do { try await body() } catch { world.tell("person", "is refused: \(error)") }
            guard acts == number, life.life.isAlive else { return }
            if let queue = life.queue { try? await rules.answered(queue.reader) }
            if acts == number { isActing = false }
        }
    }

    // MARK: Acts

    private func choose(_ front: Front) async throws {
        let writer = front.queue.writer
        if batches.isEmpty || chance.oneIn(5) {
            return chance.oneIn(2) ? try await download(front) : try await add(front)
        }
        let node = try await self.node(front)
        switch chance.below(25) {
        case 0...3:
            world.tell("person", "pauses \(node)")
            try await front.take(try await writer.pause([node]))
        case 4...7:
            world.tell("person", "resumes \(node)")
            rules.maySend()
            try await front.take(try await writer.resume([node]))
        case 8, 9:
            world.tell("person", "cancels \(node)")
            try await front.take(try await writer.cancel([node]))
        case 10, 11:
            world.tell("person", "takes the last change back")
            rules.maySend()
            decides()
            try await front.take(
                try await writer.undo(.last, now: Timestamp(milliseconds: world.wallMilliseconds)))
        case 12, 13:
            world.tell("person", "retries \(node)")
            rules.maySend()
            decides()
            try await front.retry([node])
        case 14:
            let place = chance.pick([MovePlace.top, .bottom, .earlier, .later])
            world.tell("person", "moves \(node) to \(place)")
            try await front.take(try await writer.move([node], to: place))
        case 15:
            let limit = chance.pick([Int64(0), 20_000, 200_000])
            world.tell("person", "limits \(node) to \(limit)")
            try await front.set([node], NodeSettings(limit: limit))
        case 16:
            world.tell("person", "runs \(node) now")
            rules.maySend()
            try await front.take(try await writer.runNow([node]))
            await front.engine.connectivityChanged()
        case 17:
            let rate = chance.pick([nil, Int64(50_000), 1_000_000])
            let transfers = 1 + chance.below(8)
            world.tell("person", "sets the engine's limits: \(rate.map { "\($0)" } ?? "no") B/s, \(transfers) at once")
            await front.engine.setLimits(
                EngineLimits(bytesPerSecondUp: rate, transfers: transfers, transfersPerHost: transfers))
        case 18:
            world.tell("person", "purges what is over")
            try await front.take(try await writer.purgeFinished())
        case 19:
            guard case .batch(let batch) = node else { return }
            try await renew(front, batch)
        case 20:
            world.tell("person", "has \(node) verified")
            try await front.verify(node)
        case 24:
            world.tell("person", "has \(node) read back")
            try await front.readBack(node)
        case 21:
            world.tell("person", "has what cancelled and failed uploads left taken away")
            try await front.abortLeftovers()
        case 22:
            world.tell("person", "purges \(node)")
            try await front.purge(node)
        default:
            let priority = chance.pick(TransferPriority.allCases)
            world.tell("person", "gives \(node) the priority \(priority)")
            try await front.set([node], NodeSettings(priority: priority))
        }
    }

    /// A run begins anew: the person knows what the one before may have done.
    private func decides() { for server in network.servers { server.decided() } }

    /// Gives a batch the login that its server takes now. The same again is good for what the server refused in between.
    /// - Parameter isAny: where anybody is let in, too.
    private func renew(_ front: Front, _ batch: BatchID, orAny isAny: Bool = false) async throws {
        guard let place = places[batch], network.http[place.host] != nil else { return }
        let secrets = place.secrets(network.http[place.host]?.door.key ?? (isAny ? "any" : nil))
        if secrets == TransferSecrets() { return }
        world.tell("person", "gives \(batch) the login that \(place.host) takes now")
        rules.maySend()
        try await front.renew(batch, by: secrets)
    }

    /// A batch, or one of its files.
    private func node(_ front: Front) async throws -> NodeID {
        let batch = chance.pick(batches)
        if chance.oneIn(2) { return .batch(batch) }
        let tasks = try await front.queue.reader.tasks(batch: batch, limit: 100)
        return tasks.isEmpty ? .batch(batch) : .task(chance.pick(tasks).id)
    }

    /// Queues some files, or a folder of them.
    func add(_ front: Front) async throws {
        lastName += 1
        let destination = chance.pick(destinations)
        let isLarge = destination.takesPieces && chance.oneIn(3)
        var named: [String] = []
        if !chance.oneIn(3) {
            let folder = "folder\(lastName)"
            for number in 0..<1 + chance.below(6) {
                sources.make(
                    folder + (chance.oneIn(3) ? "/deep" : "") + "/\(number)",
                    isLarge: isLarge && number == 0)
            }
            named = [folder]
        } else {
            for number in 0..<1 + chance.below(3) {
                let name = "file\(lastName)-\(number)"
                sources.make(name, isLarge: isLarge && number == 0)
                named.append(name)
            }
        }
        // Once in a while the same again, perhaps to the same names.
        if chance.oneIn(4), let again = sources.names.randomElement(using: &chance) {
            named = [String(again.prefix { $0 != "/" })]
        }
        let places = named.map { name in
            UploadSource(path: RawPath(sources.path(name)), placement: .named(RawPath(name)))
        }
        var options = TransferOptions()
        options.ifExists = chance.pick([.fail, .fail, .replace, .replace, .skip])
        options.ifChanged = chance.pick([.restart, .restart, .fail])
        options.verify = chance.pick([nil, nil, nil, nil, nil, nil, VerificationWish.none, .size, .size, .digest])
        destination.set(&options)
        var request = BatchRequest(
            uuid: uuid(), work: .upload(places, to: destination.url), held: chance.oneIn(10),
            priority: chance.pick([.normal, .normal, .high, .low]), options: options)
        request.secrets =
            network.http[destination.host].map { destination.secrets($0.door.key) } ?? secrets()
        let poster = network.http[destination.host] as? PostServer
        if poster?.knowsKeys == true {
            request.secrets.headers.append(HeaderField("Idempotency-Key", "\(request.uuid)"))
        }
        let words = "\(named.joined(separator: " ")), \(Self.words(options))"
        world.tell("person", "queues \(words), to \(destination.url)")
        rules.maySend()
        decides()
        for name in named { poster?.orders(destination.path + name) }
        let begun = world.now
        let batch = try await front.add(request)
        rules.queued(batch, at: begun)
        world.tell("queue", "has it as \(batch)")
        batches.append(batch)
        self.places[batch] = destination
    }

    static func words(_ options: TransferOptions) -> String {
        let verify = options.verify.map { ", verify \($0)" } ?? ""
        return "ifExists \(options.ifExists), ifChanged \(options.ifChanged)\(verify)"
    }

    /// Those of a batch over SFTP: something that must not be lost by a power cut.
    func secrets() -> TransferSecrets {
        var secrets = TransferSecrets()
        if chance.oneIn(3) {
            secrets.user = "person"
            secrets.password = "secret\(lastName)"
        }
        return secrets
    }

    func uuid() -> UUID {
        var number = (chance.next(), chance.next())
        return withUnsafeBytes(of: &number) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
