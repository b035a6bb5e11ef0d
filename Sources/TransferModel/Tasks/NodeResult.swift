/// The result for one ID of a command that changes things.
public struct NodeResult: Codable, Hashable, Sendable {
    public enum Outcome: String, Codable, Sendable {
        /// Changed, and durable.
        case done
        /// It was so before.
        case already
        /// Left as it was; `code` and `message` say why. An unknown ID is `refused` with `noSuchObject`.
        case refused
    }

    public var id: NodeID
    public var result: Outcome
    @OrNull public var code: RequestErrorCode?
    /// For a person, when refused: why and what to do. Harmless to print.
    public var message: String?
    /// The message with its commands as values; `nil`: it names none.
    package var advice: Advice?
    /// Bytes that were sent and have to be sent again when it goes on, because their server cannot resume; `nil`: none.
    public var bytesToRepeat: Int64?
    /// True after an undo that took back only the time when its pause ends. It is paused as before, until `pausedUntil`.
    public var pausedAgain: Bool?
    /// The time when a node that is paused again goes on by itself; `nil`: when somebody resumes it.
    public var pausedUntil: Timestamp?
    /// The number of files that a cancel has stopped.
    public var files: Int64?

    public init(id: NodeID, result: Outcome, code: RequestErrorCode? = nil, message: String? = nil) {
        self.id = id
        self.result = result
        _code = OrNull(wrappedValue: code)
        self.message = message
    }

    package init(id: NodeID, refused code: RequestErrorCode, _ advice: Advice) {
        self.init(id: id, result: .refused, code: code, message: advice.text)
        self.advice = advice.told
    }
}

/// The results that an answer does not tell one by one, since there are very many: their numbers.
public struct UntoldResults: Codable, Hashable, Sendable {
    public var done: Int64 = 0
    public var already: Int64 = 0
    public var refused: Int64 = 0

    public init(done: Int64 = 0, already: Int64 = 0, refused: Int64 = 0) {
        (self.done, self.already, self.refused) = (done, already, refused)
    }

    package mutating func count(_ result: NodeResult) {
        switch result.result {
        case .done: done += 1
        case .already: already += 1
        case .refused: refused += 1
        }
    }

    public var all: Int64 { done + already + refused }
}

/// The nodes that a command means when it does not name them: all conditions that are given must hold.
public struct NodeSelector: Codable, Hashable, Sendable {
    public var batch: BatchID?
    public var session: SessionName?
    /// Empty: any state. When not empty the selector means tasks, else batches.
    public var states: [TransferState]
    /// Tasks that match this expression, see the manual; checked by the engine.
    public var filter: String?

    /// Without any condition: everything (`--all`).
    public init(
        batch: BatchID? = nil, session: SessionName? = nil, states: [TransferState] = [], filter: String? = nil
    ) {
        self.batch = batch
        self.session = session
        self.states = states
        self.filter = filter
    }

    private enum CodingKeys: String, CodingKey { case batch, session, states, filter }

    public init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        batch = try object.decodeIfPresent(BatchID.self, forKey: .batch)
        session = try object.decodeIfPresent(SessionName.self, forKey: .session)
        states = try object.decodeIfPresent([TransferState].self, forKey: .states) ?? []
        filter = try object.decodeIfPresent(String.self, forKey: .filter)
    }
}

/// The reason why something does not move: one sentence, and what would unblock it.
public struct WhyAnswer: Codable, Hashable, Sendable {
    /// `nil`: the whole engine.
    @OrNull public var id: NodeID?
    @OrNull public var state: TransferState?
    public var waitReasons: [WaitReason]
    /// Since when it is so, when that is known.
    @OrNull public var since: Timestamp?
    /// When the engine tries again by itself, if it does.
    @OrNull public var retryAt: Timestamp?
    /// Tasks that this answer is about.
    public var tasks: Int64
    /// The waiting node and the reason of its wait. Harmless to print.
    public var sentence: String
    /// The step that would unblock it; empty when nothing is needed.
    public var unblock: String
    /// The same with its commands as values; `nil`: there are none.
    package var advice: Advice?
    /// The cause that holds it, without times and counts: the same words as long as it is the same; `nil`: none. Harmless to print.
    @OrNull public var because: String?
    /// The cause without the words of a library; `nil`: there are none in it.
    package var becauseInShort: String?
    /// `because` goes on after "waits", as `for mains power` does.
    package var becauseIsClause: Bool?

    public init(
        id: NodeID?, state: TransferState?, waitReasons: [WaitReason], since: Timestamp?, retryAt: Timestamp?,
        tasks: Int64, sentence: String, unblock: String, because: String? = nil
    ) {
        _id = OrNull(wrappedValue: id)
        _state = OrNull(wrappedValue: state)
        self.waitReasons = waitReasons
        _since = OrNull(wrappedValue: since)
        _retryAt = OrNull(wrappedValue: retryAt)
        self.tasks = tasks
        self.sentence = sentence
        self.unblock = unblock
        _because = OrNull(wrappedValue: because)
    }

    /// The step that would unblock it, as far as it is known in values.
    package var remedy: Advice {
        get { advice ?? Advice(unblock) }
        set { (unblock, advice) = (newValue.text, newValue.told) }
    }
}
