import ServiceWire
import TransferModel

extension EngineConnection {
    /// A line to another machine's engine, and the handshake over it. Only the first asks the person: after it there is a screen.
    func reach(_ remote: RemoteEngine, launching: Bool) async throws(RequestError) -> EngineIdentity {
        let line = try RemoteLine(remote, launching: launching, asks: !wasConnected, on: loop)
        do throws(RequestError) {
            try await line.ready().get()
            self.line = line
            guard let identity = try await greet(line.socket) else { throw Self.lost }
            wasConnected = true
            return identity
        } catch {
            self.line = nil
            line.end()
            throw error
        }
    }

    /// The side that is lost, after the link ended or could not be made.
    func loss(_ error: RequestError?) -> Loss {
        if link?.saidGoodbye == true { return .stopped }
        // Why it went is not forgotten while it is looked for.
        guard options.remote != nil else { return wasStopped ? .stopped : .engine(problem: nil) }
        guard let error else { return .line(problem: line?.lastComplaint) }
        return error == Self.notRunning || error.code != .engineUnreachable
            ? .engine(problem: error.message) : .line(problem: error.message)
    }
}
