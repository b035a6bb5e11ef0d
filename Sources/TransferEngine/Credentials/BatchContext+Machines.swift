import TransferModel
import TransferProtocols
import TransferQueue

/// Has the protocol of a place make the machine that sends or fetches a file.
extension BatchContext {
    /// The machine for a file below the destination; an empty path is the destination itself. `nil`: there is no such address.
    func uploadMachine(
        _ subject: UploadSubject, below remote: RawPath, facts: HostFacts, resume: ResumePoint?
    ) -> (any ProtocolMachine)? {
        guard let destination, let place = destination.appending(remote) else { return nil }
        var subject = subject
        subject.contentType = order.secrets.headers.first(where: \.isContentType)?.value
        return place.upload(
            UploadJob(
                destination: destination.address, path: remote, subject: subject, facts: facts, resume: resume,
                options: order.options, headers: order.secrets.headers, formFields: order.secrets.formFields))
    }
}
