/// The place where `move` puts its nodes.
public enum MovePlace: Hashable, Sendable {
    /// The first of its priority in the queue; a task or folder: of its batch.
    case top
    case bottom
    /// Past what comes just before it, or just behind it.
    case earlier
    case later
    /// A batch before a batch, a task or folder before one of the same batch.
    case before(NodeID)
}

/// The changes that `set` makes to queued or running nodes; what is `nil` stays as it is.
public struct NodeSettings: Codable, Hashable, Sendable {
    /// The priority; that of a task or folder counts among everything, whatever its batch has.
    public var priority: TransferPriority?
    /// Bytes a second; 0 takes the limit away.
    public var limit: Int64?
    /// The earliest start of a batch or task. A time that has passed: at once.
    public var notBefore: Timestamp?
    /// Seconds without progress after which a batch's tasks give up.
    public var giveUpAfterSeconds: Int64?
    /// A batch's policy for existing files, for what of it is tried from now on, over or not.
    public var ifExists: ExistingFilePolicy?
    /// The new name of a batch.
    public var name: BatchName?
    /// Authorities that a batch trusts instead of the system's (PEM), for what of it is tried from now on, over or not.
    public var caFile: RawPath?
    /// The digest that the public key of a batch's server must have (`sha256//...`), for what of it is tried from now on, over or not.
    public var pin: String?

    public init(
        priority: TransferPriority? = nil, limit: Int64? = nil, notBefore: Timestamp? = nil,
        giveUpAfterSeconds: Int64? = nil, ifExists: ExistingFilePolicy? = nil, name: BatchName? = nil,
        caFile: RawPath? = nil, pin: String? = nil
    ) {
        self.priority = priority
        self.limit = limit
        self.notBefore = notBefore
        self.giveUpAfterSeconds = giveUpAfterSeconds
        self.ifExists = ifExists
        self.name = name
        self.caFile = caFile
        self.pin = pin
    }

    public var isEmpty: Bool { self == NodeSettings() }

    /// Settings that a batch which is over does not take: those left change what a retry does.
    package var ofUnfinishedWork: NodeSettings {
        var settings = self
        (settings.name, settings.ifExists, settings.caFile, settings.pin) = (nil, nil, nil, nil)
        return settings
    }
}

/// The kind of change that an undo took back.
public enum UndoneDeed: String, Codable, Sendable, CaseIterable {
    case cancel, pause, resume, move, set, runNow, purge, limit, clear

    /// The noun for the change when it is taken back.
    package var noun: String {
        switch self {
        case .cancel: "cancel"
        case .pause: "pause"
        case .resume: "resume"
        case .move: "move"
        case .set: "change"
        case .runNow: "run-now"
        case .purge: "purge"
        case .limit: "limit"
        case .clear: "clearing"
        }
    }
}
