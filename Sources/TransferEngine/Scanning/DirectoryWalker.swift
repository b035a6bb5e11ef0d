import Glibc
import LinuxSystem
import TransferModel
import TransferQueue

/// Lists directories on a thread of its own, a few thousand entries at a time. Several walks take turns.
actor DirectoryWalker {
    private let executor: any ActorThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// Directories that are listed in part, by folder.
    private var open: [FolderID: OpenDirectory] = [:]

    private struct OpenDirectory {
        let source: SourceID
        let reader: DirectoryReader
        let identity: FolderIdentity
        /// The number of its file system.
        let device: UInt64
        var leftOut = LeftOut()
    }
    private var linked = LinkedFolders()
    /// The directories that lead to the folder that is listed, where it has links.
    private var way: (folder: FolderID, directories: Set<LinkedFolders.Identity>)?
    private var isStopped = false

    init(_ platform: any Platform = LinuxPlatform()) throws(Errno) {
        executor = try platform.thread(named: "walker")
    }

    /// No listing goes on after this.
    func stop() {
        isStopped = true
        open = [:]
        Task.detached { [executor] in executor.stop() }
    }

    /// A source is walked from what the queue has: what was listed of it and did not get there is listed again.
    func restart(_ source: SourceID) { forget(source) }

    /// Learns links by which folders of a source are walked, before it is.
    func learn(_ links: [LinkedFolder], of source: SourceID) {
        for link in links { linked.learn(link, of: source) }
    }

    /// The walk of a source is over, or broken off.
    func forget(_ source: SourceID) {
        open = open.filter { $0.value.source != source }
        way = nil
        linked.forget(source)
    }

    /// Looks up the kind of each source that a person named. A link among them is followed: it was meant.
    /// - Throws: when no descriptor is left to look with, which says nothing of the sources.
    func inspect(_ sources: [WalkState]) throws(Errno) -> [FoundSource] {
        var found: [FoundSource] = []
        for source in sources { found.append(FoundSource(source: source.source, kind: try kind(of: source))) }
        return found
    }

    private func kind(of source: WalkState) throws(Errno) -> FoundSource.Kind {
        do throws(Errno) {
            let status = try System.stat(source.path.bytes)
            switch status.kind {
            case .directory: return .directory(try identity(of: SourcePlace(named: source.path), source))
            case .regular where !FileSize.isPossible(status.size): return .unreadable(.tooLarge(source.path))
            case .regular:
                let filter = NameFilter(include: source.include, exclude: source.exclude)
                let isTaken = filter.takes(file: source.path.lastComponent.bytes, in: [])
                return isTaken ? .file(SourceIdentity(status)) : .leftOut
            default: return .unreadable(.notAFile(source.path, status.kind))
            }
        } catch {
            if error.isShortage { throw error }
            return .unreadable(.source(source.path, error))
        }
    }

    /// The marks of a directory; `nil`: it cannot be opened, which its listing tells.
    private func identity(of place: SourcePlace, _ source: WalkState) throws(Errno) -> FolderIdentity? {
        do throws(Errno) {
            // Opened as the listing does it: that mounts what is mounted on demand.
            let opened = try place.open(flags: O_RDONLY | O_DIRECTORY, followingLinks: source.followLinks)
            return try FolderIdentity(of: opened.rawValue, System.fstat(opened.rawValue))
        } catch {
            if error.isShortage { throw error }
            return nil
        }
    }

    /// Lists folders in their order until some `limit` entries are found. A folder that has more goes on with the next call.
    /// - Returns: the chunks; folders without a last chunk are to be given again, first.
    /// - Throws: when no descriptor is left to list with, which says nothing of the folders: the walk goes on later from what the queue has.
    func list(_ folders: [FolderToWalk], of source: WalkState, limit: Int) throws(Errno) -> [WalkedChunk] {
        var filter = NameFilter(include: source.include, exclude: source.exclude)
        if case .named(let name) = source.placement { filter = filter.of(source: name.bytes) }
        var chunks: [WalkedChunk] = []
        var left = limit
        for folder in folders {
            if left <= 0 || isStopped { break }
            let chunk = try list(folder, source, filter, limit: left)
            // An empty folder costs its row, too.
            left -= chunk.files.count + chunk.folders.count + chunk.failures.count + 1
            chunks.append(chunk)
        }
        return chunks
    }

    private func list(
        _ folder: FolderToWalk, _ source: WalkState, _ filter: NameFilter, limit: Int
    ) throws(Errno) -> WalkedChunk {
        var chunk = WalkedChunk(folder: folder.folder, isLast: false)
        do throws(Errno) {
            let begun = open[folder.folder]
            var directory: OpenDirectory
            if let begun {
                directory = begun
            } else {
                let opened = try folder.place.open(
                    flags: O_RDONLY | O_DIRECTORY, followingLinks: source.followLinks)
                let status = try System.fstat(opened.rawValue)
                let identity = try FolderIdentity(of: opened.rawValue, status)
                if let known = folder.identity, !identity.isStill(known) {
                    chunk.isLast = true
                    chunk.unreadable = .otherFolder(folder.place.path)
                    return chunk
                }
                directory = OpenDirectory(
                    source: source.source, reader: try DirectoryReader(opened), identity: identity,
                    device: status.device)
            }
            chunk.identity = directory.identity
            var found = 0
            while found < limit, !chunk.isLast {
                if let entry = try directory.reader.next() {
                    found += 1
                    try take(entry, directory, folder, source, filter, into: &chunk)
                } else {
                    chunk.isLast = true
                }
            }
            // Told with the end, so that a listing that begins again counts once.
            directory.leftOut += chunk.leftOut
            if chunk.isLast, begun == nil, found == 0 { directory.leftOut.emptyFolders += 1 }
            chunk.leftOut = chunk.isLast ? directory.leftOut : LeftOut()
            open[folder.folder] = chunk.isLast ? nil : directory
        } catch {
            // What was left out so far is told by the listing that begins again.
            open[folder.folder] = nil
            if error.isShortage { throw error }
            chunk.leftOut = LeftOut()
            chunk.isLast = true
            chunk.unreadable = .source(folder.place, error)
        }
        return chunk
    }

    private func take(
        _ entry: DirectoryEntry, _ directory: OpenDirectory, _ folder: FolderToWalk, _ source: WalkState,
        _ filter: NameFilter, into chunk: inout WalkedChunk
    ) throws(Errno) {
        if entry.kind == .directory {
            return try take(directory: entry.name, directory, folder, source, filter, into: &chunk)
        }
        let mayBeTaken =
            entry.kind == .regular || (entry.kind == .symbolicLink && source.followLinks)
        guard mayBeTaken else { return leaveOut(entry.kind, entry.name, folder, filter, &chunk) }
        do throws(Errno) {
            let status = try System.fstatat(
                directory.reader.descriptor, entry.name, followingLinks: source.followLinks)
            switch status.kind {
            case .regular:
                guard filter.takes(file: entry.name, in: folder.relative.bytes) else { return }
                guard FileSize.isPossible(status.size) else {
                    let error = TransferError.tooLarge(folder.place.appending(RawPath(entry.name)).path)
                    return chunk.failures.append(WalkedFailure(name: RawPath(entry.name), error: error))
                }
                chunk.files.append(WalkedFile(name: RawPath(entry.name), identity: SourceIdentity(status)))
            case .directory:
                guard filter.enters(directory: entry.name, in: folder.relative.bytes) else { return }
                guard entry.kind != .symbolicLink || isWalked(status, by: entry.name, in: folder, source) else {
                    chunk.leftOut.links += 1
                    return
                }
                try take(directory: entry.name, directory, folder, source, filter, into: &chunk)
                if entry.kind == .symbolicLink { chunk.links.insert(RawPath(entry.name)) }
            default: leaveOut(status.kind, entry.name, folder, filter, &chunk)
            }
        } catch {
            if error.isShortage { throw error }
            guard filter.takes(file: entry.name, in: folder.relative.bytes) else { return }
            let place = folder.place.appending(RawPath(entry.name))
            chunk.failures.append(WalkedFailure(name: RawPath(entry.name), error: .source(place, error)))
        }
    }

    /// Counts an entry that is neither a file nor a folder as left out, unless the filter leaves its name out anyway.
    private func leaveOut(
        _ kind: FileKind, _ name: [UInt8], _ folder: FolderToWalk, _ filter: NameFilter, _ chunk: inout WalkedChunk
    ) {
        guard filter.takes(file: name, in: folder.relative.bytes) else { return }
        if kind == .symbolicLink { chunk.leftOut.links += 1 } else { chunk.leftOut.special += 1 }
    }

    private func take(
        directory name: [UInt8], _ directory: OpenDirectory, _ folder: FolderToWalk, _ source: WalkState,
        _ filter: NameFilter, into chunk: inout WalkedChunk
    ) throws(Errno) {
        guard filter.enters(directory: name, in: folder.relative.bytes) else { return }
        chunk.folders.append(RawPath(name))
        // The place of a disk: another directory is there when it is not mounted.
        let status = try? System.fstatat(directory.reader.descriptor, name, followingLinks: source.followLinks)
        guard let status, status.device != directory.device else { return }
        chunk.mounted[RawPath(name)] = try identity(of: folder.place.appending(RawPath(name)), source)
    }

    /// Returns true when the folder behind a link is walked by this link.
    private func isWalked(
        _ status: FileStatus, by name: [UInt8], in folder: FolderToWalk, _ source: WalkState
    ) -> Bool {
        // Before anything that costs: links may lead to one folder by the thousand.
        if linked.isTaken(status, not: name, in: folder.folder, of: source.source) { return false }
        // A linked directory that is one of those that lead to it: walking it would never end.
        if way(to: folder, source).contains(LinkedFolders.Identity(status)) { return false }
        return linked.take(status, by: name, in: folder.folder, of: source.source)
    }

    /// The directories that lead to a folder, and itself. Asked for once for all links in it.
    private func way(to folder: FolderToWalk, _ source: WalkState) -> Set<LinkedFolders.Identity> {
        if let way, way.folder == folder.folder { return way.directories }
        var place = SourcePlace(named: source.path)
        var places = [place]
        for name in folder.relative.components {
            place = place.appending(name)
            places.append(place)
        }
        let directories = Set(
            places.compactMap { (try? $0.status(followingLinks: source.followLinks)).map(LinkedFolders.Identity.init) })
        way = (folder.folder, directories)
        return directories
    }
}

extension FolderIdentity {
    init(of directory: Int32, _ status: FileStatus) throws(Errno) {
        self.init(fileSystem: try System.fileSystemType(directory), inode: status.inode)
    }

    /// Returns true when it is the directory that was recorded. Where inode numbers do not outlive a mount, one on a file system of that
    /// type counts as it.
    func isStill(_ recorded: FolderIdentity) -> Bool {
        fileSystem == recorded.fileSystem
            && (inode == recorded.inode || !System.hasStableInodes(type: fileSystem))
    }
}

extension TransferError {
    static func otherFolder(_ path: RawPath) -> TransferError {
        TransferError(
            .sourceMissing, of: path, "is another folder than the one that was queued",
            .retry("mount its disk and retry, or queue it again if it was replaced"))
    }
}
