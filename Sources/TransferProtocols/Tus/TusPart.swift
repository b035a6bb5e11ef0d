import TransferModel

/// One upload resource at a tus server, which holds a range of the source, and where it stands in this attempt.
struct TusPart: Sendable {
    enum State: Hashable, Sendable {
        /// Not at the server. Next: `creating`.
        case unmade
        /// Its creation is under way, with the first bytes in it or none. Next: `unmade` (redirect), `standing`, `unknown`, `full`, `stopped`.
        case creating(ExchangeID, body: Range<Int64>)
        /// It is there; how much of it is not known. Next: `asking`.
        case unknown
        /// The server is asked. Next: `unknown` (redirect), `resting`, `standing`, `full`, `unmade` (gone), `stopped`.
        case asking(ExchangeID)
        /// Locked or cut: it is asked after in a moment. Next: `unknown`.
        case resting
        /// The offset is known, nothing is under way. Next: `hashing`, `appending`.
        case standing
        /// The digest of the next chunk is computed. Next: `appending`.
        case hashing(Range<Int64>)
        /// Bytes are under way, a range of the source. Next: itself by way of `standing`, `unknown`, `resting`, `full`, `unmade`, `stopped`.
        case appending(ExchangeID, Range<Int64>)
        /// The server has all of it.
        case full
        /// Nothing more in this attempt.
        case stopped(WaitDemand)
    }

    /// Range of the source that it holds.
    let range: Range<Int64>
    var state: State
    /// Address of its requests: the endpoint until it is made, then its own address; redirects move it.
    var chain: RedirectChain
    /// The address that the server gave.
    var url: HTTPAddress?
    /// Bytes that the server has, by its last word.
    var held: Int64 = 0
    /// The offset of the last progress that reset `tries`. Machines behind one address that do not know of each other tell now more, now
    /// less: only what goes far enough beyond it (`ProgressRule`) is progress.
    private var best: Int64 = 0
    var cut: UploadCut?
    /// The demand to end with if the server, that refused bytes, turns out to have no more than it had before.
    var refusal: WaitDemand?
    /// Requests in a row that were refused or brought no progress by `ProgressRule`, and chunks in a row that arrived damaged.
    var tries = 0
    var corruptions = 0

    /// One to be made.
    init(_ range: Range<Int64>, endpoint: HTTPAddress) {
        self.range = range
        chain = RedirectChain(endpoint)
        state = .unmade
    }

    /// One of an earlier attempt.
    init(_ part: TusResumePoint.Part, endpoint: HTTPAddress) {
        self.init(part.start..<part.end, endpoint: endpoint)
        guard let url = part.url else { return }
        self.url = url
        chain = RedirectChain(url)
        cut = part.cut
        state = .unknown
    }

    var length: Int64 { range.upperBound - range.lowerBound }

    /// The source's offset of the next byte.
    var position: Int64 { range.lowerBound + held }

    /// The exchange that goes on now.
    var exchange: ExchangeID? {
        switch state {
        case .creating(let id, _), .asking(let id), .appending(let id, _): id
        default: nil
        }
    }

    /// Something will happen to it without anybody's help.
    var isBusy: Bool {
        switch state {
        case .resting, .hashing: true
        default: exchange != nil
        }
    }

    /// Nothing more will happen to it in this attempt.
    var isStopped: Bool {
        if case .stopped = state { return true }
        return false
    }

    /// Neither its address nor its offset can be counted on before what goes on is over.
    var isPreparing: Bool {
        switch state {
        case .unmade, .creating, .unknown, .asking, .resting: true
        default: false
        }
    }

    /// Every byte left us before the connection broke: the server may have finished it, and forgotten it since.
    var wasSentWhole: Bool { cut.map { $0.offset + $0.sent >= length } ?? false }

    mutating func stands(at offset: Int64) {
        if offset == length || ProgressRule.isWorthwhile(offset - best, of: length) {
            best = offset
            tries = 0
            corruptions = 0
        }
        held = offset
        cut = nil
        refusal = nil
        state = offset == length ? .full : .standing
    }

    /// It is gone there: as if it had never been made.
    mutating func forget(endpoint: HTTPAddress) {
        url = nil
        chain = RedirectChain(endpoint)
        (held, best) = (0, 0)
        cut = nil
        refusal = nil
        state = .unmade
    }
}
