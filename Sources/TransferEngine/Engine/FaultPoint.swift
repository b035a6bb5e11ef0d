import LinuxSystem

/// A point at which `MARTLET_FAULT=engine.NAME:N` kills a debug build: one after each persisted step.
enum FaultPoint: String, CrashPoint {
    /// Tasks are claimed, nothing is sent.
    case claimed
    /// An attempt's first request is about to go out.
    case started
    /// The server has answered, nothing of that is recorded.
    case answered
    /// A resume point is on the disk.
    case persisted
    /// Payload is synced, its resume point not yet recorded.
    case synced
    /// A download is complete under its temporary name, and that is recorded.
    case publishing
    /// It has its final name, and that is not recorded.
    case renamed
    /// The end of a task is handed to the queue, perhaps not committed.
    case finished
    /// Entries of a directory are in the queue.
    case walked

    static let program = "engine"
}
