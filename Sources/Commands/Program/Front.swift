package import CommandLine
package import Configuration
import FoundationEssentials
import Glibc
import LinuxSystem
import MartletKit

/// One run of `martlet` with a command: asks the engine, prints, and says how it ended.
package struct Front: Sendable {
    let engine: any Engine
    let console: Console
    let surroundings: Surroundings

    package init(engine: any Engine, console: Console, surroundings: Surroundings) {
        self.engine = engine
        self.console = console
        self.surroundings = surroundings
    }

    /// Does what the command line says. Never throws: a failure is told and becomes the status.
    package func run(_ invocation: Invocation) async -> ExitStatus {
        defer { console.flush() }
        do throws(CommandFailure) {
            return try await dispatch(invocation)
        } catch {
            console.tell(error, json: invocation.has(CommonOptions.json))
            return error.status
        }
    }

    private func dispatch(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        switch invocation.path.joined(separator: " ") {
        case "upload": try await upload(invocation)
        case "again": try await again(invocation)
        case "download": try await download(invocation)
        case "list": try await list(invocation)
        case "show": try await show(invocation)
        case "why": try await why(invocation)
        case "pause": try await change(invocation, .pause)
        case "resume": try await change(invocation, .resume)
        case "cancel": try await change(invocation, .cancel)
        case "retry": try await change(invocation, .retry)
        case "undo": try await undo(invocation)
        case "move": try await move(invocation)
        case "set": try await set(invocation)
        case "run-now": try await runNow(invocation)
        case "limit": try await limit(invocation)
        case "session set": try await setSession(invocation)
        case "wait": try await wait(invocation)
        case "watch": try await watch(invocation)
        case "events": try await events(invocation)
        case "purge": try await purge(invocation)
        case "log": try await log(invocation)
        case "engine status": try await engineStatus(invocation)
        case "engine start": try await startEngine(invocation)
        case "engine stop": try await stopEngine(invocation)
        case "verify": try await verify(invocation)
        case "leftovers", "leftovers list": try await listLeftovers(invocation)
        case "leftovers abort": try await abortLeftovers(invocation)
        case "session list": try await listSessions(invocation)
        case "session show": try await showSession(invocation)
        case "session remove": try await removeSession(invocation)
        case "": try await talk()
        case "destination list": try listDestinations(invocation)
        case "destination add": try await addDestination(invocation)
        case "destination test": try await testDestination(invocation)
        case "destination remove": try await removeDestinations(invocation)
        case "destination restore": try await restoreDestination(invocation)
        case let name: throw .usage("\(name) does nothing", "see martlet --help")
        }
    }

    /// Commands that ask no engine; `nil` for the others.
    static func runWithoutEngine(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> ExitStatus? {
        switch invocation.path {
        case ["receive"]: try receive(invocation, console)
        case ["docs"]: try documents(invocation, console)
        default: nil
        }
    }

    /// Asks the engine; its refusals become failures of the command. Of a silence it says that it waits, and for whom.
    /// - Parameter takesItsTime: the answer may rightly stay away: what follows events, or waits for an end.
    func ask<Answer>(
        takesItsTime: Bool = false, _ question: (any Engine) async throws(RequestError) -> Answer
    ) async throws(CommandFailure) -> Answer {
        let watch = takesItsTime ? nil : noteOfSilence()
        defer { watch?.cancel() }
        let limit =
            takesItsTime ? AnswerLimit.current : min(surroundings.answerLimit, AnswerLimit.current ?? .seconds(3600))
        let result: Result<Answer, RequestError> = await AnswerLimit.$current.withValue(limit) {
            do throws(RequestError) { return .success(try await question(engine)) } catch { return .failure(error) }
        }
        do { return try result.get() } catch { throw CommandFailure(error) }
    }

    private func noteOfSilence() -> Task<Void, Never> {
        let patience = surroundings.patience
        return Task { [console] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            console.note(
                "the engine has not answered for \(patience.components.seconds) s; it is waited for a little longer, Ctrl-C ends it"
                    + " (is it stopped? kill -CONT lets it go on)")
        }
    }

    /// For commands that only look: whether there is an engine to ask. Where there is none it says so, as the command
    /// contract wants it.
    func engineToLookAt(
        _ invocation: Invocation, isAboutEngine: Bool = false
    ) async throws(CommandFailure) -> Bool {
        if try await ask({ engine throws(RequestError) in try await engine.isEngineRunning() }) { return true }
        if invocation.has(CommonOptions.json) {
            console.json(NotRunning())
        } else {
            console.note(
                surroundings.queueExists || isAboutEngine ? "no engine is running" : "nothing is queued")
        }
        return false
    }

    /// `{"running":false}`
    struct NotRunning: Encodable {
        let running = false
    }
}

/// The process as a command sees it, so that a test can decide it.
package struct Surroundings: Sendable {
    /// Absolute.
    package var currentDirectory: [UInt8]
    package var environment: [String: String]
    /// Permission bits that new files of a download do not get.
    package var umask: UInt32
    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64
    package var calendar: WallCalendar
    /// True when a queue was ever made here.
    package var queueExists: Bool
    /// Asks the person for a password; `nil` when there is nobody to ask.
    package var askPassword: @Sendable (String) -> String?
    /// The next line that is typed; `nil` at the end. For the line mode.
    package var readLine: @Sendable () async -> String? = { nil }
    /// A pause that has so many bytes or more sent again is asked about in the line mode.
    package var askLost = ScreenConfiguration().askLost.bytes
    /// The time for which the engine may be silent before a command says so.
    package var patience: Duration = .seconds(5)
    /// The time for which an answer is waited for; then the command ends.
    package var answerLimit = AnswerLimit.ofCommands
    /// An engine that has not ended after so long finishes something: a command says what.
    package var stopPause: Duration = .milliseconds(700)
    /// The time between two looks of the line mode for news; `nil`: never.
    package var tickInterval: Duration?
    /// `destinations.conf`; `nil`: there can be none.
    package var destinationsPath: String?
    /// True when SIGINT may be given another meaning: in a process of its own, not in a test.
    package var handlesInterrupts = false

    package init(
        currentDirectory: [UInt8], environment: [String: String] = [:], umask: UInt32 = 0o022,
        now: @escaping @Sendable () -> Int64, calendar: WallCalendar = .ofThisMachine, queueExists: Bool = true,
        askPassword: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.currentDirectory = currentDirectory
        self.environment = environment
        self.umask = umask
        self.now = now
        self.calendar = calendar
        self.queueExists = queueExists
        self.askPassword = askPassword
    }

    /// The servers that are configured now.
    func destinationsFile() -> DestinationsFile {
        DestinationsFile(bytes: destinationsPath.flatMap { SmallFile.contents($0) } ?? [])
    }

    /// Those of this process.
    package static func ofThisProcess(
        queueExists: Bool, destinationsPath: String?
    ) throws(CommandFailure) -> Surroundings {
        let directory: [UInt8]
        do { directory = try System.getcwd() } catch {
            throw CommandFailure(.refused, .refused, "the current directory is gone (\(error))", "cd to another one")
        }
        let names =
            ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"]
            + ["MARTLET_SSH_COMMAND", "HOME"] + S3Surroundings.variables
        var environment: [String: String] = [:]
        for name in names {
            environment[name] = System.environment(name).flatMap { String(validating: $0, as: UTF8.self) }
        }
        let mask = System.umask(0o077)
        System.umask(mask)
        var surroundings = Surroundings(
            currentDirectory: directory, environment: environment, umask: mask, now: { WallClock.milliseconds },
            queueExists: queueExists, askPassword: PasswordPrompt.ask)
        surroundings.destinationsPath = destinationsPath
        surroundings.handlesInterrupts = true
        surroundings.tickInterval = .seconds(5)
        // One thread that waits for the keyboard; made when somebody asks for a line.
        let typist = Typist()
        surroundings.readLine = { await typist.line() }
        return surroundings
    }
}

extension CommandFailure {
    /// An error of the engine or the connection to it.
    init(_ error: RequestError) {
        let status: ExitStatus =
            switch error.code {
            case .usage: .usage
            case .noSuchObject: .noSuchObject
            case .refused, .internal: .refused
            case .engineUnreachable, .queueLocked, .queueNewer, .queueCorrupt: .unavailable
            case .timedOutWaiting: .timedOut
            case .needsPerson: .needsPerson
            }
        self.init(status, FailureCode(rawValue: error.code.rawValue), error.message, "")
    }

    /// The same, with the command that was refused.
    init(_ error: RequestError, command: String) {
        self.init(error)
        what = "\(command): \(what)"
    }
}

extension Console {
    private struct ErrorObject: Encodable {
        struct Details: Encodable {
            let code: String
            let message: String
        }
        let error: Details
    }

    /// Tells of a failure: on standard error, with `--json` as an object on standard output too.
    package func tell(_ failure: CommandFailure, json: Bool) {
        if json { self.json(ErrorObject(error: .init(code: failure.code.rawValue, message: failure.message))) }
        note(failure.line(program: "martlet"))
    }
}

/// Reads standard input line by line, on a thread of its own.
private final class Typist: Sendable {
    private let worker = try? BlockingWorker(name: "typist")

    func line() async -> String? { await worker?.run { Swift.readLine() } ?? nil }
}
