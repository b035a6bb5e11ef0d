import CommandLine
import Configuration
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
    }

    /// A folder that its server does not list.
    struct UnlistedFolder: Codable, Sendable {
        var destination: String
        var message: String
    }

    /// Files in folders that were listed.
    var compared: Int64 { files - unlistedFiles }
    private var unlistedFiles: Int64 = 0

    private enum CodingKeys: CodingKey { case id, files, found, folders, unsent, absent, unlisted, readBack }

    init(id: String) { self.id = id }

    var isWhole: Bool {
        guard unsent == 0, absent.isEmpty, readBack.map({ $0.same == $0.files }) ?? true else { return false }
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
        (read.files, read.same, read.bytes) = (progress.files, progress.same, progress.bytes)
        read.unread += progress.findings.filter { $0.error.code != .notThere }
        readBack = read
        absent += progress.findings.filter { $0.error.code == .notThere }
    }
}

extension Front {
    /// Is all of it there, now? One line for each file that is not, and one for each ID.
    func verify(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        var status = ExitStatus.done
        var failure: CommandFailure?
        for id in invocation.operands(as: .node) {
            do {
                if try await !verify(id, invocation) { status = .refused }
            } catch {
                // The others are looked at all the same; what is unknown counts more than what is refused.
                if let before = failure { console.note((before.status == .noSuchObject ? error : before).message) }
                failure = failure?.status == .noSuchObject ? failure : error
            }
        }
        if let failure { throw failure }
        return status
    }

    /// - Returns: whether all of it is there.
    private func verify(_ id: NodeID, _ invocation: Invocation) async throws(CommandFailure) -> Bool {
        let json = invocation.has(CommonOptions.json)
        let kept = VerifiedSoFar(id)
        try await ask(takesItsTime: true) { engine throws(RequestError) in
            let total = try await engine.verify(id) { folder in
                kept.verified.add(folder)
                if json { return }
                console.clearProgress()
                for file in folder.absent { console.line(line(file, of: id)) }
                if let message = folder.unlisted { console.line("\(folder.destination): \(message)") }
                console.progress("\(id): \(kept.verified.found) of \(kept.verified.files) so far")
            }
            kept.verified.unsent = max(0, total - kept.verified.files)
        }
        if invocation.has(MartletProgram.readBack) { try await readBack(id, kept, json) }
        console.clearProgress()
        let verified = kept.verified
        if json { console.json(verified) } else { console.line("\(id): \(sentence(verified, id))") }
        return verified.isWhole
    }

    private func readBack(_ id: NodeID, _ kept: VerifiedSoFar, _ json: Bool) async throws(CommandFailure) {
        try await ask(takesItsTime: true) { engine throws(RequestError) in
            try await engine.readBack(id) { progress in
                kept.verified.add(progress)
                if json { return }
                if !progress.findings.isEmpty { console.clearProgress() }
                for file in progress.findings { console.line(line(file, of: id)) }
                let read = console.units.size(progress.bytes)
                console.progress(
                    "\(id): read \(read) back, \(progress.same) of \(progress.files) files the same so far")
            }
        }
    }

    /// With the commands that mend it, where the batch is known.
    private func line(_ file: AbsentTask, of id: NodeID) -> String {
        let batch: BatchID? =
            switch id {
            case .batch(let batch), .folder(let batch, _): batch
            case .task: nil
            }
        let advice = batch.map { "'martlet set \($0) --if-exists replace', then 'martlet retry \(file.task)'," }
        let message = file.error.message.replacing(
            TransferError.replaceAdvice, with: advice ?? TransferError.replaceAdvice)
        return "\(file.task) \(file.path): \(message)"
    }

    private func sentence(_ verified: Verified, _ id: NodeID) -> String {
        if verified.folders == 0 { return "nothing of it was completed, so nothing is at the server" }
        let listed = ListedFiles(found: verified.found, of: verified.compared).sentence ?? "nothing could be compared"
        let read = verified.readBack.map {
            "; read back (\(console.units.size($0.bytes))), \($0.same) of \($0.files) are byte for byte as they were sent"
        }
        let counts = listed + (read ?? "")
        if verified.isWhole { return counts }
        let unlisted = verified.unlisted.count
        let rest: [String?] = [
            verified.unsent == 0 ? nil : "\(verified.unsent) not sent: see 'martlet why \(id)'",
            unlisted == 0
                ? nil
                : "\(unlisted) \(unlisted == 1 ? "folder" : "folders") could not be listed (\(verified.files - verified.compared) files)",
            verified.readBack.flatMap { $0.unread.isEmpty ? nil : "\($0.unread.count) could not be read" },
            verified.absent.isEmpty ? nil : "'martlet retry \(id)' sends again what is missing",
        ]
        return ([counts] + rest.compactMap(\.self)).joined(separator: "; ")
    }
}

/// The result so far, while the answers come in. On the command's own task.
private final class VerifiedSoFar {
    var verified: Verified
    init(_ id: NodeID) { verified = Verified(id: id.description) }
}
