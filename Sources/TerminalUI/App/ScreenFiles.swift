import Configuration
import MartletKit

/// Requests about this machine's files: begun in their order, done on threads of their own, told as news when something
/// is known.
actor ScreenFiles {
    nonisolated let news: AsyncStream<LocalNews>
    private nonisolated let telling: AsyncStream<LocalNews>.Continuation
    private nonisolated let requests: AsyncStream<LocalRequest>.Continuation
    nonisolated let files: LocalFiles
    private let engine: EngineConnection
    private let home: [UInt8]
    private let currentDirectory: [UInt8]
    private var listing: Task<Void, Never>?
    private var counting: [[UInt8]: Task<Void, Never>] = [:]
    private var sifting: Task<Void, Never>?

    init(_ engine: EngineConnection, home: [UInt8], currentDirectory: [UInt8]) throws {
        files = try LocalFiles()
        self.engine = engine
        self.home = home
        self.currentDirectory = currentDirectory
        (news, telling) = AsyncStream.makeStream(of: LocalNews.self)
        let (stream, continuation) = AsyncStream.makeStream(of: LocalRequest.self)
        requests = continuation
        Task { for await request in stream { await perform(request) } }
    }

    /// Requests are begun in the order in which they come here.
    nonisolated func begin(_ request: LocalRequest) { requests.yield(request) }

    private func perform(_ request: LocalRequest) {
        switch request {
        case .list(let path, let order):
            listing?.cancel()
            listing = Task {
                for await snapshot in files.list(path, order) { telling.yield(.listed(path, order, snapshot)) }
            }
        case .count(let path):
            counting[path]?.cancel()
            counting[path] = Task {
                for await count in files.count(path) { telling.yield(.counted(path, count)) }
            }
        case .stopCounting(let paths): for path in paths { counting.removeValue(forKey: path)?.cancel() }
        case .sift(let paths, let patterns):
            sifting?.cancel()
            sifting = Task {
                let counts = files.count(paths, include: patterns.include, exclude: patterns.exclude)
                for await count in counts { telling.yield(.sifted(patterns, count)) }
            }
        case .stopSifting: sifting?.cancel()
        case .stopAll:
            listing?.cancel()
            sifting?.cancel()
            for task in counting.values { task.cancel() }
            (listing, sifting, counting) = (nil, nil, [:])
        case .complete, .look, .places, .remember, .lookAtLogout: Task { await answer(request) }
        }
    }

    /// Answers a request that takes one look at the disk.
    private func answer(_ request: LocalRequest) async {
        let (engine, home, directory) = (engine, home, currentDirectory)
        switch request {
        case .complete(let word):
            let found = await files.look { PathCompletion(of: word, currentDirectory: directory) }
            telling.yield(.completed(word, found))
        case .look(let words, let purpose):
            let found = await files.look { words.map { LookedPath($0, currentDirectory: directory) } }
            telling.yield(.looked(found, purpose))
        case .places:
            let found = await files.run {
                (LocalPlaces.look(home: home), engine.recentPlaces(), engine.destinationsFile())
            }
            telling.yield(.places(found.0, found.1, found.2))
        case .lookAtLogout(let pid): telling.yield(.logout(await files.run { LogoutEffect.look(engine: pid) }))
        case .remember(let destination, let folder):
            await engine.remember { recent in
                if let destination { recent.add(destination: destination) }
                if let folder { recent.add(folder: folder) }
            }
        case .list, .count, .stopCounting, .sift, .stopSifting, .stopAll: break
        }
    }

    /// The request that an order comes to; looks at the sources once more.
    func plan(_ order: AddOrder, _ surroundings: AddSurroundings) async -> Result<BatchRequest, RequestError> {
        let (directory, engine) = (currentDirectory, engine)
        return await files.run {
            do throws(QueueingFault) {
                let book = engine.destinationBook(environment: surroundings.environment)
                return .success(try order.request(book, currentDirectory: directory, surroundings))
            } catch {
                return .failure(RequestError(.usage, error.message))
            }
        }
    }
}
