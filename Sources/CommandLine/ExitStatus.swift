import Configuration
import DisplayText

/// The exit status of our programs. The numbers are part of the command contract.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case done = 0
    /// With `wait` something failed or was cancelled; else something was refused.
    case refused = 1
    /// Unknown option, bad value, unsupported scheme, unreadable source.
    case usage = 2
    /// No such batch, task, session or destination.
    case noSuchObject = 3
    /// With `wait`: all that is left needs a person.
    case needsPerson = 4
    /// `martletd` only: the queue is corrupt or of a newer version.
    case badQueue = 65
    /// The engine cannot be reached or started.
    case unavailable = 69
    /// `wait --timeout` ran out; `martletd`: another engine has the queue.
    case timedOut = 75
    /// Interrupted while waiting; the queue is untouched.
    case interrupted = 130
}

/// A stable name for a command's failure, as `--json` prints it. Transfer codes are used beside these.
package struct FailureCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: String
    package init(rawValue: String) { self.rawValue = rawValue }

    package static let usage = FailureCode(rawValue: "usage")
    package static let noSuchObject = FailureCode(rawValue: "noSuchObject")
    package static let refused = FailureCode(rawValue: "refused")
    package static let engineUnreachable = FailureCode(rawValue: "engineUnreachable")
    package static let timedOutWaiting = FailureCode(rawValue: "timedOutWaiting")
    package static let needsPerson = FailureCode(rawValue: "needsPerson")
    package static let queueLocked = FailureCode(rawValue: "queueLocked")
    package static let queueNewer = FailureCode(rawValue: "queueNewer")
    package static let queueCorrupt = FailureCode(rawValue: "queueCorrupt")
    package static let sourceMissing = FailureCode(rawValue: "sourceMissing")
    package static let sourceUnreadable = FailureCode(rawValue: "sourceUnreadable")
    package static let unsupported = FailureCode(rawValue: "unsupported")
    package static let `internal` = FailureCode(rawValue: "internal")
}

/// The failure of a command, for the person and the script that asked.
package struct CommandFailure: Error, Equatable, Sendable {
    package var status: ExitStatus
    package var code: FailureCode
    /// The problem, beginning with the command's or option's name where there is one.
    package var what: String
    /// The remedy; empty when `what` says that too.
    package var remedy: String

    package init(_ status: ExitStatus, _ code: FailureCode, _ what: String, _ remedy: String) {
        self.status = status
        self.code = code
        self.what = what
        self.remedy = remedy
    }

    /// A command line that cannot be meant; status 2.
    package static func usage(_ what: String, _ remedy: String) -> CommandFailure {
        CommandFailure(.usage, .usage, what, remedy)
    }

    /// `what happened: what to do`, fit for a terminal.
    package var message: String { (remedy.isEmpty ? what : "\(what): \(remedy)").harmless }

    /// The line for standard error.
    package func line(program: String) -> String { "\(program): \(message)" }
}
