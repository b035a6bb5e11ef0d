import FoundationEssentials
import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Files of a node that are read at their server, one after the other, while somebody asks how far it is. On the service's loop.
final class ReadBackRun {
    let id: NodeID
    let meter = ReadBackMeter()
    private(set) var progress = ReadBackProgress()
    /// A machine that sleeps does not count as silence.
    var lastAsked = MonotonicInstant.awake
    /// The error that broke it off.
    var failure: RequestError?
    /// Its last answer was given.
    var isTold = false
    /// Looks whether somebody still asks for it.
    var expiry: LoopTimer?

    init(_ id: NodeID) { self.id = id }

    /// At most so many findings are reported; `files` and `same` count every file.
    private static let mostFindings = 1000

    func add(_ file: FileToReadBack, _ outcome: ReadBackOutcome) {
        let found: TransferError
        switch outcome {
        case .notCompared: return
        case .same:
            progress.files += 1
            progress.same += 1
            return
        case .other(let error), .unread(let error): found = error
        }
        progress.files += 1
        if progress.findings.count < Self.mostFindings {
            progress.findings.append(AbsentTask(task: file.task, path: file.path, error: found))
        }
    }

    func end() { progress.isOver = true }

    /// The progress, without the findings that were told already.
    func told(besides seen: Int) -> ReadBackProgress {
        var told = progress
        told.bytes = max(0, meter.bytes)
        told.findings = Array(progress.findings.dropFirst(max(0, seen)))
        return told
    }
}
