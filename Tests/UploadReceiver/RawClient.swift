import Glibc
import LinuxSystem

/// What a server answered.
struct Reply {
    var status = 0
    /// Statuses below 200 that came before.
    var interim: [Int] = []
    var fields: [String: String] = [:]
    var body: [UInt8] = []
    /// The interim answers themselves.
    var announcements: [Reply] = []

    var text: String { String(decoding: body, as: UTF8.self) }
}

/// A client that sends exactly the bytes it is told: malformed requests, halves of them, raw names.
final class RawClient {
    private let socket: OwnedDescriptor
    private var arrived: [UInt8] = []

    /// Connects to loopback. Every wait ends after half a minute, which only a hang reaches.
    init(port: UInt16) throws {
        socket = OwnedDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var patience = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket.rawValue, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket.rawValue, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Errno.current }
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = Glibc.send(
                    socket.rawValue, buffer.baseAddress.map { $0 + done }, buffer.count - done, Int32(MSG_NOSIGNAL))
                if count < 0 { throw Errno.current }
                done += count
            }
        }
    }

    /// The next answer, after any interim ones. A HEAD's answer has no body whatever its length says.
    func reply(toHead: Bool = false) throws -> Reply {
        var reply = try head()
        var announcements: [Reply] = []
        while reply.status < 200 {
            announcements.append(reply)
            reply = try head()
        }
        reply.announcements = announcements
        reply.interim = announcements.map(\.status)
        if toHead || reply.status == 204 || reply.status == 304 { return reply }
        if let length = reply.fields["content-length"].flatMap({ Int($0) }) {
            while arrived.count < length { try receive() }
            reply.body = Array(arrived.prefix(length))
            arrived.removeFirst(length)
        } else {
            while try receiveOrEnd() {}
            reply.body = arrived
            arrived = []
        }
        return reply
    }

    /// Waits until an answer has begun to arrive.
    func awaitBeginning() throws { if arrived.isEmpty { try receive() } }

    /// Only the interim answer that lets the body go.
    func interim() throws -> Int { try head().status }

    /// Whether something can be read within a time.
    func isAnswered(within patience: Duration) throws -> Bool {
        if !arrived.isEmpty { return true }
        return try System.poll(socket.rawValue, .read, timeout: patience)
    }

    /// The next interim answer with its fields.
    func announcement() throws -> Reply { try head() }

    /// Waits for the server to end the connection, in whatever way; what it said before is thrown away.
    func awaitEnd() { while (try? receiveOrEnd()) == true {} }

    /// Whether the server has ended its side and nothing else came.
    func isAtEnd() throws -> Bool { try arrived.isEmpty && !receiveOrEnd() }

    /// Ends the connection in order.
    func close() { socket.close() }

    /// Ends the connection with a reset.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.rawValue, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        socket.close()
    }

    private func head() throws -> Reply {
        let end = Array("\r\n\r\n".utf8)
        var position = Self.find(end, in: arrived)
        while position == nil {
            try receive()
            position = Self.find(end, in: arrived)
        }
        let lines = String(decoding: arrived[..<(position ?? 0)], as: UTF8.self).split(separator: "\r\n")
        arrived.removeFirst((position ?? 0) + end.count)
        var reply = Reply()
        reply.status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            let halves = line.split(separator: ":", maxSplits: 1)
            if halves.count == 2 { reply.fields[halves[0].lowercased()] = String(halves[1].drop { $0 == " " }) }
        }
        return reply
    }

    private func receive() throws {
        if try !receiveOrEnd() { throw Errno.connectionReset }
    }

    private func receiveOrEnd() throws -> Bool {
        let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = try System.read(socket.rawValue, UnsafeMutableRawBufferPointer(buffer))
        }
        arrived += chunk
        return !chunk.isEmpty
    }

    private static func find(_ pattern: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= pattern.count else { return nil }
        return (0...(bytes.count - pattern.count)).first { bytes[$0..<($0 + pattern.count)].elementsEqual(pattern) }
    }
}

extension RawClient {
    /// One request with fields and a body, and its answer.
    func exchange(
        _ method: String, _ target: String, _ fields: KeyValuePairs<String, String> = [:], body: [UInt8]? = nil
    ) throws -> Reply {
        try send(Array(Self.head(method, target, fields, length: body?.count).utf8) + (body ?? []))
        return try reply(toHead: method == "HEAD")
    }

    static func head(
        _ method: String, _ target: String, _ fields: KeyValuePairs<String, String> = [:], length: Int? = nil
    ) -> String {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: test\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if let length { text += "Content-Length: \(length)\r\n" }
        return text + "\r\n"
    }
}
