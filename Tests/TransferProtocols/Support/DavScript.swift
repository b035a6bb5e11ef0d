import TransferModel
import WireOperations

@testable import TransferProtocols

/// Plays a machine that speaks HTTP with several exchanges under way.
struct HTTPPlay<Machine: ProtocolMachine> {
    var machine: Machine
    private(set) var last: [ProtocolAction] = []
    private(set) var all: [String] = []
    private var open: [(id: Int, path: String)] = []

    init(_ machine: Machine) {
        self.machine = machine
        take(self.machine.handle(.began(at: noon)))
    }

    mutating func take(_ actions: [ProtocolAction]) {
        last = actions
        all += told(actions)
        for action in actions {
            switch action {
            case .perform(let id, .http(let exchange)): open.append((id.rawValue, exchange.url.target))
            case .abandon(let id): open.removeAll { $0.id == id.rawValue }
            default: break
            }
        }
    }

    /// Ends the newest exchange, or the one whose path ends so.
    mutating func end(_ end: ExchangeEnd, of suffix: String = "") {
        guard let index = open.lastIndex(where: { $0.path.hasSuffix(suffix) }) else { return }
        take(machine.handle(.ended(ExchangeID(rawValue: open.remove(at: index).id), end)))
    }

    /// Fires the timer that is set.
    mutating func fire() { take(machine.handle(.timerFired(.probeAgain))) }

    /// The words of the last actions.
    var said: [String] { told(last) }
}

/// As `words`, with the path alone and of the fields those that decide.
func told(_ actions: [ProtocolAction]) -> [String] {
    let shown = ["Destination", "Overwrite", "If-Match", "If-None-Match", "OC-Checksum", "X-Hash"]
    return zip(actions.filter(\.isShown), words(actions)).map { action, word in
        guard case .perform(_, .http(let exchange)) = action else { return word }
        let fields = exchange.headers.filter { shown.contains($0.name) || ($0.name == "Depth" && $0.value != "0") }
        let range =
            if case .source(let range) = exchange.body { " \(range.lowerBound)..<\(range.upperBound)" } else { "" }
        return
            (["\(exchange.method.rawValue) \(exchange.url.target)\(range)"] + fields.map { "\($0.name): \($0.value)" })
            .joined(separator: " | ")
    }
}

/// A 207 about these: path, length (`nil`: a folder), time, tag.
func listing(
    _ resources: (path: String, size: Int64?)..., modified: String = noonText, etag: String = "\"1\"",
    at now: Timestamp = noon
) -> ExchangeEnd {
    let responses = resources.map { resource in
        let kind =
            resource.size.map { "<d:getcontentlength>\($0)</d:getcontentlength><d:resourcetype/>" }
            ?? "<d:resourcetype><d:collection/></d:resourcetype>"
        return "<d:response><d:href>\(resource.path)</d:href><d:propstat><d:prop>\(kind)"
            + "<d:getlastmodified>\(modified)</d:getlastmodified><d:getetag>\(etag)</d:getetag></d:prop>"
            + "<d:status>HTTP/1.1 200 OK</d:status></d:propstat><d:propstat><d:prop><d:getcontentlength/></d:prop>"
            + "<d:status>HTTP/1.1 404 Not Found</d:status></d:propstat></d:response>"
    }
    let body = "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\">\(responses.joined())</d:multistatus>"
    return ExchangeEnd(answer: HTTPAnswer(status: 207), body: Array(body.utf8), at: now)
}
