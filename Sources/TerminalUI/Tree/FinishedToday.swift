import DisplayText
import MartletKit

/// The work ended since local midnight: somebody who finds the list empty sees that it is empty because all is done.
struct FinishedToday: Hashable, Sendable {
    enum Answer: Hashable, Sendable {
        case asked
        /// The answer for the day that is written so.
        case known(FinishedToday, day: String)
    }

    private(set) var batches: Int64 = 0
    private(set) var files: Int64 = 0
    private(set) var bytes: Int64 = 0

    /// - Parameter isToday: whether a moment is of this day.
    init(_ history: [BatchSnapshot], isToday: (Timestamp) -> Bool) {
        for batch in history where batch.filesCompleted > 0 && batch.finishedAt.map(isToday) == true {
            batches += 1
            ByteSum.add(batch.filesCompleted, to: &files)
            ByteSum.add(batch.bytesAccepted, to: &bytes)
        }
    }

    /// `Finished today: 2 batches, 1,120 files, 12.4G`; `nil`: nothing was.
    func line(_ figures: Figures) -> SafeText? {
        guard batches > 0 else { return nil }
        let parts = [Figures.amount(batches, "batch", "batches"), Figures.amount(files, "file"), figures.size(bytes)]
        return SafeText("Finished today: \(parts.joined(separator: ", "))")
    }
}

extension Model {
    /// Asked for when the list is found empty; what ends later stands in the list first.
    mutating func askForFinishedToday() {
        guard tree.isKnown, tree.items.isEmpty, filters.shown == nil else { return finishedToday = nil }
        if case .known(_, let day)? = finishedToday, day != today { finishedToday = nil }
        guard finishedToday == nil, isConnected else { return }
        finishedToday = .asked
        ask(.finishedToday, isPatient: true) { .batches(number: $0) }
    }

    mutating func finishedTodayCame(_ result: Result<[BatchSnapshot], RequestError>) {
        guard case .asked? = finishedToday, case .success(let history) = result else { return }
        let day = today
        finishedToday = .known(FinishedToday(history) { appearance.date($0).prefix(10) == day }, day: day)
    }

    private var today: String { String(appearance.date(engineNow.wall).prefix(10)) }
}
