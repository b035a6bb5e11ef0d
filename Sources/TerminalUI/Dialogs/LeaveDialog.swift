import DisplayText
import MartletKit

/// Leaving: it stops nothing, so `q` asks nothing, unless logging out afterwards would end the engine.
extension Model {
    mutating func leave() {
        guard canChange, leaving.logout != .none, leaving.isAskedAbout, totals?.isOver == false else {
            return requests.append(.leave)
        }
        askHowToLeave()
    }

    /// Leaving with choices: what goes on, and what each choice would do to it.
    mutating func askHowToLeave() {
        guard canChange else { return requests.append(.leave) }
        let counts = totals?.counts ?? FileCounts()
        let running = counts.active > 0
        let isUnfinished = counts.active + counts.unstarted > 0
        var choices = [
            Dialog.Choice(
                letter: "q", text: isUnfinished ? "Leave, transfers go on" : "Leave", intent: .leave,
                note: "come back: \(invocation)"),
            Dialog.Choice(
                letter: "f", text: running ? "Finish running files, then stop" : "Stop the engine",
                intent: .stopEngine(finishRunning: true), note: running ? runningTimeLeft : ""),
        ]
        if running {
            choices.append(
                Dialog.Choice(
                    letter: "s", text: "Pause all and stop the engine", intent: .stopEngine(finishRunning: false),
                    note: "resumes next start"))
        }
        if leaving.logout == .endsWithoutLingering {
            choices.append(
                Dialog.Choice(
                    letter: "L", text: "Let it go on after a logout",
                    intent: .ask(AnyPageRequest(request: LingeringRequest()), saying: "Asking systemd ...")))
        }
        choices.append(Dialog.Choice(letter: nil, text: "Stay", intent: nil))
        if leaving.logout != .none, leaving.isAskedAbout {
            choices.append(
                Dialog.Choice(
                    letter: "d", text: "do not ask again on \(key(.leave).string)", intent: nil, isTick: true))
        }
        dialog = Dialog(
            "Leave martlet?", [Self.standing(counts)] + logoutNote, choices, selected: 0, at: now.uptime)
    }

    /// `4 files are running, 242 waiting, 8,174 paused.`
    private static func standing(_ counts: FileCounts) -> SafeText {
        let parts: [(Int64, String)] = [
            (counts.active, "running"), (counts.queued + counts.waiting, "waiting"),
            (counts.paused + counts.created, "paused"),
        ]
        let there = parts.filter { $0.0 > 0 }
        guard let first = there.first else { return "Nothing is unfinished." }
        let verb = first.0 == 1 ? "is" : "are"
        let rest = there.dropFirst().map { ", \(Figures.count($0.0)) \($0.1)" }.joined()
        return SafeText("\(Figures.amount(first.0, "file")) \(verb) \(first.1)\(rest).")
    }

    private var logoutNote: [SafeText] {
        switch leaving.logout {
        case .none: []
        case .endsWithoutLingering:
            ["", "Note: logging out ends the engine here (lingering is off)."]
        case .endsWithSession:
            ["", "Note: logging out ends the engine here (KillUserProcesses is on)."]
        }
    }

    /// The time that the files that run will take; empty unless all of them are in sight.
    private var runningTimeLeft: SafeText {
        let running = tree.items.compactMap(\.row).filter {
            if case .task = $0.id { $0.state == .running || $0.state == .finishing } else { false }
        }
        let times = running.compactMap(\.secondsLeft)
        guard Int64(times.count) == totals?.counts.active, let longest = times.max() else { return "" }
        return SafeText("about \(Figures.timeLeftInWords(longest))")
    }

    // MARK: What the choices set

    mutating func setAskLeave(_ asks: Bool) {
        leaving.isAskedAbout = asks
        keep("ask-leave", asks ? "on" : "off")
    }

}

/// Asks systemd to let the engine go on after a logout.
struct LingeringRequest: PageRequest {
    var isPatient: Bool { true }
    var needsEngine: Bool { false }

    /// - Returns: the reason why it was refused; `nil`: it was not.
    func answer(at desk: RequestDesk) async throws(RequestError) -> String? {
        await desk.files.run { LogoutEffect.allowLingering() }
    }

    func answered(_ result: Result<String?, RequestError>, number: Int, in model: inout Model) {
        switch result {
        case .failure(let error): model.complain(model.advised(error))
        case .success(let refusal?): model.complain("\(model.appearance.safe(refusal)).")
        case .success(nil):
            model.leaving.logout = .none
            model.say("Lingering is on: transfers go on after you log out.")
        }
    }
}
