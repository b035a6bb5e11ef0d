import LinuxSystem
import TransferModel
import WireOperations

/// One operation under way. On the transport's loop.
final class Operation {
    enum Work {
        /// One request, one answer.
        case single
        case write(WriteWindow)
        /// `nil` before the gate is open.
        case read(ReadWindow?)
        /// All folders of the path at once, then the question whether the last is there.
        case folders(FolderAnswers)
    }

    let id: WireID
    let owner: OperationOwner
    let request: SFTPOperation
    let source: (any SFTPSource)?
    let limit: (any TransferThrottle)?
    var sink: (any SFTPSink)?
    var work: Work
    /// Requests without an answer.
    var unanswered = 0 { didSet { if unanswered > 0 { wentOut = true } } }
    /// Something of it was handed to the server's connection.
    private(set) var wentOut = false
    /// Bytes of a read that the sink took.
    var received: Int64 = 0
    /// It fails with this as soon as all that was sent is answered.
    var failure: OperationEnd.Outcome?
    /// Nobody wants to hear of it any more; its answers are only waited for.
    var isAbandoned = false

    init(
        _ id: WireID, _ owner: OperationOwner, _ request: SFTPOperation, source: (any SFTPSource)?,
        limit: (any TransferThrottle)?
    ) {
        self.id = id
        self.owner = owner
        self.request = request
        self.source = source
        self.limit = limit
        work =
            switch request {
            case .write(_, let range): .write(WriteWindow(range))
            case .read: .read(nil)
            case .makeFolders: .folders(FolderAnswers())
            default: .single
            }
    }

    var progress: OperationProgress {
        var progress = OperationProgress(sent: 0, acknowledged: 0, received: received)
        if case .write(let window) = work {
            progress.sent = window.next - window.range.lowerBound
            progress.acknowledged = window.through - window.range.lowerBound
        }
        return progress
    }

    /// True when no packet of it is left to be sent.
    var isSent: Bool {
        if failure != nil || isAbandoned { return true }
        return switch work {
        case .single, .folders: unanswered > 0
        case .write(let window): window.isSent
        case .read(let window): window?.isDone ?? false
        }
    }
}

/// The answers to the folders of a path.
struct FolderAnswers: Equatable {
    /// The refusal that says most, until the question at the end is answered.
    private var refusal: (status: SFTPStatus, text: String)?

    static func == (left: FolderAnswers, right: FolderAnswers) -> Bool {
        left.refusal?.status == right.refusal?.status && left.refusal?.text == right.refusal?.text
    }

    /// A folder that is there already is refused, too, with a status that does not say so: only the last word counts, unless
    /// one was not permitted.
    mutating func made(_ status: SFTPStatus?, _ text: String) {
        guard let status, refusal?.status != .permissionDenied else { return }
        refusal = (status, text)
    }

    /// The reply that the answer makes to the question whether the last folder exists.
    func reply(_ answer: SFTPAnswer) -> SFTPReply {
        switch answer {
        case .attributes(let found) where found.isFolder: .done
        case .attributes: .refused(.failure, "a file is where a folder should be")
        case .status(let status, let text):
            refusal.map { .refused($0.status, $0.text) } ?? .refused(status ?? .failure, text)
        default: .refused(.failure, "")
        }
    }

    /// The folders of a path from the top; none for the home or the root.
    static func steps(_ path: RawPath) -> [RawPath] {
        var folder = RawPath(path.bytes.first == UInt8(ascii: "/") ? "/" : "")
        return path.components.filter { $0 != RawPath(".") }.map { name in
            folder = folder.appending(name)
            return folder
        }
    }
}
