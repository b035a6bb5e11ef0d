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
        let sources = found.filter { walks.insert($0.source).inserted }
        for (batch, sources) in Dictionary(grouping: sources, by: \.batch) { walk(batch, sources) }
        guard batch == nil else { return }
        // The end of a walk is a commit of its own, and a kill may have come before it.
        for batch in try await queue.writer.walkedBatches() { walk(batch, []) }
    }

    private func walk(_ batch: BatchID, _ sources: [WalkState]) {
        inBackground { [self] in
            defer { for source in sources { walks.remove(source.source) } }
            while phase == .running {
                do {
                    try await walkAll(sources)
                    if phase == .running { try await queue.writer.finishScan(batch) }
                    break
                } catch {
                    // Nothing of a change that the queue refused is in it: the walk goes on from what is.
                    report(.error, "the queue did not take the files of \(batch): \(error)")
                    await pause(.seconds(1))
                }
            }
            refreshLanes()
        }
    }

    private func walkAll(_ sources: [WalkState]) async throws {
        var rest = sources.filter { !$0.isBegun }[...]
        while !rest.isEmpty, phase == .running {
            let some = Array(rest.prefix(1000))
            rest = rest.dropFirst(1000)
            try await queue.writer.begin(await walker.inspect(some))
            refreshLanes()
        }
        for source in sources where phase == .running { try await walkTree(source) }
    }

    /// Lists the next chunk while the queue takes the last one.
    private func walkTree(_ source: WalkState) async throws {
        var folders = try await queue.writer.foldersToWalk(of: source.source, limit: 64)
        // A first small chunk gets the transfers going.
        while !folders.isEmpty, phase == .running {
            var chunks = await walker.list(folders, of: source, limit: 500)
            var isFirst = true
            while !chunks.isEmpty, phase == .running {
                let given = chunks
                let done = Set(given.filter(\.isLast).map(\.folder))
                folders.removeAll { done.contains($0.folder) }
                let remaining = folders
                async let ahead = remaining.isEmpty ? [] : walker.list(remaining, of: source, limit: Self.chunkSize)
                let next = await insert(given)
                FaultPoint.walked.pass()
                if isFirst { refreshLanes() }
                isFirst = false
                chunks = await ahead
                if chunks.isEmpty { folders = next }
            }
        }
    }

    /// Puts entries into the queue, and does not rest before they are there: each is listed once only.
    private func insert(_ chunks: [WalkedChunk]) async -> [FolderToWalk] {
        while phase == .running {
            do {
                return try await queue.writer.insert(walked: chunks)
            } catch {
                report(.error, "the queue did not take files: \(error)")
                await pause(.seconds(1))
            }
        }
        return []
    }
}
