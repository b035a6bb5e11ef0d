import MartletKit

/// The changes of this screen: newest last, with what takes each back, and those taken back that can be done again.
/// Changes of others are not known here.
struct UndoHistory: Sendable {
    struct Change: Sendable {
        var purpose: Outstanding.Purpose
        /// Names the nodes that were changed, where all of them are known: a selector could mean others by now.
        var request: Request
        /// `nil`: it cannot be taken back.
        var undo: UndoChoice?
        var at: Duration
    }

    private var done: [Change] = []
    private var undone: [Change] = []
    /// When the newest change or undo was made; `nil`: none was.
    private(set) var lastAt: Duration?

    /// More than anybody takes back one after the other.
    private static let most = 50

    /// A request has been answered, and something was changed by it.
    /// - Parameters:
    ///   - changed: the nodes that were changed; `nil`: not all of them are known.
    ///   - uptime: when the answer came.
    /// - Returns: the change that it took back, where that was one of ours.
    @discardableResult
    mutating func note(
        _ answered: Outstanding, _ undo: UndoChoice?, changed: [NodeID]? = nil, at uptime: Duration
    ) -> Outstanding.Purpose? {
        lastAt = uptime
        if case .undo(let choice, _) = answered.request {
            guard let index = done.lastIndex(where: { $0.undo == choice }) else { return nil }
            undone.append(done.remove(at: index))
            return undone.last?.purpose
        }
        if !answered.isRedo { undone = [] }
        let change = Change(
            purpose: answered.purpose, request: changed.map { answered.request.narrowed(to: $0) } ?? answered.request,
            undo: undo, at: answered.sentAt)
        done = done.suffix(Self.most - 1) + [change]
        return nil
    }

    /// A request has changed nothing: one that was to do a change again can be made once more.
    mutating func failed(_ asked: Outstanding) {
        guard asked.isRedo else { return }
        undone.append(Change(purpose: asked.purpose, request: asked.request, undo: nil, at: asked.sentAt))
    }

    /// The undo of the newest change made after this time.
    func newest(after time: Duration) -> UndoChoice? { done.last { $0.undo != nil && $0.at > time }?.undo }

    /// The newest cancel, however long ago; not of what another batch has taken the place of: that would send it twice.
    var newestCancel: Change? {
        done.last { change in
            switch change.purpose {
            case .deed(.cancel, _), .named(.cancel, _): change.undo != nil
            default: false
            }
        }
    }

    /// The numbers of what was changed here.
    var operations: Set<Int64> {
        Set(done.compactMap { change in if case .operation(let number)? = change.undo { number } else { nil } })
    }

    var hasChanges: Bool { !done.isEmpty }

    var hasUndone: Bool { !undone.isEmpty }

    /// The change taken back last, which `again` takes out.
    var lastUndone: Change? { undone.last }

    /// Removes and returns the change taken back last; it counts as asked for.
    mutating func again() -> Change? { undone.popLast() }
}

extension Request {
    /// The same once more.
    func numbered(_ number: Int) -> Request {
        switch self {
        case .act(let deed, let nodes, _): .act(deed, nodes, number: number)
        case .clearFinished: .clearFinished(number: number)
        case .setLimits(let wish, _): .setLimits(wish, number: number)
        default: self
        }
    }

    /// True when it may change other nodes than before when it is made again. A move throws nothing away.
    var isOpen: Bool {
        guard case .act(let deed, let nodes, _) = self, !deed.isMove else { return false }
        return switch nodes {
        case .ids: false
        case .matching: true
        case .rows(let rows): rows.contains { if case .group = $0 { true } else { false } }
        }
    }

    /// The same for these nodes, which it has changed, where it could mean others when it is made again.
    func narrowed(to done: [NodeID]) -> Request {
        guard isOpen, case .act(let deed, _, let number) = self else { return self }
        return .act(deed, .ids(done), number: number)
    }
}
