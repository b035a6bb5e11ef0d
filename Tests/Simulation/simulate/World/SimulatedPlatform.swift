import LinuxSystem

/// The platform of one life of the engine: threads, clock and chance of the world.
final class SimulatedPlatform: Platform, @unchecked Sendable {
    private let world: World
    private let life: ProgramLife
    private var chance: Chance
    let disk: any LocalDisk

    init(_ life: ProgramLife, on disk: any LocalDisk, in world: World, seed: UInt64) {
        self.life = life
        self.disk = disk
        self.world = world
        chance = Chance(seed: seed ^ UInt64(life.number) << 32)
    }

    func simulatedThread(_ name: String, width: Int = 1) -> SimulatedThread {
        SimulatedThread(name, width: width, of: life, in: world)
    }

    func loop(named name: String) -> any ActorLoop { simulatedThread(name) }
    func thread(named name: String) -> any ActorThread { simulatedThread(name) }

    /// A disk that has much to do takes its time now and then: the line brings more meanwhile.
    func worker(named name: String, threads: Int) -> any Worker {
        var chance = Chance(seed: chance.next())
        // Some disks are slow throughout.
        let isSlow = self.chance.oneIn(4)
        return SimulatedThread(name, width: threads, of: life, in: world) { [world] in
            guard isSlow || chance.oneIn(4) else { return .zero }
            let time = Duration.milliseconds(chance.below(2000))
            world.underWay?(UnderWay(subject: .disk, time: time))
            return time
        }
    }

    var wallNanoseconds: Int64 { world.wallNanoseconds }
    func randomBits() -> UInt64 { chance.next() }
}
