import LinuxSystem
import TransferModel
import TransferQueue

/// Changes that the engine itself owes the queue and that the queue has refused, most often because its disk is full: they are tried again
/// until it takes them. A change that got lost would be asked for by nobody: the file that was to wait until noon would wait for ever.
///
/// On the engine's loop; used through `durably` only.
final class QueueDuties {
    /// A duty that is the same whoever has it: while one waits, another one of that name adds nothing to it.
    enum Name: Hashable {
        case wake, nextWake, commit, today, sweep, connectivity, settings
        case facts(of: String)
        case hostBack(String)
        case servingBack(HostTrouble.Place)
    }

    private static let retryInterval = Duration.seconds(1)

    private let clock: any TransportClock
    /// All that wait go on together: one timer, however many they are.
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var timer: LoopTimer?
    private var waiting: Set<Name> = []
    /// Duties that were refused and are not done.
    private var refused = 0
    /// Ends were recorded that may still wait for the group commit.
    var hasUncommitted = false
    /// The last error of the trouble that goes on, which the log has been told; `nil`: all is well.
    private var told: String?

    init(clock: any TransportClock) { self.clock = clock }

    func isWaiting(_ name: Name?) -> Bool { name.map { waiting.contains($0) } ?? false }

    /// A duty was refused. - Returns: whether that is news: another reason than before, or the first since all was well.
    func note(_ error: any Error, isFirst: Bool) -> Bool {
        if isFirst { refused += 1 }
        let text = "\(error)"
        defer { told = text }
        return told != text
    }

    /// A duty that was refused is done, or not wanted any more. - Returns: whether it was the last.
    func end() -> Bool {
        refused -= 1
        if refused == 0 { told = nil }
        return refused == 0
    }

    /// Returns after a pause, or when all go on because the engine stops.
    func wait(_ name: Name?) async {
        if let name { waiting.insert(name) }
        await withCheckedContinuation { continuation in
            waiters.append(continuation)
            if timer == nil { timer = clock.schedule(after: Self.retryInterval) { [self] in goOn() } }
        }
        if let name { waiting.remove(name) }
    }

    /// Has all that wait look again at once.
    func goOn() {
        if let timer { clock.cancel(timer) }
        timer = nil
        let all = waiters
        waiters = []
        for waiter in all { waiter.resume() }
    }
}

extension TransferEngine {
    /// Does what the engine itself owes the queue: again and again until the queue takes it. For changes that no person waits for; a person
    /// is told of a refusal instead.
    /// - Parameters:
    ///   - isWanted: asked before each try.
    ///   - change: may be done in part when it throws, and is done from its beginning then.
    /// - Returns: `nil`: it was not done here. The engine stops, nobody wants it any more, it makes no sense, or one of that name waits and
    ///   does it.
    @discardableResult
    func durably<Value>(
        _ name: QueueDuties.Name? = nil, while isWanted: () -> Bool = { true }, _ change: () async throws -> Value
    ) async -> Value? {
        var (isRefused, isDone) = (false, false)
        defer { if isRefused, duties.end(), isDone { report(.info, "the queue takes changes again") } }
        while phase == .running || phase == .draining, isWanted(), !duties.isWaiting(name) {
            do {
                let value = try await change()
                isDone = true
                return value
            } catch {
                guard (error as? QueueError)?.isOfStorage ?? true else {
                    if phase != .stopping { report(.error, "the queue did not take a change: \(error)") }
                    return nil
                }
                let isNews = duties.note(error, isFirst: !isRefused)
                isRefused = true
                if isNews { report(.error, "\(error); the engine tries until the queue takes what it has to record") }
                if duties.isWaiting(name) { return nil }
                // A stop that came meanwhile wakes nobody any more.
                if phase == .stopping { return nil }
                await duties.wait(name)
            }
        }
        return nil
    }
}
