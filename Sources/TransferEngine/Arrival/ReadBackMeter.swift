import struct Synchronization.Atomic

/// Bytes read so far and a flag to stop, shared between the threads of the engine and of the service.
package final class ReadBackMeter: Sendable {
    private let read = Atomic<Int64>(0)
    private let stopped = Atomic<Bool>(false)

    package init() {}

    /// Bytes of files that were read; those that are read anew count once.
    package var bytes: Int64 { read.load(ordering: .relaxed) }

    func moved(by bytes: Int64) { read.add(bytes, ordering: .relaxed) }

    /// The reading ends soon; nothing more is compared.
    package func stop() { stopped.store(true, ordering: .relaxed) }

    package var isStopped: Bool { stopped.load(ordering: .relaxed) }
}
