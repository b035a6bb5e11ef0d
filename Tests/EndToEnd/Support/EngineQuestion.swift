import Glibc
import LinuxSystem

/// A question to the engine of a sandbox, over a connection of its own.
///
/// Tests look often, and a process for each look would take the machine from what is tested. Commands are for what a person does.
enum EngineQuestion {
    /// Gives the `result` of the answer; `nil`: no engine answers, or it refuses. Starts none.
    /// - Parameters:
    ///   - state: the folder of the queue.
    ///   - parameters: as JSON.
    static func ask(_ method: String, _ parameters: String = "{}", state: String) -> JSON? {
        guard fileExists("\(state)/run/control.sock"),
            let socket = try? UnixSocket.connect(in: Array("\(state)/run".utf8), name: "control.sock")
        else { return nil }
        let asked = [
            #"{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocolVersion":"1.0","client":"a test"}}"#,
            #"{"jsonrpc":"2.0","id":2,"method":"\#(method)","params":\#(parameters)}"#,
        ]
        let question = Array(asked.map { $0 + "\n" }.joined().utf8)
        guard (try? question.withUnsafeBytes { try System.send(socket.rawValue, $0) }) == question.count,
            let answer = answers(2, from: socket.rawValue)?.last, let told = try? JSON(parsing: answer),
            told["result"] != JSON.null
        else { return nil }
        return told["result"]
    }

    /// The first lines that arrive; `nil`: the connection ended before, or an engine that stands still said nothing for 10 seconds.
    private static func answers(_ count: Int, from socket: Int32) -> [String]? {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while received.count(where: { $0 == 10 }) < count {
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 10_000) > 0 else { return nil }
            let length = recv(socket, &buffer, buffer.count, 0)
            guard length > 0 else { return nil }
            received += buffer[..<length]
        }
        return received.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
    }
}
