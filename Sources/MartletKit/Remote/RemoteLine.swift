import Glibc
import LinuxSystem
import ServiceWire
import TransferModel

/// One ssh to another machine's engine: its start, what it says before the engine does, its end. Confined to the connection's loop; keeps
/// itself until the child is reaped.
///
/// The first one runs before there is a screen and may ask on the terminal; its complaints are passed on to standard error until it is in.
/// After that, and in all later ones, everything that ssh says is kept here: nothing ever reaches the terminal that shows the screen.
final class RemoteLine {
    /// The socket to the engine, once `ready` has answered with success.
    let socket: OwnedDescriptor
    private let remote: RemoteEngine
    private let asks: Bool
    private let loop: EventLoop
    private let process: ChildProcess
    private let errors: OwnedDescriptor
    private var socketRegistration: Registration?
    private var errorsRegistration: Registration?
    private var timer: LoopTimer?
    private var finish: ((Result<Void, RequestError>) -> Void)?
    private var isIn = false
    private var hasEnded = false
    /// The lines before the greeting, and how many bytes they have had.
    private var said = LineFramer(limit: mostBeforeGreeting)
    private var saidBytes = 0
    /// A start-up file's text is shorter.
    private static let mostBeforeGreeting = 1 << 20
    /// The beginning of a line of its standard error.
    private var complaint: [UInt8] = []
    /// The last lines of its standard error, harmless.
    private(set) var complaints: [String] = []

    init(_ remote: RemoteEngine, launching: Bool, asks: Bool, on loop: EventLoop) throws(RequestError) {
        self.remote = remote
        self.asks = asks
        self.loop = loop
        do throws(Errno) {
            let (ours, theirs) = try System.socketPair()
            let errors = try System.pipe()
            for descriptor in [ours, errors.read] { try System.setNonBlocking(descriptor.rawValue) }
            // ssh is the person's: it has what their shell gave us.
            var program = ChildProgram(
                String(decoding: remote.sshCommand[0], as: UTF8.self),
                arguments: remote.arguments(launching: launching, asks: asks), environment: System.environmentEntries)
            program.standardInput = theirs.rawValue
            program.standardOutput = theirs.rawValue
            program.standardError = errors.write.rawValue
            // In a session of its own it has no terminal to ask on, or to be stopped by.
            program.startsSession = !asks
            process = try ChildProcess(program)
            (socket, self.errors) = (ours, errors.read)
            do throws(Errno) {
                try process.onExit(on: loop) { [self] exit in ended(exit) }
            } catch {
                // Nobody else would wait for it, and SIGKILL does not take long.
                try? process.signal(SIGKILL)
                _ = try? process.wait()
                throw error
            }
            errorsRegistration = try loop.register(self.errors.rawValue, .read) { [weak self] _ in self?.listen() }
            socketRegistration = try loop.register(socket.rawValue, .read) { [weak self] _ in self?.read() }
        } catch {
            throw RemoteLineEnd.notStarted(error, remote.sshCommand[0])
        }
    }

    /// Waits until the relay there is ready. A person may take as long as they want for a password.
    func ready(isolation: isolated EngineConnection = #isolation) async -> Result<Void, RequestError> {
        await withCheckedContinuation { continuation in
            finish = { continuation.resume(returning: $0) }
            if asks { return }
            timer = loop.schedule(after: .seconds(60)) { [self] in
                answer(.failure(RemoteLineEnd.tookTooLong(remote)))
                end()
            }
        }
    }

    /// The last line that ssh wrote on standard error.
    var lastComplaint: String? {
        listen()
        return complaints.last
    }

    /// Ends ssh, politely at first: it may have a control socket to remove.
    func end() {
        guard !hasEnded else { return }
        try? process.signal(SIGTERM)
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(after: .seconds(2)) { [self] in
            timer = nil
            try? process.signal(SIGKILL)
        }
    }

    private func answer(_ result: Result<Void, RequestError>) {
        if let socketRegistration { loop.cancel(socketRegistration) }
        socketRegistration = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        if case .success = result { isIn = true }
        let finish = finish
        self.finish = nil
        finish?(result)
    }

    /// Reads the text before the engine speaks: the engine says nothing unasked, so all of it is the relay's, or a shell's.
    private func read() {
        // As large as a turn may take all that a socket holds.
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        TurnBudget.spend {
            if socketRegistration == nil { return false }
            let count = chunk.withUnsafeMutableBytes { bytes in
                Result { () throws(Errno) in try System.receive(socket.rawValue, into: bytes) }
            }
            guard case .success(let count?) = count else { return false }
            guard count > 0 else {
                // Why it ended its exit will tell.
                if let socketRegistration { loop.cancel(socketRegistration) }
                socketRegistration = nil
                return false
            }
            take(said: chunk[..<count])
            return true
        }
    }

    private func take(said bytes: ArraySlice<UInt8>) {
        saidBytes += bytes.count
        guard saidBytes <= Self.mostBeforeGreeting, let lines = try? said.append(bytes) else {
            answer(.failure(RemoteLineEnd.talksTooMuch(remote)))
            return end()
        }
        switch lines.lazy.compactMap({ RelayGreeting($0[...]) }).first {
        case .ready?: answer(.success(()))
        case .failed(let error)?: answer(.failure(error))
        case nil: break
        }
    }

    private func listen() {
        var chunk = [UInt8](repeating: 0, count: 4096)
        TurnBudget.spend {
            if errors.rawValue < 0 { return false }
            let count = chunk.withUnsafeMutableBytes { bytes in
                Result { () throws(Errno) in try System.read(errors.rawValue, bytes) }
            }
            guard case .success(let count) = count, count > 0 else {
                if case .failure(.wouldBlock) = count { return false }
                if let errorsRegistration { loop.cancel(errorsRegistration) }
                errorsRegistration = nil
                return false
            }
            for byte in chunk[..<count] {
                if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                    takeComplaint()
                } else {
                    complaint.append(byte)
                }
                if complaint.count > 4096 { takeComplaint() }
            }
            return true
        }
    }

    private func takeComplaint() {
        guard !complaint.isEmpty else { return }
        let line = RawPath(complaint).displayed
        complaint = []
        complaints = complaints.suffix(19) + [line]
        if asks, !isIn { Array("\(line)\n".utf8).withUnsafeBytes { _ = try? System.write(2, $0) } }
    }

    private func ended(_ exit: ChildExit) {
        hasEnded = true
        listen()
        takeComplaint()
        read()
        if let errorsRegistration { loop.cancel(errorsRegistration) }
        errorsRegistration = nil
        // A process that it left behind may hold this pipe for hours.
        errors.close()
        answer(.failure(RemoteLineEnd.error(exit, complaints, remote, asked: asks)))
    }
}
