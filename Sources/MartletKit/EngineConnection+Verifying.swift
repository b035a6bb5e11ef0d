public import TransferModel
import ServiceWire

extension EngineConnection {
    /// Has the server of a batch, folder or task list what was sent there, one folder after the other. What is not there as it was sent fails
    /// `notThere`, and a retry sends it again.
    /// - Parameter take: gets each folder when its server has answered.
    public nonisolated func verify(
        _ id: NodeID, take: (VerifiedFolder) -> Void
    ) async throws(RequestError) {
        var after: Int64?
        repeat {
            let answer = try await call(Methods.nodesVerify, VerifyRequest(id: id, after: after))
            if let folder = answer.folder { take(folder) }
            after = answer.next
        } while after != nil
    }
}
