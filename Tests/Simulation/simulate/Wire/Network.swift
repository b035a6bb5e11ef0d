import LinuxSystem
import TransferModel

/// The lines to all model servers: when a message arrives, and which line breaks.
final class Network {
    let world: World
    var weather: Weather
    /// Where servers work.
    let thread: SimulatedThread
    private(set) var sftp: [String: SFTPServer] = [:]
    private(set) var ftp: [String: FTPServer] = [:]
    private(set) var http: [String: any HTTPServer] = [:]
    private var numbers: [String: Int] = [:]
    /// Looks at each message that brings bytes or names of a task's file to its server.
    var sends: ((_ task: TaskID?, _ path: String?, _ what: String) -> Void)?

    /// Called when a message goes out: interesting moments are those in which something is under way.
    var isBusy: (() -> Void)?

    init(seed: UInt64, in world: World) {
        self.world = world
        weather = Weather(seed: seed ^ 0x3E57)
        thread = SimulatedThread("network", in: world)
    }

    var disks: [ServerDisk] {
        (sftp.values.map(\.disk) + ftp.values.map(\.disk) + http.values.map(\.disk)).sorted { $0.host < $1.host }
    }

    func add(_ server: SFTPServer) {
        sftp[server.disk.host] = server
        numbers[server.disk.host] = numbers.count + 1
    }

    func add(_ server: FTPServer) { ftp[server.disk.host] = server }
    /// - Parameter host: of its address.
    func add(_ server: any HTTPServer) { http[server.disk.host] = server }

    var servers: [any HTTPServer] { http.values.sorted { $0.disk.host < $1.disk.host } }

    /// What uploads have left at all servers.
    var unfinished: [Unfinished] {
        (sftp.values.map(\.disk) + ftp.values.map(\.disk)).sorted { $0.host < $1.host }.flatMap(\.temporaries)
            + servers.flatMap(\.unfinished)
    }

    /// Disks of servers that give files to whoever knows their addresses.
    var readable: [ServerDisk] {
        disks.filter { sftp[$0.host] != nil || ftp[$0.host] != nil || http[$0.host] is PutServer }
    }

    /// Of addresses at a server.
    func scheme(of host: String) -> String { sftp[host] != nil ? "sftp" : ftp[host] != nil ? "ftp" : "http" }

    func number(of host: String) -> Int { numbers[host] ?? 0 }

    /// Has `work` done at the servers when a message arrives that is sent now.
    /// - Parameter last: when the message before it on the same line arrives; moved on.
    func carry(after last: inout MonotonicInstant, _ work: @escaping () -> Void) {
        isBusy?()
        last = max(last, world.now.advanced(by: weather.delay()))
        _ = world.schedule(after: world.now.duration(to: last), on: thread, work)
    }

    /// The servers whose machines lose their power now and then.
    func powerCut() {
        let hosts = (Array(sftp.keys) + http.keys).sorted()
        guard !weather.isCalm, let host = hosts.randomElement(using: &weather.chance) else { return }
        world.tell(host, "loses its power")
        sftp[host]?.crash()
        http[host]?.crash()
    }
}
