import LinuxSystem
import TransferModel
import TransferQueue

/// Directories become tasks while the first of these run already. What is in the queue is never lost; a walk that a kill cut off
/// begins its open directories again, and the queue takes only what it does not have.
extension TransferEngine {
    /// Entries that go into the queue at once.
    static let chunkSize = 5000

    /// Walks what is not walked yet: of one batch, or of all.
    func takeUpWalks(of batch: BatchID?) async throws {
        let found = try await queue.writer.unscannedSources(of: batch)
        for (batch, sources) in Dictionary(grouping: walks.begin(found), by: \.batch) { walk(batch, sources) }
        guard batch == nil else { return }
        // The end of a walk is a commit of its own, and a kill may have come before it.
        for batch in try await queue.writer.walkedBatches() { walk(batch, []) }
    }

    private func walk(_ batch: BatchID, _ sources: [WalkState]) {
        let run = walks.run
        inBackground { [self] in
            await walkToTheEnd(batch, sources, run)
            if phase == .running { for source in sources { await walker.forget(source.source) } }
            let again = walks.end(sources, of: batch, begunIn: run)
            refreshLanes()
            if again, phase == .running { await durably { try await takeUpWalks(of: batch) } }
        }
    }

    /// Returns true while a walk that began in `run` goes on. One that a stop broke off never does: it may have dropped entries.
    private func walks(in run: Int) -> Bool { phase == .running && run == walks.run }

    private func walkToTheEnd(_ batch: BatchID, _ sources: [WalkState], _ run: Int) async {
        var told: String?
        while walks(in: run) {
            do {
                try await walkAll(sources, run)
                if walks(in: run) { try await queue.writer.finishScan(batch) }
                return
            } catch {
                // The queue holds whole changes only, so the walk continues from what it has; the same when no descriptor was left.
                let text = "the files of \(batch) cannot be listed and queued now: \(error)"
                if text != told { report(.error, text) }
                told = text
                await sleep(for: .seconds(1))
            }
        }
    }

    private func walkAll(_ sources: [WalkState], _ run: Int) async throws {
        var rest = sources.filter { !$0.isBegun }[...]
        while !rest.isEmpty, walks(in: run) {
            let some = Array(rest.prefix(1000))
            rest = rest.dropFirst(1000)
            try await queue.writer.begin(try await walker.inspect(some))
            refreshLanes()
        }
        for source in sources where walks(in: run) { try await walkTree(source, run) }
    }

    /// Lists the next chunk while the queue takes the last one.
    private func walkTree(_ source: WalkState, _ run: Int) async throws {
        var folders = try await beginAgain(source)
        // A first small chunk gets the transfers going.
        while !folders.isEmpty, walks(in: run) {
            var chunks = try await walker.list(folders, of: source, limit: 500)
            var isFirst = true
            while !chunks.isEmpty, walks(in: run) {
                let given = chunks
                let done = Set(given.filter(\.isLast).map(\.folder))
                folders.removeAll { done.contains($0.folder) }
                let remaining = folders
                async let ahead = remaining.isEmpty ? [] : try walker.list(remaining, of: source, limit: Self.chunkSize)
                let next = await insert(given, run)
                FaultPoint.walked.pass()
                if isFirst { refreshLanes() }
                isFirst = false
                chunks = try await ahead
                if !next.isWhole {
                    // Cancelled, and perhaps taken back by now: nothing that was listed so far counts but what the queue has.
                    folders = try await beginAgain(source)
                    break
                }
                if chunks.isEmpty { folders = next.folders }
            }
        }
    }

    /// Has a source walked from what the queue has. - Returns: the folders to list next.
    private func beginAgain(_ source: WalkState) async throws -> [FolderToWalk] {
        await walker.restart(source.source)
        var last: FolderID?
        // In pages: each has a path, which may be long.
        repeat {
            guard source.followLinks else { break }
            let page = try await queue.writer.linkedFolders(of: source.source, after: last, limit: 500)
            await walker.learn(page.links, of: source.source)
            last = page.last
        } while last != nil
        return try await queue.writer.foldersToWalk(of: source.source, limit: 64)
    }

    /// Puts entries into the queue, and does not rest before they are there: each is listed once only.
    private func insert(_ chunks: [WalkedChunk], _ run: Int) async -> (folders: [FolderToWalk], isWhole: Bool) {
        await durably(while: { walks(in: run) }) { try await queue.writer.insert(walked: chunks) } ?? ([], true)
    }
}
