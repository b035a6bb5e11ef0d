import CurlTransport
import Glibc
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
    private(set) var queue: TransferQueue?
    private(set) var engine: TransferEngine?
    private var transports: SimulatedTransports?
    var isRunning = false

    /// - Parameter folder: of its state; made when it is missing.
    init(number: Int, folder: String, _ network: Network, seed: UInt64, in world: World) {
        life = ProgramLife(number: number)
        self.folder = folder
        self.world = world
        self.network = network
        platform = SimulatedPlatform(life, in: world, seed: seed)
    }

    func start() {
        do {
            let queue = try TransferQueue.open(
                directory: RawPath(folder), version: "simulated",
                clock: { [world] in Timestamp(milliseconds: world.wallMilliseconds) }, platform: platform)
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
                do { try await engine.start() } catch { world.fault("the engine does not start: \(error)") }
                isRunning = true
                world.tell("engine", "runs")
            }
        } catch {
            world.fault("the engine does not open its queue: \(error)")
        }
    }

    /// `kill -9`, and its state as the next life finds it.
    func kill(copyingTo next: String) {
        life.kill()
        transports?.hangUp()
        try? System.mkdirs(Array(next.utf8))
        guard let listing = opendir(folder) else { return world.fault("the state folder \(folder) is gone") }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { Self.copy("\(folder)/\(name)", "\(next)/\(name)") }
        }
    }

    private static func copy(_ from: String, _ to: String) {
        guard let source = fopen(from, "r"), let target = fopen(to, "w") else { return }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, source), count > 0 { fwrite(buffer, 1, count, target) }
        fclose(source)
        fclose(target)
        chmod(to, 0o600)
    }
}

/// The model servers behind the engine's transports.
final class SimulatedTransports: TransportMaker, @unchecked Sendable {
    private let network: Network
    private let loop: SimulatedThread
    private var http: SimulatedHTTP?
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
        throw .notSupported
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
            sftp?.hangUp()
        }
    }
}
