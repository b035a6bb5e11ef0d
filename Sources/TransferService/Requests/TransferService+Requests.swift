import LinuxSystem
import ServiceWire
import SessionBus
import TransferEngine
import TransferModel
import TransferQueue

extension TransferService {
    /// A line from a client. Requests of one client are done one after the other; one that waits for something lets
    /// the next pass.
    func take(_ line: [UInt8], from number: Int) {
        guard let client = clients[number] else { return }
        let head: WireRequestHead
        do {
            head = try WireCoding.value(WireRequestHead.self, from: line)
            guard head.jsonrpc == "2.0" else { throw WireError.invalidRequest("jsonrpc is not \"2.0\"") }
        } catch {
            let fault = error as? WireError ?? .unreadable("not a request: \(WireCoding.fault(of: error))")
            log.write(.warning, "\(client.name ?? "a client") sent what is no request and was let go")
            return client.end(saying: fault.line)
        }
        Task {
            var answer: [UInt8]?
            do {
                answer = try await self.answer(head, line, client)
                // A long answer waits for its turn unmade. What a change has come to is told at once: it is not done twice.
                while let long = answer?.count, MethodName(rawValue: head.method)?.isQuestion == true,
                    !client.mayTake(long)
                {
                    answer = nil
                    await client.untilRight()
                    answer = try await self.answer(head, line, client)
                }
            } catch {
                return client.close()
            }
            if let answer, head.id != nil {
                let tooLong = RequestError(.usage, "the answer is longer than 16 MiB: ask for less at once")
                client.send(
                    answer.count <= ServiceClient.longestLine ? answer : Self.line(for: tooLong, id: head.id))
            }
            client.requestDone()
            if client.isOpen, clients[number] != nil { pump(number) }
        }
    }

    /// The line to answer with; `nil`: none, or later.
    private func answer(
        _ head: WireRequestHead, _ line: [UInt8], _ client: ServiceClient
    ) async throws(EngineLeaves) -> [UInt8]? {
        do {
            guard let method = MethodName(rawValue: head.method) else { throw WireError.unknownMethod(head.method) }
            guard client.name != nil || method == .hello else {
                throw RequestError(.refused, "the first request of a connection is hello")
            }
            guard line.count <= method.longestLine else {
                throw RequestError(
                    .usage, "\(head.method): a request of it is no longer than \(method.longestLine >> 10) KiB")
            }
            return try await done(Call(method: method, id: head.id ?? .number(0), line: line), client)
        } catch let error as EngineLeaves {
            throw error
        } catch QueueError.closed {
            // The next engine answers, and knows what this one has done.
            throw EngineLeaves()
        } catch {
            return Self.line(for: error, id: head.id)
        }
    }

    private static func line(for error: any Error, id: RequestIdentifier?) -> [UInt8] {
        // Two strings and a number always have a JSON form.
        (try? WireCoding.line(ErrorAnswer(id: id, error: wireError(error)))) ?? []
    }

    static func wireError(_ error: any Error) -> WireError {
        switch error {
        case let error as WireError: error
        case let error as RequestError: WireError(error)
        case let error as QueueError:
            switch error {
            case .badRequest: WireError(RequestError(.usage, "\(error)"))
            case .noSuchBatch: WireError(RequestError(.noSuchObject, "\(error)"))
            case .gone: WireError(RequestError(.queueCorrupt, "\(error)"))
            case .secrets: WireError(RequestError(.refused, "\(error)"))
            case .database, .closed: WireError(RequestError(.internal, "\(error)"))
            }
        default: WireError(RequestError(.internal, "\(error)"))
        }
    }

    /// One request with its parameters still to be read.
    struct Call {
        var method: MethodName
        var id: RequestIdentifier
        var line: [UInt8]

        func parameters<Parameters: Decodable, Value>(of method: Method<Parameters, Value>) throws -> Parameters {
            let parameters = try read(method)
            if let refusal = (parameters as? any RefusableParameters)?.refusal {
                throw RequestError(.usage, "\(self.method.rawValue): \(refusal)")
            }
            return parameters
        }

        private func read<Parameters: Decodable, Value>(_: Method<Parameters, Value>) throws -> Parameters {
            do {
                if let given = try WireCoding.value(RequestBody<Parameters>.self, from: line).params { return given }
                return try WireCoding.value(Parameters.self, from: Array("{}".utf8))
            } catch {
                throw RequestError(.usage, "\(method.rawValue): \(WireCoding.fault(of: error))")
            }
        }

        /// The answer's line; of a list as much as fits into one.
        func answer(_ value: some Codable) throws -> [UInt8] {
            func line(_ value: some Codable) throws -> [UInt8] {
                try WireCoding.line(WireAnswer(id: id, result: value))
            }
            guard let list = value as? any Shortenable & Codable else { return try line(value) }
            return try list.line { try line($0) }
        }
    }

    private func serve<Parameters, Value>(
        _ call: Call, _ method: Method<Parameters, Value>, _ body: (Parameters) async throws -> Value
    ) async throws -> [UInt8] {
        try call.answer(try await body(try call.parameters(of: method)))
    }

    // MARK: What each method does

    private func done(_ call: Call, _ client: ServiceClient) async throws -> [UInt8]? {
        switch call.method {
        case .hello: try await serve(call, Methods.hello) { try await greet($0, client) }
        case .batchAdd: try await serve(call, Methods.batchAdd) { try await add($0) }
        case .batchList: try await serve(call, Methods.batchList) { try await list($0) }
        case .batchShow: try await serve(call, Methods.batchShow) { try await show($0) }
        case .batchOrder: try await serve(call, Methods.batchOrder) { try await order($0) }
        case .taskList: try await serve(call, Methods.taskList) { try await list($0) }
        case .taskShow: try await serve(call, Methods.taskShow) { try await show($0) }
        case .why: try await serve(call, Methods.why) { try await why($0) }
        case .nodesPause:
            try await serve(call, Methods.nodesPause) { request in
                let until = request.until.map { "paused until \($0)" }
                return try await logging(until ?? "paused", by: client.name) { try await pause(request) }
            }
        case .nodesResume:
            try await serve(call, Methods.nodesResume) { request in
                try await logging("resumed", by: client.name) { try await resume(request) }
            }
        case .nodesCancel:
            try await serve(call, Methods.nodesCancel) { try await cancel($0, by: client.name) }
        case .nodesRetry:
            try await serve(call, Methods.nodesRetry) { request in
                try await logging("tried again", by: client.name) { try await retry(request) }
            }
        case .throughput:
            try await serve(call, Methods.throughput) { await throughput($0) }
        case .nodesUndoable: try await serve(call, Methods.nodesUndoable) { _ in try await undoable() }
        case .nodesUndo: try await serve(call, Methods.nodesUndo) { try await undo($0, by: client.name) }
        case .nodesClear:
            try await serve(call, Methods.nodesClear) { request in
                try await logging("cleared from the list", by: client.name) { try await clear(request) }
            }
        case .nodesPurge:
            try await serve(call, Methods.nodesPurge) { request in
                try await logging("forgotten", by: client.name) { try await purge(request) }
            }
        case .nodesMove:
            try await serve(call, Methods.nodesMove) { request in
                try await logging("moved \(request.words)", by: client.name) { try await move(request) }
            }
        case .nodesSet:
            try await serve(call, Methods.nodesSet) { request in
                try await logging("\(request.words) set", by: client.name) { try await set(request) }
            }
        case .nodesRunNow:
            try await serve(call, Methods.nodesRunNow) { request in
                try await logging("started at once", by: client.name) { try await runNow(request) }
            }
        case .nodeShow: try await serve(call, Methods.nodeShow) { try await show($0) }
        case .treeRead: try await serve(call, Methods.treeRead) { try await read($0) }
        case .treeFind: try await serve(call, Methods.treeFind) { try await find($0, of: client) }
        case .viewSet:
            try await serve(call, Methods.viewSet) {
                try setView($0, of: client)
                return Nothing()
            }
        case .totals: try await serve(call, Methods.totals) { _ in try await totals() }
        case .eventsRead: try await readEvents(call, client)
        case .eventsFollow: try await serve(call, Methods.eventsFollow) { try await follow($0, client) }
        case .eventsUnfollow:
            try await serve(call, Methods.eventsUnfollow) { _ in
                client.follower = nil
                return Nothing()
            }
        case .eventsAcknowledge: try await serve(call, Methods.eventsAcknowledge) { try await acknowledge($0) }
        case .engineStatus: try await serve(call, Methods.engineStatus) { _ in try await status() }
        case .engineStop: try stopEngine(call, client)
        case .engineGoOn:
            try await serve(call, Methods.engineGoOn) { _ in
                EngineGoOnAnswer(wasStopping: try await goOn("\(client.name ?? "a client") asks for it"))
            }
        case .nodesVerify: try await serve(call, Methods.nodesVerify) { try await verify($0, for: client) }
        case .nodesReadBack: try await serve(call, Methods.nodesReadBack) { try await readBack($0) }
        case .leftoversList: try await serve(call, Methods.leftoversList) { try await leftovers($0) }
        case .leftoversSearch:
            try await serve(call, Methods.leftoversSearch) { try await searchLeftovers($0, for: client) }
        case .leftoversAbort: try await serve(call, Methods.leftoversAbort) { try await abortLeftovers($0) }
        case .destinationTest: try testDestination(call, client)
        case .destinationKeep: try await serve(call, Methods.destinationKeep) { try await keep($0) }
        case .destinationForget: try await serve(call, Methods.destinationForget) { try await forget($0) }
        case .destinationRestore: try await serve(call, Methods.destinationRestore) { try await restore($0) }
        case .limitsGet: try await serve(call, Methods.limitsGet) { _ in try await limits() }
        case .limitsSet: try await serve(call, Methods.limitsSet) { try await setLimits($0, by: client.name) }
        case .logRead: try await readLog(call, client)
        }
    }

    private func greet(_ hello: Hello, _ client: ServiceClient) async throws(RequestError) -> Welcome {
        if let refusal = ProtocolVersion.current.refusal(of: hello.protocolVersion, peer: hello.client ?? "the client")
        {
            throw RequestError(.engineUnreachable, refusal)
        }
        client.greeted(as: hello.client ?? "a client")
        if let agent = hello.sshAgent { await engine.useAgent(agent) }
        if let bus = hello.sessionBus { desktop.bus = SessionBus(variable: bus, runtimeDirectory: "/nonexistent") }
        return Welcome(
            engineVersion: identity.version, pid: identity.pid, now: Timestamp(milliseconds: WallClock.milliseconds),
            graceSeconds: settings.grace.components.seconds)
    }

    /// A read that may wait does so beside the client's other requests.
    private func readEvents(_ call: Call, _ client: ServiceClient) async throws -> [UInt8]? {
        let request = try call.parameters(of: Methods.eventsRead)
        let cursor = EventCursor(
            after: try await start(after: request.after, consumer: request.consumer), session: request.session,
            limit: min(1000, max(1, request.limit ?? 500)))
        guard request.wait == true else {
            return try await read(cursor, wait: false, for: client.number).map { try call.answer($0) }
        }
        let number = client.number
        try wait(call, client) { try await self.read(cursor, wait: true, for: number).map { try call.answer($0) } }
        return nil
    }

    private func readLog(_ call: Call, _ client: ServiceClient) async throws -> [UInt8]? {
        let request = try call.parameters(of: Methods.logRead)
        guard request.wait == true, request.after != nil else {
            return try await readLog(request, for: client.number).map { try call.answer($0) }
        }
        let (number, read) = (client.number, client.lastLogRead + 1)
        // One waits at a time, so they are not counted: those before it are about to be answered.
        answer(call, client) {
            try await self.readLog(request, for: number, waitingAs: read).map { try call.answer($0) }
        }
        client.lastLogRead = read
        // The one before it is answered now: who asks again does not wait for its lines any more.
        logWaiters.wake { $0.client == number }
        return nil
    }

    func wait(
        _ call: Call, _ client: ServiceClient, for line: @escaping () async throws -> [UInt8]?
    ) throws(RequestError) {
        guard client.waitingReads < 16 else {
            throw RequestError(.refused, "16 requests of this client wait already: read their answers first")
        }
        client.waitingReads += 1
        let number = client.number
        answer(call, client) {
            defer { self.clients[number]?.waitingReads -= 1 }
            return try await line()
        }
    }

    /// Answers when the line is there; the client's other requests do not wait for it.
    private func answer(_ call: Call, _ client: ServiceClient, with line: @escaping () async throws -> [UInt8]?) {
        let number = client.number
        Task {
            var answer: [UInt8]?
            do { answer = try await line() } catch { answer = Self.line(for: error, id: call.id) }
            if let answer { clients[number]?.send(answer) }
        }
    }

    /// A server may take its time: the client's other requests do not wait for it.
    private func testDestination(_ call: Call, _ client: ServiceClient) throws -> [UInt8]? {
        let request = try call.parameters(of: Methods.destinationTest)
        try wait(call, client) { try call.answer(try await self.test(request, for: client)) }
        return nil
    }

    private func follow(_ request: EventsFollowRequest, _ client: ServiceClient) async throws -> EventsFollowing {
        let after = try await start(after: request.after, consumer: request.consumer)
        // The answer goes out first: `take` pumps after it.
        client.follower = EventCursor(after: after, session: request.session)
        return EventsFollowing(after: after)
    }

    private func acknowledge(_ request: EventsAcknowledgeRequest) async throws -> Nothing {
        // The longest is a session's: "session:" and its name.
        guard !request.consumer.isEmpty, request.consumer.utf8.count <= 208 else {
            throw RequestError(.usage, "a consumer's name has 1 to 208 bytes")
        }
        try await refuse(unstored: request.through)
        try await queue.writer.acknowledge(consumer: request.consumer, through: request.through)
        return Nothing()
    }
}

extension MethodName {
    /// Bytes of a request: a batch may name many files, and a change many nodes. Whatever else is longer is no request that makes sense.
    fileprivate var longestLine: Int {
        switch self {
        case .batchAdd: LineFramer.limit
        case .nodesPause, .nodesResume, .nodesCancel, .nodesRetry, .nodesUndo, .nodesPurge, .nodesClear, .nodesMove,
            .nodesSet,
            .nodesRunNow, .leftoversAbort:
            3 << 20
        default: LongLines.allowance
        }
    }
}
