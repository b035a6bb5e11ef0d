import LinuxSystem
import TestSupport
import TransferModel

/// Linux's disk, which notes the folders whose names were put on it, and may say that its inode numbers end with a mount.
final class RecordingDisk: LocalDisk {
    private let isStable: Bool
    /// With these it answers who wants to make a file, or to give one its mode.
    private let refusal: Errno?
    private let modeRefusal: Errno?
    /// `README` leads to what was made as `readme`, in ASCII.
    private let ignoresCase: Bool
    /// Bytes of the longest name that it takes.
    private let longestName: Int
    /// Its folders may be written and not read.
    private let hidesNames: Bool
    /// A call that somebody waits in.
    struct Hold {
        enum Call { case entryName, remove }

        let call: Call
        let asked: Milestone
        let answered: Milestone

        init(_ call: Call) throws { (self.call, asked, answered) = (call, try Milestone(), try Milestone()) }
    }

    private let hold: Hold?

    private func pass(_ call: Hold.Call) {
        guard let hold, hold.call == call else { return }
        hold.asked.reach()
        hold.answered.waitBlocking()
    }

    init(
        hasStableInodes: Bool = true, refusal: Errno? = nil, modeRefusal: Errno? = nil, ignoresCase: Bool = false,
        longestName: Int = .max, hidesNames: Bool = false, hold: Hold? = nil
    ) {
        self.hold = hold
        (isStable, self.refusal, self.modeRefusal) = (hasStableInodes, refusal, modeRefusal)
        (self.ignoresCase, self.longestName, self.hidesNames) = (ignoresCase, longestName, hidesNames)
    }

    private func checkName(_ path: [UInt8]) throws(Errno) {
        if RawPath(path).lastComponent.bytes.count > longestName { throw .nameTooLong }
    }

    private let disk = LinuxDisk()
    let synced = Mutex<[[UInt8]]>([])

    func create(_ path: [UInt8], mode: UInt32) throws(Errno) -> OwnedDescriptor {
        if let refusal { throw refusal }
        try checkName(path)
        let made = try disk.create(path, mode: mode)
        if let modeRefusal { ForcedFailures.fail(.fchmod, on: .descriptor(made.rawValue), with: modeRefusal) }
        return made
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        try disk.write(descriptor, bytes, at: offset)
    }

    func cut(_ descriptor: Int32, to size: Int64) throws(Errno) { try disk.cut(descriptor, to: size) }
    func syncBytes(_ descriptor: Int32) throws(Errno) { try disk.syncBytes(descriptor) }
    func sync(_ descriptor: Int32) throws(Errno) { try disk.sync(descriptor) }

    func syncNames(in folder: [UInt8]) throws(Errno) {
        if hidesNames { throw .accessDenied }
        synced.withLock { $0.append(folder) }
        try disk.syncNames(in: folder)
    }

    func syncFileSystem(of file: [UInt8]) throws(Errno) {
        synced.withLock { $0.append(file) }
        try LinuxDisk().syncFileSystem(of: file)
    }

    func rename(_ old: [UInt8], to new: [UInt8], replacing: Bool) throws(Errno) {
        try checkName(new)
        guard ignoresCase else { return try disk.rename(old, to: new, replacing: replacing) }
        let (path, folder) = (RawPath(new), RawPath(new).parent ?? RawPath("/"))
        let there = entryName(path.lastComponent.bytes, in: folder.bytes)
        if there != nil, !replacing { throw .fileExists }
        let name = there.map { RawPath($0) } ?? path.lastComponent
        try disk.rename(old, to: folder.appending(name).bytes, replacing: replacing)
    }

    func entryName(_ name: [UInt8], in folder: [UInt8]) -> [UInt8]? {
        pass(.entryName)
        guard ignoresCase, let reader = try? DirectoryReader(path: folder) else {
            return disk.entryName(name, in: folder)
        }
        func folded(_ name: [UInt8]) -> String { String(decoding: name, as: UTF8.self).lowercased() }
        while let entry = try? reader.next() { if folded(entry.name) == folded(name) { return entry.name } }
        return nil
    }

    func status(of path: [UInt8]) throws(Errno) -> FileStatus {
        guard ignoresCase, let folder = RawPath(path).parent,
            let name = entryName(RawPath(path).lastComponent.bytes, in: folder.bytes)
        else { return try disk.status(of: path) }
        return try disk.status(of: folder.appending(RawPath(name)).bytes)
    }

    func remove(_ path: [UInt8]) throws(Errno) {
        pass(.remove)
        try disk.remove(path)
    }
    func hasStableInodes(_ descriptor: Int32) -> Bool { isStable }
}
