import LinuxSystem
import TransferModel
import WireOperations

/// Packets out: operations become requests, as the window, the pipe and the speed limits allow.
extension SFTPConnection {
    /// More than this is not kept for a pipe that is full.
    private static let highWater = 1 << 20

    /// Sends what can be sent. At the end of the loop's turn, so that what was started together goes out together.
    func pump() {
        switch phase {
        case .closing, .over: return
        case .greeting, .limiting: break
        case .open:
            if !isBlocked { fill() }
            idleIfUnused()
        }
        write()
    }

    /// The pipe has room, or nobody reads it any more.
    func inputReady(_ ready: Readiness) {
        if ready.contains(.failed) {
            // The child has ended or is about to; what it still says is worth waiting for.
            if let inputRegistration { transport.loop.cancel(inputRegistration) }
            inputRegistration = nil
            return
        }
        isBlocked = false
        transport.scheduleTurn()
    }

    private func write() {
        guard let child, inputRegistration != nil else { return }
        if outgoing.count > 0 {
            do throws(Errno) {
                if try outgoing.write(to: child.input.rawValue) > 0 { moved() }
            } catch {
                if let inputRegistration { transport.loop.cancel(inputRegistration) }
                inputRegistration = nil
                return
            }
        }
        let isFull = outgoing.count > 0
        // A pipe with room is always ready: who does not wait for it must not ask, or the loop never sleeps.
        if isFull != awaitsRoom, let inputRegistration {
            // It fails only for a kernel without memory; then the watchdog ends it.
            try? transport.loop.update(inputRegistration, isFull ? .write : [])
            awaitsRoom = isFull
        }
        isBlocked = isFull
        // There may be more to send than was put together, and nothing else may wake us.
        if !isFull, hasMore { transport.scheduleTurn() }
    }

    /// A full buffer was written whole: the lanes were stopped by that alone.
    private var hasMore: Bool { stoppedByBuffer && phase == .open }

    /// Lets the lanes take turns until nothing more goes.
    private func fill() {
        stoppedByBuffer = false
        var progressed = true
        while progressed {
            progressed = false
            for owner in turns {
                if outgoing.count >= Self.highWater {
                    stoppedByBuffer = true
                    break
                }
                if sendNext(of: owner) { progressed = true }
            }
            turns.removeAll { owner in
                if lanes[owner]?.isEmpty == false { return false }
                lanes[owner] = nil
                return true
            }
            if stoppedByBuffer { break }
        }
        // Another begins the next time.
        if turns.count > 1 { turns.append(turns.removeFirst()) }
    }

    /// One packet of a lane; false when it can send none now.
    private func sendNext(of owner: OperationOwner) -> Bool {
        while let operation = lanes[owner]?.first {
            if operation.isSent {
                lanes[owner]?.removeFirst()
                endIfDone(operation)
                continue
            }
            switch operation.work {
            case .single: sendSingle(operation)
            case .folders: sendFolders(operation)
            case .write(var window):
                let sent = sendPiece(operation, &window)
                operation.work = .write(window)
                if operation.failure != nil { endIfDone(operation) }
                return sent
            case .read(nil): return false
            case .read(var window?):
                let asked = askPiece(operation, &window)
                operation.work = .read(window)
                return asked
            }
            return true
        }
        return false
    }

    private func sendSingle(_ operation: Operation) {
        if let reason = unsupported(operation.request) {
            return end(operation, .answered(.refused(.unsupported, reason)))
        }
        let handle = operation.request.handle
        guard let name = handle.map({ transport.name(of: $0) }) ?? [] else { return end(operation, handleIsGone) }
        let id = ask(Request(operation: operation, part: .single))
        // `write`, `read` and `makeFolders`, which are more than a packet, are not sent by this.
        outgoing.append(RequestPackets.single(id, operation.request, handle: name) ?? [])
        switch operation.request {
        case .close(let handle): transport.forget(handle)
        case .sync: syncing += 1
        default: break
        }
    }

    private func unsupported(_ request: SFTPOperation) -> String? {
        switch request {
        case .sync where !features.syncs, .freeSpace where !features.tellsFreeSpace,
            .rename(_, _, replaces: true) where !features.renamesOver:
            "the server does not offer it"
        default: nil
        }
    }

    private func sendFolders(_ operation: Operation) {
        guard case .makeFolders(let path) = operation.request else { return }
        let steps = FolderAnswers.steps(path)
        guard let last = steps.last else { return end(operation, .answered(.done)) }
        for step in steps {
            outgoing.append(RequestPackets.makeFolder(ask(Request(operation: operation, part: .folder)), step))
        }
        outgoing.append(RequestPackets.status(ask(Request(operation: operation, part: .folderStatus)), last))
    }

    /// The next WRITE, its data read straight into the buffer for the pipe.
    private func sendPiece(_ operation: Operation, _ window: inout WriteWindow) -> Bool {
        guard let handle = operation.request.handle, let name = transport.name(of: handle) else {
            operation.failure = handleIsGone
            return true
        }
        guard !window.isFull, let room = room(for: min(Int64(limits.write), window.left), operation),
            let source = operation.source
        else { return false }
        let id = lastRequest &+ 1
        let offset = window.next
        do throws(Errno) {
            let count = try outgoing.append(
                headLength: RequestPackets.writeHeadLength(name), room,
                head: { RequestPackets.write(id, name, at: offset, $0) },
                fill: { buffer throws(Errno) in try source.read(into: buffer, at: offset) })
            if count == 0 {
                operation.failure = .sourceEnded(at: offset)
                return true
            }
            _ = ask(Request(operation: operation, part: .piece(window.take(count)), bytes: Int64(count)))
            operation.limit?.take(count)
        } catch {
            operation.failure = .sourceFailed(error)
        }
        return true
    }

    private func askPiece(_ operation: Operation, _ window: inout ReadWindow) -> Bool {
        guard let handle = operation.request.handle, let name = transport.name(of: handle) else {
            operation.failure = handleIsGone
            endIfDone(operation)
            return true
        }
        guard let wish = window.wanted(limits.read), let room = room(for: wish.upperBound - wish.lowerBound, operation)
        else { return false }
        let piece = wish.lowerBound..<wish.lowerBound + Int64(room)
        window.ask(piece)
        let id = ask(Request(operation: operation, part: .piece(piece), bytes: Int64(room)))
        outgoing.append(RequestPackets.read(id, name, piece))
        operation.limit?.take(room)
        return true
    }

    /// Returns how many of `wanted` bytes may be sent, or asked for, now; `nil` for none.
    private func room(for wanted: Int64, _ operation: Operation) -> Int? {
        let settings = transport.settings
        if requests.count >= settings.outstanding { return nil }
        // What is read and lost was not sent by us.
        let window = if case .write = operation.request { line.size } else { settings.window }
        // A whole packet or none: small ones cost as much as large ones. An empty window takes any.
        if inFlight > 0, inFlight + wanted > window { return nil }
        guard let limit = operation.limit else { return Int(wanted) }
        switch limit.grant(Int(wanted)) {
        case .bytes(let count) where count > 0: return min(count, Int(wanted))
        case .bytes, .wait(nil): return nil
        case .wait(let delay?):
            transport.throttled(for: delay)
            return nil
        }
    }

    /// Gives a request its number.
    func ask(_ request: Request) -> UInt32 {
        lastRequest &+= 1
        if requests.isEmpty { moved() }
        var request = request
        request.askedAt = transport.clock.now
        requests[lastRequest] = request
        request.operation?.unanswered += 1
        inFlight += request.bytes
        watch()
        return lastRequest
    }

    /// Closes a file that its owner has forgotten, behind what its lane has sent.
    func close(_ name: [UInt8], of owner: OperationOwner) {
        guard phase == .open else { return }
        outgoing.append(RequestPackets.close(ask(Request(operation: nil, part: .single)), name))
    }

    var handleIsGone: OperationEnd.Outcome {
        .broken(
            TransferError(.networkConnectionLost, "the file at \(target.host) is not open any more", .again))
    }
}
