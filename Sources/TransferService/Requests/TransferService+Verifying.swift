import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Checks that sent files are there, now: a folder of a batch at a time, so that whoever asks sees how far it is and may go away.
extension TransferService {
    func verify(_ request: VerifyRequest, for client: ServiceClient) async throws -> VerifyAnswer {
        let found: FolderToVerify
        switch try await queue.writer.folderToVerify(request.id, after: request.after) {
        case .unknown:
            throw RequestError(.noSuchObject, "there is no \(request.id): \(quoted: .list) shows what there is")
        case .refused(let message): throw RequestError(.refused, message)
        case .none: return VerifyAnswer(folder: nil, next: nil, total: try await files(of: request.id))
        case .folder(let folder): found = folder
        }
        let only: TaskID? = if case .task(let id) = request.id { id } else { nil }
        let verification = try await ask(.verification, for: client) { [engine] in
            try await engine.verify(found.look, only: only)
        }
        let absent = try await queue.reader.absentTasks(in: found.look.folder, only: only, limit: 1000)
        let missing = try await queue.reader.absentFiles(in: found.look.folder, only: only)
        // Files that were completed meanwhile were compared by nobody.
        let files =
            verification.error == nil
            ? verification.listed : try await queue.reader.completedFiles(in: found.look.folder, only: only)
        return VerifyAnswer(
            folder: VerifiedFolder(
                destination: found.destination, files: files + missing, found: verification.listed, absent: absent,
                unlisted: verification.error?.message),
            next: only == nil ? found.look.folder.rawValue : nil, total: only == nil ? nil : 1)
    }

    /// Files of a node, whatever became of them.
    private func files(of node: NodeID) async throws -> Int64 {
        guard let row = try await queue.reader.row(of: node) else { return 0 }
        return try await queue.reader.row(row)?.counts.total ?? 0
    }
}
