package import CommandLine
import Configuration
import Glibc
import LinuxSystem
import MartletKit

extension Front {
    func engineStatus(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await engineToLookAt(invocation, isAboutEngine: true) else { return .done }
        return try await tellStatus(invocation)
    }

    func startEngine(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let wasStopping = try await ask { engine throws(RequestError) in try await engine.startEngine() }
        if wasStopping { console.note("the engine was about to stop; it goes on") }
        return try await tellStatus(invocation)
    }

    private func tellStatus(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard let status = try await ask({ engine throws(RequestError) in try await engine.status() }) else {
            throw CommandFailure(.unavailable, .engineUnreachable, "the engine went away", "try again")
        }
        guard !invocation.has(CommonOptions.json) else {
            console.json(status)
            return .done
        }
        let units = console.units
        for (title, text) in [
            (
                "Engine",
                "pid \(status.pid), version \(status.version), up \(shownDuration(seconds: status.uptime))\(stopping(status))"
            ),
            ("Queue", status.queuePath), ("Socket", status.socket), ("Protocol", status.protocolVersion),
            (
                "Work",
                "\(amount(status.batches, "batch", "batches")) in \(amount(status.sessions, "session", "sessions"))"
            ),
            ("Tasks", "\(status.tasksActive) active, \(status.tasksWaiting) waiting"),
            ("Speed", "up \(units.rate(status.bytesPerSecondUp)), down \(units.rate(status.bytesPerSecondDown))"),
            ("Memory", units.size(status.residentBytes)),
        ] {
            console.line(title + String(repeating: " ", count: 10 - title.count) + text)
        }
        return .done
    }

    private func stopping(_ status: EngineStatus) -> String {
        status.stopping ? ", stops when \(running(status.tasksActive)) finished" : ""
    }

    private func amount(_ number: Int64, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }

    private func running(_ files: Int64) -> String {
        files == 1 ? "1 running file is" : "\(files) running files are"
    }

    func stopEngine(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let now = invocation.has(MartletProgram.now)
        let json = invocation.has(CommonOptions.json)
        endWith130OnInterrupt()
        let telling = now ? nil : tellWhatIsFinished()
        defer { telling?.cancel() }
        // Whether one is there has to be known in time; how long its end takes has not.
        let isRunning = try await ask { engine throws(RequestError) in try await engine.isEngineRunning() }
        let outcome: EngineStop =
            isRunning
            ? try await ask(takesItsTime: true) { engine throws(RequestError) in
                try await engine.stopEngine(now ? .now : .finishingUnresumable)
            } : .notRunning
        switch outcome {
        case .takenBack:
            throw CommandFailure(
                .refused, .refused,
                "the engine goes on: meanwhile something was queued, resumed or tried again, or it was started",
                "stop it again, or martlet pause --all")
        case .stopped where !json:
            console.line("the engine has stopped; what is queued goes on when martlet is next used")
        case .notRunning where !json: console.note("no engine is running")
        case .stopped, .notRunning: console.json(NotRunning())
        }
        return .done
    }

    /// Says once what the engine finishes before it ends: what could go on later is broken off when it is told to stop.
    private func tellWhatIsFinished() -> Task<Void, Never> {
        let pause = surroundings.stopPause
        return Task { [console, engine] in
            guard (try? await Task.sleep(for: pause)) != nil,
                let active = try? await engine.status()?.tasksActive, active > 0, !Task.isCancelled
            else { return }
            let files =
                (try? await engine.someTasks(NodeSelector(states: [.running, .finishing]), most: 3))?.map(\.path) ?? []
            let named = files.isEmpty ? "" : " (\(files.joined(separator: ", "))\(active > 3 ? ", ..." : ""))"
            console.note(
                "\(running(active)) finished first, which cannot go on later where \(active == 1 ? "it stands" : "they stand")\(named): "
                    + "martlet engine stop --now ends the engine at once and has \(active == 1 ? "it" : "them") sent again; martlet "
                    + "engine start takes the stop back; Ctrl-C leaves it to stop by itself".harmless)
        }
    }

    /// Becomes `martlet-receive`, which stands beside `martlet`, or in PATH.
    static func receive(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitStatus {
        console.flush()
        let name = "martlet-receive"
        let own = try? System.realpath(Array("/proc/self/exe".utf8))
        let folder = own.map { $0.prefix(through: $0.lastIndex(of: UInt8(ascii: "/")) ?? 0) }
        let words = [Array(name.utf8)] + invocation.words.map(\.bytes)
        var arguments = words.map { word in strdup(word.map { CChar(bitPattern: $0) } + [0]) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        if let folder { _ = try? withCPath(folder + Array(name.utf8)) { execv($0, arguments) } }
        execvp(name, arguments)
        throw CommandFailure(
            .unavailable, .engineUnreachable, "\(name) cannot be started (\(Errno.current))",
            "install it beside martlet, or put it into PATH")
    }

    /// Generated files, for `make docs`.
    static func documents(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitStatus {
        guard let path = invocation.operands.first?.text else {
            Documents.all.forEach { console.line($0.path) }
            return .done
        }
        guard let file = Documents.all.first(where: { $0.path == path }) else {
            throw CommandFailure(.noSuchObject, .noSuchObject, "docs: there is no \(path)", "see martlet docs")
        }
        console.text(file.text)
        return .done
    }
}

/// Every file of Resources that is made from a table in the code.
package enum Documents {
    package static var all: [GeneratedFile] {
        [MartletProgram.program, EngineProgram.program, ReceiveProgram.program].flatMap(GeneratedFile.all)
            + [GeneratedFile(path: "examples/martlet.conf", text: Settings.example)]
    }
}
