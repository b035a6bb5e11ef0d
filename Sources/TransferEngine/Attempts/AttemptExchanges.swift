import TransferModel
import TransferProtocols
import WireOperations

/// An exchange that is under way.
struct FlyingExchange {
    /// The machine's name for it.
    let local: ExchangeID
    /// The transports' name for it.
    let wire: WireID
    let carrier: Carrier
    /// Bytes of the source are in it.
    let isPayload: Bool
    /// Bytes of the source that it has sent, as last looked at.
    fileprivate(set) var sent: Int64 = 0
    /// Over SFTP: a file is read back for its digest alone.
    var digest: DigestSink?
    /// Over HTTP: what was asked.
    var request: (method: HTTPExchange.Method, url: HTTPAddress)?
    /// Over HTTP, after a redirect to another server: the login was not shown there.
    var isElsewhere = false

    /// False: it only asks.
    var mayChange: Bool { request.map { !$0.method.isSafe } ?? true }
}

/// A final answer and the beginning of its body, for who asks what the server said.
struct LastAnswer {
    let head: HTTPAnswer
    /// Its beginning, as far as it is told to anybody.
    let body: [UInt8]
    /// There was more of it.
    let isCut: Bool
    /// The request that it answers; `nil`: that was not HTTP.
    let request: (method: HTTPExchange.Method, url: HTTPAddress)?
    /// As `FlyingExchange.isElsewhere`.
    let isElsewhere: Bool

    /// - Parameter exchange: the one that it ended. What is kept of an answer may come into messages and rows, so that it is kept without
    ///   the address of an upload.
    /// - Parameter isCut: there was more of the body.
    init(_ head: HTTPAnswer, body: [UInt8] = [], isCut: Bool = false, to exchange: FlyingExchange) {
        let url = exchange.request?.url
        self.head = url?.redacted(head) ?? head
        // All that is kept is gone through for secrets.
        let told = Array(body.prefix(TransferResponse.longestBody))
        self.isCut = isCut || told.count < body.count
        self.body = url?.redacted(told, of: head, isCut: self.isCut) ?? told
        request = exchange.request
        isElsewhere = exchange.isElsewhere
    }
}

/// The transport that carries an exchange.
enum Carrier {
    case http
    case ftp
    case sftp
}

/// An attempt's exchanges with its server, and what came of them. A value of the attempt.
struct AttemptExchanges {
    private(set) var underWay: [FlyingExchange] = []
    /// Exchanges that have begun, those that ended included.
    private(set) var begun = 0
    private(set) var lastAnswer: LastAnswer?
    /// The least private zone of the servers that have answered.
    private(set) var leastPrivate: AddressZone?
    /// Something that may change what is there has gone out to the server, as far as anybody can tell.
    private(set) var hasReachedServer = false
    /// The token buckets that operations over SFTP draw from.
    var throttle: BucketThrottle?

    /// Bytes of the source that those under way have sent.
    var sent: Int64 { underWay.reduce(0) { $0 + $1.sent } }

    subscript(wire: WireID) -> FlyingExchange? { underWay.first { $0.wire == wire } }
    subscript(local: ExchangeID) -> FlyingExchange? { underWay.first { $0.local == local } }

    /// A server in this zone has answered.
    mutating func passed(_ zone: AddressZone) { leastPrivate = min(zone, leastPrivate ?? zone) }

    mutating func begin(_ exchange: FlyingExchange) {
        underWay.append(exchange)
        begun += 1
    }

    /// An exchange under way was seen to have sent so many bytes of the source.
    mutating func saw(_ sent: Int64, in wire: WireID) {
        if let index = underWay.firstIndex(where: { $0.wire == wire }) { underWay[index].sent = sent }
    }

    /// An exchange has ended, or is broken off.
    mutating func end(_ wire: WireID) -> FlyingExchange? {
        underWay.firstIndex { $0.wire == wire }.map { underWay.remove(at: $0) }
    }

    /// All are broken off.
    mutating func endAll() -> [FlyingExchange] {
        defer { underWay = [] }
        return underWay
    }

    mutating func reachedServer() { hasReachedServer = true }

    /// - Parameter answer: `nil`: the exchange ended without one.
    mutating func answered(_ answer: LastAnswer?) { lastAnswer = answer }
}
