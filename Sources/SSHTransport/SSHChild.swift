import Glibc
import LinuxSystem

/// One `ssh` process: its pipes, its complaints, its end. On the transport's loop. It keeps itself until the child is reaped.
final class SSHChild {
    /// Bytes that its pipes hold at most.
    static let pipeCapacity: Int32 = 1 << 20

    /// The writing end of the child's standard input.
    let input: OwnedDescriptor
    let output: OwnedDescriptor
    /// The child has ended and was reaped; told once. What it left in the pipes can still be read.
    var onExit: (ChildExit) -> Void = { _ in }
    private(set) var exit: ChildExit?
    /// Its own words, and its standard error.
    private let log: LineListener?
    private let complaints: LineListener
    private let process: ChildProcess
    private let loop: EventLoop
    private let clock: any TransportClock
    private var killTimer: LoopTimer?
    private var askPass: AskPass?
    private let logPipe: NamedPipe?

    /// - Parameter log: `nil`: there is no place for it, and ssh writes to its standard error.
    init(
        _ target: SSHTarget, _ settings: SSHSettings, _ askPass: AskPass?, log: NamedPipe?, loop: EventLoop,
        clock: any TransportClock
    ) throws(Errno) {
        let input = try System.pipe(nonBlocking: false)
        let output = try System.pipe(nonBlocking: false)
        let complaints = try System.pipe(nonBlocking: false)
        // Only our ends: the child may expect its own to wait.
        for ours in [input.write, output.read, complaints.read] { try System.setNonBlocking(ours.rawValue) }
        // Larger pipes mean fewer turns; the system may not allow it.
        for pipe in [input.write, output.read] { try? System.setPipeCapacity(pipe.rawValue, Self.pipeCapacity) }
        self.askPass = askPass
        // `problem` has refused an empty command.
        var program = ChildProgram(
            String(decoding: target.command[0], as: UTF8.self), arguments: target.arguments(log: log?.path),
            environment: settings.environment + target.environment + (askPass?.environment ?? []))
        program.standardInput = input.read.rawValue
        program.standardOutput = output.write.rawValue
        program.standardError = complaints.write.rawValue
        process = try ChildProcess(program)
        (self.input, self.output) = (input.write, output.read)
        logPipe = log
        self.log = log.map { LineListener($0.descriptor, loop) }
        self.complaints = LineListener(complaints.read, loop)
        self.loop = loop
        self.clock = clock
        do {
            // The closure keeps this object until the child has ended.
            try process.onExit(on: loop) { [self] exit in reaped(exit) }
        } catch {
            // Nobody else would wait for it, and SIGKILL does not take long.
            try? process.signal(SIGKILL)
            _ = try? process.wait()
            throw error
        }
        self.log?.begin()
        self.complaints.begin()
    }

    var words: SSHWords { SSHWords(log: log?.records ?? SSHRecords([]), others: complaints.records) }

    /// It is in: no question is to come.
    func isIn() {
        askPass = nil
        logPipe?.loseName()
    }

    /// Nothing more is sent to it: ssh ends by itself when its server has answered. After `patience` it is made to.
    func close(patience: Duration) {
        input.close()
        if exit != nil || killTimer != nil { return }
        killTimer = clock.schedule(after: patience) { [self] in
            killTimer = nil
            end()
        }
    }

    /// Ends it and what it started; politely at first, for it may have a control socket to remove.
    func end() {
        input.close()
        if exit != nil { return }
        try? process.signal(SIGTERM)
        if let killTimer { clock.cancel(killTimer) }
        killTimer = clock.schedule(after: .seconds(2)) { [self] in
            killTimer = nil
            kill()
        }
    }

    /// Ends it at once, with all of its session. Until it is reaped its number is nobody else's.
    func kill() {
        input.close()
        if exit == nil { try? System.kill(-process.processID, signal: SIGKILL) }
    }

    private func reaped(_ exit: ChildExit) {
        self.exit = exit
        askPass = nil
        if let killTimer { clock.cancel(killTimer) }
        killTimer = nil
        // A process that it left behind may hold these pipes for hours: nobody waits for its end.
        log?.end()
        complaints.end()
        logPipe?.loseName()
        let tell = onExit
        onExit = { _ in }
        tell(exit)
    }
}

/// The lines that come from a pipe, the last of many. On a loop.
private final class LineListener {
    private let pipe: OwnedDescriptor
    private let loop: EventLoop
    private var registration: Registration?
    private var bytes: [UInt8] = []
    /// The first line that repeats a peer, among those that are no longer kept.
    private var repeating: String?

    init(_ pipe: OwnedDescriptor, _ loop: EventLoop) { (self.pipe, self.loop) = (pipe, loop) }

    func begin() { registration = try? loop.register(pipe.rawValue, .read) { [weak self] _ in self?.listen() } }

    /// Takes what is there by now, and nothing that comes later.
    func end() {
        listen()
        stop()
        pipe.close()
    }

    var records: SSHRecords { SSHRecords(Self.lines(bytes[...]), after: repeating) }

    private static func isEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func lines(_ bytes: ArraySlice<UInt8>) -> [String] {
        bytes.split(whereSeparator: isEnd).map { SFTPAnswer.harmless($0) }.filter { !$0.allSatisfy { $0 == " " } }
    }

    /// Forgets older lines, whole ones if it can.
    private func forget() {
        let least = bytes.count - 8 * 1024
        let count = bytes[least...].firstIndex(where: Self.isEnd) ?? least
        repeating = SSHRecords(Self.lines(bytes[..<count]), after: repeating).repeating
        bytes.removeFirst(count)
    }

    private func stop() {
        if let registration { loop.cancel(registration) }
        registration = nil
    }

    private func listen() {
        var chunk = [UInt8](repeating: 0, count: 4096)
        TurnBudget.spend {
            if pipe.rawValue < 0 { return false }
            let read = chunk.withUnsafeMutableBytes { buffer in
                Result { () throws(Errno) in try System.read(pipe.rawValue, buffer) }
            }
            if case .failure(.wouldBlock) = read { return false }
            let count = (try? read.get()) ?? 0
            if count == 0 {
                stop()
                return false
            }
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > 16 * 1024 { forget() }
            return true
        }
    }
}
