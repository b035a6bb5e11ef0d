import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Exchanges with HTTP servers: the request, the source of its bytes, and what heads and ends mean here.
extension TransferEngine {
    func begin(
        _ exchange: HTTPExchange, _ local: ExchangeID, _ wire: WireID, _ attempt: Attempt
    ) {
        guard let (body, source) = content(of: exchange, attempt) else { return }
        let isPayload = source != nil
        if isPayload {
            settleEarlier(attempt)
            countRepeated(attempt)
        }
        let skew = exchange.signing == nil ? 0 : hosts.facts[attempt.factsKey]?.clockSkewSeconds ?? 0
        let request = attempt.context.request(
            exchange, body: body, at: timeline.now.advanced(by: .seconds(skew)),
            namedIn: attempt.exchanges.leastPrivate ?? hosts.facts[attempt.origin]?.zone)
        if case .listing(let format) = exchange.sink { attempt.listing?.beginReading(format) }
        do {
            try transports.http?.start(
                wire, request, source: source, limits: limitBook.limits(of: attempt)
            )
            var flying = FlyingExchange(local: local, wire: wire, carrier: .http, isPayload: isPayload)
            flying.request = (exchange.method, exchange.url)
            flying.isElsewhere = !exchange.mayCarrySecrets
            fly(flying, attempt)
        } catch {
            fail(attempt, .bug("HTTP cannot carry the request (\(error))"))
        }
    }

    /// The body of a request, and the source that its bytes come from; `nil` as a source: no bytes of the task's source are in it.
    /// - Returns: `nil`: the attempt is over.
    private func content(of exchange: HTTPExchange, _ attempt: Attempt) -> (HTTPBody, (any TransferBodySource)?)? {
        switch exchange.body {
        case .none: return (.none, nil)
        case .bytes(let bytes): return (.bytes(bytes), nil)
        case .source(let range):
            guard let source = source(of: attempt) else { return nil }
            if let bytes = source.bytes, range == 0..<Int64(bytes.count) { return (.bytes(bytes), source) }
            let length = range.upperBound - range.lowerBound
            if range.lowerBound == 0 { return (.source(length: length), source) }
            return (.source(length: length), FramedSource([], range, [], of: source))
        case .framed(let before, let range, let after):
            guard let source = source(of: attempt) else { return nil }
            let framed = FramedSource(before, range, after, of: source)
            return (.source(length: framed.length), framed)
        }
    }

    /// Handles the events that the transport tells at the end of a turn.
    func take(_ events: [HTTPEvent]) {
        for event in events {
            let wire = event.id
            if case .ended(_, let end) = event, let asker = exchanges.takeAsker(of: wire) {
                asker.resume(returning: end)
                continue
            }
            guard let attempt = exchanges.attempt(of: wire),
                let exchange = attempt.exchanges[wire]
            else { continue }
            let local = exchange.local
            switch event {
            case .interim(_, let head):
                if head.status == 104 { noteServerIsThere(attempt) }
                feed(attempt, .interim(local, head, at: timeline.now))
            case .head(_, let answer, _, let zone):
                learn(zone, exchange, attempt)
                if attempt.listing != nil { openListing(wire, answer.status, attempt) }
                // An upload's head comes again with the end of the exchange, and is looked at there.
                guard attempt.receives else { continue }
                FaultPoint.answered.pass()
                attempt.exchanges.answered(LastAnswer(answer, to: exchange))
                noteLogin(attempt, answer, exchange.request?.method)
                feed(attempt, .answered(local, answer, at: timeline.now))
            case .ended(_, let end):
                learn(end.zone, exchange, attempt)
                ended(attempt, landed(wire, of: attempt), end)
            }
        }
    }

    /// Records the zone of a server that has answered in this attempt. That of the server which the person has named is kept in `HostFacts`,
    /// too, for attempts that begin at an address of an earlier one.
    private func learn(_ zone: AddressZone?, _ exchange: FlyingExchange, _ attempt: Attempt) {
        guard let zone else { return }
        attempt.exchanges.passed(zone)
        if exchange.isElsewhere { return }
        // A host may have addresses in two zones: the more private one says who its neighbours are.
        if let known = hosts.facts[attempt.origin]?.zone, known >= zone { return }
        remember(HostFacts { $0.zone = zone }, of: attempt.origin)
    }

    private func ended(_ attempt: Attempt, _ exchange: FlyingExchange, _ end: HTTPTransferEnd) {
        guard !attempt.receives else {
            if attempt.download != nil { moved(attempt, to: attempt.progress.base + end.bytesReceived) }
            return bodyEnded(
                attempt, .ended(exchange.local, converted(end, exchange, attempt)), broken: end.failure != nil)
        }
        if exchange.isPayload {
            attempt.upload?.ended(having: end.bytesSent)
            moved(attempt, to: attempt.uploaded)
        }
        FaultPoint.answered.pass()
        let cause = end.failure?.cause
        let isCut = end.body.isTruncated
        var end = converted(end, exchange, attempt)
        if exchange.mayChange, end.failure?.mayHaveReachedServer ?? true { attempt.exchanges.reachedServer() }
        // A gateway answers OPTIONS and HEAD by itself, and a network with its page.
        if exchange.mayChange, let answer = end.answer, answer.isSuccess, !answer.isPageForYes {
            noteServerIsThere(attempt)
        }
        switch cause {
        case .sourceEnded: return sourceChanged(attempt, stored: nil)
        case .sourceFailed(let error): return fail(attempt, sourceError(attempt, error))
        default: break
        }
        end.listing = attempt.listing?.endReading()
        attempt.exchanges.answered(end.answer.map { LastAnswer($0, body: end.body, isCut: isCut, to: exchange) })
        noteLogin(attempt, end.answer, exchange.request?.method)
        feed(attempt, .ended(exchange.local, end))
    }

    /// The transport's end in the protocols' words.
    private func converted(
        _ end: HTTPTransferEnd, _ exchange: FlyingExchange, _ attempt: Attempt
    ) -> ExchangeEnd {
        // A redirect may have led elsewhere than to the server that the task names.
        let url = exchange.request?.url
        var failure = end.failure.map { converted($0, attempt, server: url?.server) }
        if failure == nil, let url, url.scheme == "https" { attempt.context.handshakes.succeeded(with: url.server) }
        // A host with addresses in two zones, or one whose name somebody leads here and there: nothing was sent.
        if end.failure?.cause == .addressTooPrivate, let url, url.host == HTTPAddress(attempt.origin)?.host {
            failure = .network(NetworkFailure.otherZone(url.server))
        }
        return ExchangeEnd(
            answer: end.head, body: end.body.bytes, bytesSent: end.bytesSent,
            bytesWritten: attempt.written, failure: failure, at: timeline.now)
    }

    /// The transport's failure in the protocols' words.
    /// - Parameter server: where the request went; `nil`: to the server that the task names.
    func converted(
        _ broken: CurlFailure, _ attempt: Attempt, server: String? = nil
    ) -> ExchangeFailure {
        if case .sinkFailed(let error) = broken.cause, let refusal = attempt.download?.target.refusal(error) {
            return .sink(refusal.error, waits: refusal.waits)
        }
        // libcurl reports it as a refused connection or as a file of authorities that cannot be read: so it is looked for here.
        if broken.cause == nil, System.isShortOfDescriptors {
            suspendStarts()
            return .network(.tooManyOpenFiles)
        }
        let server = server ?? TransferScheme.server(of: attempt.origin)
        let handshakes =
            broken.failureClass == .handshake
            ? attempt.context.handshakes.failed(
                with: server, begun: attempt.stage.startedAt, now: timeline.nanoseconds) : 0
        let error = NetworkFailure.error(broken, host: server, handshakes: handshakes)
        if error.code == .tlsFailure { attempt.context.trust.doubt() }
        return .network(error)
    }
}
