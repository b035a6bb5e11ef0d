import TransferModel

/// Lists one folder at a server: the names in it with what the server says of each. Nothing is changed there.
///
/// Over HTTP and FTP the entries come out of the exchange (`ListingReader`), over SFTP by `listed`. Finished means that all of them came.
package typealias RemoteListing = Inquiry<ListedFolder>

/// The findings about a folder beside its entries.
package struct ListedFolder: Hashable, Sendable {
    /// Answers in a row that may bring no name: more is a server that never ends.
    static let mostEmptyPages = 100

    /// There is no such folder: nothing is in it.
    package var isMissing = false
}

extension Inquiry where Found == ListedFolder {
    package init(_ inquirer: any Inquirer<ListedFolder>) { self.init(inquirer, found: ListedFolder()) }
}

extension InquiryStep {
    /// There is no such folder.
    static func missing(_ found: inout ListedFolder) -> InquiryStep {
        found.isMissing = true
        return .done
    }
}

extension TransferError {
    /// The server has no list of a folder to give.
    static func unlistable(_ host: String) -> TransferError {
        TransferError(.unsupported, "\(host) does not list folders", .step("look there whether all of it has arrived"))
    }

    /// An answer that is no list, or not the whole of one.
    static func noListing(_ host: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) answered with what is no list of a folder",
            .step("'martlet verify ID' asks again"))
    }

    /// Pages that lead on and bring nothing.
    static func endlessListing(_ host: String) -> TransferError {
        TransferError(
            .unsupported, "\(host) lists a folder without end", .step("look there whether all of it has arrived"))
    }
}
