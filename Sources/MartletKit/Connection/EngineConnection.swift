import LinuxSystem
package import ServiceWire
public import TransferModel

/// A connection to the user's one engine: finds its socket, starts it when it is not there, asks and is told.
///
/// Lives on an event loop of its own. Requests of many tasks go out at once and are answered as the engine has them;
/// a request whose answer is lost throws `engineUnreachable`, and whether it was done is to be asked again
/// (``add(_:)`` does that by itself). Connects at the first call, or by ``connect()``.
public actor EngineConnection {
    nonisolated let loop: EventLoop
    package nonisolated let places: Places
    public nonisolated let options: ConnectionOptions
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    var state = ConnectionState.idle {
        didSet { if state != oldValue { for listener in stateListeners.values { listener.yield(state) } } }
    }
    var stateListeners: [Int: AsyncStream<ConnectionState>.Continuation] = [:]
    /// The socket while connected.
    var link: Link? { didSet { if link == nil, let line { hangUp(line) } } }
    /// The ssh to the machine where the engine is, when it is another one.
    var line: RemoteLine?
    /// An engine has answered before.
    var wasConnected = false
    /// The one attempt to connect that goes on; all who need a link wait for it.
    var attempt: Task<Result<Void, RequestError>, Never>?
    /// Since when the link has been lost; `nil` when it was not, or is there.
    var lostSince: Timestamp?
    /// The engine that is gone was told to end.
    var wasStopped = false
    /// The next attempt by itself after a loss.
    var retryTimer: LoopTimer?
    /// Attempts since the link was lost.
    var retries = 0
    var views: [Int: ViewMailbox] = [:]
    private var lastNumber = 0
    var isClosed = false

    /// A connection that finds its engine as the environment says (`MARTLET_HOME`, XDG).
    public init(_ options: ConnectionOptions = ConnectionOptions()) throws(RequestError) {
        try self.init(options, places: Self.placesOfThisProcess())
    }

    /// A connection to the engine of these places.
    package init(_ options: ConnectionOptions, places: Places) throws(RequestError) {
        self.options = options
        self.places = places
        loop = try Self.makeLoop()
    }

    // Handlers on the loop hold the connection weakly, so nothing runs there any more.
    deinit { loop.stop() }

    private static func placesOfThisProcess() throws(RequestError) -> Places {
        let places: Places
        do { places = try Places.current() } catch { throw RequestError(.engineUnreachable, error.message) }
        do { try System.requireOwnWay(to: places.ways) } catch {
            throw RequestError(.engineUnreachable, "\(error)")
        }
        return places
    }

    private static func makeLoop() throws(RequestError) -> EventLoop {
        do { return try EventLoop(name: "martlet-kit") } catch {
            throw RequestError(.internal, "no thread for the connection to the engine: \(error)")
        }
    }

    private func hangUp(_ line: RemoteLine) {
        self.line = nil
        line.end()
    }

    /// Numbers for requests, views and listeners.
    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}

extension EngineConnection {
    /// The state as it is now, then every change of it until the connection is closed; slow listeners get the newest
    /// only.
    public func states() -> AsyncStream<ConnectionState> {
        let number = nextNumber()
        let (stream, continuation) = AsyncStream.makeStream(
            of: ConnectionState.self, bufferingPolicy: .bufferingNewest(1))
        stateListeners[number] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.forgetListener(number) } }
        continuation.yield(state)
        if isClosed { continuation.finish() }
        return stream
    }

    private func forgetListener(_ number: Int) { stateListeners[number] = nil }

    /// Asks and waits for the answer. Encoding and decoding are done by the caller's executor.
    nonisolated func call<Parameters, Value>(
        _ method: Method<Parameters, Value>, _ parameters: Parameters
    ) async throws(RequestError) -> Value {
        try await call(method, parameters, within: method.name.answersLate ? nil : AnswerLimit.current)
    }

    /// The same, for an answer that is waited for so long.
    nonisolated func call<Parameters, Value>(
        _ method: Method<Parameters, Value>, _ parameters: Parameters, within limit: Duration?
    ) async throws(RequestError) -> Value {
        let line = try await roundTrip(method.name, limit, encode(parameters, for: method.name))
        do {
            return try WireCoding.value(AnswerResult<Value>.self, from: line).result
        } catch {
            throw RequestError(
                .internal,
                "the engine's answer to \(method.name.rawValue) is not understood: \(WireCoding.fault(of: error))")
        }
    }

    private nonisolated func encode(
        _ parameters: some Codable, for method: MethodName
    ) throws(RequestError) -> @Sendable (Int64) -> [UInt8] {
        // The id is the link's to give; it is spliced in front of what is encoded here, off the connection's loop.
        do {
            let params = try WireCoding.line(parameters)
            return { id in
                Array("{\"id\":\(id),\"jsonrpc\":\"2.0\",\"method\":\"\(method.rawValue)\",\"params\":".utf8)
                    + params.dropLast() + Array("}\n".utf8)
            }
        } catch {
            throw .bug("\(method.rawValue) cannot be put into JSON: \(error)")
        }
    }

    /// Sends one line on the link, which is made first when there is none, and gives back the answer's line.
    private func roundTrip(
        _ method: MethodName, _ limit: Duration?, _ makeLine: @Sendable (Int64) -> [UInt8]
    ) async throws(RequestError) -> [UInt8] {
        // A question whose answer is lost with its engine is asked the next one; not for ever, should engines die of it.
        // An engine that is killed takes the next questions with it, too, until the kernel has closed its socket.
        for _ in 0..<10 {
            try await connect()
            // The link closed right after its welcome: nothing was sent, so even a change may go on the next one.
            guard let link else { continue }
            do {
                return try await exchange(on: link, within: limit, makeLine)
            } catch {
                guard method.isQuestion, error == Self.lost else { throw error }
            }
        }
        throw Self.lost
    }

    /// One request on this link. A cancelled task stops waiting at once; the answer is dropped when it comes.
    /// - Parameter limit: how long its answer is waited for; `nil`: for ever.
    func exchange(
        on link: Link, within limit: Duration? = nil, _ makeLine: (Int64) -> [UInt8]
    ) async throws(RequestError) -> [UInt8] {
        let id = Int64(nextNumber())
        let line = makeLine(id)
        if line.count > LineFramer.limit {
            throw RequestError(.usage, "the request has \(line.count) bytes, more than one may have: split it")
        }
        let timer = limit.map { limit in
            loop.schedule(after: limit) { [weak link] in link?.abandon(id, Self.silent(link?.peer, after: limit)) }
        }
        defer { if let timer { loop.cancel(timer) } }
        // A method, because a closure that captures no `self` would not run on the loop.
        let result = await withTaskCancellationHandler {
            await answer(to: line, id, on: link)
        } onCancel: {
            Task { await self.abandon(id) }
        }
        return try result.get()
    }

    private func answer(to line: [UInt8], _ id: Int64, on link: Link) async -> Result<[UInt8], RequestError> {
        await withCheckedContinuation { continuation in
            if Task.isCancelled { return continuation.resume(returning: .failure(Self.cancelled)) }
            link.send(line, answerTo: id) { continuation.resume(returning: $0) }
        }
    }

    private func abandon(_ id: Int64) { link?.abandon(id, Self.cancelled) }

    static let lost = RequestError(
        .engineUnreachable,
        "the engine went away before it answered, and a change may have been made: look at the list, then try again")
    static let notRunning = RequestError(.engineUnreachable, "no engine is running")
    /// Nobody waits for the answer any more, if the request was sent at all.
    static let cancelled = RequestError(.refused, "the request was cancelled, and a change may have been made")
}

extension RequestError {
    /// A state that no answer and no person can bring about.
    fileprivate static func bug(_ what: String) -> RequestError { RequestError(.internal, what) }
}
