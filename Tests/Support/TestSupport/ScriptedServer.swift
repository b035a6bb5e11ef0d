import Glibc
package import LinuxSystem

/// A server that does what the test's script says, one connection a thread, and counts what it saw.
package final class ScriptedServer: Sendable {
    package struct Request: Sendable {
        package let connection: Int
        package let line: String
        package let fields: [String: String]
        package var method: String { String(line.prefix { $0 != " " }) }
        /// The path and query.
        package var target: String { line.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
        package var length: Int { fields["content-length"].flatMap { Int($0) } ?? 0 }
    }

    private struct Log {
        var requests: [Request] = []
        var bodyBytes = 0
        var connections: [OwnedDescriptor] = []
    }

    package let port: UInt16
    private let listener: OwnedDescriptor
    private let workers: BlockingWorker
    private let acceptor: BlockingWorker
    private let log = Mutex(Log())

    /// `script` runs for each connection; what it throws (the client went away) ends the connection.
    /// - Parameter port: of a server that was stopped and comes back; 0: any that is free.
    package init(port: UInt16 = 0, _ script: @escaping @Sendable (ServerConnection) throws -> Void) throws {
        (listener, self.port) = try Self.listen(port)
        workers = try BlockingWorker(name: "server", threads: 12)
        acceptor = try BlockingWorker(name: "acceptor")
        acceptor.submit { [self] in
            while true {
                let number = accept(listener.rawValue, nil, nil)
                if number < 0 { return }
                let socket = OwnedDescriptor(number)
                let index = log.withLock { log in
                    log.connections.append(socket)
                    return log.connections.count - 1
                }
                // A test that hangs ends here, long after any real answer.
                var deadline = timeval(tv_sec: 30, tv_usec: 0)
                setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
                workers.submit { [self] in
                    let connection = ServerConnection(socket: socket, index: index, server: self)
                    try? script(connection)
                    socket.close()
                }
            }
        }
    }

    private static func listen(_ port: UInt16) throws -> (OwnedDescriptor, UInt16) {
        let socket = OwnedDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var again: Int32 = 1
        setsockopt(socket.rawValue, SOL_SOCKET, SO_REUSEADDR, &again, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.rawValue, $0, size) == 0 && Glibc.listen(socket.rawValue, 64) == 0
                    && getsockname(socket.rawValue, $0, &size) == 0
            }
        }
        if !code { throw Errno.current }
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    package var requests: [Request] { log.withLock { $0.requests } }
    /// Bytes of bodies that scripts have read.
    package var bodyBytes: Int { log.withLock { $0.bodyBytes } }
    package var connectionCount: Int { log.withLock { $0.connections.count } }

    fileprivate func note(_ request: Request) { log.withLock { $0.requests.append(request) } }
    fileprivate func noteBody(_ count: Int) { log.withLock { $0.bodyBytes += count } }

    /// Ends all connections and threads.
    package func stop() {
        shutdown(listener.rawValue, Int32(SHUT_RDWR))
        acceptor.stop()
        for socket in log.withLock({ $0.connections }) where socket.rawValue >= 0 {
            shutdown(socket.rawValue, Int32(SHUT_RDWR))
        }
        workers.stop()
    }
}

package struct EndOfConnection: Error {
    package init() {}
}

/// One connection at the server, for a script.
package final class ServerConnection {
    package let socket: OwnedDescriptor
    /// 0 is the first connection of the test.
    package let index: Int
    private let server: ScriptedServer
    private var buffered: [UInt8] = []

    init(socket: OwnedDescriptor, index: Int, server: ScriptedServer) {
        self.socket = socket
        self.index = index
        self.server = server
    }

    /// Reads a request's header; throws when the client has ended the connection.
    @discardableResult
    package func readHead() throws -> ScriptedServer.Request {
        while true {
            if let end = buffered.firstRange(of: Array("\r\n\r\n".utf8)) {
                let lines = String(decoding: buffered[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
                buffered.removeFirst(end.upperBound)
                var fields: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
                    fields[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
                }
                let request = ScriptedServer.Request(connection: index, line: String(lines[0]), fields: fields)
                server.note(request)
                return request
            }
            buffered += try receive(65536)
        }
    }

    /// Reads a line, as a client of FTP sends them, and gives back its first word.
    package func readCommand() throws -> String {
        while true {
            if let end = buffered.firstRange(of: Array("\r\n".utf8)) {
                let line = String(decoding: buffered[..<end.lowerBound], as: UTF8.self)
                buffered.removeFirst(end.upperBound)
                return line.split(separator: " ").first.map(String.init) ?? ""
            }
            buffered += try receive(65536)
        }
    }

    /// Reads that much of a body and counts it.
    @discardableResult
    package func readBody(_ count: Int) throws -> [UInt8] {
        var body: [UInt8] = []
        while body.count < count {
            if buffered.isEmpty { buffered = try receive(min(65536, count - body.count)) }
            let part = buffered.prefix(count - body.count)
            buffered.removeFirst(part.count)
            body += part
            server.noteBody(part.count)
        }
        return body
    }

    package func receive(_ count: Int) throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: count)
        let received = try chunk.withUnsafeMutableBytes { try System.read(socket.rawValue, $0) }
        if received == 0 { throw EndOfConnection() }
        return Array(chunk[..<received])
    }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Glibc.send(
                    socket.rawValue, bytes.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
                if count <= 0 { throw Errno.current }
                done += count
            }
        }
    }

    /// An answer with a length.
    package func answer(_ status: String, _ body: String = "", fields: [String] = []) throws {
        let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields
        try send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// Says that nothing more is sent: the client gets all that was.
    package func finishSending() { shutdown(socket.rawValue, Int32(SHUT_WR)) }

    /// Ends the connection with RST, so that unread bytes are lost as on a dead line.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.rawValue, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        socket.close()
    }
}

/// A point that one thread reaches and another waits for.
package final class Milestone: Sendable {
    private let ends: (read: OwnedDescriptor, write: OwnedDescriptor)

    package init() throws { ends = try System.pipe() }

    package func reach() {
        // The pipe is empty and takes a byte.
        try? [UInt8(1)].withUnsafeBytes { try System.writeAll(ends.write.rawValue, $0) }
    }

    /// Blocks the calling thread; for scripts.
    /// The time is nearly that of a whole test, for the machine may be busy with others: a test that ends early for another reason still has its
    /// server stopped.
    package func waitBlocking(milliseconds: Int32 = 100_000) {
        var event = pollfd(fd: ends.read.rawValue, events: Int16(POLLIN), revents: 0)
        poll(&event, 1, milliseconds)
    }
}
