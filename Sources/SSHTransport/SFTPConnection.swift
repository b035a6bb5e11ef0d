import LinuxSystem
import TransferModel
import WireOperations

/// One child and what is asked over it. On the transport's loop.
///
/// Operations wait in lanes, one an owner, in their order; all lanes take turns, a packet at a time. `+Sending` makes the packets,
/// `+Receiving` takes the answers apart; the deadlines and the end are here.
final class SFTPConnection {
    enum Phase {
        /// INIT is sent. Next: `limiting`, `open`, `over`.
        case greeting
        /// `limits@openssh.com` is asked. Next: `open`, `over`.
        case limiting
        /// Next: `closing` (idle), `over`.
        case open
        /// Its input is closed; the server ends by itself. Next: `over`.
        case closing
        /// No more packets. All operations have ended, or end when the child is reaped.
        case over
    }

    /// The request that a request number stands for.
    struct Request {
        enum Part {
            case single
            case piece(Range<Int64>)
            /// One of the folders of a path.
            case folder
            /// The question whether the last folder exists.
            case folderStatus
        }
        /// `nil`: a handle that nobody wants is closed.
        var operation: Operation?
        var part: Part
        /// Data bytes that count in the window.
        var bytes: Int64 = 0
        var askedAt = MonotonicInstant(nanoseconds: 0)
    }

    let target: SSHTarget
    unowned let transport: SFTPTransport
    var phase = Phase.greeting
    var child: SSHChild?
    var greeting: ServerGreeting?
    var limits = PacketLimits()
    let outgoing = OutgoingBuffer()
    let incoming = IncomingBuffer()
    var inputRegistration: Registration?
    var outputRegistration: Registration?
    /// True when the pipe to the child is full.
    var isBlocked = false
    /// The loop tells when the pipe has room.
    var awaitsRoom = false
    /// The last packets were held back by a full buffer alone.
    var stoppedByBuffer = false

    /// Unsent operations by owner, and the owners in the order of their turns.
    var lanes: [OperationOwner: [Operation]] = [:]
    var turns: [OperationOwner] = []
    /// Those that are here, sent or not.
    var operations: [ObjectIdentifier: Operation] = [:]
    var requests: [UInt32: Request] = [:]
    var lastRequest: UInt32 = 0
    /// Answers that came.
    var answers: UInt64 = 0
    private var oldest = OldestRequest()
    /// Data bytes on their way.
    var inFlight: Int64 = 0
    /// The limit on data bytes of writes among them.
    var line: LineWindow
    /// Syncs on their way: a server may need minutes for one.
    var syncing = 0

    /// When a byte moved last, while answers were awaited.
    private var movedAt: MonotonicInstant
    /// When the child was started: a login may take three times `loginPatience` in all, though bytes move.
    private var begunAt: MonotonicInstant
    private var watchTimer: LoopTimer?
    private var idleTimer: LoopTimer?

    init(_ target: SSHTarget, transport: SFTPTransport) {
        self.target = target
        self.transport = transport
        (movedAt, begunAt) = (transport.clock.awake, transport.clock.awake)
        line = LineWindow(most: transport.settings.window)
    }

    var features: SFTPFeatures { greeting?.features ?? SFTPFeatures() }
    var wasIn: Bool { greeting != nil }

    // MARK: Beginning

    func begin() {
        let settings = transport.settings
        var askPass: AskPass?
        if let password = target.password {
            do throws(Errno) {
                askPass = try AskPass(password, folder: settings.privateFolder)
            } catch {
                return endUnbegun(LoginFailure.noAskPass(error, settings.privateFolder))
            }
        }
        do throws(Errno) {
            let log = try? NamedPipe(in: settings.privateFolder, "log")
            let child = try SSHChild(target, settings, askPass, log: log, loop: transport.loop, clock: transport.clock)
            self.child = child
            child.onExit = { [self] exit in childEnded(exit) }
            let (input, output) = (child.input.rawValue, child.output.rawValue)
            inputRegistration = try transport.loop.register(input, []) { [weak self] ready in self?.inputReady(ready) }
            outputRegistration = try transport.loop.register(output, .read) { [weak self] _ in self?.outputReady() }
        } catch {
            return endUnbegun(LoginFailure.notStarted(error, target.command[0]))
        }
        outgoing.append(RequestPackets.initialise())
        (movedAt, begunAt) = (transport.clock.awake, transport.clock.awake)
        watch()
    }

    /// Operations come to it after this; they end with the turn.
    private func endUnbegun(_ outcome: OperationEnd.Outcome) {
        phase = .over
        transport.isLeaving(self)
        transport.loop.atEndOfTurn { [self] in
            stopListening()
            endAll(outcome)
            if child == nil { transport.isGone(self) } else { child?.kill() }
        }
    }

    func add(_ operation: Operation) {
        operations[ObjectIdentifier(operation)] = operation
        if lanes[operation.owner] == nil { turns.append(operation.owner) }
        lanes[operation.owner, default: []].append(operation)
        stopIdling()
        transport.scheduleTurn()
    }

    /// An operation was abandoned or let through its gate: perhaps it is over.
    func look(at operation: Operation) {
        guard operations[ObjectIdentifier(operation)] != nil else { return }
        if operation.isAbandoned { lanes[operation.owner]?.removeAll { $0 === operation } }
        endIfDone(operation)
    }

    // MARK: Ends of operations

    /// Ends an operation whose answers are all there.
    func endIfDone(_ operation: Operation) {
        if operation.unanswered > 0 { return }
        if operation.isAbandoned { return end(operation, .answered(.done)) }
        if let failure = operation.failure { return end(operation, failure) }
        switch operation.work {
        case .write(let window) where window.isAcknowledged: end(operation, .answered(.done))
        case .read(let window?) where window.isDone: end(operation, .answered(.done))
        case .single, .folders, .write, .read: break
        }
    }

    func end(_ operation: Operation, _ outcome: OperationEnd.Outcome) {
        guard operations.removeValue(forKey: ObjectIdentifier(operation)) != nil else { return }
        if let lane = lanes[operation.owner], lane.contains(where: { $0 === operation }) {
            lanes[operation.owner]?.removeAll { $0 === operation }
        }
        transport.end(operation, outcome, features, lineWindow: line.size)
    }

    /// It is over for all.
    func endAll(_ outcome: OperationEnd.Outcome) {
        phase = .over
        let ended = operations.values.sorted { $0.id.rawValue < $1.id.rawValue }
        (operations, lanes, turns, requests, inFlight, syncing) = ([:], [:], [], [:], 0, 0)
        transport.forgetHandles(of: self)
        for operation in ended { transport.end(operation, operation.failure ?? outcome, features) }
    }

    // MARK: The child's end

    /// The child broke off, or hung up: why is known when it is reaped.
    func hungUp() {
        stopListening()
        if phase != .closing { transport.isLeaving(self) }
        child?.close(patience: .seconds(3))
    }

    /// We break off.
    func breakOff(_ outcome: OperationEnd.Outcome) {
        stopListening()
        transport.isLeaving(self)
        endAll(outcome)
        child?.end()
    }

    func shutDown() {
        stopListening()
        phase = .over
        (operations, lanes, turns, requests) = ([:], [:], [], [:])
        child?.kill()
    }

    private func childEnded(_ exit: ChildExit) {
        // Answers may have come with its last breath.
        if phase != .over { drainOutput() }
        if phase != .over {
            endAll(
                LoginFailure.outcome(
                    child?.words ?? SSHWords(log: SSHRecords([]), others: SSHRecords([])), exit, wasIn: wasIn,
                    target: target))
        }
        stopListening()
        transport.isGone(self)
        child = nil
    }

    private func stopListening() {
        for registration in [inputRegistration, outputRegistration] { registration.map { transport.loop.cancel($0) } }
        (inputRegistration, outputRegistration) = (nil, nil)
        for timer in [watchTimer, idleTimer] { timer.map { transport.clock.cancel($0) } }
        (watchTimer, idleTimer) = (nil, nil)
    }

    // MARK: Deadlines

    /// Bytes moved.
    func moved() { movedAt = transport.clock.awake }

    /// Looks every now and then whether anything moves; one timer, whatever the number of requests.
    func watch() {
        if watchTimer != nil { return }
        let patience = wasIn ? transport.settings.stallPatience : transport.settings.loginPatience
        watchTimer = transport.clock.schedule(after: max(patience / 4, .milliseconds(10))) { [weak self] in
            self?.watchTimer = nil
            self?.checkStall()
        }
    }

    private func checkStall() {
        let settings = transport.settings
        if !wasIn || phase == .limiting {
            // A server that sends a byte now and then never stalls, and must not hold the login for ever.
            let now = transport.clock.awake
            if movedAt.duration(to: now) >= settings.loginPatience
                || begunAt.duration(to: now) >= settings.loginPatience * 3
            {
                return breakOff(LoginFailure.timedOut("\(target.host) let nobody in for too long"))
            }
        } else {
            if requests.isEmpty { return }
            let patience = syncing > 0 ? settings.stallPatience * 10 : settings.stallPatience
            if movedAt.duration(to: transport.clock.awake) >= patience {
                return breakOff(LoginFailure.timedOut("nothing moved to or from \(target.host)"))
            }
            // Numbers rise, and after the largest comes 0.
            let first = requests.keys.max { lastRequest &- $0 < lastRequest &- $1 } ?? lastRequest
            // A rename or a close may take a server minutes, while it answers for other files: only pieces of a file are owed soon.
            let longest = settings.stallPatience * 10
            if oldest.isOverdue(
                first, answers: answers, patience: isPiece(first) ? patience : longest, longest: longest,
                at: transport.clock.awake)
            {
                let what = "\(target.host) left a question without an answer for too long while it answered others"
                return breakOff(LoginFailure.timedOut(what))
            }
        }
        watch()
    }

    private func isPiece(_ number: UInt32) -> Bool {
        if case .piece? = requests[number]?.part { true } else { false }
    }

    private func stopIdling() {
        if let idleTimer { transport.clock.cancel(idleTimer) }
        idleTimer = nil
    }

    /// Without work it is kept for a while.
    func idleIfUnused() {
        guard phase == .open, operations.isEmpty, requests.isEmpty, idleTimer == nil, !transport.hasHandles(self) else {
            return
        }
        idleTimer = transport.clock.schedule(after: transport.settings.idlePatience) { [weak self] in
            guard let self else { return }
            idleTimer = nil
            guard phase == .open, operations.isEmpty, requests.isEmpty else { return }
            transport.isLeaving(self)
            phase = .closing
            // What closes it is the end of its input.
            if let inputRegistration { transport.loop.cancel(inputRegistration) }
            inputRegistration = nil
            child?.close(patience: .seconds(5))
        }
    }
}
