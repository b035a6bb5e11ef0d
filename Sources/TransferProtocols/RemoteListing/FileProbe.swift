package import TransferModel

/// Asks a server for one file by its own name, whatever the list of its folder says: lists leave names out (FTP servers hide dot files), and
/// show them in another case or normal form than they were sent in. Nothing is changed there. Found is the file, as the server tells of it;
/// `nil` when it has finished: the server says that there is none.
package typealias FileProbe = Inquiry<RemoteEntry?>

extension Inquiry where Found == RemoteEntry? {
    package init(_ inquirer: any Inquirer<RemoteEntry?>) { self.init(inquirer, found: nil) }
}

extension TransferError {
    static func unaskable(_ host: String) -> TransferError {
        TransferError(
            .unsupported, "\(host) cannot be asked for a file by its name", .step("look there whether it has arrived"))
    }
}
