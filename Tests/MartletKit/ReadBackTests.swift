import LinuxSystem
import ServiceWire
import Testing
import TransferModel

@testable import MartletKit

@Suite("Reading files back from a client's side") struct ReadBackTests {
    private let node = NodeID.batch(BatchID(rawValue: 7))

    @Test("an engine that has forgotten the run is not taken for one that has read everything")
    func forgotten() async throws {
        let engine = try ScriptedEngine { _, _, line in
            String(decoding: line, as: UTF8.self).contains(#""seen""#)
                ? .refuse(RequestError(.refused, "nobody asked it for 30 s"))
                : .answer(ReadBackAnswer(progress: ReadBackProgress(files: 3, same: 2, bytes: 9)))
        }
        let told = Mutex<[Int64]>([])
        let error = await #expect(throws: RequestError.self) {
            try await engine.connect().readBack(node) { progress in told.withLock { $0.append(progress.files) } }
        }
        #expect(told.withLock { $0 } == [3])
        #expect(
            error?.message
                == "the read-back ended after 3 files (2 are as they were sent), the others were not read: "
                + "nobody asked it for 30 s. Read them by another read-back")
    }

    @Test("an engine that is silent for hours, or tells more than there may be, is not waited for")
    func endless() throws {
        let start = MonotonicInstant(nanoseconds: 0)
        var watch = ReadBackWatch(at: start)
        #expect(watch.seen == nil)
        let late = start.advanced(by: ReadBackWatch.patience - .seconds(1))
        try watch.note(ReadBackProgress(files: 1, bytes: 1), at: late)
        #expect(watch.seen == 0)
        try watch.note(ReadBackProgress(files: 1, bytes: 1), at: late.advanced(by: .seconds(2)))
        let silent = #expect(throws: RequestError.self) {
            try watch.note(ReadBackProgress(files: 1, bytes: 1), at: late.advanced(by: ReadBackWatch.patience))
        }
        #expect(silent?.message == "the engine has read nothing for 6 hours: see 'martlet log'")
        // What moves goes on, and what is over is over, however late.
        try watch.note(ReadBackProgress(files: 1, bytes: 2), at: late.advanced(by: ReadBackWatch.patience))
        try watch.note(
            ReadBackProgress(files: 1, bytes: 2, isOver: true), at: late.advanced(by: ReadBackWatch.patience * 3))
        let finding = AbsentTask(task: TaskID(rawValue: 1), path: "f", error: TransferError(.notThere, "no"))
        let many = Array(repeating: finding, count: ReadBackWatch.mostFindings)
        try watch.note(ReadBackProgress(files: 2, bytes: 3, findings: many), at: late)
        let endless = #expect(throws: RequestError.self) {
            try watch.note(ReadBackProgress(files: 3, bytes: 4, findings: [finding]), at: late)
        }
        #expect(endless?.message == "the engine tells more findings than there may be: update it")
    }
}
