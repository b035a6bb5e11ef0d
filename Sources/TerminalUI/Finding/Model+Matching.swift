import DisplayText
import MartletKit

/// Deeds on all that match a filter, in sight or not: the engine is told the filter and not the rows that this screen
/// happens to hold.
extension Model {
    /// Returns true when the action was done, asked about or refused here, because all that match are marked.
    mutating func actOnMatching(_ action: Action) -> Bool {
        guard filters.shown?.marksAll == true else { return false }
        switch action {
        case .pause: confirmMatching(tree.marks.values.allSatisfy { $0.isOver || standsStill($0) } ? .resume : .pause)
        case .cancel: confirmMatching(.cancel)
        case .retry: confirmMatching(.retry)
        case .earlier, .later: refuseToMoveMatching()
        case .order: openOrderOfMatching()
        case .limit: openLimits([])
        default: return false
        }
        return true
    }

    /// Asks whether it is to be done to all that match the filter that is on.
    mutating func confirmMatching(_ deed: NodeDeed) {
        guard let filter = filters.shown else { return }
        confirm(deed, matching(filter.sent), .matching(NodeSelector(filter: filter.sent)))
    }

    /// They stand in many batches, each with an order of its own.
    mutating func refuseToMoveMatching() {
        complain(
            "All that match cannot be moved at once: \(key(.unmarkAll)) unmarks, then rows and batches have a place. \(key(.order)) gives all of them a priority."
        )
    }

    private mutating func openOrderOfMatching() {
        guard let text = filters.shown?.sent else { return }
        let what = matching(text)
        func choice(_ letter: Unicode.Scalar, _ words: String, _ deed: NodeDeed) -> Dialog.Choice {
            Dialog.Choice(
                letter: letter, text: words, intent: .named(deed, what, .matching(NodeSelector(filter: text))))
        }
        var choices = [choice("n", "Start now, whatever their turn and time", .runNow)]
        for priority in TransferPriority.allCases.reversed() {
            let digit = Unicode.Scalar(UInt8(ascii: "1") + UInt8(priority.level))
            choices.append(choice(digit, "Priority \(priority.rawValue)", .set(NodeSettings(priority: priority))))
        }
        dialog = Dialog(menu: "Order of \(what)", [], choices, no: "Leave it as it is", at: now.uptime)
    }
}

extension Model {
    /// A filter as the engine understands it: what is marked only this screen knows, so it stands there by name.
    mutating func named(_ text: String) -> String {
        guard let filter = try? TransferFilter(text), filter.asksForMarks else { return text }
        let named = filter.naming(tree.marks.keys.sorted { "\($0)" < "\($1)" }).description
        filters.typed = [named: text]
        return named
    }
}

extension FileCounts {
    /// The number of them that something would be done to.
    func files(for deed: NodeDeed) -> Int64 {
        switch deed {
        case .pause: active + queued + waiting
        case .pauseUntil: active + unstarted
        case .resume: paused + created
        case .cancel, .move, .set, .runNow: active + unstarted
        case .retry, .purge: failed
        }
    }
}
