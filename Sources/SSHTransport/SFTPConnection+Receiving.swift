import LinuxSystem
import TransferModel
import WireOperations

/// Packets in: answers find their operations.
extension SFTPConnection {
    /// The pipe from the child has bytes, or its end.
    func outputReady() {
        var isOver = false
        TurnBudget.spend {
            guard phase != .over, let count = readOnce() else { return false }
            isOver = count == 0
            return !isOver
        }
        if isOver { hungUp() } else { transport.scheduleTurn() }
    }

    /// Everything that a child has left behind in its pipe; what it left running may write on for ever.
    func drainOutput() {
        var left = Int(SSHChild.pipeCapacity)
        while left > 0, phase != .over, let count = readOnce(), count > 0 { left -= count }
    }

    /// Bytes that came, 0 at the end, `nil` for nothing now.
    private func readOnce() -> Int? {
        guard let child, child.output.rawValue >= 0 else { return 0 }
        do throws(Errno) {
            guard let count = try incoming.read(from: child.output.rawValue) else { return nil }
            if count > 0 {
                moved()
                takePackets()
            }
            return count
        } catch {
            return 0
        }
    }

    private func takePackets() {
        do throws(IncomingBuffer.Malformed) {
            while phase != .over, let packet = try incoming.next() {
                // Its length was one of SFTP, so it is no text of a shell.
                if !take(packet) { throw IncomingBuffer.Malformed(beginning: []) }
            }
        } catch {
            breakOff(LoginFailure.malformed(error.beginning, wasIn: wasIn, host: target.host))
        }
    }

    /// False for what is no answer to anything.
    private func take(_ packet: UnsafeRawBufferPointer) -> Bool {
        if phase == .greeting {
            guard let greeting = ServerGreeting(packet) else { return false }
            guard greeting.version >= 3 else {
                breakOff(LoginFailure.tooOld(greeting.version, host: target.host))
                return true
            }
            self.greeting = greeting
            child?.isIn()
            if greeting.tellsLimits {
                phase = .limiting
                outgoing.append(RequestPackets.limits(ask(Request(operation: nil, part: .single))))
            } else {
                phase = .open
            }
            return true
        }
        guard let (id, answer) = SFTPAnswer.parse(packet), let request = requests.removeValue(forKey: id) else {
            return false
        }
        inFlight -= request.bytes
        answers += 1
        line.answered(request.bytes, askedAt: request.askedAt, at: transport.clock.now)
        if phase == .limiting {
            if case .extended(let reply) = answer, let told = PacketLimits(reply) { limits = told }
            phase = .open
            return true
        }
        guard let operation = request.operation else { return true }
        operation.unanswered -= 1
        return take(answer, request, operation)
    }

    private func take(_ answer: SFTPAnswer, _ request: Request, _ operation: Operation) -> Bool {
        if case .sync = operation.request { syncing -= 1 }
        switch (operation.work, request.part) {
        case (.single, _): return takeSingle(answer, operation)
        case (.folders(var answers), .folder):
            guard case .status(let status, let text) = answer else { return false }
            answers.made(status, text)
            operation.work = .folders(answers)
        case (.folders(let answers), _): end(operation, .answered(answers.reply(answer)))
        case (.write(var window), .piece(let piece)):
            guard case .status(let status, let text) = answer else { return false }
            if let status {
                if operation.failure == nil { operation.failure = .answered(.refused(status, text)) }
            } else {
                window.acknowledge(piece)
                operation.work = .write(window)
            }
            endIfDone(operation)
        case (.read(var window?), .piece(let piece)):
            let isAnswer = takePiece(answer, piece, &window, operation)
            operation.work = .read(window)
            endIfDone(operation)
            return isAnswer
        case (.write, _), (.read, _): return false
        }
        return true
    }

    private func takePiece(
        _ answer: SFTPAnswer, _ piece: Range<Int64>, _ window: inout ReadWindow, _ operation: Operation
    ) -> Bool {
        switch answer {
        case .status(.endOfFile?, _): window.reachedEnd(at: piece)
        case .status(nil, _): return false
        case .status(let status?, let text):
            window.reachedEnd(at: piece)
            if operation.failure == nil { operation.failure = .answered(.refused(status, text)) }
        case .data(let data):
            return window.arrived(data, for: piece) { bytes in
                // After a failure nothing more may reach the file: there is a gap.
                guard operation.failure == nil, !operation.isAbandoned else { return }
                do throws(Errno) {
                    try operation.sink?.write(bytes)
                    operation.received += Int64(bytes.count)
                } catch {
                    operation.failure = .sinkFailed(error)
                }
            }
        default: return false
        }
        return true
    }

    private func takeSingle(_ answer: SFTPAnswer, _ operation: Operation) -> Bool {
        switch (answer, operation.request) {
        case (.handle(let name), .openForWriting), (.handle(let name), .openForReading),
            (.handle(let name), .openFolder):
            if operation.isAbandoned {
                close(name, of: operation.owner)
                end(operation, .answered(.done))
            } else {
                end(operation, .answered(.opened(transport.add(name, operation.owner, self))))
            }
        case (.attributes(let attributes), .status), (.attributes(let attributes), .handleStatus):
            end(operation, .answered(.attributes(attributes)))
        case (.names(let names), .readFolder): end(operation, .answered(.names(names)))
        case (.extended(let reply), .freeSpace):
            guard let bytes = FreeSpaceReply.parse(reply) else { return false }
            end(operation, .answered(.freeSpace(bytes)))
        case (.status(nil, _), .openForWriting), (.status(nil, _), .openForReading),
            (.status(nil, _), .status), (.status(nil, _), .handleStatus),
            (.status(nil, _), .freeSpace), (.status(nil, _), .openFolder),
            (.status(nil, _), .readFolder):
            return false
        case (.status(nil, _), _): end(operation, .answered(.done))
        case (.status(let status?, let text), _): end(operation, .answered(.refused(status, text)))
        default: return false
        }
        return true
    }
}
