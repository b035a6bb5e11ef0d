import DisplayText
import MartletKit
import Terminal

/// The differences when the engine is another machine's, at the end of a line that may be down.
extension Model {
    /// The way to come back.
    var invocation: SafeText { machine.map { "martlet attach \($0)" } ?? "martlet" }

    /// An engine that is there and does not answer.
    var silentEngine: SafeText { machine.map { "ENGINE OF \($0) NOT ANSWERING" } ?? "ENGINE NOT ANSWERING" }

    /// The words for a loss, in the first line.
    func words(_ loss: Loss) -> SafeText {
        switch loss {
        case .engine: silentEngine
        case .stopped: machine.map { "ENGINE OF \($0) STOPPED" } ?? "ENGINE STOPPED"
        case .line: machine.map { "LINE TO \($0) DOWN" } ?? silentEngine
        }
    }

    var isLineDown: Bool { if case .lost(_, _, .line) = connection.state { true } else { false } }

    /// The answer to a key that would change something.
    var cannotChange: SafeText {
        let lost: SafeText =
            switch connection.state {
            case .lost(_, _, .line): "The line to \(machine ?? "") is down"
            case .lost(_, _, .stopped): "The engine is stopped"
            default: "The engine does not answer"
            }
        return "\(lost): nothing can be changed now."
    }

    /// The engine that is there and says nothing is asked once more.
    mutating func askIfItLives() {
        let isAsked = requests.outstanding.values.contains { if case .status = $0.purpose { true } else { false } }
        if !isAsked { ask(.status) { .status(number: $0) } }
        say("Asked again; it has not answered for \(silence?.components.seconds ?? 0) s.")
    }

    /// One that hangs still holds the queue: nobody can start beside it.
    mutating func refuseSecondEngine() {
        guard case .connected(let identity) = connection.state else { return }
        let place = machine.map { " on \($0)" } ?? ""
        complain(
            "The engine is there (process \(identity.pid)\(place)) and does not answer: \(startKey) starts another when it has ended."
        )
    }

    /// Says why the engine is lost, once for each reason; the first line counts the time.
    mutating func sayLost(_ loss: Loss) {
        if case .lost(_, _, let known) = connection.state, known == loss { return }
        if loss == .stopped {
            say("The engine was stopped; what is queued is kept. \(startKey) starts it again.")
        } else if loss == .engine(problem: nil), machine == nil {
            startAgain()
        }
        if let problem = loss.problem { complain(appearance.safe(problem)) }
    }

    /// An engine that ended without being told to is started again, as a new screen would do it; not for ever, when none lasts.
    private mutating func startAgain() {
        guard let pause = connection.restarts.lost(at: now.uptime) else {
            return complain(
                "The engine ended by accident again and again. \(startKey) starts it; martlet log says what it did last."
            )
        }
        let when: SafeText =
            pause == .zero ? "it is started again" : "it is started again in \(pause.components.seconds) s"
        say("The engine ended by accident: \(when).")
        startWhenDue()
    }

    private var startKey: SafeText {
        keys.keys(for: .startEngine, in: .lost).first.map { SafeText($0.name) } ?? "martlet engine start"
    }

    /// Makes the start whose pause is over.
    mutating func startWhenDue() {
        guard connection.restarts.takeDue(at: now.uptime) else { return }
        connection.wasStartedAgain = true
        requests.append(.startEngine)
    }

    /// A start by itself may fail for as long as what killed the engine goes on; what is wrong with the queue stays so.
    mutating func couldNotStart(_ error: RequestError) {
        guard connection.wasStartedAgain, error.code == .engineUnreachable,
            let pause = connection.restarts.lost(at: now.uptime)
        else {
            return complain(appearance.safe(error.message))
        }
        complain(appearance.safe(error.message) + "; it is tried again in \(pause.components.seconds) s.")
    }

    mutating func sayFound(_ loss: Loss) {
        switch (loss, machine) {
        case (.line, let machine?): say("The line to \(machine) is up again.")
        case (.engine, nil) where connection.wasStartedAgain:
            connection.wasStartedAgain = false
            say("The engine had ended by accident and was started again. What no server can resume begins anew.")
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
    var needsItsFiles: Bool { self == .add || self == .download || self == .again }
}

extension Loss {
    fileprivate var problem: String? {
        switch self {
        case .engine(let problem), .line(let problem): problem
        case .stopped: nil
        }
    }
}
