package import TransferModel
import WireOperations

/// Lists one folder at a server, whatever the protocol: the names in it with what the server says of each. Nothing is changed there.
///
/// Over HTTP and FTP the entries come out of the exchange (`ListingReader`), over SFTP by `listed`. Finished means that all of them came.
package struct RemoteListing: ProtocolMachine {
    /// The folder.
    package enum Place: Hashable, Sendable {
        /// - Parameter isCloud: Nextcloud or ownCloud, which keeps checksums.
        case dav(HTTPAddress, isCloud: Bool)
        /// All keys that begin so, without those below a further slash.
        case s3(S3Address, HostFacts)
        case ftp(host: String, RawPath)
        case sftp(host: String, RawPath)
    }

    private enum State {
        /// Next: `asking`, `over`.
        case ready
        /// One request for all of it, or a page of it. Next: itself (the next page), `over`.
        case asking(ExchangeID)
        /// SFTP only: the folder is opened. Next: `reading`, `over`.
        case opening(ExchangeID)
        /// SFTP only: names of the open folder are read. Next: itself, `over`.
        case reading(ExchangeID, SFTPHandle)
        /// The last action was said.
        case over
    }

    /// Pages of a bucket in a row that bring nothing and lead on: more is a server that never ends.
    private static let mostEmptyPages = 100

    private let place: Place
    private var state = State.ready
    private var lastID = 0
    private var channel: S3Channel?
    private var token: String?
    /// Pages that were taken, and the token of one of them: whoever leads round in a circle comes by it again.
    private var pages = 0
    private var landmark: String?
    private var emptyPages = 0
    /// There is no such folder: nothing is in it.
    package private(set) var isMissing = false

    package init(_ place: Place) {
        self.place = place
        if case .s3(let address, let facts) = place { channel = S3Channel(address, facts) }
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began): return begin()
        case (.asking(let id), .ended(let ended, let end)) where ended == id: return answered(end)
        case (.asking(let id), .ftpEnded(let ended, let end)) where ended == id: return answered(end)
        case (.opening(let id), .sftpEnded(let ended, let end)) where ended == id: return opened(end)
        case (.reading(let id, let handle), .sftpEnded(let ended, let end)) where ended == id:
            return read(end, handle)
        default: return []
        }
    }

    private mutating func begin() -> [ProtocolAction] {
        switch place {
        case .dav(let folder, let isCloud): return ask(DavMessages.list(folder, asksChecksums: isCloud))
        case .s3: return askPage()
        case .ftp(_, let folder): return ask(.ftp(.list(folder)))
        case .sftp(_, let folder):
            lastID += 1
            state = .opening(ExchangeID(rawValue: lastID))
            return [.perform(ExchangeID(rawValue: lastID), .sftp(.openFolder(folder)))]
        }
    }

    private mutating func ask(_ exchange: Exchange) -> [ProtocolAction] {
        lastID += 1
        state = .asking(ExchangeID(rawValue: lastID))
        return [.perform(ExchangeID(rawValue: lastID), exchange)]
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }

    private mutating func done() -> [ProtocolAction] { over(.finish(.removed)) }

    private mutating func missing() -> [ProtocolAction] {
        isMissing = true
        return done()
    }

    // MARK: HTTP

    private mutating func answered(_ end: ExchangeEnd) -> [ProtocolAction] {
        switch place {
        case .dav(let folder, _): return davAnswered(end, folder)
        case .s3: return pageAnswered(end)
        case .ftp, .sftp: return []
        }
    }

    private mutating func davAnswered(_ end: ExchangeEnd, _ folder: HTTPAddress) -> [ProtocolAction] {
        let host = folder.server
        guard let answer = end.answer else {
            return over(DavFinding.unanswered(end, host).refusal ?? .fail(.unlistable(host)))
        }
        switch answer.status {
        case 207 where end.failure == nil && end.listing?.isWhole == true: return done()
        // It broke off on the way, or was no list.
        case 207: return over(.wait(WaitDemand(.backoff, end.failure?.error ?? .noListing(host))))
        case 404, 410: return missing()
        case 200..<300, 405, 501: return over(.fail(.unlistable(host)))
        default:
            let meaning = AnswerMeaning.dav(answer, host: host, hasAccepted: false, at: end.at)
            return over(meaning.refusal ?? .fail(.unlistable(host)))
        }
    }

    // MARK: S3

    private mutating func askPage() -> [ProtocolAction] {
        guard case .s3(let address, _) = place else { return [] }
        var query = ""
        if let token { query += "continuation-token=" + PercentEncoding.encode(Array(token.utf8)) + "&" }
        query += "delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix="
        query += PercentEncoding.encode(address.key.bytes)
        guard var exchange = channel?.bucketExchange(query: query) else {
            return over(.fail(.noRegion(address.place.region ?? "")))
        }
        let slash = UInt8(ascii: "/")
        let end = address.key.bytes.lastIndex(of: slash).map { $0 + 1 } ?? 0
        exchange.sink = .listing(.bucket(prefix: RawPath(Array(address.key.bytes[..<end]))))
        return ask(.http(exchange))
    }

    private mutating func pageAnswered(_ end: ExchangeEnd) -> [ProtocolAction] {
        // Without a channel nothing was asked.
        guard var channel else { return [] }
        let verdict = channel.judge(end, lesson: channel.lessons, hasAccepted: false)
        self.channel = channel
        switch verdict {
        case .success:
            guard end.failure == nil, let listing = end.listing, listing.isWhole else {
                return over(.wait(WaitDemand(.backoff, end.failure?.error ?? .noListing(channel.host))))
            }
            guard let next = listing.next else { return done() }
            emptyPages = listing.isEmpty ? emptyPages + 1 : 0
            pages += 1
            // A page that leads nowhere, or back, would be asked for again and again.
            guard next != token, next != landmark, emptyPages < Self.mostEmptyPages else {
                return over(.fail(.endlessListing(channel.host)))
            }
            // A power of two: sooner or later it lies in the circle, and is far enough away for all of it.
            if pages.nonzeroBitCount == 1 { landmark = next }
            token = next
            return askPage()
        case .again(let learnt): return (learnt.map { [.learned($0)] } ?? []) + askPage()
        case .silent(let error, _): return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        case .refused(let refusal):
            if refusal.code == "NoSuchKey" { return missing() }
            switch refusal.decision {
            case .wait(let demand): return over(.wait(demand))
            case .fail(let error): return over(.fail(error))
            }
        }
    }

    // MARK: FTP

    private mutating func answered(_ end: FTPEnd) -> [ProtocolAction] {
        guard case .ftp(let host, _) = place else { return [] }
        if end.isUnknownCommand { return over(.fail(.unlistable(host))) }
        if end.isMissing, !end.isForbidden { return missing() }
        guard end.isDone else { return over(FTPMeaning(end, host: host, hasAccepted: false).action) }
        return end.listing?.isWhole == true ? done() : over(.fail(.noListing(host)))
    }

    // MARK: SFTP

    private mutating func opened(_ end: SFTPEnd) -> [ProtocolAction] {
        guard case .sftp(let host, _) = place else { return [] }
        if let broken = end.brokenOff { return over(broken) }
        if let (status, text) = end.refusal {
            if status == .noSuchFile { return missing() }
            return over(SFTPMeaning.action(status, text, .list, host: host, hasAccepted: false))
        }
        guard case .opened(let handle)? = end.reply else { return over(SFTPMeaning.odd(host: host)) }
        return next(handle)
    }

    private mutating func next(_ handle: SFTPHandle) -> [ProtocolAction] {
        lastID += 1
        state = .reading(ExchangeID(rawValue: lastID), handle)
        return [.perform(ExchangeID(rawValue: lastID), .sftp(.readFolder(handle)))]
    }

    private mutating func read(_ end: SFTPEnd, _ handle: SFTPHandle) -> [ProtocolAction] {
        guard case .sftp(let host, _) = place else { return [] }
        if let broken = end.brokenOff { return over(broken) }
        if let (status, text) = end.refusal {
            // What is open is closed with the machine's end.
            if status == .endOfFile { return done() }
            return over(SFTPMeaning.action(status, text, .list, host: host, hasAccepted: false))
        }
        guard case .names(let names)? = end.reply else { return over(SFTPMeaning.odd(host: host)) }
        let entries = names.compactMap(RemoteEntry.init)
        emptyPages = entries.isEmpty ? emptyPages + 1 : 0
        guard emptyPages < Self.mostEmptyPages else { return over(.fail(.endlessListing(host))) }
        return [.listed(entries)] + next(handle)
    }
}

extension RemoteEntry {
    /// `nil` for the folder itself, the one above it, and what no file can be called.
    fileprivate init?(_ found: SFTPName) {
        guard Self.isName(found.name.bytes) else { return nil }
        let attributes = found.attributes
        let size = attributes.size.map { FileSize.isPossible($0) ? Size.bytes($0) : .impossible }
        self.init(
            found.name, size: size ?? .unknown, isFolder: attributes.isFolder,
            modified: attributes.modified.map { Timestamp(seconds: $0) })
    }
}

extension TransferError {
    /// The server has no list of a folder to give.
    static func unlistable(_ host: String) -> TransferError {
        TransferError(.unsupported, "\(host) does not list folders: look there whether all of it has arrived")
    }

    /// An answer that is no list, or not the whole of one.
    static func noListing(_ host: String) -> TransferError {
        TransferError(
            .badServerResponse, "\(host) answered with what is no list of a folder: 'martlet verify' asks again")
    }

    /// Pages that lead on and bring nothing.
    static func endlessListing(_ host: String) -> TransferError {
        TransferError(.unsupported, "\(host) lists a folder without end: look there whether all of it has arrived")
    }
}
