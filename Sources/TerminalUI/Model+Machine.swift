import DisplayText
import MartletKit
import Terminal

/// What is different when the engine is another machine's, at the end of a line that may be down.
extension Model {
    /// The way to come back.
    var invocation: SafeText { machine.map { "martlet attach \($0)" } ?? "martlet" }

    /// An engine that is there and does not answer.
    var silentEngine: SafeText { machine.map { "ENGINE OF \($0) NOT ANSWERING" } ?? "ENGINE NOT ANSWERING" }

    /// What is lost, in the first line.
    func words(_ loss: Loss) -> SafeText {
        switch loss {
        case .engine: silentEngine
        case .stopped: machine.map { "ENGINE OF \($0) STOPPED" } ?? "ENGINE STOPPED"
        case .line: machine.map { "LINE TO \($0) DOWN" } ?? silentEngine
        }
    }

    var isLineDown: Bool { if case .lost(_, _, .line) = link { true } else { false } }

    /// What a key is answered that would change something.
    var cannotChange: SafeText {
        let lost: SafeText =
            switch link {
            case .lost(_, _, .line): "The line to \(machine ?? "") is down"
            case .lost(_, _, .stopped): "The engine is stopped"
            default: "The engine does not answer"
            }
        return "\(lost): nothing can be changed now."
    }

    /// Why it is lost, once for each reason; the first line counts the time.
    mutating func sayLost(_ loss: Loss) {
        if case .lost(_, _, let known) = link, known == loss { return }
        if loss == .stopped {
            let key = keys.keys(for: .startEngine, in: .lost).first.map { SafeText($0.name) } ?? "martlet engine start"
            say("The engine was stopped; what is queued is kept. \(key) starts it again.")
        } else if loss == .engine(problem: nil), machine == nil {
            startAgain()
        }
        if let problem = loss.problem { complain(look.safe(problem)) }
    }

    /// An engine that ended without being told to is started again, as a new screen would do it; not when that does not last.
    private mutating func startAgain() {
        if let last = startedAgainAt, now.uptime - last < .seconds(10) {
            let key = keys.keys(for: .startEngine, in: .lost).first.map { SafeText($0.name) } ?? "martlet engine start"
            return complain("The engine ended by accident again. \(key) starts it; martlet log says what it did last.")
        }
        startedAgainAt = now.uptime
        wasStartedAgain = true
        say("The engine ended by accident: it is started again.")
        requests.append(.startEngine)
    }

    mutating func sayFound(_ loss: Loss) {
        switch (loss, machine) {
        case (.line, let machine?): say("The line to \(machine) is up again.")
        case (.engine, nil) where wasStartedAgain:
            wasStartedAgain = false
            say("The engine had ended by accident and was started again: everything goes on where it stood.")
        default: say("The engine answers again.")
        }
    }

    /// A path means a file of the machine where the engine is, and that one cannot be looked through from here.
    mutating func refuseFiles(of machine: SafeText) {
        complain("Files of \(machine) cannot be picked from here: queue them there, with martlet upload.")
    }
}

extension Action {
    /// It is about files of the machine where the engine is.
    var needsItsFiles: Bool { self == .add || self == .download }
}

extension Loss {
    fileprivate var problem: String? {
        switch self {
        case .engine(let problem), .line(let problem): problem
        case .stopped: nil
        }
    }
}
