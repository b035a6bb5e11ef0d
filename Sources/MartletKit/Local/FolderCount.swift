import LinuxSystem

/// What a folder holds, all the way down; grows while it is counted.
package struct FolderCount: Hashable, Sendable {
    package var files: Int64 = 0
    /// Of these files.
    package var bytes: Int64 = 0
    package var folders: Int64 = 0
    /// Links, devices and the like, which are not sent.
    package var leftOut: Int64 = 0
    /// Files and folders that this person may not read.
    package var unreadable: Int64 = 0
    /// The first of these, below the folder.
    package var firstUnreadable: [[UInt8]] = []
    package var isComplete = false

    package init(files: Int64 = 0, bytes: Int64 = 0, isComplete: Bool = false) {
        self.files = files
        self.bytes = bytes
        self.isComplete = isComplete
    }

    /// How many names of unreadable ones are kept.
    static let namesKept = 20
}

/// Counts a folder as it would be sent: without following links. Blocks; stops when nobody wants it any more.
struct FolderCounter {
    private var count = FolderCount()
    /// Folders still to be looked at, below the root.
    private var waiting: [[UInt8]] = [[]]
    private var shownAt = MonotonicInstant.now

    /// How often the figures so far are told.
    private static let interval = Duration.milliseconds(150)

    static func count(_ root: [UInt8], isWanted: () -> Bool, publish: (FolderCount) -> Void) {
        var counter = FolderCounter()
        while let folder = counter.waiting.popLast() {
            guard counter.look(at: folder, below: root, isWanted: isWanted, publish: publish) else { return }
        }
        counter.count.isComplete = true
        publish(counter.count)
    }

    /// False: nobody wants to know any more.
    private mutating func look(
        at folder: [UInt8], below root: [UInt8], isWanted: () -> Bool, publish: (FolderCount) -> Void
    ) -> Bool {
        let slash = UInt8(ascii: "/")
        do throws(Errno) {
            let reader = try DirectoryReader(path: folder.isEmpty ? root : root + [slash] + folder)
            while let entry = try reader.next() {
                guard isWanted() else { return false }
                take(entry, in: reader.descriptor, path: folder.isEmpty ? entry.name : folder + [slash] + entry.name)
                if shownAt.duration(to: .now) >= Self.interval {
                    publish(count)
                    shownAt = .now
                }
            }
        } catch {
            cannotRead(folder)
        }
        return true
    }

    private mutating func take(_ entry: DirectoryEntry, in folder: Int32, path: [UInt8]) {
        let status = try? System.fstatat(folder, entry.name, followingLinks: false)
        switch status?.kind ?? entry.kind {
        case .directory:
            count.folders += 1
            waiting.append(path)
        case .regular:
            guard FolderEntry.isReadable(entry.name, in: folder, asFolder: false) else { return cannotRead(path) }
            count.files += 1
            count.bytes += status?.size ?? 0
        case nil: cannotRead(path)
        default: count.leftOut += 1
        }
    }

    private mutating func cannotRead(_ path: [UInt8]) {
        count.unreadable += 1
        if count.firstUnreadable.count < FolderCount.namesKept { count.firstUnreadable.append(path) }
    }
}
