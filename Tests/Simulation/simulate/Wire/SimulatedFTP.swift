import CurlTransport
import LinuxSystem
import TransferEngine
import TransferModel
import WireOperations

/// FTP to the model servers, for one life of the engine. As `FTPTransport`: one exchange after the other on a connection, here each on one of
/// its own, and what a broken connection brought is kept by its server.
final class SimulatedFTP: FTPExchanges {
    private final class Exchange {
        let id: WireID
        let operation: FTPOperation
        let server: FTPServer
        let source: FTPSource?
        var limits: RateLimits
        let session = FTPServer.Session()
        var lastRequest = MonotonicInstant(nanoseconds: 0)
        var lastAnswer = MonotonicInstant(nanoseconds: 0)
        var end = FTPTransferEnd()
        var storing: FTPServer.Storing?
        var position: Int64 = 0
        /// What is received: lines, or a file that is read while it is sent.
        var body: [UInt8] = []
        var file: FileReading?
        var final: FTPReply?
        var sink: (any TransferBodySink)?
        var hasBody = false
        var isCut = false
        var isOver = false
        var isHeld = false
        var triedFolders = false
        /// The faults that wait for the file on its way.
        var fate = BodyFate()
        /// A piece of it is on its way here.
        var isComing = false

        init(
            _ id: WireID, _ operation: FTPOperation, _ server: FTPServer, _ source: FTPSource?, _ limits: RateLimits
        ) {
            (self.id, self.operation, self.server, self.source, self.limits) = (id, operation, server, source, limits)
        }
    }

    private let network: Network
    private let loop: SimulatedThread
    private let deliver: ([FTPEvent]) -> Void
    private var exchanges: [WireID: Exchange] = [:]
    private var events: [(id: WireID, event: FTPEvent)] = []
    private var isShutDown = false

    init(_ network: Network, _ loop: SimulatedThread, _ deliver: @escaping ([FTPEvent]) -> Void) {
        self.network = network
        self.loop = loop
        self.deliver = deliver
    }

    private var sorted: [Exchange] { exchanges.values.sorted { $0.id.rawValue < $1.id.rawValue } }

    // MARK: The port

    func start(_ id: WireID, _ request: FTPRequest, source: FTPSource?, limits: RateLimits) {
        guard let server = network.ftp[request.server.host], !network.weather.strikes(oneIn: 30) else {
            var end = FTPTransferEnd()
            end.failure = CurlFailure(.cannotConnect, osError: .connectionRefused, text: "")
            return tell(.ended(id, end), id)
        }
        let exchange = Exchange(id, request.operation, server, source, limits)
        exchanges[id] = exchange
        switch request.operation {
        case .size(let path):
            send(exchange) { [self] in
                let answer = server.size(path.displayed)
                told(exchange, "SIZE \(path.displayed)", answer.reply)
                answered(exchange) { exchange.end.answer = answer }
            }
        case .enter(let path): perform(exchange, ["CWD \(path.displayed)"])
        case .commands(let commands):
            perform(exchange, commands.map { RawPath($0).displayed }[...])
        case .upload(let path, _, let appends): store(exchange, path.displayed, appends: appends)
        case .download(let path, let offset, _): retrieve(exchange, path.displayed, from: Int(offset))
        case .list(let path):
            send(exchange) { [self] in
                let (lines, reply) = server.list(path.displayed)
                told(exchange, "MLSD \(path.displayed)", reply)
                carryBack(exchange) { [self] in
                    if reply.code >= 400 { return refuse(exchange, reply, "MLSD") }
                    exchange.body = lines
                    exchange.final = reply
                    exchange.hasBody = true
                    flow(exchange)
                }
            }
        }
    }

    func openGate(_ id: WireID, to sink: any TransferBodySink) {
        guard let exchange = exchanges[id], exchange.sink == nil else { return }
        exchange.sink = sink
        flow(exchange)
    }

    func abandon(_ id: WireID) {
        guard let exchange = exchanges.removeValue(forKey: id) else { return }
        exchange.isOver = true
        events.removeAll { $0.id == id }
        exchange.isCut = true
    }

    func flush(_ id: WireID) {}

    func progress(_ id: WireID) -> CurlProgress? {
        exchanges[id].map {
            CurlProgress(
                arrived: $0.storing == nil ? 0 : $0.position, received: $0.end.bytesReceived,
                delivered: $0.end.bytesDelivered)
        }
    }

    func setLimits(_ limits: RateLimits, of id: WireID) {
        exchanges[id]?.limits = limits
        ratesChanged()
    }

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
    func hangUp() { for exchange in sorted { exchange.isCut = true } }

    // MARK: Commands

    private func perform(_ exchange: Exchange, _ commands: ArraySlice<String>, last: FTPReply? = nil, verb: String = "")
    {
        guard let first = commands.first else {
            exchange.end.answer.reply = last
            exchange.end.answer.command = verb
            return done(exchange)
        }
        let mayFail = first.hasPrefix("*")
        let command = mayFail ? String(first.dropFirst()) : first
        let verb = String(command.prefix { $0 != " " })
        if verb == "RNTO" {
            let path = String(command.dropFirst(5))
            network.sends?(nil, exchange.server.disk.host + "/" + exchange.server.disk.key(path), command)
        }
        send(exchange) { [self] in
            let reply = exchange.server.perform(command, exchange.session)
            told(exchange, command, reply)
            if network.weather.strikes(oneIn: 60) { return cut(exchange, "did \(verb), and its answer is lost") }
            carryBack(exchange) { [self] in
                if reply.code >= 400, !mayFail || reply.code == 421 { return refuse(exchange, reply, verb) }
                perform(exchange, commands.dropFirst(), last: reply, verb: verb)
            }
        }
    }

    // MARK: Out

    private func store(_ exchange: Exchange, _ path: String, appends: Bool) {
        let verb = appends ? "APPE" : "STOR"
        send(exchange) { [self] in
            switch exchange.server.store(path, appends: appends) {
            case .refused(let reply):
                told(exchange, "\(verb) \(path)", reply)
                let lacksFolder = [450, 550, 551, 553].contains(reply.code) && !exchange.triedFolders
                carryBack(exchange) { [self] in
                    guard lacksFolder else { return refuse(exchange, reply, verb) }
                    exchange.triedFolders = true
                    makeFolders(exchange, of: path) { [self] in store(exchange, path, appends: appends) }
                }
            case .storing(let storing):
                told(exchange, "\(verb) \(path)", FTPReply(code: 150, text: ""))
                carryBack(exchange) { [self] in
                    exchange.storing = storing
                    if case .upload(_, let range, _) = exchange.operation {
                        exchange.fate = network.body(
                            range.count, .upload(exchange.server.disk.host), on: exchange.server.disk.host)
                    }
                    stream(exchange)
                }
            }
        }
    }

    private func makeFolders(_ exchange: Exchange, of path: String, _ then: @escaping () -> Void) {
        send(exchange) { [self] in
            var folders: [String] = []
            var folder = ServerDisk.parent(path)
            while !folder.isEmpty, folder != "/" {
                folders.append(folder)
                folder = ServerDisk.parent(folder)
            }
            for folder in folders.reversed() {
                told(exchange, "MKD \(folder)", exchange.server.perform("MKD \(folder)", exchange.session))
            }
            carryBack(exchange, then)
        }
    }

    private func stream(_ exchange: Exchange) {
        guard !exchange.isOver, !exchange.isCut, let storing = exchange.storing,
            case .upload(_, let range, _) = exchange.operation
        else { return }
        let left = Int(Int64(range.count) - exchange.position)
        if left == 0 { return finishStoring(exchange, storing) }
        let host = exchange.server.disk.host
        var wanted = min(left, network.pace(of: host).piece(4096 << network.weather.chance.below(5)))
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
        exchange.end.bytesSent = exchange.position
        send(exchange, bytes: piece.count) { [self] in
            exchange.server.received(isCut ? Array(piece.prefix(count)) : piece, storing)
            if isCut { cut(exchange, "the data connection is cut") }
        }
        again(exchange, after: network.pause(before: exchange.lastRequest, to: host))
    }

    private func again(_ exchange: Exchange, after delay: Duration) {
        _ = network.world.schedule(after: delay, on: loop) { [self] in stream(exchange) }
    }

    /// `nil`: the source failed, and the exchange with it.
    private func piece(_ exchange: Exchange, _ wanted: Int) -> [UInt8]? {
        let start = Int(exchange.position)
        switch exchange.source {
        case .bytes(let bytes): return Array(bytes[start..<start + wanted])
        case .file(let file, let from):
            var bytes = [UInt8](repeating: 0, count: wanted)
            let count = bytes.withUnsafeMutableBytes { buffer in
                try? file.read(into: buffer, at: from + exchange.position)
            }
            if let count, count > 0 { return Array(bytes[..<count]) }
            exchange.isCut = true
            let cause: CurlFailureCause =
                count == nil ? .sourceFailed(.inputOutput) : .sourceEnded(at: exchange.position)
            fail(exchange, CurlFailure(.aborted, cause: cause, text: ""))
            return nil
        case nil: return nil
        }
    }

    private func finishStoring(_ exchange: Exchange, _ storing: FTPServer.Storing) {
        let verb = if case .upload(_, _, true) = exchange.operation { "APPE" } else { "STOR" }
        send(exchange) { [self] in
            let reply = exchange.server.stored(storing)
            told(exchange, "\(verb) with \(exchange.position) B", reply)
            if network.weather.strikes(oneIn: 40) { return cut(exchange, "did \(verb), and its answer is lost") }
            carryBack(exchange) { [self] in
                if reply.code >= 400 { return refuse(exchange, reply, verb) }
                exchange.end.answer.reply = reply
                exchange.end.answer.command = verb
                done(exchange)
            }
        }
    }

    // MARK: In

    private func retrieve(_ exchange: Exchange, _ path: String, from offset: Int) {
        send(exchange) { [self] in
            switch exchange.server.retrieve(path) {
            case .refused(let reply, let command):
                told(exchange, "RETR \(path)", reply)
                carryBack(exchange) { [self] in refuse(exchange, reply, command) }
            case .file(let file, let size):
                let final = FTPReply(code: 226, text: "Transfer complete.")
                told(exchange, "REST \(offset) RETR \(path)", FTPReply(code: 150, text: "\(size) bytes"))
                let start = min(offset, size)
                carryBack(exchange) { [self] in
                    exchange.end.answer.size = Int64(size)
                    exchange.file = FileReading(file, start..<size)
                    exchange.fate = network.body(size - start, .download(file), on: exchange.server.disk.host)
                    exchange.final = final
                    exchange.hasBody = true
                    flow(exchange)
                }
            }
        }
    }

    private func flow(_ exchange: Exchange) {
        guard !exchange.isOver, !exchange.isCut, exchange.hasBody, !exchange.isComing, let sink = exchange.sink
        else { return }
        let received = Int(exchange.end.bytesReceived)
        let host = exchange.server.disk.host
        var piece = Array(exchange.body.dropFirst(received).prefix(32768))
        if let range = exchange.file?.range, let bytes = exchange.file?.bytes(at: network.world.now) {
            // A file that has become shorter ends there, and one that grows goes on: the data connection tells no length.
            piece = Array(bytes.dropFirst(range.lowerBound + received).prefix(network.pace(of: host).piece(65536)))
        }
        if piece.isEmpty {
            return carryBack(exchange) { [self] in
                exchange.end.answer.reply = exchange.final
                exchange.end.answer.command = "RETR"
                done(exchange)
            }
        }
        let (count, isCut) = exchange.fate.cut(received, piece.count)
        let stall = exchange.fate.stalls(received, piece.count)
        if stall > .zero {
            network.world.tell(host, "nothing comes for \(stall) at byte \(received)")
            exchange.lastAnswer = max(exchange.lastAnswer, network.world.now).advanced(by: stall)
        }
        exchange.isComing = true
        carryBack(exchange, bytes: piece.count) { [self] in
            exchange.isComing = false
            take(isCut ? Array(piece.prefix(count)) : piece, sink, exchange)
            if isCut { return cut(exchange, "breaks the data connection off") }
            flow(exchange)
        }
    }

    private func take(_ piece: [UInt8], _ sink: any TransferBodySink, _ exchange: Exchange) {
        if piece.isEmpty { return }
        var failure: Errno?
        piece.withUnsafeBytes { buffer in
            do throws(Errno) { try sink.write(buffer) } catch { failure = error }
        }
        exchange.end.bytesReceived += Int64(piece.count)
        if let failure {
            exchange.isCut = true
            return fail(exchange, CurlFailure(.writeFailed, cause: .sinkFailed(failure), text: ""))
        }
        exchange.end.bytesDelivered = exchange.end.bytesReceived
    }

    // MARK: Lines and ends

    private func send(_ exchange: Exchange, bytes: Int = 0, _ work: @escaping () -> Void) {
        let isLost = bytes == 0 && network.weather.strikes(oneIn: 250)
        network.carry(after: &exchange.lastRequest, to: exchange.server.disk.host, bytes: bytes) { [self] in
            if exchange.isCut { return }
            if isLost { return cut(exchange, "the line is cut") }
            work()
        }
    }

    private func carryBack(_ exchange: Exchange, bytes: Int = 0, _ work: @escaping () -> Void) {
        network.carry(after: &exchange.lastAnswer, to: exchange.server.disk.host, bytes: bytes) { [loop] in
            loop.perform { if !exchange.isOver, !exchange.isCut { work() } }
        }
    }

    private func answered(_ exchange: Exchange, _ note: @escaping () -> Void) {
        carryBack(exchange) { [self] in
            note()
            done(exchange)
        }
    }

    private func told(_ exchange: Exchange, _ what: String, _ reply: FTPReply?) {
        network.world.tell(exchange.server.disk.host, "\(what): \(reply.map { "\($0.code) \($0.text)" } ?? "")")
    }

    private func cut(_ exchange: Exchange, _ what: String) {
        network.world.tell(exchange.server.disk.host, what)
        exchange.isCut = true
        var last = exchange.lastAnswer
        network.carry(after: &last, to: exchange.server.disk.host) { [self] in
            loop.perform { [self] in
                fail(exchange, CurlFailure(.gotNothing, osError: .connectionReset, text: ""))
            }
        }
    }

    private func refuse(_ exchange: Exchange, _ reply: FTPReply, _ command: String) {
        exchange.end.answer.reply = reply
        exchange.end.answer.command = command
        exchange.end.failure = CurlFailure(.aborted, text: "")
        done(exchange)
    }

    private func fail(_ exchange: Exchange, _ failure: CurlFailure) {
        if exchange.isOver { return }
        exchange.end.failure = failure
        done(exchange)
    }

    private func done(_ exchange: Exchange) {
        if exchange.isOver { return }
        exchange.isOver = true
        exchanges[exchange.id] = nil
        exchange.end.address = "192.0.2.2"
        tell(.ended(exchange.id, exchange.end), exchange.id)
    }

    private func tell(_ event: FTPEvent, _ id: WireID) {
        events.append((id, event))
        loop.atEndOfTurn { [self] in
            let batch = events.map(\.event)
            events = []
            if !batch.isEmpty, !isShutDown { deliver(batch) }
        }
    }
}
