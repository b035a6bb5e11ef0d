import LinuxSystem
import ServiceWire
import TransferModel
import TransferQueue

/// Verifies a queue, also beside a running engine.
enum QueueVerification {
    /// Verifies: the findings, for a person, and whether all is well.
    static func run(_ places: Places) async throws(EngineFailure) -> (lines: [String], isWell: Bool) {
        let reader: QueueReader
        do {
            reader = try TransferQueue.openForReading(directory: RawPath(places.stateDirectory))
        } catch QueueOpenError.system(.noSuchFile, _) {
            return (["there is no queue in \(places.stateDirectory) yet"], true)
        } catch {
            throw EngineFailure(error)
        }
        do {
            let findings = try await reader.check()
            if !findings.isEmpty { return (findings.map { "\(places.queueFile): \($0)" }, false) }
            let statistics = try await reader.statistics()
            let tasks = statistics.counts.total
            return (["\(places.queueFile): \(statistics.batches) batches, \(tasks) tasks, all agree"], true)
        } catch {
            throw EngineFailure(
                status: 65, code: .queueCorrupt, message: "\(places.queueFile) cannot be read: \(error)")
        }
    }
}
