import Glibc
import LinuxSystem

/// Unfinished uploads on the disk: for each `ID.data`, its bytes, and `ID.info`, its record, in a hidden folder inside the
/// served one, so that publishing is a rename.
///
/// The order of the steps makes every kill harmless. Made: data, then record; data without a record, or with one that a power cut has torn,
/// is nobody's. Removed: record, then data. Published: the rename takes the data away, so a record alone says that the file has its name. While
/// somebody uses an upload its data is locked against other receivers on the same folder.
///
/// The data's size is the offset, and no offset is told before both were synced. File systems that order a size behind the bytes below it
/// (ext4 as it comes, XFS, btrfs) keep that true after a power cut; FAT does not, so there a file without a digest may have a gap then.
final class UploadFolder: Sendable {
    private let root: OwnedDescriptor
    /// Opened when the first upload needs it.
    private let opened = Mutex<OwnedDescriptor?>(nil)

    /// The disk space that uploads may take.
    let room: DiskRoom

    init(in root: OwnedDescriptor, _ room: DiskRoom) {
        self.root = root
        self.room = room
    }

    /// An upload that `load` found. Without `data` the file was published.
    struct Loaded {
        let record: UploadRecord
        let data: OwnedDescriptor?
        let size: UInt64
        /// The facts of the data by which a later write shows; `nil` without data.
        let facts: FileFacts?
        /// Seconds since 1970.
        let lastWritten: Int64
    }

    /// Makes an upload without bytes and locks it. It survives the receiver at once, a power cut after `sync`: until then nothing of it is
    /// told, and a torn record is nobody's. `EWOULDBLOCK` while another receiver makes it.
    func create(_ id: UploadID, _ record: UploadRecord) throws(Errno) -> (OwnedDescriptor, UploadRecord) {
        let folder = try openFolder(making: true)
        do {
            return try create(id, record, in: folder.rawValue)
        } catch .noSuchFile {
            // Another receiver took the folder away this moment, because it was empty.
            return try create(id, record, in: openFolder(making: true).rawValue)
        }
    }

    /// The result of `load`.
    enum Finding {
        case none
        /// It was never made: its record is torn.
        case torn
        case upload(Loaded)
    }

    /// Reads an upload and locks it. `EWOULDBLOCK` when another receiver has it.
    func load(_ id: UploadID) throws(Errno) -> Finding {
        do throws(Errno) {
            let folder = try openFolder(making: false)
            let info = try System.openat(folder.rawValue, Self.info(id))
            let infoTime = try System.fstat(info.rawValue).modifiedNanoseconds
            let text = try Self.text(of: info.rawValue)
            guard let record = UploadRecord(text: text) else { return UploadRecord.isTorn(text) ? .torn : .none }
            let data: OwnedDescriptor
            do throws(Errno) {
                data = try System.openat(folder.rawValue, Self.data(id), flags: O_RDWR)
            } catch .noSuchFile {
                return .upload(
                    Loaded(
                        record: record, data: nil, size: record.length ?? 0, facts: nil,
                        lastWritten: infoTime / Self.second))
            }
            guard try data.tryLockExclusively() else { throw Errno.wouldBlock }
            let status = try System.fstat(data.rawValue)
            let written = max(infoTime, status.modifiedNanoseconds) / Self.second
            return .upload(
                Loaded(
                    record: record, data: data, size: UInt64(max(0, status.size)), facts: FileFacts(status),
                    lastWritten: written))
        } catch .noSuchFile {
            return .none
        }
    }

    /// Removes what a kill or a power cut has left of an upload that was being made: bytes without a record, or with a torn one.
    /// `EWOULDBLOCK` while another receiver makes it.
    func removeUnmade(_ id: UploadID) throws(Errno) {
        let folder = try openFolder(making: false)
        var data: OwnedDescriptor?
        do { data = try System.openat(folder.rawValue, Self.data(id), flags: O_RDWR) } catch .noSuchFile {}
        // Closing unlocks.
        defer { data?.close() }
        if let data, try !data.tryLockExclusively() { throw .wouldBlock }
        do throws(Errno) {
            let info = try System.openat(folder.rawValue, Self.info(id))
            guard UploadRecord.isTorn(try Self.text(of: info.rawValue)) else { return }
        } catch .noSuchFile {}
        remove(id)
    }

    /// Replaces the record, durably.
    func rewrite(_ id: UploadID, _ record: UploadRecord) throws(Errno) {
        let folder = try openFolder(making: false)
        try Self.put(id, record, in: folder.rawValue, synced: true)
        try System.fsync(folder.rawValue)
        ReceiverFaultPoint.measured.pass()
    }

    /// Adds a line to the record. Losing it costs nothing but a word in the journal.
    func appendLine(_ line: String, to id: UploadID) {
        guard let folder = try? openFolder(making: false),
            let info = try? System.openat(folder.rawValue, Self.info(id), flags: O_WRONLY | O_APPEND)
        else { return }
        _ = try? Array((line + "\n").utf8).withUnsafeBytes { try System.write(info.rawValue, $0) }
    }

    /// Puts the record and both names on the disk.
    func sync(_ id: UploadID) throws(Errno) {
        let folder = try openFolder(making: false)
        let info = try System.openat(folder.rawValue, Self.info(id))
        try System.fsync(info.rawValue)
        try System.fsync(folder.rawValue)
        // The hidden folder itself may be new.
        try System.fsync(root.rawValue)
    }

    func remove(_ id: UploadID) {
        guard let folder = try? openFolder(making: false) else { return }
        try? System.unlinkat(folder.rawValue, Self.info(id))
        ReceiverFaultPoint.forgotten.pass()
        try? System.unlinkat(folder.rawValue, Self.data(id))
    }

    /// A file without a name, for bytes that may have to be thrown away; it goes with its descriptor.
    func makeNameless() throws(Errno) -> OwnedDescriptor {
        let folder = try openFolder(making: true)
        let name = Array("\(try UploadID().text).piece".utf8)
        let file = try System.openat(folder.rawValue, name, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try System.unlinkat(folder.rawValue, name)
        return file
    }

    /// The contents of the folder.
    struct Contents {
        var unfinished: [UploadID] = []
        /// The oldest first.
        var complete: [UploadID] = []
        /// Names of files that belong to no upload although they have had an hour to.
        var orphans: [[UInt8]] = []
    }

    /// Looks through the folder. Blocks.
    func contents(now: Int64) throws(Errno) -> Contents {
        let folder: OwnedDescriptor
        do { folder = try openFolder(making: false) } catch .noSuchFile { return Contents() }
        let reader = try DirectoryReader(at: folder.rawValue, name: [UInt8(ascii: ".")])
        var found: [(name: [UInt8], id: UploadID, isInfo: Bool)] = []
        while let entry = try reader.next() {
            let words = String(decoding: entry.name, as: UTF8.self).split(separator: ".", maxSplits: 1)
            guard words.count == 2, let id = UploadID(words[0]) else { continue }
            found.append((entry.name, id, words[1] == "info"))
        }
        let ids = Set(found.filter(\.isInfo).map(\.id))
        let orphans = found.filter { file in
            guard !file.isInfo, !ids.contains(file.id) || file.name != Self.data(file.id),
                let status = try? System.fstatat(folder.rawValue, file.name, followingLinks: false)
            else { return false }
            return status.modifiedNanoseconds / Self.second < now - 3600
        }
        let withData = Set(found.filter { !$0.isInfo && $0.name == Self.data($0.id) }.map(\.id))
        let complete = ids.subtracting(withData).map { id in
            let status = try? System.fstatat(folder.rawValue, Self.info(id), followingLinks: false)
            return (id: id, time: status?.modifiedNanoseconds ?? 0)
        }
        return Contents(
            unfinished: Array(ids.intersection(withData)),
            complete: complete.sorted { $0.time < $1.time }.map(\.id), orphans: orphans.map(\.name))
    }

    func removeOrphan(_ name: [UInt8]) {
        guard let folder = try? openFolder(making: false) else { return }
        try? System.unlinkat(folder.rawValue, name)
    }

    /// The folder in which uploads have their names.
    func openFolder(making: Bool) throws(Errno) -> OwnedDescriptor {
        try opened.withLock { opened throws(Errno) in
            // Another receiver takes an empty one away, and a person may clear any away.
            if let known = opened, try System.fstat(known.rawValue).linkCount > 0 { return known }
            opened = nil
            let folder = try HiddenFolder.open(UploadID.folderName, in: root.rawValue, making: making)
            opened = folder
            return folder
        }
    }

    /// Takes the folder away if it is empty.
    func end() { try? System.rmdirat(root.rawValue, Array(UploadID.folderName.utf8)) }

    static func data(_ id: UploadID) -> [UInt8] { Array("\(id.text).data".utf8) }
    private static func info(_ id: UploadID) -> [UInt8] { Array("\(id.text).info".utf8) }
    private static let second: Int64 = 1_000_000_000

    private func create(
        _ id: UploadID, _ record: UploadRecord, in folder: Int32
    ) throws(Errno) -> (OwnedDescriptor, UploadRecord) {
        // 0666 and the umask decide, as for a file that a user saves here; nobody else can look into the folder.
        let (name, flags) = (Self.data(id), O_RDWR | O_CREAT | O_EXCL)
        let data: OwnedDescriptor
        do throws(Errno) {
            data = try System.openat(folder, name, flags: flags, mode: 0o666)
        } catch .fileExists {
            try removeUnmade(id)
            data = try System.openat(folder, name, flags: flags, mode: 0o666)
        }
        // Between its name and its lock another receiver may have taken it for such a remainder.
        guard try data.tryLockExclusively() else { throw .wouldBlock }
        let status = try System.fstat(data.rawValue)
        guard status.linkCount > 0 else { throw .wouldBlock }
        var record = record
        record.inode = status.inode
        do throws(Errno) {
            try Self.put(id, record, in: folder, synced: false)
            ReceiverFaultPoint.made.pass()
            return (data, record)
        } catch {
            remove(id)
            throw error
        }
    }

    /// Gives the whole record its name; what had it goes.
    /// - Parameter synced: where another one had it, which a power cut would take away for a torn one.
    private static func put(
        _ id: UploadID, _ record: UploadRecord, in folder: Int32, synced: Bool
    ) throws(Errno) {
        let new = info(id) + Array(".new".utf8)
        let file = try System.openat(folder, new, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        try write(record, to: file.rawValue)
        if synced { try System.fdatasync(file.rawValue) }
        try System.renameat(folder, new, to: folder, info(id))
    }

    private static func write(_ record: UploadRecord, to info: Int32) throws(Errno) {
        let written = Array(record.text.utf8).withUnsafeBytes { bytes in
            Result { () throws(Errno) in try System.writeAll(info, bytes) }
        }
        try written.get()
    }

    /// A record's text; what a hand has made longer than any record is cut and so no record.
    private static func text(of info: Int32) throws(Errno) -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count: Result<Int, Errno> = bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(Errno) in try System.preadAll(info, buffer, at: 0) }
        }
        return String(decoding: bytes[..<(try count.get())], as: UTF8.self)
    }
}
