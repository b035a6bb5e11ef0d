import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

@Suite("How far a file ever came") struct ProgressMarkTests {
    private var task: ClaimedTask {
        var task = ClaimedTask(asking: TaskID(rawValue: 1))
        task.furthest = 100
        return task
    }

    @Test("only bytes that no attempt of the run had confirmed are progress")
    func onlyNew() {
        var mark = ProgressMark(task)
        for bytes in [0, 50, 100, 20, 100] as [Int64] { mark.reach(bytes) }
        #expect(!mark.hasAdvanced)
        mark.reach(101)
        #expect(mark.hasAdvanced)
    }

    @Test("of another version of the source every byte is new")
    func another() {
        var mark = ProgressMark(task)
        mark.beginAnother()
        mark.reach(1)
        #expect(mark.hasAdvanced)
    }
}
