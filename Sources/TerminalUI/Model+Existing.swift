import DisplayText
import MartletKit

/// Files that failed because something of their name is there: to try the same again would only fail again.
extension Model {
    /// - Parameters:
    ///   - what: they, as a title begins.
    ///   - then: tries them again.
    mutating func askAboutExisting(
        _ what: SafeText, files: Int64, _ batches: [BatchID], then: Dialog.Intent
    ) {
        let batches = Set(batches).sorted()
        let them = batches.count == 1 ? "the whole batch" : "all of these \(batches.count) batches"
        func choice(_ letter: Unicode.Scalar, _ text: String, _ policy: ExistingFilePolicy) -> Dialog.Choice {
            Dialog.Choice(letter: letter, text: text, intent: .settleExisting(policy, of: batches, then: then))
        }
        dialog = Dialog(
            "\(what): there already",
            ["Overwrite and skip hold for \(SafeText(them)) from now on."],
            [
                choice("o", "Overwrite what is there, which is lost", .replace),
                choice("s", "Skip: what is there stays", .skip),
                Dialog.Choice(letter: "t", text: "Try again: I have moved what was there", intent: then),
                Dialog.Choice(letter: nil, text: files == 1 ? "Leave it" : "Leave them", intent: nil),
            ], selected: 3, at: now.uptime)
    }
}

extension NodeRow {
    /// What failed of it did so because something of that name is there.
    var meetsExisting: Bool { counts.failed > 0 && isOver && error?.code == .destinationExists }
}
