// SessionBus: shows a notification on the user's desktop, over the session bus's Unix socket and without a library of C.
//
// For whom: TransferService, when a batch has ended or needs the person. Which thread: `SessionBus` blocks for at most `patience`, so one of
// its own; the rest are values. Start reading here, then `BusConversation` (what is said), `BusMessage` (how it is written).
//
// Three calls are all that is needed, so nothing is linked for it: libsystemd would bring its headers into every build and stay loaded in
// every engine, notify-send is on few servers.

package import LinuxSystem

/// The session bus of the user.
package struct SessionBus: Sendable {
    package let addresses: [BusAddress]
    /// No desktop takes longer to show a line of text.
    package static let patience = Duration.seconds(5)

    /// - Parameters:
    ///   - variable: `DBUS_SESSION_BUS_ADDRESS`, of whoever has a desktop.
    ///   - runtimeDirectory: where systemd's user bus has its socket, when nothing was told.
    package init(variable: String?, runtimeDirectory: String) {
        let told = variable.map { BusAddress.list($0) } ?? []
        addresses = told.isEmpty ? [.path(Array((runtimeDirectory + "/bus").utf8))] : told
    }

    /// The reasons for which nothing was shown.
    package enum Failure: Error, Hashable, Sendable {
        /// Nobody listens there: there is no session bus, and so no desktop.
        case noBus(Errno)
        /// It ended the connection, or took longer than `patience`.
        case silent
        case conversation(BusConversation.Failure)
    }

    /// Shows a notification; blocks until the desktop has it.
    package func show(_ notification: DesktopNotification) throws(Failure) {
        let socket = try connect()
        defer { socket.close() }
        let end = MonotonicInstant.now.advanced(by: Self.patience)
        var conversation = BusConversation(notification)
        try send(BusConversation.opening(userID: System.userID), socket, until: end)
        while !conversation.isOver {
            let received = try receive(socket, until: end)
            let answer: [UInt8]
            do throws(BusConversation.Failure) {
                answer = try conversation.take(received)
            } catch {
                throw .conversation(error)
            }
            try send(answer, socket, until: end)
        }
    }

    private func connect() throws(Failure) -> OwnedDescriptor {
        var failure = Errno.noSuchFile
        for address in addresses {
            do { return try address.connect() } catch { failure = error }
        }
        throw .noBus(failure)
    }

    private func receive(_ socket: OwnedDescriptor, until end: MonotonicInstant) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while try isReady(socket, .read, until: end) {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(Errno) in try System.receive(socket.rawValue, into: buffer) }
            }
            guard case .success(let count) = result, count != 0 else { throw .silent }
            if let count { return Array(bytes[..<count]) }
        }
        throw .silent
    }

    private func send(_ bytes: [UInt8], _ socket: OwnedDescriptor, until end: MonotonicInstant) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard try isReady(socket, .write, until: end) else { throw .silent }
            let result = rest.withUnsafeBytes { buffer in
                Result { () throws(Errno) in try System.send(socket.rawValue, buffer) }
            }
            guard case .success(let count) = result else { throw .silent }
            rest = rest.dropFirst(count ?? 0)
        }
    }

    private func isReady(
        _ socket: OwnedDescriptor, _ interest: Interest, until end: MonotonicInstant
    ) throws(Failure) -> Bool {
        do {
            return try System.poll(socket.rawValue, interest, timeout: MonotonicInstant.now.duration(to: end))
        } catch {
            throw .silent
        }
    }
}
