import LinuxSystem

/// A whole file under a temporary name, which a publisher renames.
protocol ArrivedFile: AnyObject {
    var descriptor: OwnedDescriptor { get }
    /// The folder in which it has its temporary name.
    var folderDescriptor: OwnedDescriptor { get }
    var name: [UInt8] { get }
    /// Gives it its last attributes.
    func seal() throws(Errno) -> FileFacts
    /// It was renamed.
    func markPublished()
}

/// One whole file on its way to its final name.
///
/// Unchecked: `outcome` is written by the publisher's thread before `done`, and read only after that.
final class FileToPublish: @unchecked Sendable {
    let file: IncomingFile
    let path: TargetPath
    let conditions: Preconditions
    let done: @Sendable () -> Void
    fileprivate(set) var outcome = PublishOutcome.failed(.canceled)

    init(
        file: IncomingFile, path: TargetPath, conditions: Preconditions, done: @escaping @Sendable () -> Void
    ) {
        self.file = file
        self.path = path
        self.conditions = conditions
        self.done = done
    }
}

/// The result of a publication.
enum PublishOutcome: Equatable, Sendable {
    case created(FileFacts)
    case replaced(FileFacts)
    /// A condition of the request does not hold any more; nothing was changed.
    case refused
    /// The name is taken by a folder or something else that is no file.
    case blocked
    case failed(Errno)
}

/// Gives whole files their names.
///
/// From 1 MiB on "taken" means on the disk: the bytes are synced before the rename and the folders after it, on threads of
/// the publisher, and only then is the client answered. Smaller files would wait longer for the disk than they travel, so
/// they are answered when they have their name; their bytes are on the way to the disk before the rename, and `flusher`
/// syncs the rest within a second. Only a power cut in that second can lose them, never the end of the receiver. (Where
/// the file system orders data before the names that lead to it, as ext4 does, such a cut leaves no empty file either.)
final class Publisher: Sendable {
    private let folder: ServedFolder
    private let threads: BlockingWorker
    private let flusher: Flusher
    /// Held for looking at a name and renaming to it, so that of two requests that both saw `If-Match` hold only one wins.
    /// This lock alone is held across system calls: they are two short ones, and making them one step is its purpose.
    private let naming = Mutex<Void>(())

    /// - Parameter tell: takes a line about the disk's own failures.
    init(folder: ServedFolder, tell: @escaping @Sendable (String) -> Void = { _ in }) throws(Errno) {
        self.folder = folder
        threads = try BlockingWorker(name: "publish", threads: 2)
        flusher = try Flusher(folder.root, tell: tell)
    }

    /// Returns true when the file has that name.
    /// - Parameter inode: `nil` where an earlier version has not written it down.
    func has(_ path: TargetPath, size: UInt64, inode: UInt64?) throws(Errno) -> Bool {
        do throws(Errno) {
            guard let facts = try folder.openFile(path)?.facts else { return false }
            return facts.size == size && facts.inode == inode ?? facts.inode
        } catch .noSuchFile {
            return false
        }
    }

    /// Puts the names on the way to a file on the disk: whoever gave it its name may have been stopped before.
    func syncName(of path: TargetPath) throws(Errno) {
        var touched: [OwnedDescriptor] = []
        for depth in path.components.indices {
            touched.append(try folder.makeFolder(path.components[..<depth], touched: &touched))
        }
        for folder in touched { try System.fsync(folder.rawValue) }
    }

    /// Gives a small file its name now.
    func publish(_ file: IncomingFile, _ path: TargetPath, _ conditions: Preconditions) -> PublishOutcome {
        do {
            let facts = try file.seal()
            try? System.syncFileRange(file.descriptor.rawValue, offset: 0, length: 0, waiting: false)
            var touched: [OwnedDescriptor] = []
            let outcome = try name(file, path, conditions, facts, &touched)
            flusher.flushSoon()
            return outcome
        } catch {
            return .failed(error)
        }
    }

    /// Syncs a file and gives it its name, sometime; `done` is called on another thread.
    func submit(_ publication: FileToPublish) {
        threads.submit { [self] in
            publication.outcome = publishSynced(publication.file, publication.path, publication.conditions)
            publication.done()
        }
    }

    /// Does what was submitted, syncs what is not synced, and ends the threads.
    func stop() {
        threads.stop()
        flusher.stop()
    }

    /// Syncs a file and gives it its name. Blocks for as long as the disk needs.
    func publishSynced(
        _ file: some ArrivedFile, _ path: TargetPath, _ conditions: Preconditions
    ) -> PublishOutcome {
        do {
            let facts = try file.seal()
            try System.fsync(file.descriptor.rawValue)
            ReceiverFaultPoint.publishing.pass()
            var touched: [OwnedDescriptor] = []
            let outcome = try name(file, path, conditions, facts, &touched)
            for folder in touched { try System.fsync(folder.rawValue) }
            return outcome
        } catch {
            return .failed(error)
        }
    }

    /// Makes the folders that are missing and renames. `touched` gets what must be synced to make that durable.
    private func name(
        _ file: some ArrivedFile, _ path: TargetPath, _ conditions: Preconditions, _ facts: FileFacts,
        _ touched: inout [OwnedDescriptor]
    ) throws(Errno) -> PublishOutcome {
        guard let name = path.components.last else { return .blocked }
        let parent = try folder.makeFolder(path.components.dropLast(), touched: &touched)
        touched.append(parent)
        let outcome = try naming.withLock { _ throws(Errno) in
            try rename(file, conditions, to: parent.rawValue, name, facts)
        }
        ReceiverFaultPoint.renamed.pass()
        if outcome.isSuccess { file.markPublished() }
        return outcome
    }

    private func rename(
        _ file: some ArrivedFile, _ conditions: Preconditions, to parent: Int32, _ name: [UInt8], _ facts: FileFacts
    ) throws(Errno) -> PublishOutcome {
        let source = file.folderDescriptor.rawValue
        let old = file.name
        // Somebody else in the folder may take the name or free it between two calls; then we look again.
        while true {
            do {
                if conditions.permitsAbsence {
                    try System.renameatWithoutReplacing(source, old, to: parent, name)
                    return .created(facts)
                }
            } catch .fileExists {}
            do {
                let status = try System.fstatat(parent, name, followingLinks: false)
                let own = try System.fstat(file.descriptor.rawValue)
                if status.inode == own.inode, status.device == own.device {
                    // The name was given before a kill, by the way that leaves both names for a moment.
                    try System.unlinkat(source, old)
                    return .created(facts)
                }
                let existing = Existing(status)
                if conditions.demandsAbsence { return .refused }
                guard case .file(let present) = existing else { return .blocked }
                guard conditions.outcome(of: present, isRead: false) == .met else { return .refused }
                try System.renameat(source, old, to: parent, name)
                return .replaced(facts)
            } catch .noSuchFile {
                if !conditions.permitsAbsence { return .refused }
            }
        }
    }
}

extension PublishOutcome {
    fileprivate var isSuccess: Bool {
        switch self {
        case .created, .replaced: true
        case .refused, .blocked, .failed: false
        }
    }
}

extension Preconditions {
    /// True when the request may create a file that does not exist.
    var permitsAbsence: Bool { outcome(of: nil, isRead: false) == .met }
}
