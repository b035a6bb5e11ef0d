import DisplayText
import MartletKit

extension Model {
    /// Leaving with choices: what goes on, and what each choice would do to it. Leaving itself stops nothing, so `q` asks
    /// nothing.
    mutating func askHowToLeave() {
        guard isConnected else { return requests.append(.leave) }
        let counts = totals?.counts ?? FileCounts()
        let parts: [(Int64, String)] = [
            (counts.active, "running"), (counts.queued + counts.waiting, "waiting"),
            (counts.paused + counts.created, "paused"),
        ]
        let there = parts.filter { $0.0 > 0 }.map { "\(Figures.count($0.0)) \($0.1)" }.joined(separator: ", ")
        let lines: [SafeText] = [there.isEmpty ? "Nothing is unfinished." : SafeText("Files: \(there).")]
        let running = counts.active > 0
        dialog = Dialog(
            "Leave martlet?", lines,
            [
                Dialog.Choice(letter: "q", text: there.isEmpty ? "Leave" : "Leave, transfers go on", intent: .leave),
                Dialog.Choice(
                    letter: "f", text: running ? "Let running files finish, then stop the engine" : "Stop the engine",
                    intent: .stopEngine(finishRunning: true)),
                running
                    ? Dialog.Choice(
                        letter: "s", text: "Stop the engine now; all goes on where it stood",
                        intent: .stopEngine(finishRunning: false))
                    : nil,
                Dialog.Choice(letter: nil, text: "Stay", intent: nil),
            ].compactMap(\.self), selected: 0, at: now.uptime)
    }
}
