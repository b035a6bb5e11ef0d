import LinuxSystem

/// Linux's disk, which notes the folders whose names were put on it, and may say that its inode numbers end with a mount.
final class RecordingDisk: LocalDisk {
    private let isStable: Bool
    /// With these it answers who wants to make a file, or to give one its mode.
    private let refusal: Errno?
    private let modeRefusal: Errno?

    init(hasStableInodes: Bool = true, refusal: Errno? = nil, modeRefusal: Errno? = nil) {
        (isStable, self.refusal, self.modeRefusal) = (hasStableInodes, refusal, modeRefusal)
    }

    private let disk = LinuxDisk()
    let synced = Mutex<[[UInt8]]>([])

    func create(_ path: [UInt8], mode: UInt32) throws(Errno) -> OwnedDescriptor {
        if let refusal { throw refusal }
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
        synced.withLock { $0.append(folder) }
        try disk.syncNames(in: folder)
    }

    func rename(_ old: [UInt8], to new: [UInt8], replacing: Bool) throws(Errno) {
        try disk.rename(old, to: new, replacing: replacing)
    }

    func remove(_ path: [UInt8]) throws(Errno) { try disk.remove(path) }
    func hasStableInodes(_ descriptor: Int32) -> Bool { isStable }
}
