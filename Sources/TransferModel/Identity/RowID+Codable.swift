extension RowID: CustomStringConvertible {
    /// Reads what `description` writes: `b7`, `b7/f3`, `b7/t31`, `b7/f3/failed`, `b7/f3/failed.http`. `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let batch = parts.first.flatMap({ Self.number("b", $0) }).map({ BatchID(rawValue: $0) }) else {
            return nil
        }
        switch parts.count {
        case 1: self = .batch(batch)
        case 2:
            if let task = Self.number("t", parts[1]) {
                self = .task(batch, TaskID(rawValue: task))
            } else if let folder = Self.number("f", parts[1]) {
                self = .folder(batch, FolderID(rawValue: folder))
            } else {
                return nil
            }
        case 3:
            guard let folder = Self.number("f", parts[1]), let fate = Fate(parts[2]) else { return nil }
            self = .group(batch, FolderID(rawValue: folder), fate)
        default: return nil
        }
    }

    public var description: String {
        switch self {
        case .batch(let batch): "\(batch)"
        case .folder(let batch, let folder): "\(batch)/\(folder)"
        case .task(let batch, let task): "\(batch)/\(task)"
        case .group(let batch, let folder, let fate): "\(batch)/\(folder)/\(fate)"
        }
    }

    private static func number(_ letter: Character, _ text: Substring) -> Int64? {
        guard text.first == letter, let number = Int64(text.dropFirst()), number > 0 else { return nil }
        return number
    }

    /// On the wire a string, see `description`.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = RowID(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not a row's identity: \(text)"))
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        try single.encode(description)
    }
}

extension RowID.Fate: CustomStringConvertible {
    /// Reads what `description` writes: `completed`, `failed.http`.
    init?(_ text: Substring) {
        let halves = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let state = TransferState(rawValue: halves[0]) else { return nil }
        switch halves.count {
        case 1: self.init(state)
        case 2:
            guard state == .failed, let cause = TransferErrorCode(rawValue: halves[1]) else { return nil }
            self.init(state, cause: cause)
        default: return nil
        }
    }

    public var description: String { state.rawValue + (cause.map { ".\($0.rawValue)" } ?? "") }
}
