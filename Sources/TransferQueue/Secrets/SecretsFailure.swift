import Glibc
package import LinuxSystem
package import SQLiteConnection
import TransferModel

/// Reasons why `secrets.sqlite` could not be read or written. It never speaks of the queue, which is another file and may be well.
package enum SecretsFailure: Error, Hashable, Sendable {
    /// Damaged, or something else than a store of secrets.
    case corrupt(file: String, detail: String)
    /// The file that is open has lost its name: it was deleted or replaced.
    case gone(file: String)
    case untrusted(Untrusted)
    case database(SQLiteError, file: String)
    /// JSON that cannot be written, which is our bug, or the system's refusal.
    case other(String)

    init(_ error: any Error, file: RawPath) {
        switch error {
        case let error as SecretsFailure: self = error
        case let error as SQLiteError where error.code == .corrupt || error.code == .notADatabase:
            self = .corrupt(file: file.displayed, detail: error.message)
        case let error as SQLiteError: self = .database(error, file: file.displayed)
        case let error as Untrusted: self = .untrusted(error)
        case QueueOpenError.untrusted(let error): self = .untrusted(error)
        default: self = .other("\(error)")
        }
    }

    /// The disk has no room for it.
    package var isFullDisk: Bool {
        if case .database(let error, _) = self { return error.lacksRoom }
        return false
    }
}

extension SecretsFailure: CustomStringConvertible {
    package var description: String { finding.message }

    var finding: Finding {
        let waits = "then work that needs a password or token waits until 'martlet set' gives it again"
        return switch self {
        case .corrupt(let file, let detail):
            Finding(
                "\(file) is damaged (\(detail)); the queue is another file and stays where it is",
                .step("restore \(file) from a backup, or move it out of the way: \(waits)"))
        case .gone(let file):
            Finding(
                "\(file) was deleted or replaced while the engine runs",
                .step("put it back, or run 'martlet engine stop'; \(waits)"))
        case .untrusted(let error): Finding("\(error)")
        case .database(let error, let file) where error.lacksRoom:
            Finding(error.lackOfRoom(for: file), .step("make room there"))
        case .database(let error, let file):
            Finding(
                "\(file) cannot be used: \(error.message) (SQLite \(error.extendedCode))",
                .step("check the disk and its permissions"))
        case .other(let what):
            Finding("the secrets are out of reach: \(what)", .step("check the disk and its permissions"))
        }
    }
}

/// The identity of the file that a path led to when it was opened.
struct FileMark: Sendable, Hashable {
    private let device: UInt64
    private let inode: UInt64

    init(_ path: RawPath) throws(Errno) { self.init(try System.stat(path.bytes)) }

    init(_ status: FileStatus) { (device, inode) = (status.device, status.inode) }

    /// Returns true while the path leads to the same file.
    func isStill(at path: RawPath) -> Bool { (try? FileMark(path)) == self }
}
