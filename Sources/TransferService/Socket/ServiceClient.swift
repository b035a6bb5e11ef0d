import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// One connected client: lines in, lines out, bounded both ways. Confined to the service's loop.
///
/// A client that does not read what it is sent is not read from either; views and followed events stop for it and go
/// on with what is newest when it reads again. One that sends what makes no sense is told why and let go.
final class ServiceClient {
    let number: Int
    /// Program and version as the client says; `nil` until the handshake.
    var name: String?
    var views: [Int: ServiceView] = [:]
    /// The name that it looks for.
    var search: NameSearch?
    /// Follows the events' log, as notifications.
    var follower: EventCursor?
    /// Questions to servers for requests of it, which nobody wants any more when it goes: what ends them.
    var questions: [Int: () -> Void] = [:]
    /// Requests that wait for an event or a line of the log.
    var waitingReads = 0
    /// The number of its last read of the log that was to wait. One of them waits: each ends the one before it.
    var lastLogRead = 0

    /// Called with each line; the next one comes only after ``requestDone()``.
    var onLine: (([UInt8]) -> Void)?
    /// Called when the right to a long line is given, or the client has gone.
    private var onRight: (() -> Void)?
    /// Called when everything was read by the client.
    var onDrained: (() -> Void)?
    /// Called once.
    var onEnd: (() -> Void)?

    /// The right to have more bytes here than each client may: of requests, and of lines that it has not read.
    private enum LongLineRight {
        /// It has not asked. Next: `asked`, `given`.
        case none
        /// It is not read from. Next: `given`, `none`.
        case asked
        /// Next: `spent`, `none`.
        case given
        /// Its line has come to its end, and others wait. It is not read from until so little of it is here that it needs no right. Next:
        /// `none`.
        case spent
    }

    private let loop: EventLoop
    private let socket: OwnedDescriptor
    private var registration: Registration?
    private var interest: Interest = .read
    private var framer = LineFramer(limit: LineFramer.limitBeforeHello)
    private var lines: [[UInt8]] = []
    /// The bytes of `lines`.
    private var waitingBytes = 0
    /// The bytes of the request that is being done; `nil`: none is.
    private var busyBytes: Int?
    private var outgoing = OutgoingLines()
    private let longLines: LongLines
    private var longLine = LongLineRight.none
    /// Bytes of a line that waits for that right; it is made anew when the right is there.
    private var expectedBytes = 0
    /// Nothing is read any more; ends when what is outgoing has gone.
    private var isEnding = false
    /// Shared by all clients of the loop, which are read one after the other.
    private let chunk: UnsafeMutableRawBufferPointer

    /// More than so much unread by the client, and none of its requests is begun.
    private static let patience = 256 << 10
    /// A client that has not read the last lines and would come to leave so much unread is let go.
    private static let mostUnread = 4 << 20
    /// No line is longer, also to a client that has read everything: what does not fit is cut (`Shortenable`).
    static let longestLine = 16 << 20
    /// More bytes of requests that have not begun, and nothing is read.
    private static let mostWaiting = 1 << 20

    init(
        number: Int, loop: EventLoop, socket: OwnedDescriptor, chunk: UnsafeMutableRawBufferPointer,
        longLines: LongLines
    ) throws(Errno) {
        self.longLines = longLines
        self.number = number
        self.loop = loop
        self.socket = socket
        self.chunk = chunk
        registration = try loop.register(socket.rawValue, .read) { [weak self] in self?.ready($0) }
    }

    /// Bytes that the client has not taken yet.
    var unreadBytes: Int { outgoing.count }
    var isOpen: Bool { registration != nil && !isEnding }

    /// After the handshake longer lines are allowed.
    func greeted(as name: String) {
        self.name = name
        framer.limit = LineFramer.limit
    }

    /// Returns true when a line of so many bytes may be sent now. Else it is to be made anew when the client has the right to it: `untilRight`
    /// returns then, and views are shown again.
    func mayTake(_ count: Int) -> Bool {
        // An answer of it waits already.
        guard onRight == nil else { return false }
        expectedBytes = 0
        guard isOpen, heldBytes + count > LongLines.allowance, !hasRight else { return true }
        expectedBytes = count
        noteHeld()
        return hasRight
    }

    private var hasRight: Bool { longLine == .given || longLine == .spent }

    /// The client waits for the right to a long line, and gets no other lines that nobody asked for.
    var waitsForRight: Bool { longLine == .asked }

    /// Waits until the client has the right to a long line, or has gone.
    func untilRight() async {
        guard isOpen, longLine == .asked else { return }
        await withCheckedContinuation { continuation in onRight = { continuation.resume() } }
    }

    private func rightCame() {
        let onRight = onRight
        self.onRight = nil
        onRight?()
    }

    /// The line for which there may be a right has come to nothing.
    func expectNothing() {
        guard onRight == nil, expectedBytes > 0 else { return }
        expectedBytes = 0
        noteHeld()
        updateInterest()
    }

    /// Queues a line, with its newline, to be sent.
    func send(_ line: [UInt8]) {
        if onRight == nil { expectedBytes = 0 }
        guard isOpen else { return }
        // An answer to somebody who reads may be long; nobody piles lines up.
        let most = unreadBytes < Self.patience ? Self.longestLine : Self.mostUnread
        guard unreadBytes + line.count <= most + Self.patience else { return close() }
        outgoing.append(line)
        flush()
    }

    /// The request of the last `onLine` is answered, or waits elsewhere.
    func requestDone() {
        busyBytes = nil
        expectedBytes = 0
        nextLine()
        noteHeld()
        updateInterest()
    }

    /// Sends this and then ends the connection.
    func end(saying line: [UInt8]) {
        send(line)
        isEnding = true
        lines = []
        framer = LineFramer(limit: 0)
        longLines.give(number)
        rightCame()
        if unreadBytes == 0 { close() } else { updateInterest() }
    }

    /// Ends the connection now.
    func close() {
        guard let registration else { return }
        loop.cancel(registration)
        self.registration = nil
        socket.close()
        lines = []
        outgoing = OutgoingLines()
        longLines.give(number)
        for end in questions.values { end() }
        rightCame()
        let onEnd = onEnd
        self.onEnd = nil
        onLine = nil
        onDrained = nil
        onEnd?()
    }

    private func ready(_ readiness: Readiness) {
        if readiness.contains(.write) { flush() }
        if registration == nil { return }
        // While nothing is to be read, a hang-up is all that can be told.
        if interest.contains(.read), !readiness.isDisjoint(with: [.read, .failed]) {
            receive()
        } else if readiness.contains(.failed) {
            close()
        }
    }

    private func receive() {
        do {
            guard let count = try System.receive(socket.rawValue, into: chunk) else { return }
            if count == 0 { return close() }
            let new = try framer.append(chunk[..<count])
            lines += new
            waitingBytes += new.reduce(0) { $0 + $1.count }
            if !new.isEmpty, longLine == .given, longLines.lineEnded(number) { longLine = .spent }
        } catch let error as LineFramer.LineTooLong {
            let message = "a line of more than \(error.limit) bytes is no request"
            return end(saying: WireError.unreadable(message).line)
        } catch {
            return close()
        }
        nextLine()
        noteHeld()
        updateInterest()
    }

    /// Bytes of requests that are here (of the one that is done, of those that wait, and of the line that is not complete), and of lines that
    /// the client has not read.
    private var heldBytes: Int {
        framer.pendingBytes + waitingBytes + (busyBytes ?? 0) + unreadBytes + expectedBytes
    }

    /// Asks for the right to a long line, or gives it back.
    private func noteHeld() {
        guard isOpen else { return }
        guard heldBytes > LongLines.allowance else {
            if longLine != .none { longLines.give(number) }
            longLine = .none
            // Whoever waits asks anew.
            rightCame()
            return
        }
        guard longLine == .none else { return }
        let claimant = LongLines.Claimant(
            wake: { [weak self] in
                guard let self else { return }
                longLine = .given
                rightCame()
                if unreadBytes == 0 { onDrained?() }
                updateInterest()
            }, isAwaited: { [weak self] in self?.isAwaited ?? false }, tooSlow: { [weak self] in self?.endSlow() })
        longLine = longLines.take(number, claimant) ? .given : .asked
    }

    /// Returns true while nothing can be done for the client but to wait for it: none of its requests is being done, and it has neither sent
    /// more of its line nor read more of its answers.
    private var isAwaited: Bool {
        guard isOpen, busyBytes == nil, interest.contains(.read) || unreadBytes >= Self.patience else { return false }
        // The loop deals with a failure when it comes to it.
        return (try? System.poll(socket.rawValue, interest, timeout: .zero)) == false
    }

    private func endSlow() {
        // A client that does not read would not read the reason, either.
        if unreadBytes >= Self.patience { return close() }
        end(saying: WireError.unreadable("a long line came too slowly, and others wait").line)
    }

    private func nextLine() {
        // Its own answers come first: who does not read them gets no others.
        guard busyBytes == nil, isOpen, !lines.isEmpty, unreadBytes < Self.patience else { return }
        let line = lines.removeFirst()
        waitingBytes -= line.count
        busyBytes = line.count
        onLine?(line)
    }

    private func flush() {
        do throws(Errno) {
            try outgoing.send { bytes throws(Errno) in try System.send(socket.rawValue, bytes) }
        } catch {
            return close()
        }
        if outgoing.isEmpty {
            if isEnding { return close() }
            // After this turn: whoever sends is in the middle of something.
            loop.atEndOfTurn { [weak self] in
                guard let self, isOpen, unreadBytes == 0 else { return }
                onDrained?()
            }
        }
        nextLine()
        noteHeld()
        updateInterest()
    }

    private func updateInterest() {
        guard let registration else { return }
        var wanted: Interest = []
        if !isEnding, lines.count < 64, waitingBytes < Self.mostWaiting, unreadBytes < Self.patience,
            longLine == .none || longLine == .given
        {
            wanted.insert(.read)
        }
        if unreadBytes > 0 { wanted.insert(.write) }
        guard wanted != interest else { return }
        interest = wanted
        do { try loop.update(registration, wanted) } catch { close() }
    }
}

extension WireError {
    /// As the answer to something that could not be read.
    var line: [UInt8] {
        // Two strings and a number always have a JSON form.
        (try? WireCoding.line(ErrorAnswer(id: nil, error: self))) ?? []
    }
}
