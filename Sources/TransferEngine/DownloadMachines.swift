import TransferModel
import TransferProtocols
import TransferQueue

/// Which protocol fetches a file: by the URL's scheme.
extension BatchContext {
    /// `nil`: there is no such address.
    func downloadMachine(
        _ place: RemotePlace, name: RawPath?, expects: TransferDigest?, facts: HostFacts, resume: GetResumePoint?
    ) -> (any ProtocolMachine)? {
        switch place.address {
        case .http(let address):
            return GetDownload(
                GetPlan(address: address, name: name, verify: order.options.verify, expects: expects, resume: resume))
        case .ftp(let address):
            return FTPDownload(
                FTPDownloadPlan(
                    host: address.server, path: address.path, name: name, verify: order.options.verify,
                    expects: expects,
                    facts: facts, resume: resume))
        case .s3(let address):
            return GetPlan(
                object: address, facts: facts, name: name, verify: order.options.verify, expects: expects,
                resume: resume
            ).map { GetDownload($0) }
        case .sftp(let host, let port, let path):
            return SFTPDownload(
                SFTPDownloadPlan(
                    host: RemotePlace.server(host, port), path: path, name: name, verify: order.options.verify,
                    expects: expects, resume: resume))
        }
    }
}
