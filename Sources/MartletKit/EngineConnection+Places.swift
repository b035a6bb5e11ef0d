import LinuxSystem
import ServiceWire

/// Where things stand, for the front: it reads the configuration itself, and a queue that was never made needs no engine
/// to say that it is empty.
extension EngineConnection {
    /// `martlet.conf`.
    package nonisolated var configurationFile: String { places.configurationFile }
    /// `keys.conf`.
    package nonisolated var keysFile: String { places.keysFile }
    /// Whether a queue was ever made here.
    package nonisolated var queueExists: Bool { (try? System.stat(Array(places.queueFile.utf8))) != nil }
}
