import Glibc
import LinuxSystem
import ServiceWire
import TransferModel

/// Starts `martletd` in a session of its own and waits until it says `ready` on its standard output, or ends.
enum EngineLauncher {
    enum Outcome: Sendable {
        case ready
        /// Another engine holds the queue; its message.
        case queueLocked(String)
    }

    /// The time that a start may take. Usually some 50 ms; longer only when a big queue was killed in the middle.
    private static let patience = Duration.seconds(10)

    /// On the loop, by the connection.
    static func launch(
        _ places: Places, on loop: EventLoop, isolation: isolated EngineConnection = #isolation
    ) async throws(RequestError) -> Outcome {
        let program = program(of: places)
        let result: Result<Outcome, RequestError> = await withCheckedContinuation { continuation in
            let start = EngineStart(program: program.executable, loop: loop) { continuation.resume(returning: $0) }
            start.run(program, patience: patience)
        }
        return try result.get()
    }

    /// The engine's environment is decided, not inherited: who and where the user is, where the queue is, and the ssh agent.
    private static func program(of places: Places) -> ChildProgram {
        var environment: [[UInt8]] = []
        for name in [
            "HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            if let value = System.environment(name) { environment.append(Array("\(name)=".utf8) + value) }
        }
        #if DEBUG
            // Names a step after which a test wants the engine to be killed; lets a test look at it.
            for name in ["MARTLET_FAULT", "MARTLET_DUMPABLE"] {
                if let value = System.environment(name) { environment.append(Array("\(name)=".utf8) + value) }
            }
        #endif
        for (name, value) in places.environment { environment.append(Array("\(name)=\(value)".utf8)) }
        return ChildProgram(executable(of: places), environment: environment)
    }

    /// The program that `MARTLET_ENGINE` names, else `martletd` beside this program, else the one in `PATH`.
    private static func executable(of places: Places) -> String {
        if let named = places.engineOverride { return named }
        if let own = try? System.realpath(Array("/proc/self/exe".utf8)) {
            let sibling = places.engineProgram(beside: String(decoding: own, as: UTF8.self))
            if access(sibling, X_OK) == 0 { return sibling }
        }
        return "martletd"
    }
}

/// One start of an engine that goes on. Confined to the loop; kept alive by its registrations there, the last of
/// which is the engine's exit, so that no zombie stays.
private final class EngineStart {
    private let program: String
    private let loop: EventLoop
    /// Called once; `nil` afterwards.
    private var finish: ((Result<EngineLauncher.Outcome, RequestError>) -> Void)?
    private var output: OwnedDescriptor?
    private var registration: Registration?
    private var timer: LoopTimer?
    /// The engine's output so far, bounded.
    private var said: [UInt8] = []

    init(
        program: String, loop: EventLoop, finish: @escaping (Result<EngineLauncher.Outcome, RequestError>) -> Void
    ) {
        self.program = program
        self.loop = loop
        self.finish = finish
    }

    func run(_ child: ChildProgram, patience: Duration) {
        var child = child
        do {
            let (output, childsEnd) = try System.pipe()
            try System.setNonBlocking(output.rawValue)
            self.output = output
            child.standardOutput = childsEnd.rawValue
            child.standardError = childsEnd.rawValue
            let process = try ChildProcess(child)
            childsEnd.close()
            registration = try loop.register(output.rawValue, .read) { _ in self.read() }
            try process.onExit(on: loop) { self.ended($0) }
            timer = loop.schedule(after: patience) { self.gaveUp(patience) }
        } catch {
            end(.failure(RequestError(.engineUnreachable, "the engine \(program) cannot be started: \(error)")))
        }
    }

    private func read() {
        guard let output else { return }
        var chunk = [UInt8](repeating: 0, count: 4096)
        while let count = try? chunk.withUnsafeMutableBytes({ bytes throws(Errno) in
            try System.read(output.rawValue, bytes)
        }), count > 0 {
            if said.count < 64 << 10 { said += chunk[..<count] }
        }
        if lines.contains(where: { $0.hasPrefix("ready ") }) { end(.success(.ready)) }
    }

    private var lines: [String] {
        said.split(separator: UInt8(ascii: "\n")).map { RawPath(Array($0)).displayed }
    }

    private func ended(_ status: ChildExit) {
        read()
        // Standard output says `failed CODE` for us, standard error `martletd: MESSAGE` for a person.
        let code = lines.first { $0.hasPrefix("failed ") }.flatMap {
            RequestErrorCode(rawValue: String($0.dropFirst(7)))
        }
        let words = lines.last { !$0.hasPrefix("failed ") } ?? ""
        let message = words.hasPrefix("martletd: ") ? String(words.dropFirst(10)) : words
        switch code {
        case .queueLocked: end(.success(.queueLocked(message)))
        case .some(let code): end(.failure(RequestError(code, message)))
        case nil:
            let manner =
                switch status {
                case .exited(let number): "status \(number)"
                case .signalled(let number): "signal \(number)"
                }
            let how = message.isEmpty ? "it ended with \(manner) and said nothing" : message
            end(.failure(RequestError(.engineUnreachable, "the engine \(program) did not start: \(how)")))
        }
    }

    private func gaveUp(_ patience: Duration) {
        end(
            .failure(
                RequestError(
                    .engineUnreachable,
                    """
                    the engine \(program) was started but is not ready after \(patience.components.seconds) s: \
                    see its log with \(quoted: .log), or run it in a terminal to see what it does
                    """)))
    }

    private func end(_ result: Result<EngineLauncher.Outcome, RequestError>) {
        if let registration { loop.cancel(registration) }
        registration = nil
        output = nil
        if let timer { loop.cancel(timer) }
        timer = nil
        let finish = finish
        self.finish = nil
        finish?(result)
    }
}
