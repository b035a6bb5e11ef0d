import CurlTransport
import Glibc
import LinuxSystem
import TransferModel
import TransferProtocols

/// The temporary file of a download, beside the final name; nobody sees the final name before the file is whole. Never a file of somebody
/// else: it is made exclusively, and recognised (``KnownPart``) when an attempt comes back. On the engine's loop.
final class DownloadTarget: TransferBodySink {
    typealias Refusal = LocalRefusal

    /// Part of the temporary file's name that no other task has, of whichever queue: several may lead to one folder.
    private let mark: String
    let directory: RawPath
    private let umask: UInt32
    let disk: any LocalDisk
    private(set) var partName: RawPath?
    private(set) var partInode: UInt64?
    /// Inode of the folder at which `directory` led to the file.
    private var folderInode: UInt64?
    /// Digest of the last bytes before the checkpoint.
    private var tail: PartTail?
    /// Folders were made for it.
    private(set) var hasMadeFolders = false
    private(set) var descriptor: OwnedDescriptor?
    /// Offset in the file at which the next byte is written.
    private var position: Int64 = 0
    /// Length of the file by the server's word; nothing is written behind it. `nil`: it did not say.
    private var end: Int64?
    /// The server sent more than it said that the file has: a part of what came may be another version's.
    private var isOverlong = false
    /// The reason for which nothing counts of what was written; `nil`: it does.
    var spoilt: (reason: String, isOther: Bool)? {
        isMeddledWith
            ? ("the temporary file was changed by somebody else", false)
            : isOverlong ? ("the server sent more than it said the file has", true) : nil
    }
    /// Bytes still to be dropped: the server began earlier than it was asked to.
    private var skip: Int64 = 0
    /// Bytes of the file that are surely on the disk.
    var synced: Int64 = 0
    /// Counts how often an answer began to be written.
    private(set) var starts = 0
    /// Somebody else has cut the file or made it longer while it was written.
    private var isMeddledWith = false
    /// It is being put on the disk.
    private(set) var isSyncing = false
    private var syncWaiters: [CheckedContinuation<Void, Never>] = []
    /// An fsync failed. The kernel reports this once, so it is kept here: all that was written since the last good checkpoint is lost.
    private(set) var lostPages: Errno?
    var syncedAt: Int64 = 0

    init(mark: String, directory: RawPath, umask: UInt32, on disk: any LocalDisk = LinuxDisk()) {
        self.mark = mark
        self.disk = disk
        self.directory = directory
        self.umask = umask & 0o777
    }

    /// Returns true of a resume point that counts more of the file than is surely on the disk.
    func isUnsynced(_ point: ResumePoint) -> Bool {
        descriptor != nil && point.content(GetResumePoint.self).map { $0.offset > synced } ?? false
    }

    /// Bytes that were written, from the file's start.
    var written: Int64 { position }

    /// Opens what an earlier attempt left and says how much of it counts.
    func reopen(_ point: GetResumePoint) -> PartState {
        // Its owner says nothing where a server over the network maps all to one, nor another name where backups are made of links.
        guard let known = KnownPart(point, in: directory) else { return .nothing }
        let found: OwnedDescriptor
        let (status, folder): (FileStatus, FileStatus)
        do throws(Errno) {
            found = try System.open(known.path.bytes, flags: O_RDWR | O_NOFOLLOW | O_NONBLOCK)
            status = try System.fstat(found.rawValue)
            folder = try System.stat(directory.bytes)
        } catch {
            return lacking(known, error)
        }
        guard known.isIn(found.rawValue, status, on: disk) else { return .nothing }
        (partName, partInode, folderInode, tail) = (known.name, status.inode, folder.inode, known.tail)
        descriptor = found
        // Whoever has cut it may have put anything there.
        guard status.size >= point.offset else { return .cut(length: status.size) }
        (position, synced) = (point.offset, point.offset)
        return .part(synced: point.offset, length: status.size)
    }

    /// The file cannot be opened: it is gone when the folder that it was made in does not have it, else nobody knows.
    private func lacking(_ known: KnownPart, _ error: Errno) -> PartState {
        switch error {
        case .noSuchFile: return refusal(known.absence(on: disk)).map { .outOfReach($0) } ?? .nothing
        // Something else has its name.
        case .tooManyLinks, .isDirectory, Errno(rawValue: ENXIO): return .nothing
        case .accessDenied, .notPermitted, .readOnlyFileSystem: return .outOfReach(refusal(error))
        case _ where error.isShortage: return .outOfReach(refusal(error))
        default: return .outOfReach(away("cannot be read (\(error)), with the beginning of the file in it"))
        }
    }

    /// The refusal when the folder does not have the temporary file; `nil`: the file is gone, and another one can be begun.
    func refusal(_ absence: KnownPart.Absence) -> Refusal? {
        switch absence {
        case .gone: nil
        case .folderAway: away("is not there, with the beginning of the file in it")
        case .otherFolder: away("is another folder than the one with the beginning of the file")
        }
    }

    private func away(_ finding: String) -> Refusal {
        Refusal(
            error: TransferError(
                .destinationUnwritable, "\(directory.displayed) \(finding)",
                .again("mount its disk or bring it back, or cancel the download and queue it again")),
            waits: .backoff)
    }

    /// Notes where the temporary file lies.
    func tellPlace(to point: inout GetResumePoint) {
        (point.partName, point.partInode, point.folderInode, point.tail) = (partName, partInode, folderInode, tail)
    }

    /// Makes the temporary file, if there is none yet; after this its name can be recorded.
    func prepare(for name: RawPath) throws(Refusal) {
        if descriptor != nil { return }
        var isNaming = false
        do {
            // With the mode that the batch's umask gives: the engine's own is 077.
            hasMadeFolders = try System.makeFolders(directory.bytes, mode: 0o777 & ~umask)
            for number in 1...99 {
                isNaming = true
                let (candidate, opened) = try makeOrAdopt(for: name, number)
                isNaming = false
                guard let made = opened else { continue }
                (partName, descriptor) = (candidate, made)
                try System.setModeIfPossible(0o666 & ~umask, of: made.rawValue)
                partInode = try System.fstat(made.rawValue).inode
                folderInode = try System.stat(directory.bytes).inode
                return
            }
            throw Errno.fileExists
        } catch let error as Errno {
            removeUnused()
            throw isNaming && error.isOfName ? refusal(ofName: name) : refusal(error)
        } catch {
            removeUnused()
            throw refusal(.inputOutput)
        }
    }

    /// Nothing would know of a file that was made and not recorded.
    private func removeUnused() {
        if let partName { try? disk.remove(directory.appending(partName).bytes) }
        (partName, descriptor) = (nil, nil)
    }

    private func refusal(ofName name: RawPath) -> Refusal {
        Refusal(
            error: TransferError(
                .destinationUnwritable, "\(directory.displayed) does not take the name \(name.displayed)",
                .queued("queue it again with another file name")))
    }

    private func candidate(for name: RawPath, _ number: Int) -> RawPath {
        let suffix = ".\(mark)" + (number == 1 ? "" : "-\(number)") + ".part"
        return RawPath(TemporaryName.cut(name.bytes, for: suffix.utf8.count) + Array(suffix.utf8))
    }

    /// A file and its name, the shortest there is where the file system takes no longer one; `nil`: another file has that.
    private func makeOrAdopt(for name: RawPath, _ number: Int) throws(Errno) -> (RawPath, OwnedDescriptor?) {
        let candidate = candidate(for: name, number)
        do throws(Errno) {
            return (candidate, try makeOrAdopt(directory.appending(candidate)))
        } catch .nameTooLong {
            // The final name may be too long as well.
            do throws(Errno) { _ = try System.lstat(directory.appending(name).bytes) } catch {
                if error != .noSuchFile { throw error }
            }
            let short = self.candidate(for: RawPath(""), number)
            return (short, try makeOrAdopt(directory.appending(short)))
        }
    }

    /// An empty file of that name is what a kill between making and recording leaves: nothing is lost by taking it.
    private func makeOrAdopt(_ path: RawPath) throws(Errno) -> OwnedDescriptor? {
        do {
            return try disk.create(path.bytes, mode: 0o600)
        } catch .fileExists {
            guard let found = System.openFileOfOurs(path.bytes, flags: O_RDWR), found.status.size == 0 else {
                return nil
            }
            return found.file
        }
    }

    /// The temporary file, if there is one: as it is open, else as a resume point knows it.
    func knownPart(_ point: GetResumePoint?) -> KnownPart? {
        var known = point ?? GetResumePoint(version: RemoteVersion(), offset: 0, name: RawPath(""))
        if partName != nil { tellPlace(to: &known) }
        return KnownPart(known, in: directory)
    }

    /// The temporary file of a download that ends without having come: the known one, else the empty one that a kill between making and
    /// recording has left. - Parameter final: path of the file that has its name.
    func partAtEnd(_ point: GetResumePoint?, beside final: RawPath) -> KnownPart? {
        if let known = knownPart(point) { return known }
        return [candidate(for: final.lastComponent, 1), candidate(for: RawPath(""), 1)].lazy
            .compactMap { [directory] in Self.emptyPart($0, in: directory) }.first
    }

    /// An empty file of ours, of which nothing need be recorded.
    private static func emptyPart(_ name: RawPath, in directory: RawPath) -> KnownPart? {
        guard let found = System.openFileOfOurs(directory.appending(name).bytes, flags: O_RDONLY),
            found.status.size == 0
        else { return nil }
        var made = GetResumePoint(version: RemoteVersion(), offset: 0, name: name)
        (made.partName, made.partInode) = (name, found.status.inode)
        return KnownPart(made, in: directory)
    }

    /// The empty files of downloads that were made and of which nothing was recorded, by their marks, whatever their names begin with. `nil`:
    /// nobody knows, for the folder cannot be read now. Blocks.
    static func unrecorded(_ marks: Set<String>, in directory: RawPath) -> [String: [KnownPart]]? {
        var found: [String: [KnownPart]] = [:]
        do throws(Errno) {
            let reader = try DirectoryReader(path: directory.bytes)
            while let entry = try reader.next() {
                guard let mark = mark(in: entry.name), marks.contains(mark),
                    let part = emptyPart(RawPath(entry.name), in: directory)
                else { continue }
                found[mark, default: []].append(part)
            }
        } catch {
            return error == .noSuchFile || error == .notDirectory ? [:] : nil
        }
        return found
    }

    /// The mark in a temporary file's name, as `candidate` makes it; `nil`: it is none's.
    private static func mark(in name: [UInt8]) -> String? {
        let suffix = Array(".part".utf8)
        guard name.suffix(suffix.count).elementsEqual(suffix) else { return nil }
        let rest = name.dropLast(suffix.count)
        guard let dot = rest.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let text = rest[(dot + 1)...].prefix { $0 != UInt8(ascii: "-") }
        return String(decoding: text, as: UTF8.self)
    }

    /// Discards all bytes and empties the file at once: nothing goes on from them, even where the restart does not come to be recorded.
    func forget() {
        if let descriptor { try? disk.cut(descriptor.rawValue, to: 0) }
        (position, synced, skip) = (0, 0, 0)
        tail = nil
        starts += 1
    }

    /// Cuts the file to where the answer goes on.
    func begin(_ opening: GateOpening) throws(Refusal) {
        guard let descriptor else { throw refusal(.badDescriptor) }
        do throws(Errno) {
            // Cut down since it was opened: it would get a hole where bytes were.
            guard try System.fstat(descriptor.rawValue).size >= opening.offset else { throw meddled() }
            try disk.cut(descriptor.rawValue, to: opening.offset)
        } catch {
            throw refusal(error)
        }
        position = opening.offset
        skip = opening.skip
        (end, isOverlong) = (opening.end, false)
        synced = min(synced, opening.offset)
        if let end = tail?.end, end > opening.offset { tail = nil }
        starts += 1
    }

    /// The one way onto the disk, for one at a time. Returns the error of a disk that has not taken it, now or before.
    func putOnDisk(
        by worker: any Worker,
        _ sync: @escaping @Sendable (any LocalDisk, OwnedDescriptor) throws(Errno) -> Void,
        isolation: isolated (any Actor)? = #isolation
    ) async -> Errno? {
        while isSyncing { await withCheckedContinuation { syncWaiters.append($0) } }
        if let lostPages { return lostPages }
        guard let descriptor else { return .badDescriptor }
        isSyncing = true
        let (end, start) = (position, starts)
        let (failure, tail): (Errno?, PartTail?) = await worker.run { [disk] in
            do throws(Errno) {
                try sync(disk, descriptor)
                return (nil, PartTail(in: descriptor.rawValue, before: end))
            } catch {
                return (error, nil)
            }
        }
        isSyncing = false
        // The one before stands on where the newest bytes prove nothing.
        if start == starts, let tail { self.tail = tail }
        lostPages = failure
        let waiters = syncWaiters
        syncWaiters = []
        for waiter in waiters { waiter.resume() }
        return failure
    }

    /// Discards everything: somebody else may have written anywhere in the file.
    private func meddled() -> Errno {
        isMeddledWith = true
        forget()
        return .badDescriptor
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        guard let descriptor else { throw .badDescriptor }
        // Written behind its end the file would get a hole where bytes were, and its length would be right again.
        guard try System.fstat(descriptor.rawValue).size == position else { throw meddled() }
        let dropped = Int(min(skip, Int64(bytes.count)))
        skip -= Int64(dropped)
        let rest = UnsafeRawBufferPointer(rebasing: bytes[dropped...])
        if let end, position + Int64(rest.count) > end {
            isOverlong = true
            forget()
            throw .badDescriptor
        }
        try disk.write(descriptor.rawValue, rest, at: position)
        position += Int64(rest.count)
    }

    /// The refusal that an error number of the destination means.
    func refusal(_ error: Errno) -> Refusal {
        let place = directory.displayed
        if isOverlong {
            return Refusal(
                error: TransferError(
                    .badServerResponse, "the server sent more than the \(end ?? 0) bytes that it said the file has",
                    .asItComes),
                waits: .backoff)
        }
        if isMeddledWith {
            return Refusal(
                error: TransferError(
                    .destinationUnwritable, "somebody else has written to the temporary file in \(place)",
                    .step("leave it alone, it begins again by itself")),
                waits: .backoff)
        }
        switch error {
        case _ where error.isShortage: return .shortage
        case .nameTooLong:
            return Refusal(
                error: TransferError(
                    .destinationUnwritable, "the name is too long for \(place)",
                    .queued("queue it again with a shorter file name")))
        case .noSpace, .quotaExceeded:
            let why =
                error == .noSpace
                ? "the disk that holds \(place) is full (downloads leave 64 MiB free, or 1 % of a small disk)"
                : "the quota of the disk that holds \(place) is used up"
            return Refusal(
                error: TransferError(.diskFull, why, .step("make room, it goes on by itself")), waits: .diskSpace)
        case .fileTooLarge:
            return Refusal(
                error: TransferError(
                    .destinationUnwritable, "\(place) cannot hold a file of that size",
                    .queued("queue it again into another folder")))
        case .accessDenied, .notPermitted, .readOnlyFileSystem:
            return Refusal(
                error: TransferError(
                    .destinationUnwritable, "\(place) cannot be written (\(error))", .andRetry("allow it")))
        case .notDirectory, .fileExists:
            return Refusal(
                error: TransferError(
                    .destinationUnwritable, "\(place) is not a directory that can be used",
                    .thenRetry("move what is there")))
        default:
            return Refusal(
                error: TransferError(
                    .destinationUnwritable, "writing to \(place) failed (\(error))", .thenRetry("check the disk")))
        }
    }
}

extension Errno {
    /// As file systems say that they take no such name: some have bytes or characters that none may have.
    fileprivate var isOfName: Bool { self == .invalidArgument || rawValue == EILSEQ }
}
