import MartletKit

/// The changes of this screen from the moment they are asked for: newest last, with what takes each back, and those taken back that can be
/// done again. Changes of others are not known here.
struct UndoHistory: Sendable {
    struct Change: Sendable {
        enum State: Hashable, Sendable {
            /// The engine has not answered: next it is one of the others, or the change is dropped, because nothing was changed.
            case asked
            /// It was made, in whole or in part; this takes it back.
            case done(UndoChoice)
            /// It was made and cannot be taken back.
            case final
            /// An answer was lost, to it or to its undo: nobody knows here whether it is so now.
            case unknown
        }

        /// The number of the request.
        var number: Int
        var purpose: Outstanding.Purpose
        /// Names the nodes that were changed, where all of them are known: a selector could mean others by now. `nil`: it holds a secret.
        var request: Request?
        var state = State.asked
        var at: Duration

        /// A cancel, which can be had back for long, though it begins anew; not of what another batch has taken the place of: that would
        /// send it twice.
        var isCancel: Bool {
            switch purpose {
            case .deed(.cancel, _), .named(.cancel, _): true
            default: false
            }
        }
    }

    private var made: [Change] = []
    private var undone: [Change] = []
    /// When the newest change or undo was made; `nil`: none was.
    private(set) var lastAt: Duration?
    /// True while the second half of the newest change is asked for, which is no change of its own.
    var isJoining = false

    /// More than anybody takes back one after the other.
    private static let most = 50

    /// A change is asked for; the undo of one is none.
    mutating func asked(_ request: Outstanding, _ number: Int) {
        guard request.purpose.isChange, !isJoining else { return }
        if case .undo = request.purpose { return }
        let isSecret = if case .lettingIn = request.purpose { true } else { false }
        let change = Change(
            number: number, purpose: request.purpose, request: isSecret ? nil : request.request, at: request.sentAt)
        made = made.suffix(Self.most - 1) + [change]
    }

    /// A request has been answered, and something was changed by it.
    /// - Parameters:
    ///   - undo: `nil`: it cannot be taken back.
    ///   - changed: the nodes that were changed; `nil`: not all of them are known.
    ///   - uptime: when the answer came.
    /// - Returns: the change that it took back, where that was one of ours.
    @discardableResult
    mutating func done(
        _ answered: Outstanding, _ number: Int, _ undo: UndoChoice?, changed: [NodeID]? = nil, at uptime: Duration
    ) -> Outstanding.Purpose? {
        lastAt = uptime
        if let index = takenBack(by: answered) {
            undone.append(made.remove(at: index))
            return undone.last?.purpose
        }
        guard let index = made.lastIndex(where: { $0.number == number }) else { return nil }
        if !answered.isRedo { undone = [] }
        made[index].state = undo.map { .done($0) } ?? .final
        if let changed { made[index].request = made[index].request?.narrowed(to: changed) }
        return nil
    }

    /// A request has changed nothing: it was no change.
    /// - Parameter isRefused: where it was to do a change again, that can be done once more.
    mutating func dropped(_ answered: Outstanding, _ number: Int, isRefused: Bool) {
        made.removeAll { $0.number == number }
        if isRefused { keepRedo(of: answered, number) }
    }

    /// The engine could not answer any more.
    mutating func lost(_ unanswered: Outstanding, _ number: Int) {
        let index = takenBack(by: unanswered) ?? made.lastIndex { $0.number == number }
        if let index { made[index].state = .unknown }
        keepRedo(of: unanswered, number)
    }

    private func takenBack(by answered: Outstanding) -> Int? {
        guard case .undo(let choice, _) = answered.request else { return nil }
        return made.lastIndex { $0.state == .done(choice) }
    }

    private mutating func keepRedo(of asked: Outstanding, _ number: Int) {
        guard asked.isRedo else { return }
        undone.append(Change(number: number, purpose: asked.purpose, request: asked.request, at: asked.sentAt))
    }

    /// The last change made here: the one that is meant by taking back.
    var newest: Change? { made.last }

    /// The numbers of what was changed here.
    var operations: Set<Int64> {
        Set(made.compactMap { if case .done(.operation(let number)) = $0.state { number } else { nil } })
    }

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
