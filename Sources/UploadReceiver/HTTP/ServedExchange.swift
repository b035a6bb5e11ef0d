import CMicrohttpd
import DisplayText
import LinuxSystem

/// One request on a connection: turns libmicrohttpd's calls into the calls of a `ServedRequest`, and answers into
/// responses. All of it on the connection's thread.
final class ServedExchange {
    private enum Phase {
        /// Only the head is known. Next: any but `working`.
        case new
        /// The body goes to the request. Next: any other.
        case reading
        /// The body is thrown away, then this is the answer. Next: `answered`.
        case discarding(Answer)
        /// The body is thrown away after an answer by hand; at its end the connection is closed.
        case discardingAnswered
        /// The connection sleeps while work is done. Next: `working`, `answered`.
        case working
        /// The library has the answer.
        case answered
    }

    private let context: ReceiverContext
    private let gate: StopGate
    private let connections: ConnectionTable
    private let connectionID: ConnectionTable.ID
    private let head: RequestHead
    private var phase = Phase.new
    private var request: (any ServedRequest)?
    private var received: UInt64 = 0
    private var owesAnswer = false
    /// True when the connection counts as busy with this request.
    private var isLetIn = false
    /// Bytes of the body that came after an answer by hand.
    private var discarded: UInt64 = 0

    init(
        _ context: ReceiverContext, _ gate: StopGate, _ connections: ConnectionTable,
        _ connectionID: ConnectionTable.ID, _ head: RequestHead
    ) {
        self.context = context
        self.gate = gate
        self.connections = connections
        self.connectionID = connectionID
        self.head = head
    }

    /// The first call: the head has arrived.
    func begin(_ connection: OpaquePointer) -> MHD_Result {
        phase = .reading
        if let answer = context.doorkeeper.refusal(of: head) {
            report(Rejection(path: nil, answer: answer))
            return refuse(answer, atHeadOf: connection)
        }
        guard connections.began(connectionID) else {
            let answer = Answer.problem(.unavailable, "too many connections: come again")
            report(Rejection(path: nil, answer: answer))
            return refuse(answer.with([.retrySoon, .closing]), atHeadOf: connection)
        }
        isLetIn = true
        _ = CMicrohttpd_set_timeout(connection, context.configuration.limits.silence)
        switch context.request(for: head) {
        case .failure(let rejection):
            report(rejection)
            return refuse(rejection.answer, atHeadOf: connection)
        case .success(let request):
            self.request = request
            guard let answer = request.headArrived() else { return .YES }
            return refuse(answer, atHeadOf: connection)
        }
    }

    /// A piece of the body. All of it is taken.
    func body(_ connection: OpaquePointer, _ bytes: UnsafeRawBufferPointer) -> MHD_Result {
        received += UInt64(bytes.count)
        if case .discardingAnswered = phase {
            discarded += UInt64(bytes.count)
            // Who has not read the answer by now will not.
            return discarded > Self.mostDiscarded ? .NO : .YES
        }
        guard case .reading = phase, let answer = request?.bytesArrived(bytes) else { return .YES }
        switch RefusalManner.inBody(head.body, received: received, isTLS: head.isTLS) {
        case .atOnce, .afterTheBody: phase = .discarding(answer)
        case .byHand: writeByHand(answer, connection)
        }
        return .YES
    }

    /// The request is whole, or its work is done.
    func end(_ connection: OpaquePointer) -> MHD_Result {
        switch phase {
        case .discarding(let answer): return send(answer, connection)
        // The client has read its answer, or will not; there is nothing more to say on this connection.
        case .discardingAnswered: return .NO
        case .reading:
            // `reading` without a request was refused, which is another phase.
            guard let request else { preconditionFailure("nobody serves the request") }
            return take(request.bodyEnded(), connection)
        case .working:
            // Only a request has work done.
            guard let request else { preconditionFailure("nobody serves the request") }
            return take(request.workEnded(), connection)
        case .new, .answered: return .YES
        }
    }

    /// The library is done with the request.
    func ended(_ ending: ExchangeEnding) {
        request?.ended(ending)
        request = nil
        if isLetIn { connections.ended(connectionID) }
        if owesAnswer { gate.endExchange() }
    }

    private static let mostDiscarded: UInt64 = 64 << 20

    private func take(_ step: RequestStep, _ connection: OpaquePointer) -> MHD_Result {
        switch step {
        case .answer(let answer): return send(answer, connection)
        case .work(let start):
            guard owesAnswer || gate.beginWork() else {
                return send(.problem(.unavailable, "the receiver is stopping"), connection)
            }
            owesAnswer = true
            phase = .working
            MHD_suspend_connection(connection)
            let sleeping = SleepingConnection(connection)
            start { [gate] in
                sleeping.wake()
                gate.endWork()
            }
            return .YES
        }
    }

    private func send(_ answer: Answer, _ connection: OpaquePointer) -> MHD_Result {
        phase = .answered
        return answer.queue(on: connection)
    }

    private func refuse(_ answer: Answer, atHeadOf connection: OpaquePointer) -> MHD_Result {
        switch RefusalManner.atHead(head.body, expectsContinue: head.expectsContinue, isTLS: head.isTLS) {
        case .atOnce: return send(answer, connection)
        case .afterTheBody: phase = .discarding(answer)
        case .byHand: writeByHand(answer, connection)
        }
        return .YES
    }

    /// Writes a refusal past the library. The socket's buffer is empty, as nothing was answered yet, so a few hundred
    /// bytes fit at once; a socket that does not take them is broken, which the library finds by itself.
    private func writeByHand(_ answer: Answer, _ connection: OpaquePointer) {
        phase = .discardingAnswered
        let socket = CMicrohttpd_connection_fd(connection)
        let now = HTTPDate(secondsSince1970: WallClock.milliseconds / 1000)
        _ = try? answer.byHand(now: now).withUnsafeBytes { try System.send(socket, $0) }
        // The client sees the end of our side and need not wait for a time-out.
        try? System.shutdown(socket, .writing)
    }

    private func report(_ rejection: Rejection) {
        if let path = rejection.path {
            context.journal.report(.refused(head.method, path, rejection.answer, from: head.peer))
        } else {
            // Who reads an upload's URL could write to it.
            let shown = UploadID(target: head.target) == nil ? SafeText(head.target).string : "an upload"
            context.journal.report(.rejected(head.method, shown: shown, rejection.answer, from: head.peer))
        }
    }
}

/// A connection that the library leaves alone until it is woken.
///
/// Unchecked: a suspended connection is neither freed nor used by the library until `MHD_resume_connection`, which may be
/// called from any thread; the receiver stops only when all were resumed (`StopGate`).
private struct SleepingConnection: @unchecked Sendable {
    private let connection: OpaquePointer

    init(_ connection: OpaquePointer) { self.connection = connection }

    func wake() { MHD_resume_connection(connection) }
}

extension Answer {
    /// Hands the answer to the library, which sends it when the callback has returned.
    fileprivate func queue(on connection: OpaquePointer) -> MHD_Result {
        guard let response = makeResponse() else { return .NO }
        // The connection keeps a reference of its own.
        defer { MHD_destroy_response(response) }
        for field in fields { _ = MHD_add_response_header(response, field.name, field.value) }
        // Martlet asks a server that it knows by this name less often.
        _ = MHD_add_response_header(response, "Server", "martlet-receive")
        // No page of somebody else's loads what lies here as a script of its own.
        _ = MHD_add_response_header(response, "X-Content-Type-Options", "nosniff")
        _ = MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin")
        return MHD_queue_response(connection, status.rawValue, response)
    }

    private func makeResponse() -> OpaquePointer? {
        switch body {
        case .none:
            return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .text(let text):
            var bytes = Array(text.utf8)
            return MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
        case .file(let file, let offset, let count):
            // The response closes the descriptor when it is destroyed, also when it could not be made.
            let descriptor = file.descriptor.release()
            let response = MHD_create_response_from_fd_at_offset64(count, descriptor, offset)
            if response == nil { OwnedDescriptor(descriptor).close() }
            return response
        }
    }
}
