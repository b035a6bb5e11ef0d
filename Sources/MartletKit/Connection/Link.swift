import LinuxSystem
import ServiceWire
import TransferModel

/// The `result` of an answer.
struct AnswerResult<Value: Decodable>: Decodable {
    var result: Value
}

/// One connected socket: lines out, answers and notifications in. Confined to the connection's loop.
final class Link {
    typealias AnswerHandler = (Result<[UInt8], RequestError>) -> Void

    private let loop: EventLoop
    private let socket: OwnedDescriptor
    private var registration: Registration?
    private var framer = LineFramer(limit: 64 << 20)
    private var outgoing: [UInt8] = []
    private var isWaitingToWrite = false
    private var handlers: [Int64: AnswerHandler] = [:]
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// The engine has said that it ends.
    var saidGoodbye = false
    /// Called with the name and the whole line of a notification.
    var onNotification: ((String, [UInt8]) -> Void)?
    /// Called once, when the peer has gone or the stream makes no sense; every open request has failed before.
    var onEnd: (() -> Void)?

    /// The process that has the other end, where it is on this machine.
    var peer: Int32?

    /// True while the peer is there, as far as is known.
    var isOpen: Bool { registration != nil }

    init(loop: EventLoop, socket: OwnedDescriptor) throws(Errno) {
        self.loop = loop
        self.socket = socket
        registration = try loop.register(socket.rawValue, .read) { [weak self] in self?.ready($0) }
    }

    deinit { chunk.deallocate() }

    /// Sends a request's line; `handler` gets the whole line of its answer, once.
    func send(_ line: [UInt8], answerTo id: Int64, _ handler: @escaping AnswerHandler) {
        loop.checkIsolated()
        guard registration != nil else { return handler(.failure(EngineConnection.lost)) }
        handlers[id] = handler
        outgoing += line
        flush()
    }

    /// Stops waiting for an answer.
    func abandon(_ id: Int64, _ error: RequestError) {
        handlers.removeValue(forKey: id)?(.failure(error))
    }

    /// Ends the connection. Open requests fail.
    func close() {
        guard let registration else { return }
        loop.cancel(registration)
        self.registration = nil
        socket.close()
        let open = handlers
        handlers = [:]
        for handler in open.values { handler(.failure(EngineConnection.lost)) }
        let onEnd = onEnd
        self.onEnd = nil
        onNotification = nil
        onEnd?()
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.write) { flush() }
        if readiness.contains(.read) || readiness.contains(.failed) { receive() }
    }

    private func flush() {
        while !outgoing.isEmpty {
            do {
                guard
                    let count = try outgoing.withUnsafeBytes({ bytes throws(Errno) in
                        try System.send(socket.rawValue, bytes)
                    })
                else { break }
                outgoing.removeFirst(count)
            } catch {
                return close()
            }
        }
        let waits = !outgoing.isEmpty
        guard waits != isWaitingToWrite, let registration else { return }
        isWaitingToWrite = waits
        do { try loop.update(registration, waits ? [.read, .write] : .read) } catch { close() }
    }

    private func receive() {
        do {
            try TurnBudget.spend {
                guard let count = try System.receive(socket.rawValue, into: chunk) else { return false }
                if count == 0 {
                    close()
                    return false
                }
                for line in try framer.append(chunk[..<count]) { take(line) }
                return registration != nil
            }
        } catch {
            close()
        }
    }

    /// Takes a line in. What is decoded of it later has numbers within bounds only.
    private func take(_ line: [UInt8]) {
        guard let head = try? WireCoding.value(AnswerHead.self, from: line) else { return close() }
        if let method = head.method {
            onNotification?(method, ToldNumbers.within(line))
        } else if case .number(let id) = head.id {
            let answer: Result<[UInt8], RequestError> =
                head.error.map { .failure($0.requestError) } ?? .success(ToldNumbers.within(line))
            handlers.removeValue(forKey: id)?(answer)
        } else if let error = head.error {
            // The engine could not read a line of ours and says so before it ends the connection.
            for id in Array(handlers.keys) { abandon(id, error.requestError) }
        }
    }
}
