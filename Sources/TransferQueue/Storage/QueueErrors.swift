package import LinuxSystem
package import SQLiteConnection
package import TransferModel

/// Reasons why a queue could not be opened. Each message names the way out.
package enum QueueOpenError: Error, Hashable, Sendable {
    /// Another engine holds it (exit status 75). What the lock file says of it, as far as it says something.
    case locked(pid: Int32?, version: String?)
    /// Written by a newer Martlet (exit status 65): the migrations that this one does not know.
    case newer(found: String, known: String)
    /// Damaged, or not a queue at all (exit status 65).
    case corrupt(file: String, detail: String)
    /// Empty or missing, though there has been a queue (exit status 65).
    case emptied(file: String, sign: String)
    /// The store of secrets beside it, not the queue (exit status 65 when it is damaged).
    case secrets(SecretsFailure)
    /// Somebody else made what should be ours.
    case untrusted(Untrusted)
    case system(Errno, doing: String)
    case database(SQLiteError)
}

extension QueueOpenError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .locked(let pid, let version):
            "the queue is held by another engine"
                + (pid.map { " (pid \($0)\(version.map { ", version \($0)" } ?? ""))" } ?? "")
                + ": use it, or stop it with 'martlet engine stop'"
        case .newer(let found, let known):
            "the queue was written by a newer Martlet (it has '\(found)', this one knows up to '\(known)'): "
                + "install that version again, or set MARTLET_HOME to start with an empty queue"
        case .corrupt(let file, let detail):
            "\(file) is damaged or not a queue (\(detail)): move it, with its -wal and -shm, out of the way to start "
                + "with an empty queue, or try 'sqlite3 \(file) .recover' to save what is in it"
        case .emptied(let file, let sign):
            "\(file) is empty or missing, but there has been a queue (\(sign) is there): restore it from a backup, or move "
                + "\(sign) and what is left of it out of the way to start with an empty queue"
        case .secrets(let failure): "\(failure)"
        case .untrusted(let error): "\(error)"
        case .database(let error) where error.lacksRoom:
            "\(error.lackOfRoom(for: "the queue")): make room there"
        case .system(let errno, let doing):
            "cannot \(doing): \(errno)"
        case .database(let error):
            "the queue cannot be opened: \(error.message) (SQLite \(error.extendedCode)): "
                + "check the disk and the directory's permissions"
        }
    }
}

/// Reasons why a change of the queue was not made. Nothing of it was done then.
package enum QueueError: Error, Hashable, Sendable {
    /// SQLite failed: a full disk, a damaged file. What was recorded before is kept and tried again.
    case database(SQLiteError)
    /// The store of secrets failed, not the queue.
    case secrets(SecretsFailure)
    /// A file of the open queue (its database, log or lock) was deleted or replaced. The value is its path.
    case gone(String)
    /// The request makes no sense: an empty batch, a malformed URL. For a person.
    case badRequest(String)
    case noSuchBatch
    case closed
}

extension QueueError: CustomStringConvertible {
    package var description: String { finding.message }

    package var finding: Finding {
        switch self {
        case .database(let error) where error.lacksRoom:
            Finding(error.lackOfRoom(for: "the queue"), .step("make room there"))
        case .secrets(let failure): failure.finding
        case .gone(let file) where file.hasSuffix(".lock"):
            Finding(
                "\(file) was deleted or replaced while the engine runs, so a second engine could start, and nothing is queued any more",
                .step("run 'martlet engine stop --now', and use Martlet again"))
        case .gone(let file):
            Finding(
                "\(file) was deleted or replaced while the engine runs, and nothing is queued any more",
                .step("put it back, or run 'martlet engine stop --now' to start with what is there"))
        case .database(let error):
            Finding(
                "the queue cannot be used: \(error.message) (SQLite \(error.extendedCode))",
                .step("check the disk and its permissions"))
        case .badRequest(let message): Finding(message)
        case .noSuchBatch: Finding("there is no such batch")
        case .closed: Finding("the queue is closed")
        }
    }
}

extension QueueError {
    /// Nothing of what was recorded could be stored: it is kept and tried again.
    package var isOfStorage: Bool {
        switch self {
        case .database, .secrets, .gone: true
        case .badRequest, .noSuchBatch, .closed: false
        }
    }
}

extension SQLiteError {
    /// There is no room for more, by the disk or by this user's quota.
    var lacksRoom: Bool { isFullDisk || isUsedUpQuota }

    func lackOfRoom(for what: String) -> String {
        isUsedUpQuota
            ? "the quota of the disk that holds \(what) is used up" : "the disk that holds \(what) is full"
    }
}
