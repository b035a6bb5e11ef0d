import Digests
import FoundationEssentials
import TransferModel
import TransferProtocols
import TransferQueue

/// Which protocol sends a file: by the destination's scheme, what was said by hand, what the host can, and what an earlier attempt left there.
extension BatchContext {
    /// The machine for a file below the destination; an empty path is the destination itself. `nil`: there is no such address.
    func uploadMachine(
        _ subject: UploadSubject, below remote: RawPath, facts: HostFacts, resume: ResumePoint?
    ) -> (any ProtocolMachine)? {
        guard let address = destination?.appending(remote) else { return nil }
        return PutUpload(
            PutPlan(
                address: address, size: subject.size, ifExists: subject.ifExists, verify: subject.verify,
                begunBefore: subject.begunBefore, resume: stored(resume)))
    }

    /// What an earlier version of the source has left, when it has.
    private func stored(_ resume: ResumePoint?) -> PutResumePoint? {
        resume?.content(PutResumePoint.self).flatMap { $0.stored ? $0 : nil }
    }
}

extension ClaimedTask {
    /// Names what is at the server of it: 32 hexadecimal digits.
    var token: String { withUnsafeBytes(of: uuid.uuid) { Hexadecimal.encode(Array($0)) } }
}
