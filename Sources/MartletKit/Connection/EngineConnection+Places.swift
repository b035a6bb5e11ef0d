import Glibc
import LinuxSystem
import ServiceWire

/// Paths of files, for the front: it reads the configuration itself, and a queue that was never made needs no engine
/// to say that it is empty.
extension EngineConnection {
    /// `martlet.conf`.
    package nonisolated var configurationFile: String { places.configurationFile }
    /// `keys.conf`.
    package nonisolated var keysFile: String { places.keysFile }
    /// `filters.conf`: the screen's saved filters.
    package nonisolated var filtersFile: String { places.configurationDirectory + "/filters.conf" }

    /// Changes `filters.conf`: the whole of it or nothing.
    /// - Parameter change: gets the file as it is now: another screen may have written it.
    /// - Returns: why it could not be written; `nil`: it was.
    @concurrent
    package nonisolated func changeFilters(_ change: @Sendable (_ now: [UInt8]) -> [UInt8]) async -> String? {
        do {
            try await SmallFile.change(filtersFile) { change($0) }
            return nil
        } catch {
            return "\(filtersFile) could not be written: \(error)"
        }
    }

    /// Writes a file beside the queue: what was copied where no clipboard could be asked, a report. The last of a name alone is kept.
    /// - Returns: where it is now.
    package nonisolated func write(_ bytes: [UInt8], as name: String) -> Result<String, RequestError> {
        let file = places.stateDirectory + "/" + name
        do {
            try OwnFile(file).replace(with: bytes)
            return .success(file)
        } catch {
            return .failure(RequestError(.refused, "\(file) could not be written: \(error)"))
        }
    }

    /// The engine's log on this machine; the older ones lie beside it.
    package nonisolated var logFile: String { places.logDirectory + "/martletd.log" }

    /// Output of libraries while a screen is open, so that it neither hits the terminal nor is lost.
    package nonisolated var screenLogFile: String { places.logDirectory + "/screen.log" }

    /// The file that the screen remembers from one time to the next.
    package nonisolated var keptScreenFile: String { places.stateDirectory + "/screen" }

    /// Its bytes; `nil`: there is none.
    package nonisolated func keptScreen() -> [UInt8]? { SmallFile.contents(OwnFile(keptScreenFile)) }

    /// Remembers it. Whether it could does not matter to anybody's transfer.
    package nonisolated func keepScreen(_ bytes: [UInt8]) { try? OwnFile(keptScreenFile).replace(with: bytes) }

    /// True when a queue was ever made here.
    package nonisolated var queueExists: Bool { (try? System.stat(Array(places.queueFile.utf8))) != nil }
}
