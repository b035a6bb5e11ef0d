import DisplayText
import MartletKit

/// The result so far of asking servers for files that were sent to them.
struct VerifyNews: Hashable, Sendable {
    /// Files that were looked for.
    var files: Int64 = 0
    /// Files that are listed as they were sent.
    var found: Int64 = 0
    /// Files that are not over, or failed or were cancelled before they were there.
    var unsent: Int64 = 0
    /// Folders that their server does not list.
    var unlisted = 0
    /// Files in them.
    var unlistedFiles: Int64 = 0
    /// The reason why something could not be compared: the first one only.
    var reason: String?
    /// `nil`: their bytes were not asked for.
    var read: Read?
    /// Files that are missing or other ones.
    var absent = 0
    /// The reason why nothing more can be said.
    var refusal: RequestError?
    var isOver = false

    /// Files that are read at their servers.
    struct Read: Hashable, Sendable {
        var files: Int64 = 0
        /// Every byte of these is as it was sent.
        var same: Int64 = 0
        var bytes: Int64 = 0
    }

    mutating func add(_ folder: VerifiedFolder) {
        ByteSum.add(folder.files, to: &files)
        ByteSum.add(folder.found, to: &found)
        absent += folder.absent.count
        guard let message = folder.unlisted else { return }
        unlisted += 1
        ByteSum.add(folder.files, to: &unlistedFiles)
        reason = reason ?? message
    }

    /// - Parameter before: what was read of other nodes.
    mutating func add(_ progress: ReadBackProgress, to before: Read) {
        read = Read(
            files: ByteSum.of([before.files, progress.files]), same: ByteSum.of([before.same, progress.same]),
            bytes: ByteSum.of([before.bytes, progress.bytes]))
        absent += progress.findings.count { $0.error.code == .notThere }
        reason = reason ?? progress.findings.first { $0.error.code != .notThere }?.error.message
    }

    var isWhole: Bool {
        guard refusal == nil, absent == 0, unsent == 0, read.map({ $0.same == $0.files }) ?? true else { return false }
        // A folder that cannot be listed says nothing against files whose every byte was read.
        return unlisted == 0 ? found == files : read?.files == files
    }
}
