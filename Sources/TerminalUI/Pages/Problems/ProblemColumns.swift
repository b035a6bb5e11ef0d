import DisplayText
import MartletKit
import Terminal

/// The columns of the list of causes; `nil`: there is no room for it.
struct ProblemColumns {
    let cause: Range<Int>
    let files: Range<Int>
    let batch: Range<Int>?
    let last: Range<Int>?
    let fix: Range<Int>?

    /// Widths with which nothing would be cut.
    struct Needs {
        var cause = 0
        var files = 0
        var batch = 0
        var fix = 0
    }

    /// The reason is cut last: names of batches go down to a few letters before, and then the times.
    init(_ width: Int, needs: Needs) {
        let fixCells = width >= 76 ? min(max(3, needs.fix), 18) : 0
        let fileCells = width >= 30 ? max(5, needs.files) : 4
        var batchCells = width >= 56 ? min(max(5, needs.batch), max(8, width / 3)) : 0
        var lastCells = width >= 56 ? 5 : 0
        let start = 3
        func room() -> Int {
            let others = [fixCells, lastCells, batchCells, fileCells].filter { $0 > 0 }
            return width - 1 - start - others.reduce(0) { $0 + $1 + 2 }
        }
        let wanted = max(needs.cause, 5)
        batchCells = min(batchCells, max(8, batchCells - max(0, wanted - room())))
        if room() < wanted { lastCells = 0 }
        // The batch gets back the cells that the reason does not need.
        if lastCells == 0, batchCells > 0 { batchCells += max(0, min(needs.batch - batchCells, room() - wanted)) }
        var end = width - 1
        func take(_ cells: Int) -> Range<Int>? {
            guard cells > 0 else { return nil }
            defer { end -= cells + 2 }
            return (end - cells)..<end
        }
        (fix, last, batch) = (take(fixCells), take(lastCells), take(batchCells))
        files = take(fileCells) ?? end..<end
        let first = min(start, max(0, end - 1))
        cause = first..<max(first, end)
    }
}
