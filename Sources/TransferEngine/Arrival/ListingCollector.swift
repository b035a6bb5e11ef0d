import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Takes what a server lists of one folder and gives it to the queue's comparison in pages, as it comes: while a page is not there yet, the
/// server is not listened to. On the engine's loop.
final class ListingCollector: TransferBodySink {
    /// More names than any folder has that people use; the rest of a list without end would fill the disk.
    static let most = 4_000_000
    /// Bytes of all names, with their tags and digests, that are kept at most.
    private let mostKeptBytes: Int
    /// Most bytes of a list that lead to no new name: a server that has nothing to tell could go on telling it for ever.
    private let mostIdleBytes: Int
    /// Bytes that go with a new name, and those that a page and an answer without bytes count as whatever is in them.
    private static let (bytesOfName, bytesOfPage, bytesOfAnswer) = (16 << 10, 64 << 10, 8 << 10)
    /// Entries that are compared at once: others ask the queue in between.
    static let pageSize = 1000

    private let reader: QueueReader
    private let comparison: Int64
    /// Has `give` called on the loop.
    private let begin: (ListingCollector) -> Void
    /// The answer that comes now.
    private var listing: ListingReader?
    /// Entries that the comparison does not have yet.
    private var waiting: [[RemoteEntry]] = []
    private var unsettled = 0
    private var isGiving = false
    private var isRefused = false
    private var callers: [() -> Void] = []
    private var settling: [CheckedContinuation<Void, Never>] = []
    /// Names that were new, bytes that came, and bytes of names among them.
    private var (names, bytes, kept) = (0, 0, 0)
    /// The server lists more names than there can be.
    private(set) var isTooLong = false

    init(
        _ reader: QueueReader, comparison: Int64, mostIdleBytes: Int = 64 << 20, mostKeptBytes: Int = 512 << 20,
        begin: @escaping (ListingCollector) -> Void
    ) {
        (self.reader, self.comparison, self.begin) = (reader, comparison, begin)
        (self.mostIdleBytes, self.mostKeptBytes) = (mostIdleBytes, mostKeptBytes)
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
        if isRefused { throw .noSpace }
    }

    /// Takes an answer that the protocol has read itself.
    func add(answer entries: [RemoteEntry]) {
        add(entries)
        spend(Self.bytesOfAnswer)
    }

    private func spend(_ more: Int) {
        bytes += more
        // A name that waits may be new: nobody knows yet.
        if bytes > mostIdleBytes + (names + unsettled) * Self.bytesOfName { isTooLong = true }
    }

    private func add(_ entries: [RemoteEntry]) {
        kept += entries.reduce(0) { $0 + $1.foreignBytes }
        unsettled += entries.count
        if names + unsettled > Self.most || kept > mostKeptBytes { isTooLong = true }
        if entries.isEmpty || isTooLong || isRefused { return }
        var start = 0
        while start < entries.count {
            waiting.append(Array(entries[start..<min(start + Self.pageSize, entries.count)]))
            start += Self.pageSize
        }
        if !isGiving { begin(self) }
    }

    /// Gives the comparison what waits, a page after the other.
    func give() async {
        if isGiving { return }
        isGiving = true
        while !waiting.isEmpty, !isRefused {
            let page = waiting.removeFirst()
            do {
                names += try await reader.add(page, to: comparison)
                unsettled -= page.count
            } catch {
                isRefused = true
            }
            if !isFull { callBack() }
        }
        isGiving = false
        let settled = settling
        settling = []
        for waiter in settled { waiter.resume() }
    }

    // MARK: What the transport asks

    /// More than one page is not in the comparison yet.
    var isFull: Bool { unsettled > Self.pageSize && !isRefused && !isTooLong }

    func whenRoom(_ goOn: @escaping () -> Void) { callers.append(goOn) }

    private func callBack() {
        let waiting = callers
        callers = []
        for goOn in waiting { goOn() }
    }

    /// Everything is in the comparison; false: the queue did not take it.
    func settled() async -> Bool {
        if isGiving || !waiting.isEmpty, !isRefused {
            await withCheckedContinuation { settling.append($0) }
        }
        return !isRefused
    }
}
