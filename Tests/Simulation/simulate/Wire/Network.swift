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
    /// How often each server's machine has lost its power: all its lines are gone then.
    private var powerCuts: [String: Int] = [:]
    private var paceChance: Chance
    private var paces: [String: LinePace] = [:]
    /// Looks at each message that brings bytes or names of a task's file to its server.
    var sends: ((_ task: TaskID?, _ path: String?, _ what: String) -> Void)?

    init(seed: UInt64, in world: World) {
        self.world = world
        weather = Weather(seed: seed ^ 0x3E57)
        thread = SimulatedThread("network", in: world)
        paceChance = Chance(seed: seed ^ 0xBA4D)
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
        disks.filter { disk in
            let server = http[disk.host]
            let isPlain = (server as? DavServer)?.isCloud == false || server is PutServer
            return isPlain || sftp[disk.host] != nil || ftp[disk.host] != nil
        }
    }

    /// Of addresses at a server.
    func scheme(of host: String) -> String { sftp[host] != nil ? "sftp" : ftp[host] != nil ? "ftp" : "http" }

    func number(of host: String) -> Int { numbers[host] ?? 0 }

    // MARK: Lines

    /// That of all lines to a server.
    func pace(of host: String) -> LinePace {
        if let known = paces[host] { return known }
        let pace = LinePace(&paceChance)
        world.tell("world", "the line to \(host): \(pace)")
        paces[host] = pace
        return pace
    }

    /// Has `work` done at the other end when a message arrives that is sent now.
    /// - Parameters:
    ///   - last: when the message before it on the same line arrives; moved on.
    ///   - bytes: of a body; they take the line's time.
    func carry(after last: inout MonotonicInstant, to host: String, bytes: Int = 0, _ work: @escaping () -> Void) {
        let pace = pace(of: host)
        if bytes == 0 {
            world.underWay?(UnderWay(subject: .message, time: .milliseconds(20)))
            last = max(last, world.now.advanced(by: pace.latency + weather.delay()))
        } else {
            let arrival = world.now.advanced(by: pace.latency + .microseconds(100 + weather.chance.below(5000)))
            last = max(last, arrival).advanced(by: pace.time(for: bytes))
        }
        _ = world.schedule(after: world.now.duration(to: last), on: thread, work)
    }

    /// The time until a sender may send the next piece: no more than so much lies in the buffers of a line.
    func pause(before last: MonotonicInstant, to host: String) -> Duration {
        let pause = weather.chance.duration(.microseconds(10), .milliseconds(5))
        let pace = pace(of: host)
        let queued = world.now.duration(to: last) - pace.latency - pace.time(for: LinePace.buffer)
        return max(pause, queued)
    }

    /// The way that a body of so many bytes is to go. Called when it begins; somebody may meddle while it is under way.
    func body(_ bytes: Int, _ subject: UnderWay.Subject, on host: String) -> BodyFate {
        guard bytes > 0 else { return BodyFate() }
        world.count("bodies")
        world.underWay?(UnderWay(subject: subject, time: pace(of: host).time(for: bytes)))
        var fate = BodyFate()
        if weather.strikes(oneIn: 6) {
            // At its very end now and then.
            world.count("cut bodies")
            fate.cutAt = weather.chance.oneIn(4) ? bytes : weather.chance.below(bytes)
        }
        if weather.strikes(oneIn: 8) {
            world.count("stalled bodies")
            let place = weather.chance.oneIn(4) ? bytes : weather.chance.below(bytes)
            fate.stall = (place, weather.chance.duration(.milliseconds(100), .seconds(40)))
        }
        return fate
    }

    func powerCuts(at host: String) -> Int { powerCuts[host, default: 0] }

    /// The servers whose machines lose their power now and then.
    /// - Parameter meant: the server; `nil`: any.
    func powerCut(at meant: String? = nil) {
        let hosts = (Array(sftp.keys) + http.keys).sorted()
        guard !weather.isCalm, let host = meant ?? hosts.randomElement(using: &weather.chance),
            sftp[host] != nil || http[host] != nil
        else { return }
        powerCuts[host, default: 0] += 1
        world.tell(host, "loses its power")
        sftp[host]?.crash()
        http[host]?.crash()
    }
}

/// The line to one server: how many bytes it takes in a second, and how long each is under way.
struct LinePace: CustomStringConvertible {
    /// `nil`: so many that it does not matter.
    let bytesPerSecond: Int?
    let latency: Duration

    /// A sender has so much in its own buffers and in those on the way before it must wait.
    static let buffer = 16384

    init(_ chance: inout Chance) {
        bytesPerSecond = chance.pick(weighted: [
            (3, nil), (3, 1_000_000 + chance.below(9_000_000)), (3, 100_000 + chance.below(400_000)),
            (2, 20_000 + chance.below(30_000)),
        ])
        latency = chance.pick([.zero, .zero, .milliseconds(5), .milliseconds(40), .milliseconds(250)])
    }

    func time(for bytes: Int) -> Duration {
        bytesPerSecond.map { .nanoseconds(Int64(bytes) * 1_000_000_000 / Int64($0)) } ?? .zero
    }

    /// Bytes that go out together: on a slow line fewer.
    func piece(_ most: Int) -> Int { bytesPerSecond.map { max(4096, min(most, $0 / 4)) } ?? most }

    var description: String {
        "\(bytesPerSecond.map { "\($0)" } ?? "any number of") B/s, \(latency.nanoseconds / 1_000_000) ms"
    }
}

/// The faults that a body meets on its line, by the bytes that have come before.
struct BodyFate {
    var cutAt: Int?
    var stall: (at: Int, time: Duration)?

    /// The part of a piece that still goes out, and true when the line is cut behind it.
    func cut(_ position: Int, _ count: Int) -> (count: Int, isCut: Bool) {
        guard let cutAt, cutAt <= position + count else { return (count, false) }
        return (max(0, cutAt - position), true)
    }

    /// The time for which nothing goes on at a piece; once.
    mutating func stalls(_ position: Int, _ count: Int) -> Duration {
        guard let found = stall, found.at <= position + count else { return .zero }
        stall = nil
        return found.time
    }
}
