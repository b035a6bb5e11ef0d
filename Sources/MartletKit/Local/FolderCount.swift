import LinuxSystem
import TransferModel

/// The contents of a folder in numbers, all the way down; they grow while it is counted.
package struct FolderCount: Hashable, Sendable {
    package var files: Int64 = 0
    /// The sum of these files' sizes.
    package var bytes: Int64 = 0
    package var folders: Int64 = 0
    /// Links, devices and the like, which are not sent.
    package var leftOut: Int64 = 0
    /// The first of these, below the folder.
    package var firstLeftOut: [[UInt8]] = []
    /// Folders with nothing in them, itself included, which are not made elsewhere.
    package var emptyFolders: Int64 = 0
    /// The first of these, below the folder; itself: empty.
    package var firstEmpty: [[UInt8]] = []
    /// The name of the largest file, below the folder, and its size.
    package var largest: [UInt8] = []
    package var largestBytes: Int64 = 0
    /// When a file was changed last, seconds since 1970; `nil`: there is none.
    package var newest: Int64?
    /// Files and folders that this person may not read.
    package var unreadable: Int64 = 0
    /// The first of these, below the folder.
    package var firstUnreadable: [[UInt8]] = []
    /// Files that patterns keep here, and folders that are not looked into for the same reason.
    package var keptFiles: Int64 = 0
    package var keptFolders: Int64 = 0
    /// The first of both, with the name of what was chosen in front.
    package var firstKept: [[UInt8]] = []
    package var isComplete = false

    package init(files: Int64 = 0, bytes: Int64 = 0, isComplete: Bool = false) {
        self.files = files
        self.bytes = bytes
        self.isComplete = isComplete
    }

    /// The most names that each list of first ones keeps.
    static let namesKept = 100
}

/// Counts folders as they would be sent: without following links below them, and with the patterns of the batch. Blocks;
/// stops when nobody wants it any more.
struct FolderCounter {
    private var count = FolderCount()
    private var filter: NameFilter
    /// The chosen file or folder that is being counted.
    private var root: [UInt8] = []
    /// The name of the root.
    private var chosen: [UInt8] = []
    /// Folders still to be looked at, below the root.
    private var waiting: [[UInt8]] = []
    private var shownAt = MonotonicInstant.now

    /// The least time between two reports of the figures so far.
    private static let interval = Duration.milliseconds(150)
    private static let slash = UInt8(ascii: "/")

    private init(_ filter: NameFilter) { self.filter = filter }

    /// - Parameter roots: folders, and `DIR/.` for one whose contents arrive without its name; files among them count, too. Links that were
    ///   chosen are followed: they were meant.
    static func count(
        _ roots: [[UInt8]], _ filter: NameFilter = NameFilter(), isWanted: () -> Bool, publish: (FolderCount) -> Void
    ) {
        var counter = FolderCounter(filter)
        for root in roots {
            guard isWanted() else { return }
            counter.begin(root)
            while let folder = counter.waiting.popLast() {
                guard counter.look(at: folder, isWanted: isWanted, publish: publish) else { return }
            }
            counter.tell(publish)
        }
        counter.count.isComplete = true
        publish(counter.count)
    }

    private mutating func begin(_ root: [UInt8]) {
        self.root = root
        let isContents = root.suffix(2).elementsEqual("/.".utf8)
        chosen = Self.lastPart(isContents ? root.dropLast(2) : root[...])
        filter = filter.of(source: isContents ? [] : chosen)
        let status = try? System.stat(root)
        guard status?.kind == .regular else { return waiting = [[]] }
        if filter.takes(file: chosen, in: []) {
            count.files += 1
            ByteSum.add(max(0, status?.size ?? 0), to: &count.bytes)
        } else {
            keep(file: [])
        }
    }

    private mutating func tell(_ publish: (FolderCount) -> Void) {
        guard shownAt.duration(to: .now) >= Self.interval else { return }
        publish(count)
        shownAt = .now
    }

    /// False: nobody wants to know any more.
    private mutating func look(
        at folder: [UInt8], isWanted: () -> Bool, publish: (FolderCount) -> Void
    ) -> Bool {
        do throws(Errno) {
            let reader = try DirectoryReader(path: folder.isEmpty ? root : root + [Self.slash] + folder)
            var isEmpty = true
            while let entry = try reader.next() {
                guard isWanted() else { return false }
                isEmpty = false
                take(entry, in: reader.descriptor, folder)
                tell(publish)
            }
            if isEmpty { nothingIn(folder) }
        } catch {
            cannotRead(folder)
        }
        return true
    }

    private mutating func take(_ entry: DirectoryEntry, in descriptor: Int32, _ folder: [UInt8]) {
        let path = folder.isEmpty ? entry.name : folder + [Self.slash] + entry.name
        let status = try? System.fstatat(descriptor, entry.name, followingLinks: false)
        switch status?.kind ?? entry.kind {
        case .directory:
            guard filter.enters(directory: entry.name, in: folder) else { return keep(folder: path) }
            count.folders += 1
            waiting.append(path)
        case .regular:
            guard filter.takes(file: entry.name, in: folder) else { return keep(file: path) }
            guard FolderEntry.isReadable(entry.name, in: descriptor, asFolder: false) else { return cannotRead(path) }
            count.files += 1
            ByteSum.add(max(0, status?.size ?? 0), to: &count.bytes)
            if let status { note(path, status) }
        default:
            count.leftOut += 1
            if count.firstLeftOut.count < FolderCount.namesKept { count.firstLeftOut.append(path) }
        }
    }

    private mutating func note(_ path: [UInt8], _ status: FileStatus) {
        if status.size > count.largestBytes { (count.largest, count.largestBytes) = (path, status.size) }
        let modified = status.modifiedNanoseconds / 1_000_000_000
        count.newest = max(count.newest ?? modified, modified)
    }

    private mutating func cannotRead(_ path: [UInt8]) {
        count.unreadable += 1
        if count.firstUnreadable.count < FolderCount.namesKept { count.firstUnreadable.append(path) }
    }

    private mutating func nothingIn(_ folder: [UInt8]) {
        count.emptyFolders += 1
        if count.firstEmpty.count < FolderCount.namesKept {
            count.firstEmpty.append(folder.isEmpty ? [] : folder + [Self.slash])
        }
    }

    private mutating func keep(file path: [UInt8]) {
        count.keptFiles += 1
        name(path)
    }

    private mutating func keep(folder path: [UInt8]) {
        count.keptFolders += 1
        name(path + [Self.slash])
    }

    private mutating func name(_ path: [UInt8]) {
        guard count.firstKept.count < FolderCount.namesKept else { return }
        count.firstKept.append(path.isEmpty ? chosen : chosen + [Self.slash] + path)
    }

    private static func lastPart(_ path: ArraySlice<UInt8>) -> [UInt8] {
        Array(path.lastIndex(of: slash).map { path[($0 + 1)...] } ?? path)
    }
}
