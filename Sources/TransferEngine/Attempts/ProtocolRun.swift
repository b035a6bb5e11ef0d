import TransferModel
import TransferProtocols

/// The protocol's machine of an attempt, and the actions that it wants performed. A value of the attempt.
struct ProtocolRun {
    private(set) var machine: any ProtocolMachine
    /// The actions to be performed next, in order.
    private var actions: [ProtocolAction] = []
    /// Something that takes time is under way: the disk, a digest, a name that another attempt has. The further actions wait.
    private(set) var isSuspended = false
    /// The point without the intent that was recorded last, as long as the request of that intent has not begun.
    private var unasked: ResumePoint?

    init(_ machine: any ProtocolMachine) { self.machine = machine }

    /// The action that is to be performed now; `nil`: none is left, or it has to wait.
    var next: ProtocolAction? { isSuspended ? nil : actions.first }

    var hasActions: Bool { !actions.isEmpty }

    mutating func handle(_ event: ProtocolEvent) { actions += machine.handle(event) }

    /// Takes `next` out before it is performed: what it leads to may put others in the list's place.
    mutating func takeNext() {
        switch actions.removeFirst() {
        case .perform: unasked = nil
        case .persist: if case .compareSource(let point)? = actions.first { unasked = point }
        default: break
        }
    }

    mutating func suspend() { isSuspended = true }
    mutating func goOn() { isSuspended = false }

    /// Takes the point that holds when the attempt is broken off before the request of its last intent; `nil`: that request has begun.
    mutating func takeUnasked() -> ResumePoint? {
        defer { unasked = nil }
        return unasked
    }

    /// Nothing more is performed.
    mutating func end() { actions = [] }

    /// Another machine takes over, with another version of the file.
    mutating func begin(_ machine: any ProtocolMachine) {
        self.machine = machine
        actions = []
    }
}
