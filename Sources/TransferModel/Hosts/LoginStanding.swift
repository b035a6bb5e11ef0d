/// The engine's knowledge in this run of one set of credentials at one host: whether they are let in, and how many may try.
///
/// A server counts refused logins and locks the account, so one file at a time tries a login that nobody has taken yet, and none tries one
/// that was refused until a person does something about it. Pure: the owner says who tries and how it went.
public struct LoginStanding: Hashable, Sendable {
    /// The reason why a login is not tried again by itself.
    public struct Refusal: Hashable, Sendable {
        /// `auth` or `hostKey`.
        public var reason: WaitReason
        public var error: TransferError

        public init(_ reason: WaitReason, _ error: TransferError) {
            self.reason = reason
            self.error = error
        }
    }

    public enum State: Hashable, Sendable {
        /// Nobody has tried it, or nobody has heard how that went. Next: `letIn`, `refused`.
        case untried
        /// Any number may use it. Next: `doubted`.
        case letIn
        /// It was let in before and one file was refused: that may be the file's own address, or the end of a token. Next: `letIn`, `refused`.
        case doubted
        /// Nothing starts. Next: `untried`, when a person has done something about it.
        case refused(Refusal)
    }

    public private(set) var state = State.untried
    /// The task that tries it.
    private var probe: TaskID?
    /// It was refused in this run.
    public private(set) var hasBeenRefused = false
    /// Tasks may wait for it since an earlier refusal: they go on when it is let in.
    private var keepsWaiting = true
    /// Refused with a login that was good before: they try once more when it is let in again.
    private var suspects: Set<TaskID> = []
    /// Tasks that have tried once more: what refuses them then is their own address.
    private var suspected: Set<TaskID> = []

    /// - Parameter isProven: there is nothing to try.
    public init(isProven: Bool = false) {
        if isProven { (state, keepsWaiting) = (.letIn, false) }
    }

    public var refusal: Refusal? {
        if case .refused(let refusal) = state { refusal } else { nil }
    }

    /// True when one more file may use it now.
    public var mayStart: Bool {
        switch state {
        case .letIn: true
        case .untried, .doubted: probe == nil
        case .refused: false
        }
    }

    /// A file begins to use it.
    public mutating func began(_ task: TaskID) {
        if state != .letIn { probe = task }
    }

    /// A file's attempt is over.
    /// - Returns: whether others may start now that could not before.
    public mutating func ended(_ task: TaskID) -> Bool {
        guard probe == task else { return false }
        probe = nil
        return mayStart
    }

    /// The server took it.
    /// - Returns: what goes on now: nothing, files in line, or those, too, that wait since an earlier refusal.
    public mutating func wasLetIn() -> Release {
        if state == .letIn { return .nothing }
        // It was under way already when the login was refused, so it has not shown what a person may have given since.
        if case .refused = state { return .nothing }
        (state, probe) = (.letIn, nil)
        defer { (keepsWaiting, suspects) = (false, []) }
        if keepsWaiting { return .all }
        let again = suspects.subtracting(suspected)
        guard !again.isEmpty, suspected.count < Self.remembered else { return .line }
        suspected.formUnion(again)
        return .tasks(again)
    }

    /// So many are remembered as having tried once more; afterwards a person says who tries again.
    private static let remembered = 1000

    /// This task's result says something about the login now: that of any task while it is accepted, else only that of the probe, since others
    /// may have been let in long ago.
    public func isConclusive(from task: TaskID) -> Bool { state == .letIn || probe == task }

    /// The server has let this task in, which says so of the login: not while another one is to find out, or after a refusal.
    public func isShownGood(by task: TaskID) -> Bool { isConclusive(from: task) || state == .untried && probe == nil }

    /// The tasks that may go on when a login is let in.
    public enum Release: Hashable, Sendable {
        case nothing
        /// Tasks in line for it.
        case line
        /// Tasks in line for it, and these, which were refused while it was in doubt.
        case tasks(Set<TaskID>)
        /// Tasks in line for it, and all that wait for it.
        case all
    }

    /// The server refused it, or ssh refused the server.
    public mutating func wasRefused(_ refusal: Refusal, by task: TaskID) {
        switch state {
        case .letIn:
            (state, probe) = (.doubted, nil)
            suspects.insert(task)
        case .doubted where probe != task, .untried where probe != task:
            // Under way with the one that was refused first, or since before a person wanted another try.
            suspects.insert(task)
        case .untried, .doubted, .refused: refuse(refusal)
        }
    }

    /// There is nothing to show: what knows the login has failed. Nobody asks it again, whatever was let in before.
    public mutating func lookupFailed(_ refusal: Refusal) { refuse(refusal) }

    /// Nothing starts until a person has done something about it.
    private mutating func refuse(_ refusal: Refusal) {
        (state, probe, keepsWaiting, suspects) = (.refused(refusal), nil, true, [])
        hasBeenRefused = true
    }

    /// A person has done something about it, or wants it tried: one file tries.
    public mutating func tryAgain() {
        if refusal != nil { state = .untried }
    }
}

extension LoginStanding {
    /// True when an answer shows that its client is let in; 401, 403 and 407 are left to code that knows the protocol.
    public static func isLetIn(httpStatus: Int) -> Bool {
        switch httpStatus {
        case 200..<300, 304, 404, 405, 409, 410, 412, 413, 416, 423, 507: true
        default: false
        }
    }
}
