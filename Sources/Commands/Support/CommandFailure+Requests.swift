package import CommandLine
import MartletKit

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

    /// The fault of a request that cannot be meant, as a wrong command line.
    init(_ fault: QueueingFault, command: String) {
        let status: ExitStatus = fault.code == .noSuchObject ? .noSuchObject : .usage
        self.init(status, FailureCode(rawValue: fault.code.rawValue), "\(command): \(fault.what)", fault.remedy)
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
