import Digests
import LinuxSystem

/// One PUT, as a value: told what happened, it says what to do next. It opens no file and reads no clock.
struct PutMachine {
    /// The facts of a PUT that its head gives.
    struct Request: Equatable, Sendable {
        var path: TargetPath
        var body: BodyLength
        var conditions = Preconditions()
        var claim = DigestFields.Claim.none
        var wantsDigest = false

        /// True when the digest must be computed while the file arrives.
        var needsDigest: Bool { wantsDigest || claim != .none }
    }

    private enum State: Equatable {
        /// The head has arrived and nothing else is known. Next: `receiving`, or `over` when it is refused.
        case announced
        /// Bytes are stored under a temporary name. Next: `publishing`, or `over` when it is refused or cut.
        case receiving(stored: UInt64)
        /// The body is whole and the publisher has it. Next: `over`.
        case publishing
        /// Answered, or the client is gone. Bytes that still come are nobody's.
        case over
    }

    let request: Request
    private let maximumSize: UInt64
    private let keepFree: UInt64
    private var state = State.announced

    init(_ request: Request, limits: ReceiverConfiguration.Limits) {
        self.request = request
        maximumSize = limits.maximumSize ?? .max
        keepFree = limits.keepFree
    }

    enum LookAction: Equatable {
        case receive
        case refuse(Refusal)
    }

    /// Takes the result of the look-up: the entry at the path and the free bytes on the disk.
    mutating func looked(_ existing: Existing, freeSpace: UInt64) -> LookAction {
        precondition(state == .announced, "a PUT is looked up once, when its head has arrived")
        if let refusal = refusal(existing, freeSpace) {
            state = .over
            return .refuse(refusal)
        }
        state = .receiving(stored: 0)
        return .receive
    }

    enum ArrivalAction: Equatable {
        case store
        /// Refused just now; what was stored is dropped.
        case refuse(Refusal)
        /// Refused before: the bytes are of no use.
        case ignore
    }

    /// A piece of the body has arrived.
    mutating func arrived(_ count: Int) -> ArrivalAction {
        guard case .receiving(let stored) = state else { return .ignore }
        let (total, overflow) = stored.addingReportingOverflow(UInt64(count))
        guard !overflow, total <= maximumSize else {
            state = .over
            return .refuse(.tooLarge(limit: maximumSize))
        }
        state = .receiving(stored: total)
        return .store
    }

    /// A piece could not be stored.
    mutating func storingFailed(_ error: Errno) -> Refusal {
        state = .over
        return .failed(error)
    }

    enum EndAction: Equatable {
        /// Give it its name now.
        case publish
        /// Sync it first, which takes a while.
        case publishSynced
        case refuse(Refusal)
    }

    /// The body is whole; `digest` is of all of it, when one was computed.
    mutating func bodyEnded(digest: DigestValue?) -> EndAction {
        // A refused body is thrown away elsewhere, and its end is not told here.
        guard case .receiving(let stored) = state else { preconditionFailure("a refused PUT has no end") }
        if case .known(let expected) = request.body, stored != expected {
            // libmicrohttpd counts too; this is our own proof that nothing short is ever published.
            state = .over
            return .refuse(.wrongLength(expected: expected, received: stored))
        }
        if case .sha256(let claimed) = request.claim, claimed != digest {
            state = .over
            return .refuse(.digestDiffers)
        }
        state = .publishing
        return stored >= Self.syncedFrom ? .publishSynced : .publish
    }

    /// The publisher is done: what the client gets to hear.
    mutating func published(_ outcome: PublishOutcome, digest: DigestValue?) -> Result<Answer, Refusal> {
        precondition(state == .publishing, "only a whole file is published")
        state = .over
        let digestField = digest.map { [Answer.Field.digest($0)] } ?? []
        return switch outcome {
        case .created(let facts): .success(.plain(.created, Answer.Field.version(facts) + digestField))
        case .replaced(let facts): .success(.plain(.noContent, Answer.Field.version(facts) + digestField))
        case .refused: .failure(.conditionFailed(nil))
        case .blocked: .failure(.notAFile)
        case .failed(let error): .failure(.failed(error))
        }
    }

    /// From this size on a file is on the disk before it is answered for; see `Publisher`.
    static let syncedFrom: UInt64 = 1 << 20

    private func refusal(_ existing: Existing, _ freeSpace: UInt64) -> Refusal? {
        if request.claim == .malformed { return .malformedDigest }
        if request.path.isFolder { return .namesAFolder }
        if request.conditions.outcome(of: existing.facts, isRead: false) == .failed
            || (request.conditions.demandsAbsence && existing != .nothing)
        {
            return .conditionFailed(existing.facts)
        }
        switch existing {
        case .nothing, .file: break
        case .folder, .other: return .notAFile
        }
        let announced: UInt64 = if case .known(let size) = request.body { size } else { 0 }
        if announced > maximumSize { return .tooLarge(limit: maximumSize) }
        let (needed, overflow) = announced.addingReportingOverflow(keepFree)
        if overflow || needed > freeSpace { return .noRoom }
        return nil
    }
}

/// The reasons for which a PUT does not become a file.
enum Refusal: Error, Equatable, Sendable {
    case malformedDigest
    case namesAFolder
    /// A condition does not hold; the version that is there, when it is known.
    case conditionFailed(FileFacts?)
    case notAFile
    case tooLarge(limit: UInt64)
    case noRoom
    case wrongLength(expected: UInt64, received: UInt64)
    case digestDiffers
    case failed(Errno)

    /// The answer to the client.
    var answer: Answer {
        switch self {
        case .malformedDigest: .problem(.badRequest, "the digest field is not a sha-256 in base64 between colons")
        case .namesAFolder:
            .problem(.conflict, "a path that ends in a slash names a folder; folders are made as needed")
        case .conditionFailed(let facts):
            .problem(.preconditionFailed, "a condition of the request does not hold: the file exists or has changed")
                .with(facts.map(Answer.Field.version) ?? [])
        case .notAFile: .problem(.conflict, "there is a folder or something else that is no file under this name")
        case .tooLarge(let limit): .problem(.contentTooLarge, "larger than the \(limit) bytes that are taken here")
        case .noRoom: .problem(.insufficientStorage, "not enough room on the disk")
        case .wrongLength(let expected, let received):
            .problem(.badRequest, "\(received) bytes came where \(expected) were announced")
        case .digestDiffers: .problem(.badRequest, "the content does not have the digest that was announced")
        case .failed(let error): .failure(error)
        }
    }
}
