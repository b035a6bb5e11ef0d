import FoundationEssentials
import LinuxSystem
import TransferModel

// How the model's words stand in columns. Places in the model's lists are part of the schema; they are append only there.

extension CaseIterable {
    /// `nil` for a number that no version of ours wrote.
    fileprivate static func `case`(at place: Int64) -> Self? {
        place < 0 ? nil : allCases.dropFirst(Int(clamping: place)).first
    }
}

extension TransferState {
    /// Its place in the list of states.
    var stored: Int64 {
        switch self {
        case .created: 0
        case .queued: 1
        case .waiting: 2
        case .running: 3
        case .finishing: 4
        case .paused: 5
        case .completed: 6
        case .failed: 7
        case .cancelled: 8
        }
    }

    /// `nil` for a number that no version of ours wrote.
    init?(stored: Int64) {
        guard let state = Self.case(at: stored) else { return nil }
        self = state
    }
}

/// The stage of the listing of a batch's folders: `batches.scanning`.
enum ListingState: Int64 {
    /// All that there is is known.
    case ended = 0
    case goesOn = 1
    /// Some of it was stopped by a cancel, so that not all that there is is known. Versions before wrote `ended` then.
    case cutShort = 2
}

extension TransferEventType {
    var stored: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) }

    init?(stored: Int64) {
        guard let type = Self.case(at: stored) else { return nil }
        self = type
    }
}

extension TransferErrorCode {
    var stored: Int64 { Int64(Self.allCases.firstIndex(of: self) ?? 0) }

    init?(stored: Int64) {
        guard let code = Self.case(at: stored) else { return nil }
        self = code
    }
}

extension TransferPriority {
    init(stored: Int64) { self = Self.case(at: stored) ?? .normal }
}

extension TransferDirection {
    var stored: Int64 { self == .upload ? 0 : 1 }
    init(stored: Int64) { self = stored == 0 ? .upload : .download }
}

/// The bits of a task's `flags`.
struct TaskFlags: OptionSet, Hashable {
    var rawValue: Int64
    /// Paused by name, whatever its folders and batch are.
    static let paused = TaskFlags(rawValue: 1)
    static let skipped = TaskFlags(rawValue: 2)
    static let verifiedBySize = TaskFlags(rawValue: 4)
    static let verifiedByDigest = TaskFlags(rawValue: 8)
    /// Stands for a directory that could not be listed; there is nothing to send.
    static let directory = TaskFlags(rawValue: 16)
    /// Has a row in `task_details`.
    static let details = TaskFlags(rawValue: 32)
    /// Its resume point is a guess at what an attempt has left: for who clears up, and nothing to go on from.
    static let guessed = TaskFlags(rawValue: 64)
    /// A claimed download that is getting its final name: nothing stops that any more.
    static let publishing = TaskFlags(rawValue: 128)
    /// Cancelled with what it lies in while it was getting its final name: unless it gets that, it ends so.
    static let cancelled = TaskFlags(rawValue: 256)
    /// Written by earlier versions only, for `cancelled` when the engine was killed meanwhile. The start after an upgrade takes it away.
    static let unsettled = TaskFlags(rawValue: 512)
    /// Skipped because the rule of that time left somebody else's file in its place: nothing was said of its bytes.
    static let spared = TaskFlags(rawValue: 1024)
    /// Another file of its batch may have the same name at the server (`SharedNames`).
    static let sharesName = TaskFlags(rawValue: 2048)

    var verification: Verification {
        get { contains(.verifiedByDigest) ? .digest : contains(.verifiedBySize) ? .size : .none }
        set {
            subtract([.verifiedBySize, .verifiedByDigest])
            if newValue == .size { insert(.verifiedBySize) }
            if newValue == .digest { insert(.verifiedByDigest) }
        }
    }

    /// Seven bits behind those of the marks: the status of an answer from 200 to 299, minus 199.
    private static let answer: Int64 = 0x7F << answerShift
    private static let answerShift: Int64 = 16

    /// The status by which the server said that it has a completed upload, where nothing was compared.
    var answered: Int? {
        get {
            let status = Int((rawValue & Self.answer) >> Self.answerShift)
            return (1...100).contains(status) ? status + 199 : nil
        }
        set {
            rawValue &= ~Self.answer
            if let newValue, (200...299).contains(newValue) {
                rawValue |= Int64(newValue - 199) << Self.answerShift
            }
        }
    }
}

/// JSON in columns: keys in order, so equal values are equal bytes.
enum StoredJSON {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// A column as SQL reads it: NULL where it is damaged. What is no JSON would end the statement, and everything that it is for.
    static func sql(_ column: String) -> String { "(CASE WHEN json_valid(\(column)) THEN \(column) END)" }

    /// `nil` for no text or text that is not such a value: a damaged column must not take the rest with it.
    static func value<Value: Decodable>(_ type: Value.Type, _ text: String?) -> Value? {
        text.flatMap { try? JSONDecoder().decode(type, from: Data($0.utf8)) }
    }
}

extension UUID {
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// `nil` unless there are 16 bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    /// A task's UUID, computed from its queue's and its number so that a million need not be stored: the queue's bytes
    /// with the number mixed into the last eight, marked as version 8 (RFC 9562, "custom"). Different tasks of a queue
    /// never collide, because numbers stay below 2^56.
    init(task: TaskID, queue: UUID) {
        var bytes = queue.bytes
        for place in 0..<7 { bytes[15 - place] ^= UInt8(truncatingIfNeeded: task.rawValue >> (8 * Int64(place))) }
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        // 16 bytes went in.
        self.init(bytes: bytes)!
    }
}

extension UUID {
    /// A UUID of version 4.
    init(random platform: any Platform) {
        var bytes: [UInt8] = []
        for _ in 0..<2 { withUnsafeBytes(of: platform.randomBits()) { bytes += $0 } }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        // 16 bytes went in.
        self.init(bytes: bytes)!
    }
}

extension Timestamp {
    /// The wall clock.
    static var now: Timestamp { Timestamp(milliseconds: WallClock.milliseconds) }
}
