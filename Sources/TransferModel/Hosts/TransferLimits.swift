/// Limits of the whole engine, as they hold now, and those of hosts and sessions.
public struct TransferLimits: Codable, Hashable, Sendable {
    /// Bytes a second sent; `nil`: no limit.
    @OrNull public var up: Int64?
    /// Bytes a second received; `nil`: no limit.
    @OrNull public var down: Int64?
    /// The timetable that `up` follows, such as `08:00,512K 18:00,off`; `nil`: it is always the same.
    @OrNull public var upTimetable: String?
    @OrNull public var downTimetable: String?
    /// Transfers at the same time.
    public var transfers: Int
    /// Transfers at the same time to one host.
    public var transfersPerHost: Int
    /// Limits of hosts and sessions, by kind and name.
    public var scoped: [ScopedLimit]
    /// After a change: what names it for an undo; missing: all of it was so before.
    public var operation: Int64?

    public init(
        up: Int64?, down: Int64?, transfers: Int, transfersPerHost: Int, upTimetable: String? = nil,
        downTimetable: String? = nil, scoped: [ScopedLimit] = []
    ) {
        _up = OrNull(wrappedValue: up)
        _down = OrNull(wrappedValue: down)
        _upTimetable = OrNull(wrappedValue: upTimetable)
        _downTimetable = OrNull(wrappedValue: downTimetable)
        self.transfers = transfers
        self.transfersPerHost = transfersPerHost
        self.scoped = scoped
    }
}

/// A limit on everything to and from one host, or of one session, both ways together.
public struct ScopedLimit: Codable, Hashable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case host, session
    }

    public var kind: Kind
    /// A session's name; a host as in its URL, with a port when only that port is meant.
    public var name: String
    /// Bytes a second.
    public var rate: Int64

    public init(kind: Kind, name: String, rate: Int64) {
        self.kind = kind
        self.name = name
        self.rate = rate
    }
}

/// The object of a limit: the smallest on a file's way wins, because each is drawn from.
public enum LimitScope: Hashable, Sendable {
    /// As in `ScopedLimit.name`.
    case host(String)
    case session(SessionName)
    case batch(BatchID)
    case folder(FolderID)
    case task(TaskID)

    /// The hosts by which an origin such as `https://nas.example:443` may be limited.
    public static func hosts(of origin: String) -> [LimitScope] {
        let name = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
        let bare = name.hasSuffix("]") ? name : name.lastIndex(of: ":").map { name[..<$0] } ?? name
        return bare == name ? [.host(String(name))] : [.host(String(name)), .host(String(bare))]
    }
}
