import CurlTransport
import LinuxSystem
import TransferEngine
import TransferModel
import TransferProtocols
import WireOperations

/// HTTP to the model servers, for one life of the engine. Each request has a line of its own.
final class SimulatedHTTP: HTTPExchanges {
    private final class Exchange {
        let id: WireID
        let request: HTTPRequest
        let server: any HTTPServer
        let served: ServedRequest
        let source: (any TransferBodySource)?
        let limits: RateLimits
        var lastRequest = MonotonicInstant(nanoseconds: 0)
        var lastAnswer = MonotonicInstant(nanoseconds: 0)
        var position: Int64 = 0
        var end = HTTPTransferEnd()
        /// The answer's body, and how much of it is here.
        var body: [UInt8] = []
        /// Or the file that it is read from while it is sent.
        var file: FileReading?
        var received: Int64 = 0
        /// The faults that wait for the request's body, and for the answer's.
        var fate = BodyFate()
        /// When the request began.
        let powerCuts: Int
        var answersFate = BodyFate()
        /// A piece of the answer's body is on its way.
        var isComing = false
        var gate: GateDestination?
        /// The server looks at nothing more of it, and nothing more comes of it.
        var isCut = false
        var isOver = false
        /// The server has done what it was asked, or refused it.
        var isAnswered = false
        /// Done once all of the request's body is at the server.
        var whenWhole: (() -> Void)?
        /// A bucket holds it back until a rate changes.
        var isHeld = false

        init(
            _ id: WireID, _ request: HTTPRequest, _ server: any HTTPServer, _ served: ServedRequest,
            _ source: (any TransferBodySource)?, _ limits: RateLimits, powerCuts: Int
        ) {
            self.powerCuts = powerCuts
            (self.id, self.request, self.server, self.served) = (id, request, server, served)
            (self.source, self.limits) = (source, limits)
        }
    }

    private let network: Network
    private let loop: SimulatedThread
    private let deliver: ([HTTPEvent]) -> Void
    private var exchanges: [WireID: Exchange] = [:]
    private var events: [HTTPEvent] = []
    private var isShutDown = false

    init(_ network: Network, _ loop: SimulatedThread, _ deliver: @escaping ([HTTPEvent]) -> Void) {
        self.network = network
        self.loop = loop
        self.deliver = deliver
    }

    private var sorted: [Exchange] { exchanges.values.sorted { $0.id.rawValue < $1.id.rawValue } }

    // MARK: The port

    func start(_ id: WireID, _ request: HTTPRequest, source: (any TransferBodySource)?, limits: RateLimits) {
        let address = Address(request.url)
        guard let server = network.http[address.host], !network.weather.strikes(oneIn: 30) else {
            var end = HTTPTransferEnd()
            end.failure = CurlFailure(.cannotConnect, osError: .connectionRefused, text: "")
            return tell(.ended(id, end))
        }
        let served = ServedRequest(
            method: request.method, path: address.path, query: address.query, fields: request.fields,
            length: Int(request.body.length))
        let exchange = Exchange(
            id, request, server, served, source, limits, powerCuts: network.powerCuts(at: address.host))
        exchanges[id] = exchange
        if let place = server.place(of: served) {
            network.sends?(nil, server.disk.host + "/" + server.disk.key(place), request.method)
        }
        exchange.fate = network.body(served.length, .upload(address.host), on: address.host)
        let waits = request.asksBeforeSending && request.body.length > 64 << 10
        send(exchange) { [self] in
            let refusal = server.begin(served)
            if let refusal, waits || served.length == 0 { return answer(exchange, refusal) }
            if let refusal {
                // The body is on its way already: it is read and dropped.
                return finish(exchange) { refusal }
            }
            if let interim = server.interim(served) { tell(interim, exchange) }
            finish(exchange) { server.finish(served) }
            guard waits else { return }
            reply(exchange) { [self] in
                exchange.end.sawContinue = true
                stream(exchange)
            }
        }
        if !waits { stream(exchange) }
    }

    func openGate(_ id: WireID, to destination: GateDestination) {
        guard let exchange = exchanges[id], exchange.gate == nil else { return }
        exchange.gate = destination
        flow(exchange)
    }

    func abandon(_ id: WireID) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        exchange.isOver = true
        events.removeAll { $0.id == id }
        close(exchange)
    }

    func flush(_ id: WireID) {}

    func progress(_ id: WireID) -> CurlProgress? {
        exchanges[id].map { CurlProgress(arrived: $0.position, received: $0.received, delivered: $0.received) }
    }

    func setRate(_ rate: Int64?, of bucket: TokenBucket) {
        bucket.setRate(rate, now: network.world.now)
        ratesChanged()
    }

    func setLimits(_ limits: RateLimits, of id: WireID) { ratesChanged() }

    func ratesChanged() {
        for exchange in sorted where exchange.isHeld {
            exchange.isHeld = false
            stream(exchange)
        }
    }

    func shutDown() {
        isShutDown = true
        for exchange in sorted { abandon(exchange.id) }
        events = []
    }

    /// The process is gone: its servers see the end of their lines.
    func hangUp() { for exchange in sorted { close(exchange) } }

    // MARK: Out

    /// Sends the next piece of the body; the last one is followed by nothing.
    private func stream(_ exchange: Exchange) {
        if exchange.isOver || exchange.isCut { return }
        let left = Int(exchange.request.body.length - exchange.position)
        if left == 0 { return }
        let usual = exchange.request.body.length > 1 << 20 ? 262_144 : 4096
        let host = exchange.server.disk.host
        var wanted = min(left, network.pace(of: host).piece(usual << network.weather.chance.below(5)))
        switch exchange.limits.up.grant(wanted, network.world.now) {
        case .bytes(let count): wanted = min(wanted, count)
        case .wait(let delay):
            guard let delay else {
                exchange.isHeld = true
                return
            }
            return again(exchange, after: max(delay, .milliseconds(1)))
        }
        let stall = exchange.fate.stalls(Int(exchange.position), wanted)
        if stall > .zero {
            network.world.tell(host, "nothing goes on for \(stall) at byte \(exchange.position)")
            return again(exchange, after: stall)
        }
        guard let piece = piece(exchange, wanted) else { return }
        exchange.limits.up.take(piece.count)
        let (count, isCut) = exchange.fate.cut(Int(exchange.position), piece.count)
        exchange.position += Int64(piece.count)
        send(exchange, bytes: piece.count) { [self] in
            let piece = isCut ? Array(piece.prefix(count)) : piece
            // That the line is gone is seen behind what came.
            defer { if isCut { cut(exchange) } }
            if piece.isEmpty { return }
            exchange.served.body += piece
            exchange.server.received(piece, exchange.served)
            guard exchange.served.body.count == exchange.served.length, let work = exchange.whenWhole else { return }
            exchange.whenWhole = nil
            work()
        }
        again(exchange, after: network.pause(before: exchange.lastRequest, to: host))
    }

    private func again(_ exchange: Exchange, after delay: Duration) {
        _ = network.world.schedule(after: delay, on: loop) { [self] in stream(exchange) }
    }

    /// `nil`: the source failed, and the exchange with it.
    private func piece(_ exchange: Exchange, _ wanted: Int) -> [UInt8]? {
        if case .bytes(let bytes) = exchange.request.body {
            let start = Int(exchange.position)
            return Array(bytes[start..<start + wanted])
        }
        guard let source = exchange.source else { return nil }
        var bytes = [UInt8](repeating: 0, count: wanted)
        var count = 0
        var failure: Errno?
        bytes.withUnsafeMutableBytes { buffer in
            do throws(Errno) { count = try source.read(into: buffer, at: exchange.position) } catch { failure = error }
        }
        if count > 0, failure == nil { return Array(bytes[..<count]) }
        close(exchange)
        let cause: CurlFailureCause = failure.map { .sourceFailed($0) } ?? .sourceEnded(at: exchange.position)
        fail(exchange, CurlFailure(.aborted, cause: cause, text: ""))
        return nil
    }

    /// Has the server do something when the next part of the request arrives; the line may break instead.
    private func send(_ exchange: Exchange, bytes: Int = 0, _ work: @escaping () -> Void) {
        let isLost = bytes == 0 && network.weather.strikes(oneIn: 250)
        network.carry(after: &exchange.lastRequest, to: exchange.server.disk.host, bytes: bytes) { [self] in
            if exchange.isCut { return }
            if isLost || isGone(exchange) { return cut(exchange) }
            work()
        }
    }

    // MARK: At the server

    /// Waits for the rest of the body, does the request, and answers.
    private func finish(_ exchange: Exchange, _ work: @escaping () -> ServedAnswer) {
        if exchange.served.body.count < exchange.served.length {
            exchange.whenWhole = { [self] in finish(exchange, work) }
            return
        }
        guard let labour = exchange.server.labour(exchange.served) else { return answer(exchange, work()) }
        // Whether the line is still there is seen when the answer is to go out.
        let host = exchange.server.disk.host
        network.world.tell(host, "takes \(labour.time.components.seconds) s for \(exchange.served.method)")
        guard let patience = labour.patience, patience < labour.time else {
            _ = network.world.schedule(after: labour.time, on: network.thread) { [self] in
                if isGone(exchange) { cut(exchange) } else { answer(exchange, work()) }
            }
            return
        }
        _ = network.world.schedule(after: patience, on: network.thread) { [self] in
            answer(exchange, ServedAnswer(504, body: Array("<html>Gateway Timeout</html>".utf8)))
        }
        _ = network.world.schedule(after: labour.time, on: network.thread) { [self] in
            if isGone(exchange) { return }
            let late = work()
            network.world.tell(host, "\(exchange.served.method) \(exchange.served.path), late: \(late.status)")
        }
    }

    private func tell(_ interim: ServedAnswer, _ exchange: Exchange) {
        if network.weather.strikes(oneIn: 20) { return }
        reply(exchange) { [self] in
            exchange.server.told(interim, to: exchange.served)
            tell(.interim(exchange.id, HTTPAnswer(status: interim.status, headers: interim.fields)))
        }
    }

    private func answer(_ exchange: Exchange, _ answer: ServedAnswer) {
        let served = exchange.served
        network.world.tell(
            exchange.server.disk.host,
            "\(served.method) \(served.path) with \(served.body.count) of \(served.length) B: \(answer.status)")
        exchange.isAnswered = true
        if served.method == "DELETE", answer.status >= 300 { exchange.server.removalFailed(served) }
        if exchange.isCut { return }
        if network.weather.strikes(oneIn: 60) {
            network.world.tell(exchange.server.disk.host, "did \(exchange.served.method), and its answer is lost")
            return cut(exchange)
        }
        reply(exchange) { [self] in
            exchange.body = answer.body
            exchange.server.told(answer, to: served)
            exchange.file = answer.file
            beginBody(exchange)
            let head = HTTPAnswer(status: answer.status, headers: answer.fields)
            exchange.end.head = head
            exchange.end.retryAfter = head.field("retry-after").flatMap { Int($0) }.map { .seconds($0) }
            tell(.head(exchange.id, head, retryAfter: exchange.end.retryAfter, zone: .internet))
            switch exchange.request.response {
            case .discard: exchange.gate = .discard
            case .buffer(let limit): exchange.gate = .buffer(limit: limit)
            case .gated: break
            }
            flow(exchange)
        }
    }

    private func reply(_ exchange: Exchange, bytes: Int = 0, _ work: @escaping () -> Void) {
        network.carry(after: &exchange.lastAnswer, to: exchange.server.disk.host, bytes: bytes) { [self] in
            if isGone(exchange), !exchange.isOver, !exchange.isCut { return cut(exchange) }
            loop.perform { if !exchange.isOver, !exchange.isCut { work() } }
        }
    }

    /// The server's machine has lost its power meanwhile.
    private func isGone(_ exchange: Exchange) -> Bool {
        network.powerCuts(at: exchange.server.disk.host) != exchange.powerCuts
    }

    // MARK: Back

    /// Short answers come in one go.
    private func beginBody(_ exchange: Exchange) {
        let count = exchange.file?.range.count ?? exchange.body.count
        guard count > 4096 else { return }
        let subject: UnderWay.Subject = exchange.file.map { .download($0.file) } ?? .message
        exchange.answersFate = network.body(count, subject, on: exchange.server.disk.host)
    }

    /// Brings the answer's body through its gate, piece by piece.
    private func flow(_ exchange: Exchange) {
        guard !exchange.isOver, !exchange.isCut, !exchange.isComing, let gate = exchange.gate else { return }
        guard let piece = next(exchange) else { return cut(exchange) }
        if piece.isEmpty { return done(exchange) }
        let (count, isCut) = exchange.answersFate.cut(Int(exchange.received), piece.count)
        let stall = exchange.answersFate.stalls(Int(exchange.received), piece.count)
        if stall > .zero {
            network.world.tell(exchange.server.disk.host, "nothing comes for \(stall) at byte \(exchange.received)")
            exchange.lastAnswer = max(exchange.lastAnswer, network.world.now).advanced(by: stall)
        }
        exchange.isComing = true
        reply(exchange, bytes: piece.count) { [self] in
            exchange.isComing = false
            take(isCut ? piece.prefix(count) : piece[...], through: gate, exchange)
            if isCut { return cut(exchange) }
            flow(exchange)
        }
    }

    private func take(_ piece: ArraySlice<UInt8>, through gate: GateDestination, _ exchange: Exchange) {
        if piece.isEmpty { return }
        switch gate {
        case .discard: break
        case .buffer(let limit):
            let room = max(0, limit - exchange.end.body.bytes.count)
            exchange.end.body.bytes += piece.prefix(room)
            if piece.count > room { exchange.end.body.isTruncated = true }
        case .sink(let sink):
            var failure: Errno?
            piece.withUnsafeBytes { buffer in
                do throws(Errno) { try sink.write(buffer) } catch { failure = error }
            }
            if let failure {
                close(exchange)
                return fail(exchange, CurlFailure(.writeFailed, cause: .sinkFailed(failure), text: ""))
            }
        }
        exchange.received += Int64(piece.count)
    }

    /// The next piece of the answer's body; empty at its end, `nil` when its file has become too short.
    private func next(_ exchange: Exchange) -> [UInt8]? {
        guard let range = exchange.file?.range, let bytes = exchange.file?.bytes(at: network.world.now) else {
            return Array(
                exchange.body[Int(exchange.received)...].prefix(exchange.body.count > 1 << 20 ? 1 << 20 : 16384))
        }
        let start = range.lowerBound + Int(exchange.received)
        let end = min(range.upperBound, start + network.pace(of: exchange.server.disk.host).piece(65536))
        return end <= bytes.count ? Array(bytes[start..<end]) : nil
    }

    private func done(_ exchange: Exchange) {
        exchange.isOver = true
        exchanges[exchange.id] = nil
        finish(&exchange.end, exchange)
        tell(.ended(exchange.id, exchange.end))
    }

    private func fail(_ exchange: Exchange, _ failure: CurlFailure) {
        if exchange.isOver { return }
        exchange.end.failure = failure
        done(exchange)
    }

    private func finish(_ end: inout HTTPTransferEnd, _ exchange: Exchange) {
        end.bytesSent = exchange.position
        end.bodyWasSent = exchange.position == exchange.request.body.length
        end.bytesReceived = exchange.received
        end.address = "192.0.2.1"
    }

    /// The server hears nothing more of a request.
    private func close(_ exchange: Exchange) {
        if exchange.isCut { return }
        exchange.isCut = true
        if exchange.served.method == "DELETE", !exchange.isAnswered { exchange.server.removalFailed(exchange.served) }
        // What is on its way may still arrive; that the line is gone is seen behind it.
        let server = exchange.server
        _ = network.world.schedule(after: .milliseconds(1), on: network.thread) { server.broken(exchange.served) }
    }

    private func cut(_ exchange: Exchange) {
        close(exchange)
        var last = exchange.lastAnswer
        network.carry(after: &last, to: exchange.server.disk.host) { [self] in
            loop.perform { [self] in
                let code: CurlCode = exchange.end.head == nil ? .gotNothing : .partialBody
                fail(exchange, CurlFailure(code, osError: .connectionReset, text: ""))
            }
        }
    }

    private func tell(_ event: HTTPEvent) {
        events.append(event)
        loop.atEndOfTurn { [self] in
            let batch = events
            events = []
            if !batch.isEmpty, !isShutDown { deliver(batch) }
        }
    }
}

/// Host and path of an address, as a server sees them.
private struct Address {
    let host: String
    let path: String
    let query: [String: String]

    init(_ url: String) {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        host = String(rest.prefix { $0 != "/" })
        func plain(_ text: some StringProtocol) -> String {
            String(decoding: PercentEncoding.decode(text), as: UTF8.self)
        }
        let target = rest.dropFirst(host.count)
        path = plain(target.prefix { $0 != "?" })
        var query: [String: String] = [:]
        for field in target.drop(while: { $0 != "?" }).dropFirst().split(separator: "&") {
            let name = field.prefix { $0 != "=" }
            query[plain(name)] = plain(field.dropFirst(name.count + 1))
        }
        self.query = query
    }
}
