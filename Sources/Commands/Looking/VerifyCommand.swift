import CommandLine
import Configuration
import MartletKit

/// `martlet verify`: is all of it there, now? One line for each file that is not, and one for each ID.
struct VerifyCommand: EngineCommand {
    let context: CommandContext

    static let readBack = Option.flag(
        "read-back", "also read every file at the server and compare its SHA-256 with what was sent")

    static let command = Command(
        "verify", "is all of it there, now? lists the remote folders and compares",
        details: [
            "Lists each folder that files were sent to once, by SFTP, FTP (MLSD), WebDAV, Nextcloud or S3, and compares names, sizes and the "
                + "digests that the listing has; of batches that are finished, too. Prints one line for each file that is missing or "
                + "another one, and one for each ID. Such a file fails with the code notThere, and 'martlet retry' sends it again; "
                + "a file that somebody else has put there is replaced only with --if-exists replace.",
            "The status is 0 when all is there, 1 when something is not or nobody can say it, 3 when an ID is unknown. Once, after the last "
                + "file of a folder, this is done without being asked, unless --verify none was given.",
            "With --read-back every completed file is downloaded as well (from the servers named above), and its SHA-256 compared with that of what was sent: the one that "
                + "was kept, else that of the source, if it has not changed since. A file that is the same counts as verified by its digest "
                + "from then on; one that is missing or another one fails with notThere; one that cannot be read stays as it is, and the "
                + "status is 1. What --if-exists skip left in its place is not read.",
        ],
        operands: [Operand(ValueSyntax<NodeID>.node, .oneOrMore)],
        groups: [OptionGroup("How far", [readBack]), CommonOptions.output],
        examples: [
            .init(line: "martlet verify b7", effect: "Look whether all files are there"),
            .init(line: "martlet verify b7 --read-back", effect: "Compare every byte before the originals are deleted"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
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
        try await ask(answersLate: true) { engine throws(RequestError) in
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
        if invocation.has(Self.readBack) {
            do {
                try await readBack(id, kept, json)
            } catch {
                // Findings from before it count all the same, and stand in the object alone.
                console.clearProgress()
                kept.verified.readBack = kept.verified.readBack ?? Verified.ReadFiles()
                kept.verified.readBack?.brokenOff = error.message
                if json { console.json(kept.verified) }
                throw error
            }
        }
        console.clearProgress()
        let verified = kept.verified
        if json { console.json(verified) } else { console.line("\(id): \(sentence(verified, id))") }
        return verified.isWhole
    }

    private func readBack(_ id: NodeID, _ kept: VerifiedSoFar, _ json: Bool) async throws(CommandFailure) {
        try await ask(answersLate: true) { engine throws(RequestError) in
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
        let message = file.error.finding.message { command in
            command == .replace ? advice ?? command.text : command.text
        }
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
            verified.unsent == 0 ? nil : "\(verified.unsent) not sent: see '\(AdvisedCommand("why", [id]).text)'",
            unlisted == 0
                ? nil
                : "\(unlisted) \(unlisted == 1 ? "folder" : "folders") could not be listed (\(verified.files - verified.compared) files)",
            verified.readBack.flatMap { $0.unread.isEmpty ? nil : "\($0.unread.count) could not be read" },
            verified.readBack.map { $0.untold(besides: verified.readAbsent) }.flatMap {
                $0 == 0
                    ? nil
                    : "\($0) more differ or could not be read, and are not named here: see '\(AdvisedCommand("list", [id]).text)'"
            },
            verified.absent.isEmpty ? nil : "'\(AdvisedCommand.retry(id).text)' sends again what is missing",
        ]
        return ([counts] + rest.compactMap(\.self)).joined(separator: "; ")
    }
}

/// The result so far, while the answers come in. On the command's own task.
private final class VerifiedSoFar {
    var verified: Verified
    init(_ id: NodeID) { verified = Verified(id: id.description) }
}
