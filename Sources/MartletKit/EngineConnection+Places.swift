import Glibc
import LinuxSystem
import ServiceWire

/// Where things stand, for the front: it reads the configuration itself, and a queue that was never made needs no engine
/// to say that it is empty.
extension EngineConnection {
    /// `martlet.conf`.
    package nonisolated var configurationFile: String { places.configurationFile }
    /// `keys.conf`.
    package nonisolated var keysFile: String { places.keysFile }
    /// `filters.conf`: the screen's saved filters.
    package nonisolated var filtersFile: String { places.configurationDirectory + "/filters.conf" }

    /// Writes `filters.conf`: the whole of it or nothing.
    /// - Returns: why it could not be written; `nil`: it was.
    package nonisolated func writeFilters(_ bytes: [UInt8]) -> String? {
        let file = Array(filtersFile.utf8)
        let draft = file + Array(".new".utf8)
        do {
            try System.mkdirs(Array(places.configurationDirectory.utf8))
            let descriptor = try System.open(draft, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
            try bytes.withUnsafeBytes { try System.writeAll(descriptor.rawValue, $0) }
            try System.fsync(descriptor.rawValue)
            try System.rename(draft, to: file)
            return nil
        } catch {
            return "\(filtersFile) could not be written: \(error)"
        }
    }

    /// Whether a queue was ever made here.
    package nonisolated var queueExists: Bool { (try? System.stat(Array(places.queueFile.utf8))) != nil }
}
