import CommandLine
import MartletKit

/// What came of `verify`, for one ID: with `--json` one object.
struct Verified: Codable, Sendable {
    var id: String
    var files: Int64 = 0
    var found: Int64 = 0
    var folders: Int64 = 0
    var absent: [AbsentTask] = []
    var unlisted: [UnlistedFolder] = []

    /// A folder that its server does not list.
    struct UnlistedFolder: Codable, Sendable {
        var destination: String
        var message: String
    }

    var isWhole: Bool { found == files && unlisted.isEmpty }

    mutating func add(_ folder: VerifiedFolder) {
        folders += 1
        files += folder.files
        found += folder.found
        absent += folder.absent
        if let message = folder.unlisted {
            unlisted.append(UnlistedFolder(destination: folder.destination, message: message))
        }
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
            try await engine.verify(id) { folder in
                kept.verified.add(folder)
                if json { return }
                console.clearProgress()
                for file in folder.absent { console.line("\(file.task) \(file.path): \(file.error.message)") }
                if let message = folder.unlisted { console.line("\(folder.destination): \(message)") }
                console.progress("\(id): \(kept.verified.found) of \(kept.verified.files) so far")
            }
        }
        console.clearProgress()
        let verified = kept.verified
        if json { console.json(verified) } else { console.line("\(id): \(sentence(verified, id))") }
        return verified.isWhole
    }

    private func sentence(_ verified: Verified, _ id: NodeID) -> String {
        if verified.folders == 0 { return "nothing of it was completed, so nothing is at the server" }
        let listed = ListedFiles(found: verified.found, of: verified.files)
        let counts = listed.sentence ?? "no files"
        let missing = verified.files - verified.found
        if verified.isWhole { return counts }
        if missing > 0, verified.unlisted.isEmpty { return "\(counts): 'martlet retry \(id)' sends the rest again" }
        return "\(counts): of \(verified.unlisted.count) folders nobody can say it"
    }
}

/// What is known while the answers come in. On the command's own task.
private final class VerifiedSoFar {
    var verified: Verified
    init(_ id: NodeID) { verified = Verified(id: id.description) }
}
