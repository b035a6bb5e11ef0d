import LinuxSystem
import ServiceWire
public import TransferModel

/// Changes to what a screen shows; each part replaces the earlier one of the same parent or ID.
public struct ViewUpdate: Sendable, Hashable {
    /// Whole sections of the tree.
    public var sections: [TreeSection] = []
    /// Single nodes that were asked for; a row of `nil`: there is no such node, or no longer.
    public var nodes: [NodeID: NodeRow?] = [:]
    /// `nil`: unchanged, or not asked for.
    public var totals: QueueTotals?
    /// The filter that the sections are of, and its progress; `nil`: they show everything.
    public var filter: FilterCount?

    /// The parts of this update that one of these requests asks for: what was not asked for does not exist, whatever an engine says.
    func clipped(to requests: [ViewRequest]) -> ViewUpdate {
        var limits: [RowID?: Int] = [:]
        for section in requests.lazy.compactMap(\.sections).joined() {
            limits[section.parent] = max(limits[section.parent] ?? 0, section.limit)
        }
        let nodesAsked = Set(requests.compactMap(\.nodes).joined())
        var clipped = ViewUpdate()
        var places: [RowID?: Int] = [:]
        for var section in sections {
            guard let limit = limits[section.parent] else { continue }
            // A section may show a row or two more than was asked for: the one that it was opened for.
            let most = min(max(limit, 1), Self.mostRows) + Self.extraRows
            if section.rows.count > most { section.rows.removeSubrange(most...) }
            if let place = places[section.parent] {
                clipped.sections[place] = section
            } else {
                places[section.parent] = clipped.sections.count
                clipped.sections.append(section)
            }
        }
        clipped.nodes = nodes.filter { nodesAsked.contains($0.key) }
        if requests.contains(where: { $0.totals == true }) { clipped.totals = totals }
        clipped.filter = filter
        return clipped
    }

    private static let mostRows = 1000
    private static let extraRows = 16

    /// Lays a newer update over this one.
    package mutating func merge(_ newer: ViewUpdate) {
        if newer.filter?.text != filter?.text { sections = [] }
        filter = newer.filter
        for section in newer.sections {
            if let index = sections.firstIndex(where: { $0.parent == section.parent }) {
                sections[index] = section
            } else {
                sections.append(section)
            }
        }
        nodes.merge(newer.nodes) { $1 }
        if let newer = newer.totals { totals = newer }
    }
}

/// The contents of a screen, kept up to date: an endless sequence of updates, for one reader.
///
/// The engine sends all that is asked for once and then what changes, at most 10 times a second and only when
/// something did. A slow reader misses nothing: what it has not taken is merged. While the engine is away nothing
/// comes; after a reconnect everything comes again. Ends with `cancel()`, when the connection is closed, when it is lost and does not
/// reconnect by itself, and when the engine refuses what is asked for (`failure` of both).
public final class TreeSubscription: Sendable {
    private let connection: EngineConnection
    private let number: Int
    private let mailbox: ViewMailbox

    init(connection: EngineConnection, number: Int, mailbox: ViewMailbox) {
        self.connection = connection
        self.number = number
        self.mailbox = mailbox
    }

    deinit { cancel() }

    /// Wants to see this from now on, instead of what was wanted before. Returns at once; the latest call wins.
    /// - Parameters:
    ///   - sections: what is open in the tree; up to 200, and 20,000 rows by their limits. All views of a connection have 40,000.
    ///   - nodes: single nodes to watch; up to 1000.
    ///   - totals: the sums over everything.
    ///   - filter: of the sections only what matches this expression. An update says which filter it is of, because one that
    ///     was on its way may still be of another.
    public func show(
        _ sections: [SectionRequest] = [], nodes: [NodeID] = [], totals: Bool = true, filter: String? = nil
    ) {
        mailbox.want(ViewRequest(view: number, sections: sections, nodes: nodes, totals: totals, filter: filter))
        // At once, as far as the connection: not by way of a pool of threads.
        Task.immediate { [connection, number] in await connection.sendView(number) }
    }

    /// The reason why the sequence ended: more was asked for than a client may see, or the connection is lost. `nil`: it goes on, or ended
    /// otherwise.
    public var failure: RequestError? { mailbox.failure }

    /// Ends the sequence and lets the engine forget the view.
    public func cancel() {
        mailbox.finish()
        Task.immediate { [connection, number] in await connection.closeView(number) }
    }
}

extension TreeSubscription: AsyncSequence {
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let subscription: TreeSubscription

        /// The changes since the last one that was taken; waits for some.
        public func next() async -> ViewUpdate? { await subscription.mailbox.next() }

        // Where the reader is: the other one would send every update through a pool of threads.
        public func next(isolation actor: isolated (any Actor)?) async -> ViewUpdate? {
            await subscription.mailbox.next()
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(subscription: self) }
}

/// The mailbox where the connection leaves a view's updates and one reader takes them.
final class ViewMailbox: Sendable {
    fileprivate struct Contents {
        var wanted: ViewRequest?
        /// The request that the engine got last, and may still answer.
        var sent: ViewRequest?
        var pending: ViewUpdate?
        var reader: CheckedContinuation<ViewUpdate?, Never>?
        var isFinished = false
        var failure: RequestError?
    }

    /// Held for an exchange of values only.
    private let contents = Mutex(Contents())

    /// The request for what is wanted now, which is sent to the engine.
    func send() -> ViewRequest? {
        contents.withLock { contents in
            contents.sent = contents.wanted
            return contents.wanted
        }
    }

    /// The requests that an update may answer.
    var asked: [ViewRequest] { contents.withLock { [$0.wanted, $0.sent].compactMap { $0 } } }

    func want(_ request: ViewRequest) {
        contents.withLock { $0.wanted = request }
    }

    func put(_ update: ViewUpdate) {
        let reader = contents.withLock { contents -> CheckedContinuation<ViewUpdate?, Never>? in
            if let reader = contents.reader {
                contents.reader = nil
                return reader
            }
            if contents.pending == nil { contents.pending = update } else { contents.pending?.merge(update) }
            return nil
        }
        reader?.resume(returning: update)
    }

    func next(isolation: isolated (any Actor)? = #isolation) async -> ViewUpdate? {
        await withTaskCancellationHandler {
            // Named, so that this runs where the caller is and not in the language's pool of threads.
            _ = isolation
            return await withCheckedContinuation { reader in
                // A second reader would wait for ever: it gets the end.
                let now = contents.withLock { contents -> ViewUpdate?? in
                    if let pending = contents.pending {
                        contents.pending = nil
                        return .some(pending)
                    }
                    if contents.isFinished || contents.reader != nil || Task.isCancelled { return .some(nil) }
                    contents.reader = reader
                    return .none
                }
                if let now { reader.resume(returning: now) }
            }
        } onCancel: {
            contents.withLock { $0.takeReader() }?.resume(returning: nil)
        }
    }

    var failure: RequestError? { contents.withLock { $0.failure } }

    func finish(_ failure: RequestError? = nil) {
        contents.withLock { contents in
            contents.isFinished = true
            contents.failure = contents.failure ?? failure
            return contents.takeReader()
        }?.resume(returning: nil)
    }
}

extension ViewMailbox.Contents {
    fileprivate mutating func takeReader() -> CheckedContinuation<ViewUpdate?, Never>? {
        defer { reader = nil }
        return reader
    }
}
