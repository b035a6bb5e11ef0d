import LinuxSystem
import struct Synchronization.Atomic
package import TransferModel

/// Looks at local files off every thread that must not wait.
///
/// A dead network disk may keep a thread for ever. What a person looks at while choosing shares three threads: more such looks than that at a
/// dead disk hold up the next ones, and nothing else. Other work (`run`) has a thread of its own each time.
package final class LocalFiles: Sendable {
    private let lookers: BlockingWorker
    /// Reading what is on the screen must not wait for folders that are being counted.
    private let counters: BlockingWorker

    /// Starts the threads.
    package init() throws(RequestError) {
        do throws(Errno) {
            lookers = try BlockingWorker(name: "martlet-looks", threads: 3)
            counters = try BlockingWorker(name: "martlet-count", threads: 2)
        } catch {
            throw RequestError(.internal, "no thread to look at files with: \(error)")
        }
    }

    /// The folder's entries, sorted; again and again while more are found, until one is complete. Ends when nobody
    /// listens any more. A slow listener gets the newest only.
    package func list(_ path: [UInt8], _ order: FolderOrder) -> AsyncStream<FolderSnapshot> {
        stream(on: lookers) { isWanted, publish in
            FolderReader.read(path, order, isWanted: isWanted, publish: publish)
        }
    }

    /// Counts a folder all the way down, again and again until it is complete. Ends when nobody listens any more.
    package func count(_ path: [UInt8]) -> AsyncStream<FolderCount> {
        stream(on: counters) { isWanted, publish in
            FolderCounter.count([path], isWanted: isWanted, publish: publish)
        }
    }

    /// Counts what patterns leave of files and folders, in the same way. `DIR/.` is a folder whose contents arrive without its name.
    package func count(
        _ paths: [[UInt8]], include: [String], exclude: [String]
    ) -> AsyncStream<FolderCount> {
        stream(on: counters) { isWanted, publish in
            FolderCounter.count(
                paths, NameFilter(include: include, exclude: exclude), isWanted: isWanted, publish: publish)
        }
    }

    /// Takes a look at what a person types or points at, after the looks before it.
    package func look<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await lookers.run { body() }
    }

    /// Does something else that may block on disks; no look and no other work holds it up.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        do throws(Errno) {
            return try await BlockingWorker.alone("martlet-files", body)
        } catch {
            // There is no thread more: it waits for one of those that there are.
            return await look(body)
        }
    }

    private func stream<Value: Sendable>(
        on worker: BlockingWorker,
        _ body: @escaping @Sendable (_ isWanted: () -> Bool, _ publish: (Value) -> Void) -> Void
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let listening = Listening()
        continuation.onTermination = { _ in listening.end() }
        worker.submit {
            if listening.goesOn { body({ listening.goesOn }, { continuation.yield($0) }) }
            continuation.finish()
        }
        return stream
    }

    /// A flag that is true as long as somebody still wants to know.
    private final class Listening: Sendable {
        private let isOver = Atomic<Bool>(false)
        var goesOn: Bool { !isOver.load(ordering: .relaxed) }
        func end() { isOver.store(true, ordering: .relaxed) }
    }
}

/// A word that was typed or pasted as a path, looked at.
package struct LookedPath: Hashable, Sendable {
    package enum Finding: Hashable, Sendable {
        case file(size: Int64)
        case folder
        /// Nothing of that name is there; in words.
        case missing(String)
        /// It cannot be sent; the reason in words.
        case unusable(String)
    }

    /// Absolute.
    package var path: [UInt8]
    package var finding: Finding

    package init(path: [UInt8], finding: Finding) {
        self.path = path
        self.finding = finding
    }

    /// The reason why it cannot be sent; `nil`: it can.
    package var problem: String? {
        switch finding {
        case .file, .folder: nil
        case .missing(let why), .unusable(let why): why
        }
    }

    /// Looks; blocks on the disk.
    package init(_ word: [UInt8], currentDirectory: [UInt8]) {
        do throws(QueueingFault) {
            let source = try SourcePath(word, currentDirectory: currentDirectory)
            path = source.path.bytes
            if source.isDirectory {
                finding = .folder
            } else {
                finding = .file(size: (try? System.stat(path))?.size ?? 0)
            }
        } catch {
            path = SourcePath.absolute(word, from: currentDirectory).bytes
            finding = error.code == .sourceMissing ? .missing(error.what) : .unusable(error.what)
        }
    }
}
