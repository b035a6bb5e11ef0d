package import TransferModel
import TransferQueue

/// Decides whether a list is believed about the names that it leaves out. A server that leaves dot files out, or writes names in another
/// way, is asked for each of them; of other names a list is believed that has been right for a while: files that were taken away are not
/// asked for one by one.
struct ListTrust {
    private static let enough = 20
    private var rightInARow = 0

    func asks(for file: ComparedFile) -> Bool {
        // The file of that other name would answer.
        if file.nameIsTaken { return false }
        return file.entry != nil || file.name.bytes.first == UInt8(ascii: ".") || rightInARow < Self.enough
    }

    mutating func add(wasRight: Bool) { rightInARow = wasRight ? rightInARow + 1 : 0 }
}

/// The end of a look at a folder.
enum LookEnd {
    /// Every file that had been completed before.
    case compared
    /// Nobody can say what lies there, or not of all files. `isLetIn`: the server did not refuse the login.
    case unlisted(TransferError, isLetIn: Bool = true)
    /// By the engine's end, which may be taken back: nothing is said of what was not compared.
    case brokenOff
}

/// The result of a look that a person asked for.
package struct FolderVerification: Sendable, Hashable {
    /// Files that are there as they were sent.
    package var listed: Int64
    /// The reason why nobody can say what lies there; `nil`: all files that had been completed by then were compared.
    package var error: TransferError?

    package init(listed: Int64) { self.listed = listed }
    package init(_ error: TransferError) { (listed, self.error) = (0, error) }
}

/// The verdicts on some files of a folder.
struct LookPage {
    private var verdicts: [(task: TaskID, verdict: LastLookVerdict)]

    init(_ verdicts: [(task: TaskID, verdict: LastLookVerdict)]) { self.verdicts = verdicts }

    var compared: Int { verdicts.count }
    var absent: [AbsentFile] { verdicts.compactMap { if case .isAbsent(let file) = $0.verdict { file } else { nil } } }
    var open: Int { verdicts.count { if case .isOpen = $0.verdict { true } else { false } } }

    /// The same of one task alone; `nil`: of all.
    func of(_ task: TaskID?) -> LookPage { LookPage(verdicts.filter { task == nil || task == $0.task }) }
}

/// Numbers of files that a look at one folder has counted so far.
struct LookCounts {
    private var compared: Int64 = 0
    private(set) var absent: Int64 = 0
    /// Files of which nobody can say.
    private(set) var open: Int64 = 0
    var listed: Int64 { compared - absent - open }

    mutating func add(_ page: LookPage) {
        compared += Int64(page.compared)
        absent += Int64(page.absent.count)
        open += Int64(page.open)
    }
}

extension TransferError {
    static var noListingPlace: TransferError {
        TransferError(
            .unsupported, "nothing lists folders by this address", .step("look there whether all of it has arrived"))
    }

    static func beingSentAgain(_ files: Int64) -> TransferError {
        TransferError(
            .unsupported,
            "another batch of yours has begun to send \(files == 1 ? "a file" : "\(files) files") to the same \(files == 1 ? "name" : "names")",
            .step("'martlet verify ID' can tell when all of that batch is completed"))
    }

    static var stoppedLooking: TransferError {
        TransferError(.networkConnectionLost, "the engine stopped before it was done", .step("try again"))
    }

    static func tooManyNames(_ host: String) -> TransferError {
        TransferError(
            .unsupported, "\(host) lists more names than can be", .step("look there whether all of it has arrived"))
    }
}
