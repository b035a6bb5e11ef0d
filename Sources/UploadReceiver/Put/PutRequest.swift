import LinuxSystem

/// Serves one PUT: looks, stores, hands over to the publisher, as its machine says.
final class PutRequest: ServedRequest {
    private let context: ReceiverContext
    private let peer: String
    private let started = MonotonicInstant.now
    private var machine: PutMachine
    /// While bytes are arriving.
    private var file: IncomingFile?
    /// While the publisher has it.
    private var publication: FileToPublish?
    private var received: UInt64 = 0
    /// While it is shown as under way.
    private var shown: UploadsUnderWay.Shown?
    /// True when the journal has been told how the request ended.
    private var isReported = false

    init(_ context: ReceiverContext, _ head: RequestHead, _ path: TargetPath, _ conditions: Preconditions) {
        self.context = context
        peer = head.peer
        machine = PutMachine(
            PutMachine.Request(
                path: path, body: head.body, conditions: conditions, claim: DigestFields.claim(of: head.fields),
                wantsDigest: DigestFields.wantsSHA256(head.fields["want-repr-digest"])),
            limits: context.configuration.limits)
    }

    /// Refuses a PUT of a part of a file, or of coded bytes whose coding would be lost; `nil` for any other.
    static func unsupported(_ head: RequestHead) -> Answer? {
        if head.fields["content-range"] != nil {
            return .problem(.badRequest, "a PUT with Content-Range is not taken: send the whole file")
        }
        if let coding = head.fields["content-encoding"], coding.lowercased() != "identity" {
            return .problem(
                .unsupportedMediaType, "a PUT with Content-Encoding is not taken: send the bytes as they are")
        }
        return nil
    }

    func headArrived() -> Answer? {
        do {
            let existing = try context.folder.look(at: machine.request.path)
            switch machine.looked(existing, freeSpace: try context.room.free()) {
            case .receive: return open()
            case .refuse(let refusal): return refuse(refusal)
            }
        } catch {
            return refuse(.failed(error))
        }
    }

    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? {
        received += UInt64(bytes.count)
        shown?.advance(to: received)
        switch machine.arrived(bytes.count) {
        case .ignore: return nil
        case .refuse(let refusal): return refuse(refusal)
        case .store:
            do {
                try file?.append(bytes)
                return nil
            } catch {
                return refuse(machine.storingFailed(error))
            }
        }
    }

    func bodyEnded() -> RequestStep {
        switch machine.bodyEnded(digest: file?.digestValue) {
        case .refuse(let refusal): return .answer(refuse(refusal))
        case .publish:
            let outcome = context.publisher.publish(storedFile, machine.request.path, machine.request.conditions)
            return .answer(finish(outcome))
        case .publishSynced:
            return .work { [self] done in
                let publication = FileToPublish(
                    file: storedFile, path: machine.request.path, conditions: machine.request.conditions, done: done)
                self.publication = publication
                context.publisher.submit(publication)
            }
        }
    }

    func workEnded() -> RequestStep {
        // The work of the only step that is work set it.
        guard let publication else { preconditionFailure("published without a publication") }
        return .answer(finish(publication.outcome))
    }

    func ended(_ ending: ExchangeEnding) {
        file = nil
        hide()
        if isReported { return }
        let expected: UInt64? = if case .known(let size) = machine.request.body { size } else { nil }
        context.journal.report(
            .cut(machine.request.path, ending, received: received, expected: expected, from: peer))
    }

    /// The file of a machine that is or was `receiving`, which begins when it is open.
    private var storedFile: IncomingFile {
        guard let file else { preconditionFailure("a body was stored without a file") }
        return file
    }

    private func finish(_ outcome: PublishOutcome) -> Answer {
        switch machine.published(outcome, digest: file?.digestValue) {
        case .failure(let refusal): return refuse(refusal)
        case .success(let answer):
            isReported = true
            hide()
            context.journal.report(
                .received(
                    machine.request.path, size: received, in: started.duration(to: .now), from: peer,
                    replaced: answer.status == .noContent))
            return answer
        }
    }

    private func open() -> Answer? {
        let request = machine.request
        let expected: UInt64? = if case .known(let size) = request.body { size } else { nil }
        do {
            file = try IncomingFile(in: context.incoming, computingDigest: request.needsDigest)
            shown = context.journal.underWay?.show(nil, request.path, received: 0, total: expected)
            return nil
        } catch {
            return refuse(machine.storingFailed(error))
        }
    }

    /// Before its last line is written, so that this replaces the one that was redrawn.
    private func hide() {
        shown?.end(isOver: true)
        shown = nil
    }

    private func refuse(_ refusal: Refusal) -> Answer {
        hide()
        // The bytes go at once, not when the client has heard of it.
        file = nil
        isReported = true
        let answer = refusal.answer
        context.journal.report(.refused(.put, machine.request.path, answer, from: peer))
        return answer
    }
}
