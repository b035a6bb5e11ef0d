import Digests
import LinuxSystem

/// The state of an upload at one moment.
struct UploadFacts: Equatable, Sendable {
    var record: UploadRecord
    /// Bytes that it has.
    var offset: UInt64
    /// True when the file has its name; then `offset` is its length.
    var isPublished: Bool
}

/// One append, as a value: told what happened, it says what to do next. It opens no file and reads no clock.
struct AppendMachine {
    private enum State: Equatable {
        /// The head has arrived and nothing else is known. Next: `receiving`, or `over` when it is refused.
        case announced
        /// Bytes are stored, the upload has so many now. Next: `settling`, or `over` when it is refused, cut or taken over.
        case receiving(offset: UInt64)
        /// The body is whole; what came is put on the disk and perhaps published. Next: `over`.
        case settling
        /// Answered, or the client is gone. Bytes that still come are nobody's.
        case over
    }

    let append: UploadAppend
    /// The whole upload's length, once it is known.
    private(set) var length: UInt64?
    private var isFile = true
    private var completesByLength = true
    private let maximumSize: UInt64
    private let keepFree: UInt64
    private var state = State.announced

    init(_ append: UploadAppend, limits: ReceiverConfiguration.Limits) {
        self.append = append
        maximumSize = limits.maximumSize ?? .max
        keepFree = limits.keepFree
    }

    enum LookAction: Equatable {
        /// Take the bytes; `newLength` is to be remembered first.
        case receive(newLength: UInt64?)
        case refuse(UploadRefusal)
    }

    /// Takes the result of the look-up: the upload's state and the free bytes on the disk.
    mutating func looked(_ facts: UploadFacts, freeSpace: UInt64) -> LookAction {
        precondition(state == .announced, "an append is looked up once, when its head has arrived")
        length = facts.record.length ?? append.length ?? announcedEnd
        isFile = facts.record.role == .file
        completesByLength = facts.record.completesByLength
        if let refusal = refusal(facts, freeSpace) {
            state = .over
            return .refuse(refusal)
        }
        state = .receiving(offset: append.offset)
        return .receive(newLength: facts.record.length == nil ? append.length : nil)
    }

    enum ArrivalAction: Equatable {
        case store
        /// Refused just now; what was stored before stays.
        case refuse(UploadRefusal)
        /// Refused before: the bytes are of no use.
        case ignore
    }

    /// A piece of the body has arrived.
    mutating func arrived(_ count: Int) -> ArrivalAction {
        guard case .receiving(let offset) = state else { return .ignore }
        let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
        if let length, overflow || end > length { return refuse(.inconsistentLength(length)) }
        if overflow || end > maximumSize { return refuse(.file(.tooLarge(limit: maximumSize))) }
        state = .receiving(offset: end)
        return .store
    }

    /// A piece could not be stored.
    mutating func storingFailed(_ error: Errno) -> UploadRefusal {
        state = .over
        return .after(error)
    }

    /// A later request writes to the upload now, or it was removed.
    mutating func tookOver() -> UploadRefusal {
        state = .over
        return .busy
    }

    enum EndAction: Equatable {
        /// Put it on the disk and tell the new offset.
        case keep
        /// Put it on the disk and give the file its name.
        case publish
        case refuse(UploadRefusal)
    }

    /// The body is whole; `piece` is its digest, when one was computed.
    mutating func bodyEnded(piece: DigestValue?) -> EndAction {
        // A body that was refused or lost its upload has an answer already.
        guard case .receiving(let offset) = state else { preconditionFailure("a refused append has no end") }
        if let claim = append.piece, claim.value != piece {
            state = .over
            return .refuse(.checksumDiffers)
        }
        if append.completes, let length, offset != length {
            state = .over
            return .refuse(.inconsistentLength(length))
        }
        state = .settling
        if completesByLength { return length == offset && isFile ? .publish : .keep }
        return append.completes ? .publish : .keep
    }

    /// The body's bytes are on the disk or published, or that failed; the answer is given.
    mutating func settled() {
        precondition(state == .settling, "only a whole body is settled")
        state = .over
    }

    /// The offset at which the upload ends if these bytes are its last; `nil`: they are not, or their count is unknown.
    private var announcedEnd: UInt64? {
        guard append.completes else { return nil }
        switch append.body {
        case .none: return append.offset
        case .known(let count): return append.offset &+ count
        case .unknown: return nil
        }
    }

    private mutating func refuse(_ refusal: UploadRefusal) -> ArrivalAction {
        state = .over
        return .refuse(refusal)
    }

    private func refusal(_ facts: UploadFacts, _ freeSpace: UInt64) -> UploadRefusal? {
        if case .joined = facts.record.role { return .joined }
        if facts.isPublished { return .completed }
        if append.offset != facts.offset { return .offsetDiffers(expected: facts.offset, provided: append.offset) }
        if let known = facts.record.length, let said = append.length, known != said {
            return .inconsistentLength(known)
        }
        let count: UInt64 = if case .known(let count) = append.body { count } else { 0 }
        let (end, overflow) = append.offset.addingReportingOverflow(count)
        if overflow || max(end, length ?? 0) > maximumSize { return .file(.tooLarge(limit: maximumSize)) }
        if let length {
            let isShort = append.completes && append.body != .unknown && end != length
            if end > length || isShort { return .inconsistentLength(length) }
        }
        // A new upload must find room for all of it; later ones only for what they bring.
        let needed = append.offset == 0 ? max(count, length ?? 0) : count
        let (room, tooMuch) = needed.addingReportingOverflow(keepFree)
        return tooMuch || room > freeSpace ? .file(.noRoom) : nil
    }
}
