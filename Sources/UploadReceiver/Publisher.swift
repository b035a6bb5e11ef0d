import LinuxSystem
import Synchronization

/// One whole file on its way to its final name.
///
/// Unchecked: `outcome` is written by the publisher's thread before `done`, and read only after that.
final class Publication: @unchecked Sendable {
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

/// How a publication ended.
enum PublishOutcome: Equatable, Sendable {
    case created(FileFacts)
    case replaced(FileFacts)
    /// A condition of the request does not hold any more; nothing was changed.
    case refused
    /// The name is taken by a folder or something else that is no file.
    case blocked
    case failed(Errno)
}

/// Puts whole files on the disk and then under their names, off the connections' threads.
///
/// "On the disk" is meant: bytes are synced before the rename, folders after it, and only then is the client answered.
/// Small files are done in groups, all that wait at once, because what costs is the journal's commit and one serves the
/// whole group; files from 1 MiB on have threads of their own, so that a long sync holds up no small file.
final class Publisher: Sendable {
    private let folder: ServedFolder
    private let incoming: IncomingFolder
    private let groups: BlockingWorker
    private let singles: BlockingWorker
    private let waiting = Mutex<[Publication]>([])
    /// Held for looking at a name and renaming to it, so that of two requests that both saw `If-Match` hold only one wins.
    /// This lock alone is held across system calls: they are two short ones, and making them one step is its purpose.
    private let naming = Mutex<Void>(())

    init(folder: ServedFolder, incoming: IncomingFolder) throws(Errno) {
        self.folder = folder
        self.incoming = incoming
        groups = try BlockingWorker(name: "publish-small")
        singles = try BlockingWorker(name: "publish-large", threads: 2)
    }

    /// Publishes sometime; `done` is called on another thread.
    func submit(_ publication: Publication) {
        if publication.file.size >= Self.largeFrom {
            singles.submit { [self] in publish([publication]) }
            return
        }
        let isFirst = waiting.withLock { waiting in
            waiting.append(publication)
            return waiting.count == 1
        }
        if isFirst {
            groups.submit { [self] in
                publish(
                    waiting.withLock { waiting in
                        defer { waiting = [] }
                        return waiting
                    })
            }
        }
    }

    /// Does what was submitted and ends the threads.
    func stop() {
        groups.stop()
        singles.stop()
    }

    private static let largeFrom: UInt64 = 1 << 20

    private func publish(_ group: [Publication]) {
        // Three rounds instead of one after the other for each file: the disk gets all the bytes at once, and the first
        // sync's commit serves the whole group. A rename between two syncs would need a commit of its own.
        var sealed: [(Publication, FileFacts)] = []
        for publication in group {
            do {
                sealed.append((publication, try publication.file.seal()))
                try System.syncFileRange(publication.file.descriptor.rawValue, offset: 0, length: 0, waiting: false)
            } catch {
                publication.outcome = .failed(error)
            }
        }
        var touched: [OwnedDescriptor] = []
        var synced: [(Publication, FileFacts)] = []
        for (publication, facts) in sealed {
            do {
                try System.fsync(publication.file.descriptor.rawValue)
                synced.append((publication, facts))
            } catch {
                publication.outcome = .failed(error)
            }
        }
        for (publication, facts) in synced { publication.outcome = name(publication, facts, &touched) }
        let failure = sync(touched)
        for publication in group {
            if let failure, publication.outcome.isSuccess { publication.outcome = .failed(failure) }
            publication.done()
        }
    }

    private func name(
        _ publication: Publication, _ facts: FileFacts, _ touched: inout [OwnedDescriptor]
    ) -> PublishOutcome {
        do {
            let names = publication.path.components
            guard let name = names.last else { return .blocked }
            let parent = try folder.makeFolder(names.dropLast(), touched: &touched)
            touched.append(parent)
            let outcome = try naming.withLock { _ throws(Errno) in
                try rename(publication, to: parent.rawValue, name, facts)
            }
            if outcome.isSuccess { publication.file.markPublished() }
            return outcome
        } catch {
            return .failed(error)
        }
    }

    private func rename(
        _ publication: Publication, to parent: Int32, _ name: [UInt8], _ facts: FileFacts
    ) throws(Errno) -> PublishOutcome {
        let source = incoming.descriptor.rawValue
        let old = publication.file.name
        let conditions = publication.conditions
        // Somebody else in the folder may take the name or free it between two calls; then we look again.
        while true {
            do {
                if conditions.permitsAbsence {
                    try System.renameatWithoutReplacing(source, old, to: parent, name)
                    return .created(facts)
                }
            } catch .fileExists {}
            do {
                let existing = Existing(try System.fstatat(parent, name, followingLinks: false))
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

    /// Makes renames and new folders durable, each folder once.
    private func sync(_ folders: [OwnedDescriptor]) -> Errno? {
        var synced: Set<UInt64> = []
        for folder in folders {
            do {
                guard synced.insert(try System.fstat(folder.rawValue).inode).inserted else { continue }
                try System.fsync(folder.rawValue)
            } catch {
                return error
            }
        }
        return nil
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
    /// Whether the request may make a file that is not there.
    var permitsAbsence: Bool { outcome(of: nil, isRead: false) == .met }
}
