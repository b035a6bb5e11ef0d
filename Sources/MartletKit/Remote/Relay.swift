import LinuxSystem
import ServiceWire
import TransferModel

/// The far half of an attached screen: standard input goes to this machine's engine, what the engine says to standard output.
///
/// Runs in a process of its own, which ends with either side. One thread for each direction: neither waits for the other.
package enum Relay {
    /// Relays until either side ends. True when both sides were there.
    package static func run(launching: Bool, client: String) async -> Bool {
        let engine: OwnedDescriptor
        do throws(RequestError) {
            engine = try await socket(launching: launching, client: client)
        } catch {
            say(.failed(error))
            return false
        }
        say(.ready)
        guard let outward = try? BlockingWorker(name: "relay-out"), let inward = try? BlockingWorker(name: "relay-in")
        else { return false }
        let input = Task {
            await outward.run {
                copy(from: 0, to: engine.rawValue)
                // Whoever attached has gone; the other direction ends by it.
                try? System.shutdown(engine.rawValue, .both)
            }
        }
        await inward.run { copy(from: engine.rawValue, to: 1) }
        // The process ends now, though standard input may still be open: nobody waits for the thread that reads it.
        input.cancel()
        return true
    }

    /// A socket to the engine, which has answered and speaks what this martlet speaks.
    private static func socket(launching: Bool, client: String) async throws(RequestError) -> OwnedDescriptor {
        let connection = try EngineConnection(
            ConnectionOptions(launching: launching ? .ifNeeded : .never, client: client))
        try await connection.connect()
        guard let socket = try connection.dial() else { throw EngineConnection.lost }
        await connection.close()
        do { try System.setNonBlocking(socket.rawValue, false) } catch { throw EngineConnection.lost }
        return socket
    }

    private static func say(_ greeting: RelayGreeting) {
        greeting.line.withUnsafeBytes { try? System.writeAll(1, $0) }
    }

    private static func copy(from source: Int32, to target: Int32) {
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        defer { chunk.deallocate() }
        while let count = try? System.read(source, chunk), count > 0 {
            do { try System.writeAll(target, UnsafeRawBufferPointer(rebasing: chunk[..<count])) } catch { return }
        }
    }
}
