import LinuxSystem
import ServiceWire
package import TransferModel
import TransferQueue

/// The work of `martletd`, for its main file.
package enum EngineMain {
    /// Runs the engine on the calling thread, the main one, until it is told to end.
    /// - Parameter ready: called with the socket's path when clients are let in.
    package static func run(ready: @escaping @Sendable (String) -> Void) throws(EngineFailure) {
        System.forbidDumps()
        DefaultExecutor.useOwnThreads()
        let places = try places()
        try EngineProcess.run(places) { ready(places.socketFile) }
    }

    /// Verifies the queue: what was found, for a person, and whether all is well.
    package static func check() async throws(EngineFailure) -> (lines: [String], isWell: Bool) {
        try await QueueVerification.run(try places())
    }

    private static func places() throws(EngineFailure) -> Places {
        let places: Places
        do { places = try Places.current() } catch {
            throw EngineFailure(status: 69, code: .engineUnreachable, message: error.message)
        }
        do { try System.requireOwnWay(to: places.ways) } catch {
            throw EngineFailure(status: 69, code: .engineUnreachable, message: "\(error)")
        }
        return places
    }
}

/// The reason why `martletd` ends with an error.
package struct EngineFailure: Error, Sendable {
    /// 65: the queue is corrupt or newer; 75: another engine has it; 69: it cannot start; 1: it could not end in order.
    package var status: Int32
    /// For the front that started it.
    package var code: RequestErrorCode
    /// The failure, and what to do.
    package var message: String

    package var codeName: String { code.rawValue }
}

extension EngineFailure {
    /// The machine does not let it: no room, no descriptor, no permission.
    init(cannotStart error: any Error) {
        self.init(status: 69, code: .engineUnreachable, message: "the engine cannot start: \(error)")
    }

    init(_ error: QueueOpenError) {
        message = "\(error)"
        switch error {
        case .locked: (status, code) = (75, .queueLocked)
        case .newer: (status, code) = (65, .queueNewer)
        case .corrupt, .emptied, .secrets(.corrupt): (status, code) = (65, .queueCorrupt)
        case .untrusted, .secrets, .system, .database: (status, code) = (69, .engineUnreachable)
        }
    }
}
