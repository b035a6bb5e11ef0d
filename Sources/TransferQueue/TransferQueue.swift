import LinuxSystem
package import TransferModel

package final class TransferQueue: Sendable {
    package let writer: QueueWriter
    package let reader: QueueReader
    init(writer: QueueWriter, reader: QueueReader) { self.writer = writer; self.reader = reader }

    /// Opens the queue in `directory`, which is made when it is missing, and holds its lock until `close`.
    /// Tasks that were running when the last engine ended stand in line again. Blocks.
    /// - Parameter version: this program's, for the lock file.
    package static func open(directory: RawPath, version: String) throws(QueueOpenError) -> TransferQueue {
        fatalError()
    }
    /// A reader alone, also beside a running engine: for `martletd --check`. Takes no lock. Blocks.
    package static func openForReading(directory: RawPath) throws(QueueOpenError) -> QueueReader { fatalError() }
    /// What commits change from now on, merged while nobody asks. Any number of listeners.
    package func changes() -> QueueChanges { fatalError() }
    /// Commits what is recorded, ends the threads and gives up the lock.
    package func close() async { fatalError() }
}

/// An endless sequence of changes for one listener; ends when the queue is closed.
package struct QueueChanges: AsyncSequence, Sendable {
    package typealias Element = QueueChange
    package struct AsyncIterator: AsyncIteratorProtocol {
        package mutating func next() async -> QueueChange? { fatalError() }
    }
    package func makeAsyncIterator() -> AsyncIterator { fatalError() }
}
