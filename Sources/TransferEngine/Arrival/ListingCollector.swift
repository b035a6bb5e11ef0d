import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Takes what a server lists of one folder and gives it to the queue's comparison in pages, as it comes. On the engine's loop.
final class ListingCollector: TransferBodySink {
    /// More names than any folder has that people use; the rest of a list without end would fill the disk.
    static let most = 4_000_000
    /// Most bytes of a list that lead to no name: a server that has nothing to tell could go on telling it for ever.
    private let mostIdleBytes: Int
    /// Bytes that go with a name, and those that a page counts as whatever is in it.
    private static let (bytesOfName, bytesOfPage) = (16 << 10, 64 << 10)

    private let reader: QueueReader
    private let comparison: Int64
    /// The answer that comes now.
    private var listing: ListingReader?
    /// The page that is given last; each waits for the one before.
    private var last: Task<Bool, Never>?
    private var count = 0
    private var bytes = 0
    /// The server lists more names than there can be.
    private(set) var isTooLong = false

    init(_ reader: QueueReader, comparison: Int64, mostIdleBytes: Int = 64 << 20) {
        (self.reader, self.comparison, self.mostIdleBytes) = (reader, comparison, mostIdleBytes)
    }

    func beginReading(_ format: ListingFormat) {
        listing = ListingReader(format)
        spend(Self.bytesOfPage)
    }

    /// Ends the answer that comes now and returns its end; `nil`: it was no list.
    func endReading() -> ListingEnd? {
        guard let (entries, end) = listing?.finish() else { return nil }
        listing = nil
        add(entries)
        return end
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        guard let listing else { return }
        add(listing.take(Array(bytes)))
        spend(bytes.count)
        if isTooLong { throw .fileTooLarge }
    }

    private func spend(_ more: Int) {
        bytes += more
        if bytes > mostIdleBytes + count * Self.bytesOfName { isTooLong = true }
    }

    func add(_ entries: [RemoteEntry]) {
        count += entries.count
        if count > Self.most { isTooLong = true }
        if entries.isEmpty || isTooLong { return }
        last = Task { [last, reader, comparison] in
            if await last?.value == false { return false }
            do {
                try await reader.add(entries, to: comparison)
                return true
            } catch {
                return false
            }
        }
    }

    /// Everything is in the comparison; false: the queue did not take it.
    func settled() async -> Bool { await last?.value ?? true }
}
