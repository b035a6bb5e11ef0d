import TransferModel
import WireOperations

/// Removes what an upload by tus left at a server. The one resource of a whole file is looked at first: when it is full, it may have become
/// the file, and servers that keep a file under its upload's address would remove that. Parts never are the file.
package struct TusRemoval: ProtocolMachine {
    private enum State {
        /// Next: `looking`, `removing`.
        case ready
        /// The server is asked how much of the file it has. Next: `removing`, `over`.
        case looking(ExchangeID)
        /// Next: itself.
        case removing(UploadRemoval)
        /// `finish`, `fail` or `wait` was said.
        case over
    }

    private let point: TusResumePoint
    private let endpoint: HTTPAddress
    private var state = State.ready

    package init(_ point: TusResumePoint, endpoint: HTTPAddress) {
        (self.point, self.endpoint) = (point, endpoint)
    }

    package mutating func handle(_ event: ProtocolEvent) -> [ProtocolAction] {
        switch (state, event) {
        case (.ready, .began(let now)):
            guard point.parts.count == 1, let url = point.parts[0].url else { return remove(at: now, after: 0) }
            let id = ExchangeID(rawValue: 1)
            state = .looking(id)
            return [.perform(id, .http(TusMessages.look(url, endpoint: endpoint)))]
        case (.looking(let id), .ended(let ended, let end)) where ended == id: return looked(end)
        case (.removing(var removal), _):
            let actions = removal.handle(event)
            state = .removing(removal)
            return actions
        default: return []
        }
    }

    private mutating func looked(_ end: ExchangeEnd) -> [ProtocolAction] {
        let host = point.parts.first?.url?.host ?? endpoint.host
        guard let answer = end.answer else {
            let error = end.failure?.error ?? .cutOff(by: host)
            return over(error.isRetryable ? .wait(WaitDemand(.backoff, error)) : .fail(error))
        }
        if answer.status == 404 || answer.status == 410 { return over(.finish(.removed)) }
        switch AnswerMeaning.withoutRedirects(answer, host: host, hasAccepted: false, at: end.at) {
        case .wait(let demand): return over(.wait(demand))
        case .fail(let error): return over(.fail(error))
        case .success, .redirect: break
        }
        guard let offset = answer.field("upload-offset").flatMap({ FileSize.read($0) }) else {
            return over(.wait(WaitDemand(.backoff, .noAnswer(endpoint))))
        }
        return offset < point.length ? remove(at: end.at, after: 1) : over(.finish(.removed))
    }

    private mutating func remove(at now: Timestamp, after lastID: Int) -> [ProtocolAction] {
        var removal = UploadRemoval(
            point.parts.compactMap(\.url).map { TusMessages.terminate($0, endpoint: endpoint) }, after: lastID)
        let actions = removal.handle(.began(at: now))
        state = .removing(removal)
        return actions
    }

    private mutating func over(_ action: ProtocolAction) -> [ProtocolAction] {
        state = .over
        return [action]
    }
}
