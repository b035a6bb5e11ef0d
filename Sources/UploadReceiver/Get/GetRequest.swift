import Digests
import LinuxSystem

/// Serves one GET or HEAD: a file or a part of it, or a folder's names, one a line.
final class GetRequest: ServedRequest {
    private let context: ReceiverContext
    private let head: RequestHead
    private let path: TargetPath
    private let conditions: Preconditions
    private let started = MonotonicInstant.now
    private var listing: FolderIndex?
    /// The file whose digest is wanted; `nil` as its digesting: the answer goes without.
    private var wanting: (file: OpenFile, digesting: Digesting?)?
    /// Bytes of a listing that is being sent.
    private var listed = 0
    /// The range (`nil`: the whole file) and the file's size that are being sent, for the journal.
    private var sending: (range: ByteRange?, size: UInt64)?

    init(_ context: ReceiverContext, _ head: RequestHead, _ path: TargetPath, _ conditions: Preconditions) {
        self.context = context
        self.head = head
        self.path = path
        self.conditions = conditions
    }

    func headArrived() -> Answer? { nil }
    func bytesArrived(_ bytes: UnsafeRawBufferPointer) -> Answer? { nil }

    func bodyEnded() -> RequestStep {
        do {
            switch try context.folder.look(at: path) {
            case .nothing: return .answer(refuse(.failure(.noSuchFile)))
            case .other: return .answer(refuse(.problem(.forbidden, "not a file; symbolic links are not followed")))
            case .folder: return list()
            case .file:
                if path.isFolder { return .answer(refuse(.failure(.notDirectory))) }
                guard let file = try context.folder.openFile(path) else {
                    return .answer(refuse(.failure(.noSuchFile)))
                }
                return serve(file)
            }
        } catch {
            return .answer(refuse(.failure(error)))
        }
    }

    func workEnded() -> RequestStep {
        if let wanting { return .answer(send(wanting.file, digest: wanting.digesting?.result)) }
        // Work begins in two places, each of which sets one of the two before: only a bug of ours comes here without.
        guard let listing else { preconditionFailure("listed without a listing") }
        switch listing.result {
        case .success(let text) where !context.listings.take(text.utf8.count):
            return .answer(refuse(.problem(.unavailable, "too many listings are being sent").with([.retrySoon])))
        case .success(let text):
            listed = text.utf8.count
            return .answer(Answer(status: .ok, fields: [.plainText], body: .text(text)))
        case .failure(let error): return .answer(refuse(.failure(error)))
        }
    }

    func ended(_ ending: ExchangeEnding) {
        context.listings.giveBack(listed)
        guard let sending, head.method == .get else { return }
        if ending == .answered {
            context.journal.report(
                .sent(path, sending.range, size: sending.size, in: started.duration(to: .now), from: head.peer))
        } else {
            context.journal.report(.cut(path, ending, received: nil, expected: sending.size, from: head.peer))
        }
    }

    /// A digest that is wanted and not known is computed first, unless there is too much to do: an answer may go without one (RFC 9530
    /// section 4).
    private func serve(_ file: OpenFile) -> RequestStep {
        let known = StoredDigest.read(of: file)
        guard known == nil, DigestFields.wantsSHA256(head.fields["want-repr-digest"]),
            conditions.outcome(of: file.facts, isRead: true) == .met
        else { return .answer(send(file, digest: known)) }
        return .work { [self] done in
            let digesting = context.digester.submit(file, done: done)
            wanting = (file, digesting)
            if digesting == nil { done() }
        }
    }

    private func send(_ file: OpenFile, digest: DigestValue?) -> Answer {
        let selection = Self.select(head.fields, conditions, isGet: head.method == .get, of: file.facts)
        var fields = Answer.Field.version(file.facts) + [.acceptsRanges]
        switch selection {
        // With the file as its body, which the library does not send, the answer has the length that 200 would have.
        case .notModified:
            return Answer(status: .notModified, fields: fields, body: .file(file, offset: 0, count: file.facts.size))
        case .failed:
            return refuse(.problem(.preconditionFailed, "a condition of the request does not hold").with(fields))
        case .unsatisfiable:
            return refuse(
                .problem(.rangeNotSatisfiable, "the file has \(file.facts.size) bytes")
                    .with(fields + [.unsatisfiedRange(of: file.facts.size)]))
        case .whole, .part: break
        }
        fields.append(Answer.Field(name: "Content-Type", value: "application/octet-stream"))
        if let digest { fields.append(.digest(digest)) }
        guard case .part(let range) = selection else {
            sending = (nil, file.facts.size)
            return Answer(status: .ok, fields: fields, body: .file(file, offset: 0, count: file.facts.size))
        }
        sending = (range, file.facts.size)
        return Answer(
            status: .partialContent, fields: fields + [.contentRange(range, of: file.facts.size)],
            body: .file(file, offset: range.first, count: range.count))
    }

    enum Selection: Equatable {
        case whole
        case part(ByteRange)
        case notModified
        case failed
        case unsatisfiable
    }

    /// Selects the part of a file that a request gets, in the order of RFC 9110 section 13.2.2: conditions first, then the range.
    static func select(
        _ fields: RequestFields, _ conditions: Preconditions, isGet: Bool, of facts: FileFacts
    ) -> Selection {
        switch conditions.outcome(of: facts, isRead: true) {
        case .notModified: return .notModified
        case .failed: return .failed
        case .met: break
        }
        // Ranges mean something for GET only.
        guard isGet, RangeCondition.holds(fields["if-range"], for: facts) else { return .whole }
        return switch RangeSelection(field: fields["range"], size: facts.size) {
        case .whole: .whole
        case .part(let range): .part(range)
        case .unsatisfiable: .unsatisfiable
        }
    }

    private func list() -> RequestStep {
        .work { [self] done in
            let listing = FolderIndex()
            self.listing = listing
            context.reader.submit { [folder = context.folder, path] in
                listing.read(folder, path)
                done()
            }
        }
    }

    private func refuse(_ answer: Answer) -> Answer {
        // Asking whether a file is there is no event.
        if answer.status != .notFound || head.method == .get {
            context.journal.report(.refused(head.method, path, answer, from: head.peer))
        }
        return answer
    }
}

/// The memory that listings take until their clients have read them. Any thread.
final class ListingMemory: Sendable {
    private let used = Mutex(0)

    /// Takes memory for a listing; false when those that are being sent have enough. One alone is always let through.
    func take(_ count: Int) -> Bool {
        used.withLock { used in
            if used > 0, used + count > Self.most { return false }
            used += count
            return true
        }
    }

    func giveBack(_ count: Int) { used.withLock { $0 -= count } }

    private static let most = 64 << 20
}
