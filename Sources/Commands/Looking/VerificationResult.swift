import MartletKit

/// The result of `verify` for one ID: with `--json` one object.
struct Verified: Codable, Sendable {
    var id: String
    var files: Int64 = 0
    var found: Int64 = 0
    var folders: Int64 = 0
    /// Files that are not over, or failed or were cancelled before they were there.
    var unsent: Int64 = 0
    var absent: [AbsentTask] = []
    var unlisted: [UnlistedFolder] = []
    /// The result of `--read-back`; missing where that was not asked.
    var readBack: ReadFiles?

    /// Files that were read at their server.
    struct ReadFiles: Codable, Sendable {
        var files: Int64 = 0
        /// Those of which every byte is as it was sent.
        var same: Int64 = 0
        var bytes: Int64 = 0
        /// Those that nobody can say it of.
        var unread: [AbsentTask] = []
        /// The reason why it ended before all files were read; missing: it did not.
        var brokenOff: String?

        /// Files of which only the number is known: more were found than are told.
        func untold(besides absent: Int) -> Int64 { max(0, files - same - Int64(unread.count + absent)) }
    }

    /// A folder that its server does not list.
    struct UnlistedFolder: Codable, Sendable {
        var destination: String
        var message: String
    }

    /// Files in folders that were listed.
    var compared: Int64 { files - unlistedFiles }
    private var unlistedFiles: Int64 = 0
    /// Those of `absent` that were found by reading.
    private(set) var readAbsent = 0

    private enum CodingKeys: CodingKey { case id, files, found, folders, unsent, absent, unlisted, readBack }

    init(id: String) { self.id = id }

    var isWhole: Bool {
        guard unsent == 0, absent.isEmpty, readBack.map({ $0.same == $0.files && $0.brokenOff == nil }) ?? true else {
            return false
        }
        // A folder that cannot be listed says nothing against files whose every byte was read.
        return unlisted.isEmpty ? found == files : readBack?.files == files
    }

    mutating func add(_ folder: VerifiedFolder) {
        folders += 1
        ByteSum.add(folder.files, to: &files)
        ByteSum.add(folder.found, to: &found)
        absent += folder.absent
        if let message = folder.unlisted {
            unlisted.append(UnlistedFolder(destination: folder.destination, message: message))
            ByteSum.add(folder.files, to: &unlistedFiles)
        }
    }

    mutating func add(_ progress: ReadBackProgress) {
        var read = readBack ?? ReadFiles()
        readAbsent += progress.findings.count { $0.error.code == .notThere }
        (read.files, read.same, read.bytes) = (progress.files, progress.same, progress.bytes)
        read.unread += progress.findings.filter { $0.error.code != .notThere }
        readBack = read
        absent += progress.findings.filter { $0.error.code == .notThere }
    }
}
