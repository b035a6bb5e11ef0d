package import CommandLine
package import Configuration
import LinuxSystem
import MartletKit

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
    /// Asks the person for a password; `nil` when there is nobody to ask. Throws when the person was asked and gave no usable answer.
    package var askPassword: @Sendable (String) throws(CommandFailure) -> String?
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
        askPassword: @escaping @Sendable (String) throws(CommandFailure) -> String? = { _ in nil }
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
        let mask = System.umask(0o077)
        System.umask(mask)
        var surroundings = Surroundings(
            currentDirectory: directory, environment: ClientEnvironment.ofThisProcess, umask: mask,
            now: { WallClock.milliseconds },
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

/// Reads standard input line by line, on a thread of its own.
private final class Typist: Sendable {
    private let worker = try? BlockingWorker(name: "typist")

    func line() async -> String? { await worker?.run { Swift.readLine() } ?? nil }
}
