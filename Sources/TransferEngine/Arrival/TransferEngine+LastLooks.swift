import CurlTransport
import LinuxSystem
import SSHTransport
package import TransferModel
import TransferProtocols
package import TransferQueue
import WireOperations

/// The last look: when all files of a folder are over its server is asked once what lies there, and what was completed is compared with
/// that. A file that is missing, or another one, fails in a run of its own; the end of a batch is told afterwards.
extension TransferEngine {
    /// Looks at what is due, in the order of the batches; any number of calls are one. Files never keep a look waiting: it is one short
    /// request, and the end of its batch waits for it. So one at a time goes beyond the limits of the engine and of its server.
    func lookAtLast() {
        guard phase == .running else { return }
        lastLooks.isStale = true
        if lastLooks.isAsking { return }
        lastLooks.isAsking = true
        inBackground { [self] in
            defer { lastLooks.isAsking = false }
            while lastLooks.isStale, phase == .running {
                lastLooks.isStale = false
                // Servers that cannot be asked now keep nobody else waiting.
                var shut: Set<String> = []
                while phase == .running {
                    let free = max(freeSlots(beyond: 0), lastLooks.isIdle ? 1 : 0)
                    // The end of a look that goes on looks again.
                    guard free > 0 else { break }
                    let now = Timestamp(milliseconds: platform.wallMilliseconds)
                    let due = await durably {
                        try await queue.writer.dueLooks(
                            besides: lastLooks.notNow(timeline.now), at: shut, limit: free, now: now)
                    }
                    let refused = (due ?? []).filter { phase == .running && !begin($0) }
                    if refused.isEmpty { break }
                    shut.formUnion(refused.map(\.origin))
                }
            }
        }
    }

    /// - Returns: false when its server cannot be asked now; who may ask it later looks again by itself.
    private func begin(_ look: DueLook) -> Bool {
        if let until = hosts.standings[look.origin]?.closedUntil, timeline.now < until {
            // Nothing else may wake us when the server is left alone for a while.
            if lastLooks.waits(for: look.origin, until: until) { later(until) }
            return false
        }
        let limit = limitBook.engine.transfersPerHost
        guard hosts.mayStart(at: look.origin, limit: limit, now: timeline.now) || !lastLooks.isAsked(look.origin) else {
            return false
        }
        lastLooks.begin(look.folder, at: look.origin)
        takeSlot(at: look.origin)
        inBackground { [self] in
            // Whatever becomes of it, others may begin.
            defer {
                giveSlot(at: look.origin)
                lookAtLast()
            }
            do {
                try await perform(look)
            } catch {
                // The queue cannot be written, most often because its disk is full.
                report(.warning, "what a folder of \(look.batch) holds cannot be kept, it is listed later: \(error)")
                later(lastLooks.postpone(look.folder, now: timeline.now, random: platform.randomFraction()))
            }
        }
        return true
    }

    private func perform(_ look: DueLook) async throws {
        guard let context = try await contextForRemoval(of: look.batch) else { return lastLooks.end(look.folder) }
        var counts = LookCounts()
        let error = try await examine(look, context, until: nil) { page in
            counts.add(page)
            if !page.absent.isEmpty { try await queue.writer.fail(absent: page.absent, in: look) }
        }
        guard phase == .running else { return lastLooks.breakOff(look.folder) }
        guard let error else {
            lastLooks.end(look.folder)
            let before = try await queue.reader.absentFiles(in: look.folder)
            // Those that just failed are among them.
            let files = counts.listed + counts.open + before
            if counts.absent > 0 {
                report(.warning, "\(counts.absent) files of \(look.batch) are not at the server as they were sent")
            }
            let now = Timestamp(milliseconds: platform.wallMilliseconds)
            let found = EndedLook.Outcome.looked(at: now, listed: counts.listed, files: files)
            return try await queue.writer.end(looks: [EndedLook(look, found)])
        }
        let giveUp = context.order.options.giveUpAfterSeconds
        if let retryAt = lastLooks.fail(
            look.folder, error, giveUpAfterSeconds: giveUp, now: timeline.now, random: platform.randomFraction(),
            waited: { timeline.patience(since: $0) })
        {
            report(.debug, "a folder of \(look.batch) is listed later: \(error.message)")
            later(retryAt)
        } else {
            report(.info, "a folder of \(look.batch) cannot be listed: \(error.message)")
            try await queue.writer.end(looks: [EndedLook(look, .unlisted(error.withoutPromise))])
        }
    }

    private func later(_ time: Timestamp) {
        let delay = max(.zero, time.since(timeline.now)) + .milliseconds(1)
        _ = timeline.clock.schedule(after: delay) { [self] in lookAtLast() }
    }

    package func verify(_ look: DueLook, only task: TaskID?) async throws -> TransferError? {
        guard phase == .running else { return .stoppedLooking }
        guard let context = try await contextForRemoval(of: look.batch) else { return .noListingPlace }
        takeSlot(at: look.origin)
        defer { giveSlot(at: look.origin) }
        let now = Timestamp(milliseconds: platform.wallMilliseconds)
        let lead = timeline.lead
        var counts = LookCounts()
        var error = try await examine(look, context, until: now) { page in
            // A file that was completed after the list is known by its time.
            guard timeline.isUnbroken(since: lead) else { return }
            let meant = page.of(task)
            counts.add(meant)
            if !meant.absent.isEmpty { try await queue.writer.fail(absent: meant.absent) }
        }
        guard phase == .running else { return .stoppedLooking }
        guard timeline.isUnbroken(since: lead) else { return .clockWasSet }
        if error == nil, counts.open > 0 { error = .beingSentAgain(counts.open) }
        guard task == nil else { return error?.withoutPromise }
        if let error {
            try await queue.writer.end(looks: [EndedLook(look, .unlisted(error.withoutPromise))])
        } else {
            let files = try await counts.listed + queue.reader.absentFiles(in: look.folder)
            let found = EndedLook.Outcome.looked(at: now, listed: counts.listed, files: files)
            try await queue.writer.end(looks: [EndedLook(look, found)])
        }
        return error?.withoutPromise
    }

    /// Lists a folder and compares it with what was sent there, a page at a time.
    /// - Parameter take: gets what each page of files has come to.
    /// - Returns: why nobody can say what lies there; `nil`: all of it was compared.
    func examine(
        _ look: DueLook, _ context: BatchContext, until: Timestamp?,
        take: (LookPage) async throws -> Void
    ) async throws -> TransferError? {
        guard let base = context.destination else { return .noListingPlace }
        // Recorded facts are committed before it is decided which names are asked for.
        try await queue.writer.commit()
        let exact = look.isExact ? context.fileName : nil
        var beginning = RawPath("")
        if base.scheme.facts.lists == .prefixes {
            beginning = try await queue.reader.commonBeginning(in: look.folder)
        }
        guard let place = base.folder(look.remote, isExact: look.isExact),
            let listing = place.listing(
                beginning: exact ?? beginning, facts: facts(place, look.origin))
        else { return .noListingPlace }
        let comparison = try await queue.reader.beginComparison()
        do {
            let error = await list(listing, at: place, context, look.origin, into: comparison)
            if error == nil { try await queue.reader.noteLaterWriters(in: look, comparison: comparison) }
            let unasked =
                error == nil && phase == .running
                ? try await compare(look, exact, until, comparison, place, context, take) : nil
            try await queue.reader.endComparison(comparison)
            return error ?? unasked
        } catch {
            try? await queue.reader.endComparison(comparison)
            throw error
        }
    }

    /// - Returns: why nobody can say of a name that is not listed whether its file is there; `nil`: all of it was compared.
    private func compare(
        _ look: DueLook, _ exact: RawPath?, _ until: Timestamp?, _ comparison: Int64, _ place: RemotePlace,
        _ context: BatchContext, _ take: (LookPage) async throws -> Void
    ) async throws -> TransferError? {
        let host = TransferScheme.server(of: context.order.destination)
        // Such lists tell all names as they are.
        let isComplete = place.scheme.facts.lists == .prefixes
        func verdicts(_ files: [ComparedFile]) -> LookPage {
            LookPage(files.map { ($0.task, LastLookVerdict($0, at: host, tagsProve: isComplete)) })
        }
        var last: TaskID?
        repeat {
            let page = try await queue.reader.matched(
                in: look.folder, comparison: comparison, exact: exact, until: until, after: last, limit: Self.page)
            try await take(verdicts(page.files))
            last = page.last
        } while last != nil && phase == .running
        var trust = ListTrust()
        repeat {
            var page = try await queue.reader.unmatched(
                comparison: comparison, exact: exact, otherNames: !isComplete, after: last, limit: Self.page)
            for index in page.files.indices where !isComplete && trust.asks(for: page.files[index]) {
                guard phase == .running else { return nil }
                if let error = await probe(&page.files[index], below: place, look, context, &trust) { return error }
            }
            try await take(verdicts(page.files))
            last = page.last
        } while last != nil && phase == .running
        return nil
    }

    /// Asks for a file that is not listed under its name. - Returns: why that may be known later; `nil`: the server said all that it says.
    private func probe(
        _ file: inout ComparedFile, below folder: RemotePlace, _ look: DueLook, _ context: BatchContext,
        _ trust: inout ListTrust
    ) async -> TransferError? {
        guard let machine = folder.appending(file.name)?.fileProbe(named: file.name) else { return nil }
        let (error, attempt) = await inquire(.probe, machine, at: folder, context, look.origin)
        // A server that cannot be asked in this way is believed; one that does not answer has not said that nothing is there.
        if let error { return error.code == .unsupported ? nil : error }
        guard let probe = attempt.machine as? FileProbe else { return nil }
        trust.add(wasRight: probe.found == nil)
        // The list says more of the same file.
        file.entry = probe.found.map { file.entry ?? $0 }
        return nil
    }

    private static let page = 500

    /// Asks for the list, once more where the server may want the password shown in another way.
    private func list(
        _ listing: RemoteListing, at place: RemotePlace, _ context: BatchContext, _ origin: String,
        into comparison: Int64
    ) async -> TransferError? {
        if case .failed(let error) = context.credentials { return error }
        let (error, answer) = await listOnce(listing, at: place, context, origin, into: comparison)
        guard error?.httpStatus == 401, context.triesAsAsked(answer) else { return error }
        return await listOnce(listing, at: place, context, origin, into: comparison).error
    }

    private func listOnce(
        _ listing: RemoteListing, at place: RemotePlace, _ context: BatchContext, _ origin: String,
        into comparison: Int64
    ) async -> (error: TransferError?, answer: HTTPAnswer?) {
        guard phase == .running else { return (.stoppedLooking, nil) }
        let collector = ListingCollector(queue.reader, comparison: comparison) { [self] collector in
            inBackground { [self] in await keep(collector) }
        }
        let (error, attempt) = await inquire(.listing(collector), listing, at: place, context, origin)
        guard await collector.settled() else {
            let full = TransferError(
                .internal, "the names at the server could not be kept here", .step("see whether the disk is full"))
            return (full, nil)
        }
        if collector.isTooLong { return (.tooManyNames(TransferScheme.server(of: context.order.destination)), nil) }
        return (error, attempt.lastAnswer?.head)
    }

    // MARK: Names as they come

    /// Has the comparison take what the server lists. On the loop, as all that the collector does.
    private func keep(_ collector: ListingCollector) async { await collector.give() }

    /// The list begins, or words on why there is none.
    func openListing(_ wire: WireID, _ status: Int, _ attempt: Attempt) {
        guard let listing = attempt.listing else { return }
        transports.http?.openGate(
            wire,
            to: (200..<300).contains(status) ? .sink(listing) : .buffer(limit: TransferResponse.longestBody))
    }

    /// Names that the protocol itself has read. It goes on when they are kept.
    func take(listed entries: [RemoteEntry], _ attempt: Attempt) {
        guard let listing = attempt.listing else { return }
        listing.add(answer: entries)
        if listing.isTooLong { return endSideJob(attempt, nil) }
        attempt.isBlocked = true
        inBackground { [self] in
            _ = await listing.settled()
            attempt.isBlocked = false
            perform(attempt)
        }
    }
}

/// Decides whether a list is believed about the names that it leaves out. A server that leaves dot files out, or writes names in another
/// way, is asked for each of them; of other names a list is believed that has been right for a while: files that were taken away are not
/// asked for one by one.
struct ListTrust {
    private static let enough = 20
    private var rightInARow = 0

    func asks(for file: ComparedFile) -> Bool {
        // The file of that other name would answer.
        if file.nameIsTaken { return false }
        return file.entry != nil || file.name.bytes.first == UInt8(ascii: ".") || rightInARow < Self.enough
    }

    mutating func add(wasRight: Bool) { rightInARow = wasRight ? rightInARow + 1 : 0 }
}

/// The verdicts on some files of a folder.
struct LookPage {
    private var verdicts: [(task: TaskID, verdict: LastLookVerdict)]

    init(_ verdicts: [(task: TaskID, verdict: LastLookVerdict)]) { self.verdicts = verdicts }

    var compared: Int { verdicts.count }
    var absent: [AbsentFile] { verdicts.compactMap { if case .isAbsent(let file) = $0.verdict { file } else { nil } } }
    var open: Int { verdicts.count { if case .isOpen = $0.verdict { true } else { false } } }

    /// The same of one task alone; `nil`: of all.
    func of(_ task: TaskID?) -> LookPage { LookPage(verdicts.filter { task == nil || task == $0.task }) }
}

/// Numbers of files that a look at one folder has counted so far.
struct LookCounts {
    private var compared: Int64 = 0
    private(set) var absent: Int64 = 0
    /// Files of which nobody can say.
    private(set) var open: Int64 = 0
    var listed: Int64 { compared - absent - open }

    mutating func add(_ page: LookPage) {
        compared += Int64(page.compared)
        absent += Int64(page.absent.count)
        open += Int64(page.open)
    }
}

extension TransferError {
    static var noListingPlace: TransferError {
        TransferError(
            .unsupported, "nothing lists folders by this address", .step("look there whether all of it has arrived"))
    }

    static var clockWasSet: TransferError {
        TransferError(
            .networkConnectionLost, "this machine's clock was set meanwhile", .step("'martlet verify' asks again"))
    }

    static func beingSentAgain(_ files: Int64) -> TransferError {
        TransferError(
            .unsupported,
            "another batch of yours is sending \(files == 1 ? "a file" : "\(files) files") to the same \(files == 1 ? "name" : "names")",
            .step("'martlet verify' can tell when that batch is over"))
    }

    static var stoppedLooking: TransferError {
        TransferError(.networkConnectionLost, "the engine stopped before it was done", .step("start it again"))
    }

    static func tooManyNames(_ host: String) -> TransferError {
        TransferError(
            .unsupported, "\(host) lists more names than can be", .step("look there whether all of it has arrived"))
    }
}
