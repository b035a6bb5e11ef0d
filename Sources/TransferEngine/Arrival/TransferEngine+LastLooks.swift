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
                    let free = max(slotsForQuestions, lastLooks.isIdle ? 1 : 0)
                    // The end of a look that goes on looks again.
                    guard free > 0 else { break }
                    let now = Timestamp(milliseconds: platform.wallMilliseconds)
                    let due = await durably {
                        try await queue.writer.dueLooks(
                            besides: lastLooks.notNow(timeline.now, at: shut), limit: free, now: now)
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
                later(lastLooks.postpone(look, now: timeline.now, random: platform.randomFraction()))
            }
        }
        return true
    }

    private func perform(_ look: DueLook) async throws {
        guard let context = try await contextForRemoval(of: look.batch) else { return lastLooks.end(look.folder) }
        var counts = LookCounts()
        let end = try await examine(look, context) { page in
            counts.add(page)
            if page.absent.isEmpty { return }
            try await queue.writer.fail(absent: page.absent, in: look, otherLies: LastLookVerdict.otherLies)
        }
        switch end {
        case .brokenOff: lastLooks.breakOff(look.folder)
        case .compared:
            lastLooks.end(look.folder)
            let before = try await queue.reader.absentFiles(in: look.folder)
            // Those that just failed are among them.
            let files = counts.listed + counts.open + before
            if counts.absent > 0 {
                report(.warning, "\(counts.absent) files of \(look.batch) are not at the server as they were sent")
            }
            let now = Timestamp(milliseconds: platform.wallMilliseconds)
            let found = EndedLook.Outcome.looked(at: now, listed: counts.listed, files: files)
            try await recordEnd(of: look, found)
        case .unlisted(let error, let isLetIn):
            // Whoever gives it another login has it tried again, as with any file.
            if let refusal = login(context, look.origin).standing.refusal {
                return lastLooks.waitForLogin(look, refusal)
            }
            let giveUp = context.order.options.giveUpAfterSeconds
            if let retryAt = lastLooks.fail(
                look, error, isLetIn: isLetIn, giveUpAfterSeconds: giveUp, now: timeline.now,
                random: platform.randomFraction(), waited: { timeline.patience(since: $0) })
            {
                report(.debug, "a folder of \(look.batch) is listed later: \(error.message)")
                later(retryAt)
            } else {
                report(.info, "a folder of \(look.batch) cannot be listed: \(error.message)")
                try await recordEnd(of: look, .unlisted(error.withoutPromise))
            }
        }
    }

    /// Records the end of a look. Batches that were purged meanwhile, and may have written the same names, were kept for it.
    private func recordEnd(of look: DueLook, _ outcome: EndedLook.Outcome) async throws {
        try await queue.writer.end(looks: [EndedLook(look, outcome)])
        planSweep(after: grace)
    }

    private func later(_ time: Timestamp) {
        let delay = max(.zero, time.since(timeline.now)) + .milliseconds(1)
        _ = timeline.clock.schedule(after: delay) { [self] in lookAtLast() }
    }

    package func verify(_ look: DueLook, only task: TaskID?) async throws -> FolderVerification {
        guard phase == .running else { return FolderVerification(.stoppedLooking) }
        guard let context = try await contextForRemoval(of: look.batch) else {
            return FolderVerification(.noListingPlace)
        }
        takeSlot(at: look.origin)
        defer { giveSlot(at: look.origin) }
        var counts = LookCounts()
        let end = try await examine(look, context) { page in
            let meant = page.of(task)
            counts.add(meant)
            if meant.absent.isEmpty { return }
            try await queue.writer.fail(absent: meant.absent, otherLies: LastLookVerdict.otherLies)
        }
        var error: TransferError?
        switch end {
        case .brokenOff: return FolderVerification(.stoppedLooking)
        case .unlisted(let reason, _): error = reason.withoutPromise
        case .compared: error = counts.open > 0 ? .beingSentAgain(counts.open).withoutPromise : nil
        }
        if task == nil {
            let now = Timestamp(milliseconds: platform.wallMilliseconds)
            let files = try await counts.listed + queue.reader.absentFiles(in: look.folder)
            let found: EndedLook.Outcome =
                error.map { .unlisted($0) } ?? .looked(at: now, listed: counts.listed, files: files)
            try await recordEnd(of: look, found)
        }
        return error.map { FolderVerification($0) } ?? FolderVerification(listed: counts.listed)
    }

    /// Somebody waits for the end of the look: the engine, or a client that is still there.
    private var looksOn: Bool { phase == .running && !Task.isCancelled }

    /// Lists a folder and compares it with what was sent there, a page at a time.
    /// - Parameter take: gets what each page of files has come to.
    private func examine(
        _ look: DueLook, _ context: BatchContext, take: (LookPage) async throws -> Void
    ) async throws -> LookEnd {
        guard let base = context.destination else { return .unlisted(.noListingPlace) }
        // Recorded facts are committed before it is decided which names are asked for.
        try await queue.writer.commit()
        let comparison = try await queue.reader.beginComparison(of: look.folder)
        do {
            let end = try await examine(look, context, base, comparison, take)
            try await queue.reader.endComparison(comparison)
            return end
        } catch {
            try? await queue.reader.endComparison(comparison)
            throw error
        }
    }

    private func examine(
        _ look: DueLook, _ context: BatchContext, _ base: RemotePlace, _ comparison: Int64,
        _ take: (LookPage) async throws -> Void
    ) async throws -> LookEnd {
        let exact = look.isExact ? context.fileName : nil
        var beginning = exact ?? RawPath("")
        if exact == nil, base.scheme.facts.lists?.takesBeginning == true {
            // Only names that are compared count: a file that is completed meanwhile may have another beginning.
            beginning = try await queue.reader.commonBeginning(of: comparison)
        }
        guard let place = base.folder(look.remote, isExact: look.isExact),
            let listing = place.listing(beginning: beginning, facts: facts(place, look.origin))
        else { return .unlisted(.noListingPlace) }
        let (error, refusal) = await list(listing, at: place, context, look.origin, into: comparison)
        if let error {
            return looksOn ? .unlisted(error, isLetIn: refusal?.reason.needsPerson != true) : .brokenOff
        }
        try await queue.reader.noteLaterWriters(in: look, comparison: comparison)
        return try await compare(look, exact, comparison, place, context, take)
    }

    private func compare(
        _ look: DueLook, _ exact: RawPath?, _ comparison: Int64, _ place: RemotePlace, _ context: BatchContext,
        _ take: (LookPage) async throws -> Void
    ) async throws -> LookEnd {
        let host = TransferScheme.server(of: context.order.destination)
        let lists = place.scheme.facts.lists
        let (isComplete, tagsProve) = (lists?.isComplete == true, lists?.tagsProve == true)
        func verdicts(_ files: [ComparedFile]) -> LookPage {
            LookPage(files.map { ($0.task, LastLookVerdict($0, at: host, tagsProve: tagsProve)) })
        }
        var last: TaskID?
        repeat {
            guard looksOn else { return .brokenOff }
            let page = try await queue.reader.matched(
                comparison: comparison, exact: exact, after: last, limit: Self.page)
            try await take(verdicts(page.files))
            last = page.last
        } while last != nil
        var trust = ListTrust()
        repeat {
            guard looksOn else { return .brokenOff }
            var page = try await queue.reader.unmatched(
                comparison: comparison, exact: exact, otherNames: !isComplete, after: last, limit: Self.page)
            for index in page.files.indices where !isComplete && trust.asks(for: page.files[index]) {
                guard looksOn else { return .brokenOff }
                if let error = await probe(&page.files[index], below: place, look, context, &trust) {
                    return looksOn ? .unlisted(error) : .brokenOff
                }
            }
            try await take(verdicts(page.files))
            last = page.last
        } while last != nil
        return .compared
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
        // The list says more of the same file. One of another size, whose name only resembles it, is another.
        let listed = file.entry
        file.entry = probe.found.map { found in
            guard let listed, found.size == .unknown || found.size == listed.size else { return found }
            return listed
        }
        return nil
    }

    private static let page = 500

    /// Asks for the list, once more where the server may want the password shown in another way.
    private func list(
        _ listing: RemoteListing, at place: RemotePlace, _ context: BatchContext, _ origin: String,
        into comparison: Int64
    ) async -> (error: TransferError?, refusal: WaitDemand?) {
        if let error = context.credentials.failure {
            login(context, origin).standing.lookupFailed(LoginStanding.Refusal(.auth, error))
            return (error, nil)
        }
        let first = await listOnce(listing, at: place, context, origin, into: comparison)
        guard first.attempt?.side.mayShowOtherwise == true else { return (first.error, first.attempt?.side.refusal) }
        let second = await listOnce(listing, at: place, context, origin, into: comparison)
        return (second.error, second.attempt?.side.refusal)
    }

    private func listOnce(
        _ listing: RemoteListing, at place: RemotePlace, _ context: BatchContext, _ origin: String,
        into comparison: Int64
    ) async -> (error: TransferError?, attempt: Attempt?) {
        guard looksOn else { return (.stoppedLooking, nil) }
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
        return (error, attempt)
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
        suspend(attempt) { _ = await listing.settled() }
    }
}
