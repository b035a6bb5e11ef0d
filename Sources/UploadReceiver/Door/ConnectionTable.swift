import LinuxSystem

/// The connections there are, and which of them are closed to make room for others. Any thread.
///
/// A connection counts as proven when a request on it was let in, and as busy while one is served. What is neither can be opened by
/// anybody in any number, so it is never what keeps others out: beyond a limit the oldest unproven connection is closed, then the one
/// that has been idle for longest. Only busy ones, which belong to who was let in, can fill the table; then a new one is told to
/// come again.
final class ConnectionTable: Sendable {
    struct ID: Hashable, Sendable {
        fileprivate let number: UInt64

        fileprivate init(number: UInt64) { self.number = number }

        /// The one that `pointer` stands for; of `nil` one that no connection has.
        init(_ pointer: UnsafeMutableRawPointer?) { number = UInt64(UInt(bitPattern: pointer)) }

        /// The number in a place where C keeps a pointer. It leads nowhere.
        var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: UInt(number)) }
    }

    private enum Standing: Equatable {
        /// Since it was opened. Next: `busy`.
        case unproven
        /// The last request was answered; the number grows with the time. Next: `busy`.
        case idle(since: UInt64)
        /// A request is served. Next: `idle`.
        case busy
    }

    private struct Entry {
        let socket: Int32
        let address: String
        var standing = Standing.unproven
        /// It was told to end, and counts no more.
        var isEnding = false
        /// There was no room for it.
        var isSurplus = false
    }

    private struct State {
        var entries: [ID: Entry] = [:]
        var lastNumber: UInt64 = 0

        mutating func nextNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    private let limits: ReceiverConfiguration.Limits
    /// Held while a connection is shut down: the library closes its descriptor after `closed`, which waits for this.
    private let state = Mutex(State())

    init(_ limits: ReceiverConfiguration.Limits) { self.limits = limits }

    /// A connection was accepted.
    func opened(_ socket: Int32, from address: String) -> ID {
        state.withLock { state in
            let id = ID(number: state.nextNumber())
            state.entries[id] = Entry(socket: socket, address: address)
            let least = min(limits.unprovenConnections, limits.connectionsPerAddress, limits.connections)
            if state.entries.count <= least { return id }
            let unproven = state.entries.filter { !$0.value.isEnding && $0.value.standing == .unproven }
            if unproven.count > limits.unprovenConnections { Self.end(Self.oldest(unproven), &state) }
            let same = state.entries.filter { !$0.value.isEnding && $0.value.address == address }
            if same.count > limits.connectionsPerAddress { Self.makeRoom(among: same, for: id, &state) }
            let all = state.entries.filter { !$0.value.isEnding }
            if all.count > limits.connections { Self.makeRoom(among: all, for: id, &state) }
            return id
        }
    }

    /// The library closes the connection's descriptor next.
    func closed(_ id: ID) { state.withLock { $0.entries[id] = nil } }

    /// A request on it was let in. False when there is no room for it.
    func began(_ id: ID) -> Bool {
        state.withLock { state in
            guard let entry = state.entries[id] else { return true }
            if entry.isSurplus { return false }
            state.entries[id]?.standing = .busy
            return true
        }
    }

    /// The request is over.
    func ended(_ id: ID) {
        state.withLock { state in
            let number = state.nextNumber()
            state.entries[id]?.standing = .idle(since: number)
        }
    }

    private static func makeRoom(among entries: [ID: Entry], for id: ID, _ state: inout State) {
        let unproven = entries.filter { $0.key != id && $0.value.standing == .unproven }
        if let victim = oldest(unproven) ?? longestIdle(entries) {
            end(victim, &state)
        } else {
            state.entries[id]?.isSurplus = true
        }
    }

    private static func oldest(_ entries: [ID: Entry]) -> ID? { entries.keys.min { $0.number < $1.number } }

    private static func longestIdle(_ entries: [ID: Entry]) -> ID? {
        let idle = entries.compactMap { id, entry in
            if case .idle(let since) = entry.standing { (id, since) } else { nil }
        }
        return idle.min { $0.1 < $1.1 }?.0
    }

    private static func end(_ id: ID?, _ state: inout State) {
        guard let id, let entry = state.entries[id] else { return }
        state.entries[id]?.isEnding = true
        try? System.shutdown(entry.socket, .both)
    }
}
