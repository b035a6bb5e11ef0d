package import TransferModel

/// A server that has served nothing for a while, and a batch that waits for it.
package struct HostTrouble: Sendable, Hashable {
    package struct Place: Sendable, Hashable {
        package var batch: BatchID
        /// As `LaneSummary.origin`.
        package var origin: String

        package init(batch: BatchID, origin: String) { (self.batch, self.origin) = (batch, origin) }

        /// Its host, and the port where that is not the scheme's own.
        package var server: String { TransferScheme.server(of: origin) }
    }

    package var place: Place
    /// The first attempt that it did not serve.
    package var since: Timestamp
    /// When it is tried next; `nil`: now, or soon.
    package var retryAt: Timestamp?
    /// The last error that was heard of it.
    package var error: TransferError
    /// All of the batch leads there.
    package var isWhole: Bool
    /// Files of the batch that stand in line for it or feel for it; those that wait for their own next try are not among them.
    package var files: Int64
    /// It answers, and said how long to stay away.
    package var isAskedPause: Bool

    package init(
        place: Place, since: Timestamp, retryAt: Timestamp? = nil, error: TransferError, isWhole: Bool, files: Int64,
        isAskedPause: Bool = false
    ) {
        self.place = place
        self.since = since
        self.retryAt = retryAt
        self.error = error
        self.isWhole = isWhole
        self.files = files
        self.isAskedPause = isAskedPause
    }

    /// Nobody knows a server of that name: a person has to see to it, though it is tried again by itself.
    package var isUnknownName: Bool { error.code == .cannotFindHost }

    /// Troubles that a person takes for one have the same: a name that nobody knows, whatever its port; else a server and what it does.
    package var cause: [String] {
        isUnknownName ? [error.happening] : [place.server, isAskedPause ? "" : error.code.rawValue]
    }

    /// A pause that a server asks for is none of its faults.
    package var finding: Finding {
        isAskedPause ? Finding("\(error.happening) and asked for a pause") : error.finding
    }

    package var happening: String { finding.happening }
}
