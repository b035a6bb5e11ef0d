import LinuxSystem
import SSHTransport
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Asks servers how much of paused uploads they have kept. Most servers say it only when they are asked: without the question a pause
/// half way would be shown as a beginning.
extension TransferEngine {
    /// Has the protocol begin as if to go on, up to the server's word on how much it has, and no further. Nothing is changed there.
    func askWhatIsThere(_ stopped: Attempt) {
        // An SFTP server has confirmed each piece that counts.
        if case .sftp? = stopped.place?.route { return accounting.unconfirmed.showConfirmed(stopped.task.id) }
        guard phase == .running, case .upload(let work) = stopped.job,
            stopped.progress.position > stopped.progress.accepted,
            stopped.goesOnAfterCut, let point = work.resumePoint, case .upload(_, let remote, _) = stopped.task.work,
            !point.isOutdated, attempts[stopped.task.id] == nil, sideJobs.look(of: stopped.task.id) == nil,
            let size = stopped.progress.total
        else { return }
        var subject = work.subject
        (subject.size, subject.hasChanged) = (size, false)
        guard
            let machine = stopped.context.uploadMachine(
                subject, below: remote, facts: facts(stopped.place, stopped.origin), resume: point)
        else { return }
        let look = Attempt(
            .look, of: stopped.task, context: stopped.context, origin: stopped.origin, machine: machine,
            at: timeline.nanoseconds)
        look.place = stopped.place
        sideJobs.begin(look)
        feed(look, .began(at: timeline.now))
    }

    /// Performs what the protocol wants during a look: it may ask and wait, an answer is kept, and anything else ends the look. So a machine
    /// whose server tells how much it has begins with the question for it.
    func look(_ action: ProtocolAction, _ attempt: Attempt) {
        switch action {
        case .perform(let id, let exchange) where exchange.onlyAsks: begin(exchange, id, attempt)
        case .wake(let timer, let delay): wake(attempt, timer, after: delay)
        // Nothing is written there, so no name has to be kept free.
        case .persist, .learned, .claimName: break
        case .resumed(let bytes), .accepted(let bytes):
            // From here on it is confirmed.
            accounting.unconfirmed.showConfirmed(attempt.task.id)
            if bytes > attempt.task.accepted {
                queue.writer.record(.checkpoint(resumePoint: nil, accepted: bytes), for: attempt.task.claim)
            }
            endSideJob(attempt, nil)
        default:
            // Nobody can say how much is there: what is confirmed is all that is known.
            accounting.unconfirmed.showConfirmed(attempt.task.id)
            endSideJob(attempt, nil)
        }
    }
}

extension Exchange {
    /// Changes nothing at the server.
    fileprivate var onlyAsks: Bool {
        switch self {
        case .http(let exchange): exchange.method.isSafe
        case .ftp(.size): true
        case .ftp, .sftp, .sftpDigest: false
        }
    }
}
