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

    /// Retries, or asks first when something of that name is there. A file's row tells why it failed; for many the
    /// engine is asked.
    mutating func retryOrAsk(_ rows: [NodeRow]) {
        let failed = rows.filter { $0.counts.failed > 0 }
        if failed.contains(where: \.canHold) {
            ask(.retrying(rows)) { .batches(number: $0) }
        } else {
            retry(rows, existingIn: Set(failed.filter(\.meetsExisting).compactMap(\.id.batch)))
        }
    }

    /// - Parameter number: of the question.
    mutating func causesCame(for rows: [NodeRow], _ result: Result<[BatchSnapshot], RequestError>, _ number: Int) {
        switch result {
        case .failure(let error): complain(advised(error))
        case .success where isOvertaken(number): complain(notTriedAgain)
        case .success(let batches):
            let existing = batches.filter { $0.causes.contains { $0.code == .destinationExists } }
            retry(rows, existingIn: Set(existing.map(\.id)))
        }
    }

    /// True when the person has asked for another change since the request of this number. The later one stands: nobody retries what was
    /// cancelled since.
    func isOvertaken(_ number: Int) -> Bool { changes.history.newest.map { $0.number > number } ?? false }

    /// The message about a retry that does not follow, because it is overtaken.
    var notTriedAgain: SafeText {
        "Not tried again, as another change came in between: \(key(.retry)) once more does."
    }

    /// - Parameter existing: batches in which something failed because of what is there.
    private mutating func retry(_ rows: [NodeRow], existingIn existing: Set<BatchID>) {
        let batches = rows.compactMap(\.id.batch).filter(existing.contains)
        if batches.isEmpty { return send(.retry, rows) }
        // Minutes may have passed: no question comes over what the person does now, whose keys would answer it.
        guard page is TransfersPage, !isOccupied else {
            return say("Of \(title(rows)) something is there already: \(key(.retry)) asks what to do.")
        }
        let files = ByteSum.of(rows.lazy.map(\.counts.failed))
        askAboutExisting(title(rows), files: files, batches, then: .act(.retry, rows))
    }
}

extension NodeRow {
    /// True for a file, or a group of them, that failed because something of that name is there.
    fileprivate var meetsExisting: Bool { counts.failed > 0 && error?.code == .destinationExists }
}
