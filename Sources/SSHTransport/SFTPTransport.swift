package import LinuxSystem
import TransferModel
package import WireOperations

/// SFTP operations over children of the person's `ssh`, on one event loop: the module's door.
///
/// `start` an ``SFTPOperation`` under an id; its end comes as an ``SFTPEvent``, told in batches at the end of the loop's turn. The first
/// operation for a target starts its `ssh`; others share it; without work it is kept for a while, then closed. Everything,
/// making and releasing included, happens on the loop's thread, so there is no lock and no `Sendable`.
package final class SFTPTransport {
    /// Bytes that one connection has on their way unacknowledged, at most.
    package static let window: Int64 = 8 << 20

    let loop: EventLoop
    let clock: any TransportClock
    let settings: SSHSettings
    private let deliver: ([SFTPEvent]) -> Void
    private var connections: [SSHTarget: SFTPConnection] = [:]
    /// Those that end or are to end, and take no more work.
    private var leaving: [SFTPConnection] = []
    /// The operations under way, each with its connection.
    private var operations: [WireID: (Operation, SFTPConnection)] = [:]
    private var handles: [SFTPHandle: (owner: OperationOwner, connection: SFTPConnection, name: [UInt8])] = [:]
    private var lastHandle: UInt64 = 0
    private var events: [SFTPEvent] = []
    private var turnIsScheduled = false
    private let throttleTimer: EarliestTimer

    /// A transport on a loop. `onEvents` is called on the loop; it may call everything here. On the loop.
    package init(
        loop: EventLoop, clock: (any TransportClock)? = nil, settings: SSHSettings,
        onEvents: @escaping ([SFTPEvent]) -> Void
    ) {
        loop.checkIsolated()
        // A child that is gone must be an error of its pipe, and no signal.
        Signals.ignoreBrokenPipe()
        self.loop = loop
        self.clock = clock ?? loop
        throttleTimer = EarliestTimer(on: self.clock)
        self.settings = settings
        deliver = onEvents
    }

    /// Begins an operation. What cannot even begin ends with an event like all else. `source` gives the bytes of a write; `limit` holds a
    /// write or read back. On the loop, not from a source, sink or throttle.
    package func start(
        _ id: WireID, _ request: SFTPOperation, on target: SSHTarget, owner: OperationOwner,
        source: (any SFTPSource)? = nil, limit: (any TransferThrottle)? = nil
    ) {
        precondition(operations[id] == nil, "an operation's id is used once")
        let operation = Operation(id, owner, request, source: source, limit: limit)
        scheduleTurn()
        if let problem = target.problem {
            let error = TransferError(.unsupported, problem, .queued("correct it and queue it again"))
            return end(operation, .broken(error), SFTPFeatures())
        }
        if let handle = request.handle {
            guard let held = handles[handle] else {
                // Its connection broke meanwhile.
                let error = TransferError(
                    .networkConnectionLost, "the ssh connection to \(target.host) was cut", .again)
                return end(operation, .broken(error), SFTPFeatures())
            }
            return enqueue(operation, held.connection)
        }
        enqueue(operation, connection(to: target))
    }

    /// Lets a read flow. `total`: the file's length, where it is known; nothing beyond it is read. On the loop.
    package func openGate(_ id: WireID, to sink: any SFTPSink, total: Int64? = nil) {
        guard let (operation, connection) = operations[id], case .read(_, let offset) = operation.request,
            operation.sink == nil
        else { return }
        operation.sink = sink
        operation.work = .read(ReadWindow(from: offset, total: total))
        connection.look(at: operation)
        scheduleTurn()
    }

    /// Ends an operation without an event; what is on its way to the server happens there all the same. A handle that it may still get
    /// is closed. On the loop, not from a source or sink.
    package func abandon(_ id: WireID) {
        guard let (operation, connection) = operations.removeValue(forKey: id) else { return }
        operation.isAbandoned = true
        events.removeAll { $0.id == id }
        connection.look(at: operation)
        scheduleTurn()
    }

    /// Abandons all of an owner's operations and closes its handles: the last word of an attempt. On the loop.
    package func abandonAll(of owner: OperationOwner) {
        for (id, entry) in operations where entry.0.owner == owner { abandon(id) }
        for (handle, held) in handles where held.owner == owner {
            handles[handle] = nil
            held.connection.close(held.name, of: owner)
        }
        scheduleTurn()
    }

    /// The progress of a write or read; nil when there is none of that id. On the loop.
    package func progress(_ id: WireID) -> OperationProgress? { operations[id]?.0.progress }

    /// Returns true when a part of an operation was handed to the server's connection: it may be done there. On the loop.
    package func wentOut(_ id: WireID) -> Bool { operations[id]?.0.wentOut ?? false }

    /// A throttle lets more through than it said: it is asked again. On the loop.
    package func resumeThrottled() { scheduleTurn() }

    /// Operations that have not ended.
    package var activeCount: Int { operations.count }

    /// Children that are not reaped yet, the idle ones included.
    package var childCount: Int { connections.count + leaving.count }

    /// Abandons everything and ends all children at once; they are reaped as the loop turns. The transport cannot be used afterwards.
    /// On the loop.
    package func shutDown() {
        operations = [:]
        handles = [:]
        events = []
        throttleTimer.cancel()
        for connection in Array(connections.values) + leaving { connection.shutDown() }
    }

    // MARK: Connections

    private func connection(to target: SSHTarget) -> SFTPConnection {
        if let connection = connections[target] { return connection }
        let connection = SFTPConnection(target, transport: self)
        connections[target] = connection
        connection.begin()
        return connection
    }

    private func enqueue(_ operation: Operation, _ connection: SFTPConnection) {
        operations[operation.id] = (operation, connection)
        connection.add(operation)
    }

    /// A connection takes no more work.
    func isLeaving(_ connection: SFTPConnection) {
        guard connections[connection.target] === connection else { return }
        connections[connection.target] = nil
        leaving.append(connection)
    }

    /// A connection's child is reaped.
    func isGone(_ connection: SFTPConnection) {
        isLeaving(connection)
        leaving.removeAll { $0 === connection }
    }

    // MARK: Handles

    func add(_ name: [UInt8], _ owner: OperationOwner, _ connection: SFTPConnection) -> SFTPHandle {
        lastHandle += 1
        let handle = SFTPHandle(rawValue: lastHandle)
        handles[handle] = (owner, connection, name)
        return handle
    }

    func name(of handle: SFTPHandle) -> [UInt8]? { handles[handle]?.name }

    func forget(_ handle: SFTPHandle) { handles[handle] = nil }

    func forgetHandles(of connection: SFTPConnection) {
        handles = handles.filter { $0.value.connection !== connection }
    }

    func hasHandles(_ connection: SFTPConnection) -> Bool { handles.values.contains { $0.connection === connection } }

    // MARK: Turns

    /// Ends an operation and tells it.
    func end(
        _ operation: Operation, _ outcome: OperationEnd.Outcome, _ features: SFTPFeatures, lineWindow: Int64? = nil
    ) {
        operations[operation.id] = nil
        if operation.isAbandoned { return }
        var end = OperationEnd(outcome, bytesRead: operation.received, features: features)
        end.wentOut = operation.wentOut
        if case .write(let window) = operation.work {
            end.writtenThrough = window.through
            end.lineWindow = lineWindow
        }
        events.append(SFTPEvent(id: operation.id, end: end))
        scheduleTurn()
    }

    /// Sees to it that packets go out and events are told when the turn ends.
    func scheduleTurn() {
        if turnIsScheduled { return }
        turnIsScheduled = true
        loop.atEndOfTurn { [self] in endTurn() }
    }

    private func endTurn() {
        turnIsScheduled = false
        for connection in connections.values { connection.pump() }
        // What was opened on them before is still to be used.
        for connection in leaving { connection.pump() }
        if events.isEmpty { return }
        var batch: [SFTPEvent] = []
        swap(&batch, &events)
        deliver(batch)
    }

    /// A throttle lets nothing through before that.
    func throttled(for delay: Duration) {
        throttleTimer.fire(at: clock.now.advanced(by: delay)) { [weak self] in self?.scheduleTurn() }
    }
}
