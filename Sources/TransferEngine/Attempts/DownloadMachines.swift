import TransferModel
import TransferProtocols
import TransferQueue

/// Chooses the protocol that fetches a file, by the URL's scheme.
extension BatchContext {
    /// `nil`: there is no such address.
    /// - Parameter verify: how the file is checked; of what is fetched for another purpose not as the order says.
    func downloadMachine(
        _ place: RemotePlace, name: RawPath?, verify: VerificationWish?, ifChanged: ChangedSourcePolicy,
        expects: TransferDigest?, facts: HostFacts, resume: GetResumePoint?
    ) -> (any ProtocolMachine)? {
        switch place.address {
        case .http(let address):
            var plan = GetPlan(
                address: address, name: name, verify: verify, expects: expects, resume: resume)
            plan.ifChanged = ifChanged
            return GetDownload(plan)
        case .ftp(let address):
            var plan = FTPDownloadPlan(
                host: address.server, path: address.path, name: name, verify: verify, expects: expects,
                facts: facts, resume: resume)
            plan.ifChanged = ifChanged
            return FTPDownload(plan)
        case .s3(let address):
            var plan = GetPlan(
                object: address, facts: facts, name: name, verify: verify, expects: expects,
                resume: resume)
            plan?.ifChanged = ifChanged
            return plan.map { GetDownload($0) }
        case .sftp(let host, let port, let path):
            var plan = SFTPDownloadPlan(
                host: RemotePlace.server(host, port), path: path, name: name, verify: verify,
                expects: expects, resume: resume)
            plan.ifChanged = ifChanged
            return SFTPDownload(plan)
        }
    }
}
