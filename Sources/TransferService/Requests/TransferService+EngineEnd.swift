import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel

/// The end of the engine: how it is asked for, and those that wait for it.
struct EngineEnding {
    /// Asks the process to end; `nil`: the service itself has ended.
    var onStop: (@Sendable (TransferService.StopReason) -> Void)?
    /// Clients that asked for a stop and wait for it to be taken back.
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// Nobody is there and nothing was done since then.
    var idleSince = MonotonicInstant.now
    var idleTimer: LoopTimer?
    /// It ends as nothing is to be done, and whoever comes meanwhile does not take that back.
    var isLeaving = false
}

/// The end of the engine as its clients ask for it, and take it back.
extension TransferService {
    /// Stops the engine. An answer that is given at once is on its way before the process begins to end.
    func stopEngine(_ call: Call, _ client: ServiceClient) throws -> [UInt8]? {
        let request = try call.parameters(of: Methods.engineStop)
        let manner = request.manner
        var answer: [UInt8]?
        if request.wait == true {
            try wait(call, client) {
                await self.untilTakenBack()
                return try call.answer(EngineStopAnswer(takenBack: true))
            }
        } else {
            answer = try call.answer(EngineStopAnswer(takenBack: false))
        }
        log.write(.info, "\(client.name ?? "a client") asks the engine to stop")
        loop.schedule(after: .zero) { [weak self] in
            self?.assumeIsolated { $0.requestStop(.asked(manner)) }
        }
        return answer
    }

    /// Takes back a stop that finishes what runs: who wants something to move wants an engine that moves it, as if the stop were over
    /// and another engine started for this.
    /// - Parameter reason: for the log.
    /// - Throws: an engine that ends moves nothing any more. What was made durable is not answered, so whoever wanted it asks the next engine,
    ///   which has it.
    /// - Returns: whether the engine was about to stop.
    @discardableResult
    func goOn(_ reason: String) async throws -> Bool {
        switch await engine.goOn() {
        case .ends: throw EngineLeaves()
        case .runs:
            if ending.isLeaving { throw EngineLeaves() }
            return false
        case .takenBack: break
        }
        log.write(.info, "the engine does not stop: \(reason)")
        endStopWaits()
        return true
    }

    private func untilTakenBack() async {
        await withCheckedContinuation { ending.waiters.append($0) }
    }

    func endStopWaits() {
        let waiters = ending.waiters
        ending.waiters = []
        for waiter in waiters { waiter.resume() }
    }

    /// Lets all clients go, told that this is no accident. The last step: who waits for the engine's end by its connection finds the
    /// queue free. An engine that leaves of itself was stopped by nobody: who has come meanwhile may start the next one.
    package func dismiss() {
        let goodbye =
            ending.isLeaving ? nil : try? WireCoding.line(Notification(method: .engineEnds, params: Nothing()))
        for client in clients.values {
            if let goodbye, client.name != nil { client.send(goodbye) }
            client.close()
        }
        endStopWaits()
    }
}

/// A request came too late for this engine: its connection ends without an answer.
struct EngineLeaves: Error {}
