package import LinuxSystem
package import SQLiteConnection

/// Why a queue could not be opened. Each message names the way out.
package enum QueueOpenError: Error, Hashable, Sendable {
    /// Another engine holds it (exit status 75). What the lock file says of it, as far as it says something.
    case locked(pid: Int32?, version: String?)
    /// Written by a newer Martlet (exit status 65): the migrations that this one does not know.
    case newer(found: String, known: String)
    /// Damaged, or not a queue at all (exit status 65).
    case corrupt(file: String, detail: String)
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
        case .system(let errno, let doing):
            "cannot \(doing): \(errno)"
        case .database(let error):
            "the queue cannot be opened: \(error.message) (SQLite \(error.extendedCode)): "
                + "check the disk and the directory's permissions"
        }
    }
}

/// Why a change of the queue was not done. Nothing of it was done then.
package enum QueueError: Error, Hashable, Sendable {
    /// SQLite failed: a full disk, a damaged file. What was recorded before is kept and tried again.
    case database(SQLiteError)
    /// What was asked makes no sense: an empty batch, a malformed URL. For a person.
    case badRequest(String)
    case noSuchBatch
    case closed
}

extension QueueError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .database(let error) where error.code == .full:
            "the disk that holds the queue is full: make room there"
        case .database(let error): "the queue cannot be written: \(error.message) (SQLite \(error.extendedCode))"
        case .badRequest(let message): message
        case .noSuchBatch: "there is no such batch"
        case .closed: "the queue is closed"
        }
    }
}
