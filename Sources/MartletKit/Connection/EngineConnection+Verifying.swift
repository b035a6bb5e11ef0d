import FoundationEssentials
import LinuxSystem
import ServiceWire
public import TransferModel

extension EngineConnection {
    /// Has the server of a batch, folder or task list what was sent there, one folder after the other. What is not there as it was sent fails
    /// `notThere`, and a retry sends it again.
    /// - Parameter take: gets each folder when its server has answered.
    /// - Returns: how many files it has, whatever became of them. Those that were not sent are in no folder that `take` got.
    @discardableResult
    public nonisolated func verify(
        _ id: NodeID, take: (VerifiedFolder) -> Void
    ) async throws(RequestError) -> Int64 {
        var pager = Pager<Int64>()
        while true {
            let answer = try await call(Methods.nodesVerify, VerifyRequest(id: id, after: pager.after))
            if let folder = answer.folder { take(folder) }
            guard let next = answer.next else { return answer.total ?? 0 }
            try pager.move(to: next)
        }
    }
}

extension EngineConnection {
    /// Has the files of a batch, folder or task read at their server and compared with what was sent, by SHA-256. A file that is another one
    /// fails `notThere`; one that is the same counts as verified by its digest. Ends early when the task is cancelled. An error says how
    /// many files were read before it; what was found of them has been told.
    /// - Parameter take: gets how far it is, some times a second; each finding comes once.
    public nonisolated func readBack(
        _ id: NodeID, take: (ReadBackProgress) -> Void
    ) async throws(RequestError) {
        let run = UUID()
        var watch = ReadBackWatch(at: .awake)
        var pause = Duration.milliseconds(20)
        while true {
            let progress: ReadBackProgress
            do throws(RequestError) {
                let request = ReadBackRequest(id: id, run: run, seen: watch.seen)
                progress = try await call(Methods.nodesReadBack, request).progress
                try watch.note(progress, at: .awake)
            } catch  where error == Self.cancelled {
                throw error
            } catch {
                throw watch.brokenOff(error)
            }
            take(progress)
            if progress.isOver { return }
            do {
                try await Task.sleep(for: pause)
            } catch {
                // Nobody asks after it any more, so it ends.
                return
            }
            pause = min(pause * 2, .milliseconds(500))
        }
    }
}
