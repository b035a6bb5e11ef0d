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
        for bytes in [0, 50, 100, 20, 100] as [Int64] { mark.reach(bytes, of: 200) }
        #expect(!mark.hasAdvanced)
        mark.reach(101, of: 200)
        #expect(mark.hasAdvanced)
    }

    @Test("of another version of the source every byte is new")
    func another() {
        var mark = ProgressMark(task)
        mark.beginAnother()
        mark.reach(1, of: 200)
        #expect(mark.hasAdvanced)
    }

    @Test("after failures one byte more is no progress, and together with those of the attempts before it may be")
    func littleByLittle() {
        var task = task
        (task.failures, task.progressStart) = (3, 100)
        let size: Int64 = 1 << 53
        var mark = ProgressMark(task)
        mark.reach(101, of: size)
        mark.reach(100 + 65_535, of: size)
        #expect(!mark.hasAdvanced)
        mark.reach(100 + 65_536, of: size)
        #expect(mark.hasAdvanced)
        task.furthest = 65_000
        mark = ProgressMark(task)
        mark.reach(65_636, of: nil)
        #expect(mark.hasAdvanced)
    }

    @Test("a server that shows another version each time gets no credit for the fourth")
    func versions() {
        var task = task
        (task.failures, task.progressStart) = (3, 100)
        for restarts in 0..<4 {
            task.restarts = restarts
            var mark = ProgressMark(task)
            mark.startOver(isOther: true)
            mark.reach(100, of: 200)
            #expect(mark.hasAdvanced == (restarts < 3))
        }
    }

    @Test("a file that grows with each reading gets credit for what the next attempt goes on from, and for no other")
    func grows() {
        var task = task
        (task.failures, task.progressStart, task.restarts) = (3, 100, 3)
        var mark = ProgressMark(task)
        mark.reach(1 << 30, of: nil)
        #expect(mark.hasAdvanced, "three versions count")
        task.restarts = 4
        mark = ProgressMark(task)
        mark.reach(1 << 30, of: nil)
        #expect(!mark.hasAdvanced)
        mark.goOn(at: 1 << 30, of: nil)
        #expect(mark.hasAdvanced, "it goes on from what that has brought")
        mark = ProgressMark(task)
        mark.goOn(at: 50, of: nil)
        mark.startOver(isOther: true)
        mark.reach(1 << 31, of: nil)
        #expect(!mark.hasAdvanced)
        task.accepted = 50
        mark = ProgressMark(task)
        mark.reach(1 << 30, of: nil)
        #expect(mark.hasAdvanced, "it goes on")
        // What was told of already is no other beginning.
        task.restarts = 3
        mark = ProgressMark(task)
        mark.startOver(isOther: false, loses: false)
        mark.reach(1 << 30, of: nil)
        #expect(mark.hasAdvanced)
    }
}
