/// A batch's number in its queue. Never reused. Shown and typed as `b7`.
public struct BatchID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public static func < (one: BatchID, other: BatchID) -> Bool { one.rawValue < other.rawValue }
}

/// A task's number in its queue (not in its session or batch). Never reused. Shown and typed as `t31`.
public struct TaskID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public static func < (one: TaskID, other: TaskID) -> Bool { one.rawValue < other.rawValue }
}

/// A folder's number in its queue. Each batch has one root folder, whose name is empty. Shown to people as `b7:raw/2024`.
public struct FolderID: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public static func < (one: FolderID, other: FolderID) -> Bool { one.rawValue < other.rawValue }
}

/// The position of an event in the queue's log: rises by one for each event and is never reused. 0 is before the first.
public struct EventSequence: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
    public static func < (one: EventSequence, other: EventSequence) -> Bool { one.rawValue < other.rawValue }
}

/// A session's name: 1 to 200 bytes of UTF-8 without control characters.
public struct SessionName: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    /// `nil` when the name is empty, too long or holds a control character.
    public init?(rawValue: String) {
        guard !rawValue.isEmpty, rawValue.utf8.count <= 200,
            !rawValue.unicodeScalars.contains(where: { $0.value < 32 || (127...159).contains($0.value) })
        else { return nil }
        self.rawValue = rawValue
    }

    private init(known: String) { rawValue = known }

    /// The session used when none is named.
    public static let `default` = SessionName(known: "default")
}

/// An object that a person may point at: a batch, a task, or a folder of a batch.
public enum NodeID: Hashable, Sendable {
    case batch(BatchID)
    case task(TaskID)
    /// `path` is relative to the batch's root, without a slash at either end; never empty.
    case folder(BatchID, path: RawPath)
}

extension NodeID {
    /// True for a single file's transfer.
    public var isTask: Bool {
        if case .task = self { return true }
        return false
    }
}

extension NodeID: CustomStringConvertible {
    /// Reads `b7`, `t31` or `b7:raw/2024`. `nil` for anything else.
    public init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// As `init(_:)`, for a word of the command line, whose folder part need not be UTF-8.
    public init?(bytes: [UInt8]) {
        let head = bytes.prefix { $0 != UInt8(ascii: ":") }
        guard let kind = head.first, let number = Int64(String(decoding: head.dropFirst(), as: UTF8.self)), number > 0,
            head.dropFirst().first.map({ (48...57).contains($0) }) == true
        else { return nil }
        var path = Array(bytes.dropFirst(head.count + 1))
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        switch (kind, head.count == bytes.count) {
        case (UInt8(ascii: "b"), true): self = .batch(BatchID(rawValue: number))
        case (UInt8(ascii: "t"), true): self = .task(TaskID(rawValue: number))
        case (UInt8(ascii: "b"), false) where !path.isEmpty && path.first != UInt8(ascii: "/"):
            self = .folder(BatchID(rawValue: number), path: RawPath(path))
        default: return nil
        }
    }

    public var description: String {
        switch self {
        case .batch(let id): "\(id)"
        case .task(let id): "\(id)"
        case .folder(let id, let path): "\(id):\(path.displayed)"
        }
    }
}

extension NodeID: Codable {
    private enum Key: String, CodingKey { case batch, folder }

    /// On the wire a string (`"b7"`), or for a folder an object, because its path need not be text.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            guard let id = NodeID(text) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "no such kind of ID: \(text)"))
            }
            self = id
            return
        }
        let object = try decoder.container(keyedBy: Key.self)
        self = .folder(
            try object.decode(BatchID.self, forKey: .batch), path: try object.decode(RawPath.self, forKey: .folder))
    }

    public func encode(to encoder: any Encoder) throws {
        guard case .folder(let batch, let path) = self else {
            var single = encoder.singleValueContainer()
            try single.encode(description)
            return
        }
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(batch, forKey: .batch)
        try object.encode(path, forKey: .folder)
    }
}

extension BatchID: CustomStringConvertible, Codable {
    public var description: String { "b\(rawValue)" }
    public init(from decoder: any Decoder) throws { self.init(rawValue: try numbered("b", decoder)) }
    public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}

extension TaskID: CustomStringConvertible, Codable {
    public var description: String { "t\(rawValue)" }
    public init(from decoder: any Decoder) throws { self.init(rawValue: try numbered("t", decoder)) }
    public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}

extension FolderID: CustomStringConvertible, Codable {
    public var description: String { "f\(rawValue)" }
    public init(from decoder: any Decoder) throws { self.init(rawValue: try numbered("f", decoder)) }
    public func encode(to encoder: any Encoder) throws { try encodeText(description, encoder) }
}

extension EventSequence: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(Int64.self))
    }
    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(rawValue)
    }
}

extension SessionName: CustomStringConvertible, Codable {
    public var description: String { rawValue }
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let name = SessionName(rawValue: text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a session's name"))
        }
        self = name
    }
    public func encode(to encoder: any Encoder) throws { try encodeText(rawValue, encoder) }
}

private func numbered(_ letter: Character, _ decoder: any Decoder) throws -> Int64 {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard text.first == letter, let number = Int64(text.dropFirst()), number > 0 else {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "expected \(letter) and a number, not \(text)"))
    }
    return number
}

private func encodeText(_ text: String, _ encoder: any Encoder) throws {
    var single = encoder.singleValueContainer()
    try single.encode(text)
}
