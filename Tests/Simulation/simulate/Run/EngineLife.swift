import CurlTransport
import LinuxSystem
import SSHTransport
import TransferEngine
import TransferModel
import TransferQueue

/// One life of the engine: queue, engine and transports, from their start to their kill.
final class EngineLife: @unchecked Sendable {
    let life: ProgramLife
    let folder: String
    private let world: World
    private let network: Network
    private let platform: SimulatedPlatform
    private let disk: SimulatedDisk
    private(set) var queue: TransferQueue?
    private(set) var engine: TransferEngine?
    private var transports: SimulatedTransports?
    var isRunning = false

    /// - Parameter folder: of its state; made when it is missing.
    init(
        number: Int, folder: String, _ network: Network, on disk: SimulatedDisk, _ downloads: Downloads, seed: UInt64,
        in world: World
    ) {
        life = ProgramLife(number: number)
        self.folder = folder
        self.world = world
        self.network = network
        self.disk = disk
        platform = SimulatedPlatform(
            life, on: SimulatedLocalDisk(disk, downloads), in: world, seed: seed)
    }

    /// - Parameter failed: the disk has failed or was full: it is to be started again.
    func start(failed: @escaping () -> Void) {
        let failures = disk.failures
        do {
            let queue = try TransferQueue.open(
                directory: RawPath(folder), version: "simulated",
                clock: { [world] in Timestamp(milliseconds: world.wallMilliseconds) }, platform: platform)
            // It was killed while it opened.
            guard life.isAlive else { return }
            self.queue = queue
            let loop = platform.simulatedThread("engine")
            var settings = EngineSettings(userAgent: "simulated")
            settings.localDay = { $0.milliseconds / 86_400_000 }
            settings.checkpointBytes = 32768
            settings.report = { [world] report in
                if report.level != .debug {
                    world.tell("engine", "\(report.level): \(report.task.map { "\($0): " } ?? "")\(report.message)")
                }
            }
            let transports = SimulatedTransports(network, loop)
            self.transports = transports
            let engine = try TransferEngine(
                queue: queue, settings: settings, loop: loop,
                transports: transports, platform: platform, clock: loop,
                wall: { [world] in world.wallMilliseconds })
            self.engine = engine
            Task {
                do { try await engine.start() } catch {
                    if disk.failures == failures { world.fault("the engine does not start: \(error)") }
                }
                guard life.isAlive else { return }
                isRunning = true
                await started?(queue)
                world.tell("engine", "runs")
            }
        } catch {
            if !life.isAlive { return }
            if disk.failures == failures { return world.fault("the engine does not open its queue: \(error)") }
            world.tell("engine", "does not open its queue: \(error)")
            failed()
        }
    }

    /// Called when the engine runs.
    var started: (@Sendable (TransferQueue) async -> Void)?

    /// `kill -9` or a power cut, and its state as the next life finds it.
    func kill(copyingTo next: String, isPowerCut: Bool) {
        life.kill()
        transports?.hangUp()
        DatabaseFiles.close(below: folder)
        try? System.mkdirs(Array(next.utf8))
        if isPowerCut { disk.cutPower(folder, to: next) } else { disk.move(folder, to: next) }
    }
}

/// The model servers behind the engine's transports.
final class SimulatedTransports: TransportMaker, @unchecked Sendable {
    private let network: Network
    private let loop: SimulatedThread
    private var http: SimulatedHTTP?
    private var ftp: SimulatedFTP?
    private var sftp: SimulatedSFTP?

    init(_ network: Network, _ loop: SimulatedThread) {
        self.network = network
        self.loop = loop
    }

    func http(
        _ clock: any TransportClock, onEvents: @escaping ([HTTPEvent]) -> Void
    ) throws(CurlError) -> any HTTPExchanges {
        let made = SimulatedHTTP(network, loop, onEvents)
        http = made
        return made
    }

    func ftp(_ clock: any TransportClock, onEvents: @escaping ([FTPEvent]) -> Void) throws(Errno) -> any FTPExchanges {
        let made = SimulatedFTP(network, loop, onEvents)
        ftp = made
        return made
    }

    func sftp(
        _ clock: any TransportClock, _ settings: SSHSettings, onEvents: @escaping ([SFTPEvent]) -> Void
    ) -> any SFTPOperations {
        let made = SimulatedSFTP(network, loop, onEvents)
        sftp = made
        return made
    }

    /// The process is gone. What it has sent still arrives before its servers see that.
    func hangUp() {
        _ = network.world.schedule(after: .milliseconds(50), on: network.thread) { [self] in
            http?.hangUp()
            ftp?.hangUp()
            sftp?.hangUp()
        }
    }
}
