import LinuxSystem
import SSHTransport
import TransferEngine
import TransferModel
import WireOperations

/// SFTP to the model servers, for one life of the engine. As `SFTPTransport`: operations of one owner go out in their order, and what
/// follows a write or read goes out after the last packet of it.
final class SimulatedSFTP: SFTPOperations {
    /// A connection to one server.
    final class Line {
        let server: SFTPServer
        let host: String
        var isCut = false
        /// Of the server's machine when the line was made.
        let powerCuts: Int
        var lastRequest = MonotonicInstant(nanoseconds: 0)
        var lastAnswer = MonotonicInstant(nanoseconds: 0)
        var handles: Set<SFTPHandle> = []

        init(_ server: SFTPServer, powerCuts: Int) {
            self.server = server
            self.powerCuts = powerCuts
            host = server.disk.host
        }
    }

    final class Operation {
        let id: WireID
        let request: SFTPOperation
        let owner: OperationOwner
        let line: Line
        let source: (any SFTPSource)?
        let limit: (any TransferThrottle)?
        var sink: (any SFTPSink)?
        var total: Int64?
        var position: Int64 = 0
        var acknowledged: Int64 = 0
        var received: Int64 = 0
        var outstanding = 0
        /// The faults that wait for its bytes.
        var fate = BodyFate()
        var refusal: SFTPReply?
        var hasBegun = false
        var wentOut = false
        /// The last packet of it is out.
        var isSent = false
        var isOver = false

        init(
            _ id: WireID, _ request: SFTPOperation, _ owner: OperationOwner, _ line: Line, _ source: (any SFTPSource)?,
            _ limit: (any TransferThrottle)?
        ) {
            (self.id, self.request, self.owner, self.line) = (id, request, owner, line)
            (self.source, self.limit) = (source, limit)
            if case .write(_, let range) = request { (position, acknowledged) = (range.lowerBound, range.lowerBound) }
            if case .read(_, let offset) = request { position = offset }
        }
    }

    let network: Network
    let loop: SimulatedThread
    private let deliver: ([SFTPEvent]) -> Void
    private var lines: [String: Line] = [:]
    private var operations: [WireID: Operation] = [:]
    /// In the order in which they were started.
    private var queues: [OperationOwner: [Operation]] = [:]
    private var handles: [SFTPHandle: (owner: OperationOwner, line: Line)] = [:]
    private var events: [SFTPEvent] = []
    private var isShutDown = false

    init(_ network: Network, _ loop: SimulatedThread, _ deliver: @escaping ([SFTPEvent]) -> Void) {
        self.network = network
        self.loop = loop
        self.deliver = deliver
    }

    // MARK: The port

    func start(
        _ id: WireID, _ request: SFTPOperation, on target: SSHTarget, owner: OperationOwner,
        source: (any SFTPSource)?, limit: (any TransferThrottle)?
    ) {
        let line: Line
        if let handle = request.handle {
            guard let held = handles[handle] else { return lost(id, target.host) }
            line = held.line
        } else {
            guard let open = self.line(to: target.host) else { return lost(id, target.host) }
            line = open
        }
        let operation = Operation(id, request, owner, line, source, limit)
        operations[id] = operation
        queues[owner, default: []].append(operation)
        pump(owner)
    }

    func openGate(_ id: WireID, to sink: any SFTPSink, total: Int64?) {
        guard let operation = operations[id], operation.sink == nil else { return }
        operation.sink = sink
        operation.total = total
        if operation.hasBegun { ask(operation) }
    }

    func abandon(_ id: WireID) {
        guard let operation = operations.removeValue(forKey: id) else { return }
        operation.isOver = true
        events.removeAll { $0.id == id }
        queues[operation.owner]?.removeAll { $0 === operation }
        pump(operation.owner)
    }

    func abandonAll(of owner: OperationOwner) {
        for operation in queues[owner] ?? [] { abandon(operation.id) }
        for id in operations.keys.sorted(by: { $0.rawValue < $1.rawValue }) where operations[id]?.owner == owner {
            abandon(id)
        }
        for handle in handles.keys.sorted(by: { $0.rawValue < $1.rawValue }) where handles[handle]?.owner == owner {
            guard let line = handles.removeValue(forKey: handle)?.line else { continue }
            send(.operation(.close(handle)), on: line) { _ in }
        }
    }

    func wentOut(_ id: WireID) -> Bool { operations[id]?.wentOut ?? false }

    func progress(_ id: WireID) -> OperationProgress? {
        guard let operation = operations[id] else { return nil }
        guard case .write(_, let range) = operation.request else {
            return OperationProgress(sent: 0, acknowledged: 0, received: operation.received)
        }
        return OperationProgress(
            sent: operation.position - range.lowerBound, acknowledged: operation.acknowledged - range.lowerBound,
            received: 0)
    }

    func resumeThrottled() {
        for id in operations.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let operation = operations[id], operation.hasBegun, !operation.isSent else { continue }
            step(operation)
        }
    }

    func shutDown() {
        isShutDown = true
        (operations, queues, handles, events) = ([:], [:], [:], [])
        for line in lines.values { close(line) }
    }

    /// The process is gone: its servers see the end of their lines.
    func hangUp() { for line in lines.values { close(line) } }

    // MARK: Operations

    private func pump(_ owner: OperationOwner) {
        while let first = queues[owner]?.first {
            if !first.hasBegun {
                first.hasBegun = true
                begin(first)
            }
            guard first.isSent || first.isOver else { return }
            queues[owner]?.removeAll { $0 === first }
        }
        queues[owner] = nil
    }

    private func begin(_ operation: Operation) {
        switch operation.request {
        case .write(_, let range):
            operation.fate = network.body(range.count, .upload(operation.line.host), on: operation.line.host)
            step(operation)
        case .read: ask(operation)
        default:
            operation.isSent = true
            operation.wentOut = true
            tellWatch(operation)
            send(.operation(operation.request), on: operation.line) { [self] answer in
                guard case .reply(let reply) = answer else { return }
                if case .opened(let handle) = reply { opened(handle, operation) }
                if case .close(let handle) = operation.request { handles[handle] = nil }
                end(operation, .answered(reply))
            }
        }
    }

    private func tellWatch(_ operation: Operation) {
        let task = TaskID(rawValue: Int64(bitPattern: operation.owner.rawValue))
        switch operation.request {
        case .openForWriting(let path): network.sends?(task, nil, "opens \(path.displayed)")
        case .rename(let old, let new, _): network.sends?(task, nil, "renames \(old.displayed) to \(new.displayed)")
        case .write: network.sends?(task, nil, "writes")
        default: break
        }
    }

    private func opened(_ handle: SFTPHandle, _ operation: Operation) {
        operation.line.handles.insert(handle)
        if operation.isOver || operation.line.isCut {
            // Nobody waits for it any more.
            return send(.operation(.close(handle)), on: operation.line) { _ in }
        }
        handles[handle] = (operation.owner, operation.line)
    }

    /// Sends the next packet of a write, or asks for the next of a read; a packet goes every millisecond or so.
    private func step(_ operation: Operation) {
        if operation.isOver || operation.isSent { return }
        switch operation.request {
        case .write(let handle, let range): write(operation, handle, range)
        case .read: ask(operation)
        default: break
        }
    }

    private func again(_ operation: Operation, after delay: Duration) {
        _ = network.world.schedule(after: delay, on: loop) { [self] in step(operation) }
    }

    private func write(_ operation: Operation, _ handle: SFTPHandle, _ range: Range<Int64>) {
        let left = Int(range.upperBound - operation.position)
        guard left > 0, operation.refusal == nil, let source = operation.source else {
            operation.isSent = true
            endIfAnswered(operation)
            return pump(operation.owner)
        }
        var wanted = min(left, network.pace(of: operation.line.host).piece(4096 << network.weather.chance.below(4)))
        if let limit = operation.limit {
            switch limit.grant(wanted) {
            case .bytes(let count): wanted = min(wanted, count)
            case .wait(let delay):
                if let delay { again(operation, after: max(delay, .milliseconds(1))) }
                return
            }
        }
        guard case .write(_, let whole) = operation.request else { return }
        let start = Int(operation.position - whole.lowerBound)
        let stall = operation.fate.stalls(start, wanted)
        if stall > .zero {
            network.world.tell(operation.line.host, "nothing goes on for \(stall) at byte \(operation.position)")
            return again(operation, after: stall)
        }
        let isCut = operation.fate.cut(start, wanted).isCut
        var bytes = [UInt8](repeating: 0, count: wanted)
        do throws(Errno) {
            var count = 0
            var failure: Errno?
            bytes.withUnsafeMutableBytes { buffer in
                do throws(Errno) { count = try source.read(into: buffer, at: operation.position) } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if count == 0 { return end(operation, .sourceEnded(at: operation.position)) }
            bytes.removeLast(wanted - count)
        } catch {
            return end(operation, .sourceFailed(error))
        }
        operation.limit?.take(bytes.count)
        operation.wentOut = true
        tellWatch(operation)
        let offset = operation.position
        operation.position += Int64(bytes.count)
        operation.outstanding += 1
        send(.data(handle, offset: offset, bytes), on: operation.line, bytes: bytes.count, isCut: isCut) {
            [self] answer in
            operation.outstanding -= 1
            if case .reply(let reply) = answer, reply != .done { operation.refusal = operation.refusal ?? reply }
            if operation.refusal == nil { operation.acknowledged = offset + Int64(bytes.count) }
            endIfAnswered(operation)
        }
        again(operation, after: network.pause(before: operation.line.lastRequest, to: operation.line.host))
    }

    private func endIfAnswered(_ operation: Operation) {
        guard operation.isSent, operation.outstanding == 0 else { return }
        end(operation, .answered(operation.refusal ?? .done))
    }

    private func ask(_ operation: Operation) {
        guard !operation.isOver, operation.outstanding == 0, let sink = operation.sink,
            case .read(let handle, _) = operation.request
        else { return }
        beginReading(operation, handle)
        var wanted = 16384
        if let total = operation.total { wanted = min(wanted, Int(total - operation.position)) }
        guard wanted > 0 else { return endRead(operation, .answered(.done)) }
        if let limit = operation.limit {
            switch limit.grant(wanted) {
            case .bytes(let count): wanted = min(wanted, count)
            case .wait(let delay):
                if let delay { again(operation, after: max(delay, .milliseconds(1))) }
                return
            }
            limit.take(wanted)
        }
        let stall = operation.fate.stalls(Int(operation.received), wanted)
        if stall > .zero {
            network.world.tell(operation.line.host, "nothing comes for \(stall) at byte \(operation.position)")
            operation.line.lastAnswer = max(operation.line.lastAnswer, network.world.now).advanced(by: stall)
        }
        let isCut = operation.fate.cut(Int(operation.received), wanted).isCut
        operation.outstanding = 1
        operation.wentOut = true
        send(.read(handle, offset: operation.position, count: wanted), on: operation.line, isCut: isCut) {
            [self] answer in
            operation.outstanding = 0
            if operation.isOver { return }
            guard case .bytes(let bytes) = answer else {
                if case .reply(let reply) = answer { endRead(operation, .answered(reply)) }
                return
            }
            if bytes.isEmpty { return endRead(operation, .answered(.done)) }
            do throws(Errno) {
                var failure: Errno?
                bytes.withUnsafeBytes { buffer in
                    do throws(Errno) { try sink.write(buffer) } catch { failure = error }
                }
                if let failure { throw failure }
            } catch {
                return endRead(operation, .sinkFailed(error))
            }
            operation.position += Int64(bytes.count)
            operation.received += Int64(bytes.count)
            ask(operation)
        }
    }

    private func beginReading(_ operation: Operation, _ handle: SFTPHandle) {
        guard operation.received == 0, let file = operation.line.server.file(handle) else { return }
        let left = file.bytes.count - Int(operation.position)
        operation.fate = network.body(max(0, left), .download(file), on: operation.line.host)
    }

    private func endRead(_ operation: Operation, _ outcome: OperationEnd.Outcome) {
        operation.isSent = true
        end(operation, outcome)
        pump(operation.owner)
    }

    private func end(_ operation: Operation, _ outcome: OperationEnd.Outcome) {
        if operation.isOver || isShutDown { return }
        operation.isOver = true
        operations[operation.id] = nil
        var end = OperationEnd(outcome, bytesRead: operation.received, features: operation.line.server.features)
        end.wentOut = operation.wentOut
        if case .write = operation.request { end.writtenThrough = operation.acknowledged }
        tell(SFTPEvent(id: operation.id, end: end))
    }

    private func tell(_ event: SFTPEvent) {
        events.append(event)
        loop.atEndOfTurn { [self] in
            let batch = events
            events = []
            if !batch.isEmpty, !isShutDown { deliver(batch) }
        }
    }

    // MARK: Lines

    /// `nil`: nobody answers there now.
    private func line(to host: String) -> Line? {
        if let line = lines[host], !line.isCut { return line }
        guard let server = network.sftp[host], !network.weather.strikes(oneIn: 20) else { return nil }
        let line = Line(server, powerCuts: network.powerCuts(at: host))
        lines[host] = line
        return line
    }

    /// An operation that the server never hears of.
    private func lost(_ id: WireID, _ host: String) {
        var end = OperationEnd(
            .broken(TransferError(.networkConnectionLost, "no connection to \(host): Martlet tries again by itself")))
        end.wentOut = false
        tell(SFTPEvent(id: id, end: end))
    }

    /// Sends a message; the line may break before it arrives, or after it did and before the answer is here.
    /// - Parameter isCut: it breaks for sure, one way or the other.
    private func send(
        _ message: SFTPServer.Message, on line: Line, bytes: Int = 0, isCut: Bool = false,
        _ take: @escaping (SFTPServer.Answer) -> Void
    ) {
        let isBody = if case .operation = message { false } else { true }
        let isLost = isCut ? network.weather.chance.oneIn(2) : !isBody && network.weather.strikes(oneIn: 250)
        let losesAnswer = isCut || !isBody && network.weather.strikes(oneIn: 250)
        network.carry(after: &line.lastRequest, to: line.host, bytes: bytes) { [self] in
            if line.isCut { return }
            if isLost || isGone(line) { return cut(line) }
            let answer = line.server.answer(message)
            tell(message, answer, line)
            if case .reply(.opened(let handle)) = answer { line.handles.insert(handle) }
            if losesAnswer { return cut(line) }
            let size = if case .bytes(let bytes) = answer { bytes.count } else { isBody ? 1 : 0 }
            network.carry(after: &line.lastAnswer, to: line.host, bytes: size) { [self] in
                if isGone(line), !line.isCut { return cut(line) }
                loop.perform { if !line.isCut { take(answer) } }
            }
        }
    }

    /// The server's machine has lost its power since the line was made.
    private func isGone(_ line: Line) -> Bool { network.powerCuts(at: line.host) != line.powerCuts }

    private func tell(_ message: SFTPServer.Message, _ answer: SFTPServer.Answer, _ line: Line) {
        guard case .reply(let reply) = answer else { return }
        switch message {
        case .operation(let operation): network.world.tell(line.host, "\(Words.of(operation)): \(Words.of(reply))")
        case .data(let handle, let offset, let bytes):
            network.world.tell(
                line.host, "\(bytes.count) B at \(offset) of handle \(handle.rawValue >> 16): \(Words.of(reply))")
        case .read: break
        }
    }

    private func close(_ line: Line) {
        line.isCut = true
        line.server.close(line.handles)
    }

    /// The line is cut; those who wait on it hear of it some time later.
    private func cut(_ line: Line) {
        network.world.tell(line.host, "the line is cut")
        close(line)
        var last = line.lastAnswer
        network.carry(after: &last, to: line.host) { [self] in loop.perform { [self] in broke(line) } }
    }

    private func broke(_ line: Line) {
        handles = handles.filter { $0.value.line !== line }
        let error = TransferError(
            .networkConnectionLost, "the ssh connection to \(line.host) was cut: Martlet tries again by itself")
        for id in operations.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let operation = operations[id], operation.line === line else { continue }
            end(operation, .broken(error))
            queues[operation.owner]?.removeAll { $0 === operation }
        }
        for owner in queues.keys.sorted(by: { $0.rawValue < $1.rawValue }) { pump(owner) }
    }
}
