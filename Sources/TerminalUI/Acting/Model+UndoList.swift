import DisplayText
import MartletKit

/// The list of what can be taken back.
extension Model {
    /// `:undo list`, `:undo 12`; alone as the key.
    mutating func undo(_ text: String) {
        guard canChange else { return complain(cannotChange) }
        if text.isEmpty { return undo() }
        if text == "list" {
            ask(.undoable) { .undoable(number: $0) }
        } else if let number = Int64(text) {
            ask(.undo(nil)) { .undo(.operation(number), number: $0) }
        } else {
            usage(.undo)
        }
    }

    mutating func undoableCame(_ result: Result<[UndoStep], RequestError>, _ number: Int) {
        guard requests.outstanding.removeValue(forKey: number) != nil else { return }
        switch result {
        case .failure(let error): complain(advised(error))
        // Commands are typed on the list of transfers.
        case .success(let steps):
            if offer(undoReport(steps), on: .transfers) { return }
            say("What can be taken back was told while you were busy here: :undo list asks once more.")
        }
    }

    private func undoReport(_ steps: [UndoStep]) -> ReportPage {
        let own = changes.history.operations
        let lines = steps.map { step -> SafeText in
            let left = connection.grace - engineNow.wall.since(step.at)
            let until: SafeText =
                step.startsAgain
                ? "starts again from 0" : "for \(max(0, left.components.seconds)) s more"
            let others = step.nodes > 1 ? " and \(Figures.count(step.nodes - 1)) more" : ""
            let what =
                step.node.map { "\($0)\(others)  \(appearance.safe(step.name).string)" }
                ?? "limits of \(appearance.safe(step.name).string)\(others)"
            let whose = own.contains(step.operation) ? "" : "  (not from here)"
            let head =
                SafeText("\(step.operation)").fitted(to: 5) + SafeText(appearance.timeOfDay(step.at)).fitted(to: 10)
            return head + SafeText(step.deed.noun).fitted(to: 9) + appearance.safe(what) + ": " + until
                + SafeText(whose)
        }
        let advice: [SafeText] =
            steps.isEmpty
            ? ["Nothing can be taken back now."]
            : ["", "\(key(.undo)) takes back the last one from here;  :undo N  the one with that number."]
        return ReportPage(title: "What can be taken back", lines: lines + advice, indent: 24)
    }
}
