import LinuxSystem

/// Serves an upload that is complete in one request (`Upload-Complete: ?1`) and may not be worth a resource of its own:
/// where its URL could not be told, and where it is so small that it comes in one piece, it is a plain PUT. When it turns
/// out that more pieces come, it becomes resumable at once.
final class OneRequestUpload: ServedRequest {
    private let context: ReceiverContext
    private let head: RequestHead
    private let creation: UploadCreation
    private let version: InteropVersion
    private var request: (any ServedRequest)?

    init(_ context: ReceiverContext, _ head: RequestHead, _ creation: UploadCreation, _ version: InteropVersion) {
        self.context = context
        self.head = head
        self.creation = creation
        self.version = version
    }

    /// Returns true when it may be a plain PUT. Larger ones, and those that wait for `100 Continue`, get their URL with the head.
    static func isWorthwhile(_ creation: UploadCreation, _ head: RequestHead) -> Bool {
        guard creation.append.completes else { return false }
        // A length that contradicts the body is found out where uploads are.
        if case .known(let count) = head.body, creation.record.length != count { return false }
        if !head.takesInterim || head.body == .none { return true }
        if case .known(let count) = head.body { return count <= smallest && !head.expectsContinue }
        return false
    }

    func headArrived() -> Answer? {
        if head.takesInterim, head.body != .none { return nil }
        return serve(byPut())
    }

    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? {
        if request == nil {
            let isWhole = head.body == .known(UInt64(bytes.count))
            let refusal = serve(isWhole ? byPut() : UploadWriteRequest(context, head, .creation(creation)))
            if let refusal { return refusal }
        }
        return decorate(request?.bytesArrived(bytes))
    }

    func bodyEnded() -> RequestStep { decorate(served.bodyEnded()) }
    func workEnded() -> RequestStep { decorate(served.workEnded()) }

    func ended(_ ending: ExchangeEnding) {
        if let request { return request.ended(ending) }
        context.journal.report(
            .cut(creation.record.path, ending, received: 0, expected: creation.record.length, from: head.peer))
    }

    /// The largest body, in bytes, that costs less to send again than to ask for.
    private static let smallest: UInt64 = 64 << 10

    private var served: any ServedRequest {
        // A body has an end only after its head was served, or its first piece.
        guard let request else { preconditionFailure("nobody serves the request") }
        return request
    }

    private func serve(_ request: any ServedRequest) -> Answer? {
        self.request = request
        // A plain PUT knows only conditions that the client named.
        if creation.record.conditionsAreImplied, let refusal = context.refusal(toPublish: creation.record) {
            let answer = refusal.answer(in: .ietf(version))
            context.journal.report(.refused(head.method, creation.record.path, answer, from: head.peer))
            self.request = FixedRequest(answer)
            return answer.with(UploadAnswers.version(.ietf(version)) + [version.completeness(true)])
        }
        return decorate(request.headArrived())
    }

    private func byPut() -> PutRequest {
        PutRequest(context, head, creation.record.path, creation.record.conditions)
    }

    /// A plain PUT's answer, in the words of the draft.
    private func decorate(_ answer: Answer?) -> Answer? {
        guard let answer, request is PutRequest else { return answer }
        return answer.with(UploadAnswers.version(.ietf(version)) + [version.completeness(true)])
    }

    private func decorate(_ step: RequestStep) -> RequestStep {
        guard case .answer(let answer) = step, let decorated = decorate(answer) else { return step }
        return .answer(decorated)
    }
}
