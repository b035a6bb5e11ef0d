import Testing
import TransferModel
import TransferQueue

@testable import TransferEngine

/// The bytes of an attempt, step by step.
@Suite struct AttemptProgressTests {
    /// Of a file of 1000 bytes, of which earlier attempts got so many through.
    private func progress(_ accepted: Int64 = 0) -> AttemptProgress {
        var task = ClaimedTask(asking: TaskID(rawValue: 1))
        (task.size, task.accepted, task.furthest) = (1000, accepted, accepted)
        return AttemptProgress(task)
    }

    private func moved(_ progress: inout AttemptProgress, _ positions: Int64...) -> [Int64] {
        positions.map { progress.move(to: $0) }
    }

    @Test("bytes count once, whatever is seen twice, and never past the end")
    func moving() {
        var progress = progress()
        let bytes = moved(&progress, 0, 300, 300, 200, 900, 1200, 1200)
        #expect(bytes == [0, 300, 0, 0, 600, 100, 0])
        #expect(progress.position == 1000 && progress.repeated == 0 && !progress.hasProgressed)
    }

    @Test("bytes that are not at the server go again, and the position falls back to it")
    func fallingBack() {
        var progress = progress()
        _ = moved(&progress, 800)
        progress.accept(500)
        progress.fallBack(to: progress.accepted)
        #expect(progress.position == 500 && progress.accepted == 500 && progress.repeated == 300)
        progress.fallBack(to: 900)
        #expect(progress.position == 500 && progress.repeated == 300)
        progress.repeatEarlier(40)
        #expect(moved(&progress, 1000) == [500] && progress.repeated == 340)
    }

    @Test("to hear once more of what the server had before is no progress")
    func known() {
        var progress = progress(400)
        progress.begin(of: 1000)
        progress.accept(400)
        #expect(!progress.hasProgressed && !progress.hasAdvanced && progress.accepted == 400)
        progress.accept(401)
        #expect(progress.hasProgressed && progress.hasAdvanced)
    }

    @Test(
        "an upload goes on where its server says, and more than was told is progress", arguments: [400, 600] as [Int64])
    func resuming(offset: Int64) {
        var progress = progress(400)
        progress.begin(of: 1000)
        progress.resume(at: offset)
        #expect(progress.position == offset && progress.accepted == offset)
        #expect(progress.hasProgressed == (offset > 400) && progress.hasAdvanced == (offset > 400))
    }

    @Test("a download begins at its temporary file's end, and what is on the disk counts")
    func receiving() {
        var progress = progress(400)
        progress.begin(at: 300)
        #expect(progress.position == 300 && progress.base == 300 && progress.accepted == 300)
        _ = moved(&progress, 700)
        progress.sync(through: 350)
        #expect(progress.accepted == 350 && !progress.hasProgressed)
        progress.sync(through: 700)
        #expect(progress.accepted == 700 && progress.hasProgressed && progress.hasAdvanced)
        progress.receive(from: 700)
        #expect(progress.base == 700 && progress.position == 700)
    }

    @Test("the size is new once")
    func size() {
        var progress = progress()
        let isNew = [1000, 1200, 1200].map { progress.learn(total: $0) }
        #expect(isNew == [false, true, false] && progress.total == 1200)
        progress.complete(1200)
        #expect(progress.accepted == 1200)
    }

    @Test("of another version of the source nothing is there, and what was sent of the first goes again")
    func another() {
        var progress = progress(400)
        progress.begin(of: 1000)
        _ = moved(&progress, 600)
        progress.accept(500)
        progress.beginAnother(of: 700)
        #expect(progress.position == 0 && progress.accepted == 0 && progress.knownBefore == 0)
        #expect(progress.repeated == 600 && progress.total == 700)
        progress.accept(1)
        #expect(progress.hasAdvanced)
    }

    @Test("a file that begins again has nothing, and is no further before it was there")
    func startingOver() {
        var progress = progress(400)
        progress.begin(at: 400)
        progress.startOver(losing: 400, isOther: false)
        #expect(progress.position == 0 && progress.base == 0 && progress.accepted == 0 && progress.repeated == 400)
        progress.accept(300)
        #expect(progress.hasProgressed && !progress.hasAdvanced)
        progress.accept(401)
        #expect(progress.hasAdvanced)
    }
}
