import Glibc
import LinuxSystem
import TransferModel
import TransferQueue

/// One run: a world, its servers, a person and the lives of an engine, from the seed.
final class Run {
    let seed: UInt64
    let world: World
    private let folder: String
    private let network: Network
    private let disk: SimulatedDisk
    private let contents: Contents
    private let sources: Sources
    private let rules: Rules
    private let person: Person
    private let downloads: Downloads
    private var chance: Chance
    private var life: EngineLife
    /// Faults come and the person acts for so long.
    private let length: Duration
    private var lives = 1
    private var isMeddling = false

    /// - Parameter folder: empty, on a file system in memory.
    init(seed: UInt64, folder: String, isPrinted: Bool) {
        self.seed = seed
        self.folder = folder
        chance = Chance(seed: seed ^ 0x4A11)
        world = World(seed: seed)
        world.story.isPrinted = isPrinted
        network = Network(seed: seed, in: world)
        disk = SimulatedDisk(attic: folder + "/attic", seed: seed, in: world)
        DatabaseFiles.use(disk)
        contents = Contents(in: world)
        rules = Rules(network, contents)
        var servers = ServerChoice(world, network, rules)
        for kind in ServerKind.choose(&chance) { servers.add(kind, &chance) }
        let names = servers.names.joined(separator: "; ")
        world.tell("world", "seed \(seed): \(names); faults 1/\(network.weather.strength)")
        sources = Sources(folder + "/files", contents, seed: seed, in: world)
        downloads = Downloads(folder + "/downloads", network, contents, on: disk, seed: seed)
        person = Person(sources, downloads, network, rules, to: servers.destinations, seed: seed)
        length = chance.duration(.seconds(5), .seconds(220))
        life = EngineLife(number: 1, folder: folder + "/state1", network, on: disk, downloads, seed: seed, in: world)
    }

    /// Runs to the end. Returns true when no rule was broken.
    func run() -> Bool {
        let world = world
        DefaultExecutor.give { job in world.pool.perform(job) }
        revive()
        scheduleNext()
        world.underWay = { [unowned self] what in meddle(in: what) }
        _ = world.run(steps: 400_000) { world.awake > length }
        if !world.faults.isEmpty { return false }
        network.weather.isCalm = true
        disk.weather.isCalm = true
        world.tell("world", "is calm")
        if !life.life.isAlive { revive() }
        guard letIn(), finish() else { return false }
        check()
        return world.faults.isEmpty
    }

    // MARK: Faults and acts

    private func scheduleNext() {
        _ = world.schedule(after: chance.duration(.milliseconds(1), .seconds(6)), on: network.thread) { [self] in
            if network.weather.isCalm { return }
            next()
            scheduleNext()
        }
    }

    private func next() {
        switch chance.below(41) {
        case 0 where life.isRunning || chance.oneIn(3): strike()
        case 12 where life.isRunning: strike()
        case 1...6: sources.disturb()
        case 7: network.powerCut()
        case 8: suspend()
        case 9: stepClock()
        case 10, 11: writeElsewhere()
        case 12: for server in network.servers { server.tidy() }
        case 13 where chance.oneIn(3): changeKey()
        case 14, 15: downloads.disturbServer()
        case 16: downloads.disturb()
        case 17: clearUp()
        default: if life.isRunning { person.act(life) }
        }
    }

    /// Something is under way: now and then a moment to change its file, to pause it or to kill it.
    private func meddle(in what: UnderWay) {
        let often = if case .message = what.subject { 40 } else { 3 }
        guard network.weather.strikes(oneIn: often), !isMeddling else { return }
        isMeddling = true
        // In the middle of it, or about its end.
        let later =
            chance.oneIn(3)
            ? what.time + chance.duration(.zero, .milliseconds(50)) : what.time * (Double(chance.below(1000)) / 1000)
        _ = world.schedule(after: later + .microseconds(1), on: network.thread) { [self] in
            isMeddling = false
            if case .message = what.subject {} else { world.count("acts in the middle of something") }
            if network.weather.isCalm || !life.isRunning { return }
            let place = chance.below(10)
            switch what.subject {
            case .message:
                switch place {
                case 0...3: sources.disturb(isNew: true)
                case 4: strike()
                case 5, 6: person.interrupt(life)
                case 7: clearUp()
                default: person.act(life)
                }
            case .upload(let host):
                switch place {
                case 0...3: sources.disturb(isNew: true)
                case 4: strike()
                case 5, 6: person.interrupt(life)
                case 7, 8: network.powerCut(at: host)
                default: clearUp(at: host)
                }
            case .download(let file):
                switch place {
                case 0...2: downloads.disturbServer(file)
                case 3: downloads.disturb()
                case 4: strike()
                case 5...7: person.interrupt(life)
                default: person.act(life)
                }
            case .disk:
                switch place {
                case 0: downloads.disturb()
                case 1...3: strike()
                case 4...6: person.interrupt(life)
                default: person.act(life)
                }
            }
        }
    }

    /// Kills the engine or cuts its power, now or in the middle of what it writes next.
    private func strike() {
        let isPowerCut = chance.oneIn(2)
        if chance.oneIn(3) { return kill(isPowerCut: isPowerCut) }
        disk.interrupt(after: chance.below(16)) { [self] in kill(isPowerCut: isPowerCut) }
    }

    private func kill(isPowerCut: Bool) {
        lives += 1
        world.tell("world", isPowerCut ? "cuts the engine's power" : "kills the engine")
        world.count(isPowerCut ? "power cuts" : "kills")
        let next = "\(folder)/state\(lives)"
        life.kill(copyingTo: next, isPowerCut: isPowerCut)
        if isPowerCut {
            disk.cutPower(in: downloads.folder)
            downloads.checkCompleted(rules.promises.tasks)
        }
        person.forgetAct()
        life = EngineLife(number: lives, folder: next, network, on: disk, downloads, seed: seed, in: world)
        _ = world.schedule(after: chance.duration(.milliseconds(1), .seconds(10)), on: network.thread) { [self] in
            revive()
        }
    }

    private func revive() {
        guard life.queue == nil else { return }
        let rules = rules
        life.started = { [world, folder = life.folder] queue in
            do { try await rules.promises.check(queue.reader, folder: folder) } catch {
                world.fault("the queue cannot be read after a restart: \(error)")
            }
        }
        life.start { [self] in
            _ = world.schedule(after: chance.duration(.milliseconds(100), .seconds(10)), on: network.thread) { [self] in
                revive()
            }
        }
    }

    /// A server asks for another key than before: whoever has the old one is refused until the person has set the new one.
    private func changeKey() {
        guard let server = network.servers.randomElement(using: &chance) else { return }
        server.door.changeKey()
    }

    private func suspend() {
        let time = chance.duration(.seconds(1), .seconds(7200))
        world.tell("world", "the machine sleeps for \(time)")
        world.sleep(time)
    }

    private func stepClock() {
        let step = chance.duration(.seconds(1), .seconds(86400)) * (chance.oneIn(2) ? 1 : -1)
        world.tell("world", "the clock is set by \(step)")
        world.stepClock(by: step)
    }

    /// Another client puts a file of its own under a name that we use, or are about to.
    private func writeElsewhere() {
        let disk = chance.pick(network.disks)
        let names = Set(disk.files.keys).union(rules.names(at: disk)).filter { !$0.hasSuffix(".martlet-part") }
        guard let name = names.sorted().randomElement(using: &chance), !disk.isFolder(name) else { return }
        world.tell("another client", "writes \(disk.host)/\(name)")
        let bytes = Array("another client, \(world.steps)".utf8)
        rules.wrote(foreign: Contents.digest(bytes))
        disk.makeFolders(ServerDisk.parent(name))
        disk.put(RemoteFile(bytes, modified: disk.now), at: name, by: .other)
        contents.has("\(disk.host)/\(name)", bytes)
    }

    /// Somebody else's clean-up takes a temporary file away that looks old, as many servers' do by night.
    private func clearUp(at host: String? = nil) {
        let disks = network.disks.filter { host == nil || $0.host == host }
        guard let disk = disks.randomElement(using: &chance) else { return }
        let names = disk.files.keys.filter { $0.hasSuffix(".martlet-part") && isOld(disk.file($0), disk) }
        guard let name = names.sorted().randomElement(using: &chance) else { return }
        world.tell("a clean-up", "removes \(disk.host)/\(name)")
        disk.put(nil, at: name, by: .other)
    }

    private func isOld(_ file: RemoteFile?, _ disk: ServerDisk) -> Bool {
        file.map { $0.modified + 3600 < disk.now } ?? false
    }

    // MARK: The end

    /// The person sets the logins that servers ask for by now; nothing waits for one any more.
    private func letIn() -> Bool {
        _ = world.run(steps: 300_000) { life.isRunning && !person.isWaiting }
        guard life.isRunning, !person.isWaiting, world.faults.isEmpty else { return world.faults.isEmpty }
        person.renewAll(life)
        _ = world.run(steps: 300_000) { !person.isWaiting }
        let end = world.now.advanced(by: .seconds(1800))
        _ = world.run(steps: 300_000) { world.now >= end }
        let rules = rules
        _ = ask { queue in try await rules.checkLogins(queue.reader) }
        return world.faults.isEmpty
    }

    /// Faults have stopped: everything comes to its end, or waits for a person, who sees to it.
    private func finish() -> Bool {
        var rounds = 0
        var isOver = false
        while rounds < 40, !isOver, world.faults.isEmpty {
            rounds += 1
            let end = world.now.advanced(by: .seconds(1800))
            _ = world.run(steps: 300_000) { world.now >= end || life.isRunning && !person.isWaiting && rounds == 1 }
            if !life.isRunning { continue }
            if person.isWaiting {
                world.fault("the person waits for an answer that does not come")
                return false
            }
            person.settle(life)
            _ = world.run(steps: 300_000) { !person.isWaiting }
            isOver = ask { queue in try await queue.reader.batches().allSatisfy(\.state.isTerminal) } ?? false
        }
        // The time in which a cancel can be taken back, and in which what could not be removed is tried again.
        let end = world.now.advanced(by: .seconds(3600))
        _ = world.run(steps: 300_000) { world.now >= end }
        return world.faults.isEmpty
    }

    private func check() {
        let (rules, meddled) = (rules, downloads.hasMeddled)
        _ = ask { queue in try await rules.checkEnd(queue, meddled: meddled) }
        sources.check()
        // Nothing can be taken back any more, and what was cancelled is cleared away.
        let end = world.now.advanced(by: .seconds(120))
        _ = world.run(steps: 300_000) { world.now >= end }
        let known = (try? Promises.resumePoints(in: life.folder)) ?? []
        downloads.checkEnd(rules.promises.tasks, known: known)
    }

    /// Asks the queue something, and waits for the answer in virtual time.
    private func ask<Answer: Sendable>(_ body: @escaping @Sendable (TransferQueue) async throws -> Answer) -> Answer? {
        guard let queue = life.queue else {
            world.fault("the engine does not run")
            return nil
        }
        let box = Box<Answer>()
        let world = world
        Task {
            do { box.answer = try await body(queue) } catch { world.fault("the queue does not answer: \(error)") }
        }
        _ = world.run(steps: 300_000) { box.answer != nil }
        if box.answer == nil, world.faults.isEmpty { world.fault("the queue gives no answer") }
        return box.answer
    }
}

private final class Box<Value>: @unchecked Sendable { var answer: Value? }
