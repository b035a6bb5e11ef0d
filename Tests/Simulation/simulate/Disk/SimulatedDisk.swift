import Glibc
import LinuxSystem

/// The disk below the real files of a run: which of their bytes and names are still there after a power cut, when a sync fails, and when
/// there is no room.
///
/// Files that nobody told it of are on the disk as they are.
final class SimulatedDisk {
    enum NameChange {
        case put(String, DiskFile)
        case removed(String)
        case renamed(String, to: String)
    }

    struct Folder {
        /// Names that a power cut leaves there for sure, where nothing of `pending` changes them.
        var durable: [String: DiskFile] = [:]
        var current: [String: DiskFile] = [:]
        var pending: [NameChange] = []
    }

    let world: World
    var weather: Weather
    var folders: [String: Folder] = [:]
    /// Files that the person sees, by their inodes.
    var byInode: [UInt64: DiskFile] = [:]
    /// A folder of real files that have no name any more, and may come back: each has its inode as its name.
    let attic: String
    /// There is no room until then.
    private var fullUntil = MonotonicInstant(nanoseconds: 0)
    /// Syncs that failed and writes that found no room.
    private(set) var failures = 0
    /// Random numbers that SQLite asks for.
    var chance: Chance
    /// What strikes before a change that SQLite makes, and how many come before that one.
    private var interruption: (changes: Int, strike: () -> Void)?

    init(attic: String, seed: UInt64, in world: World) {
        self.world = world
        self.attic = attic
        mkdir(attic, 0o700)
        weather = Weather(seed: seed ^ 0xD15C)
        chance = Chance(seed: seed ^ 0x5417)
    }

    // MARK: Names

    /// The file under a name; one that was not known is on the disk as it is, but for an empty one, which was made just now.
    func file(_ path: String) -> DiskFile {
        let (folder, name) = Self.parts(path)
        if let known = folders[folder]?.current[name] { return known }
        let bytes = Self.read(path) ?? []
        let file = DiskFile(bytes)
        folders[folder, default: Folder()].current[name] = file
        if bytes.isEmpty {
            folders[folder]?.pending.append(.put(name, file))
        } else {
            folders[folder]?.durable[name] = file
        }
        return file
    }

    /// A file was made under a name that nothing had.
    func made(_ path: String) -> DiskFile {
        let (folder, name) = Self.parts(path)
        let file = DiskFile()
        folders[folder, default: Folder()].current[name] = file
        folders[folder]?.pending.append(.put(name, file))
        return file
    }

    func removed(_ path: String) {
        let (folder, name) = Self.parts(path)
        guard folders[folder]?.current[name] != nil else { return }
        folders[folder]?.current[name] = nil
        folders[folder]?.pending.append(.removed(name))
    }

    /// Within one folder.
    func renamed(_ old: String, to new: String) {
        let (folder, name) = Self.parts(old)
        guard let file = folders[folder]?.current[name] else { return }
        folders[folder]?.current[name] = nil
        folders[folder]?.current[Self.parts(new).name] = file
        folders[folder]?.pending.append(.renamed(name, to: Self.parts(new).name))
    }

    func syncedFolder(_ folder: String) {
        guard var known = folders[folder] else { return }
        known.durable = known.current
        known.pending = []
        folders[folder] = known
    }

    static func parts(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    // MARK: Faults

    /// Has something happen before a change that SQLite makes soon: in the middle of a transaction, most often.
    func interrupt(after changes: Int, _ strike: @escaping () -> Void) { interruption = (changes, strike) }

    /// SQLite is about to change a file.
    func beforeChange() {
        guard let (changes, strike) = interruption, !weather.isCalm else { return }
        interruption = changes == 0 ? nil : (changes - 1, strike)
        if changes == 0 { strike() }
    }

    /// There is no room for a write now.
    func isFull() -> Bool {
        if weather.strikes(oneIn: 4000) {
            let time = chance.duration(.milliseconds(1), .seconds(40))
            world.tell("disk", "is full for \(time)")
            fullUntil = world.now.advanced(by: time)
        }
        guard world.now < fullUntil, !weather.isCalm else { return false }
        failures += 1
        return true
    }

    /// Names cannot be put on the disk, this once.
    func failsToSyncNames() -> Bool {
        guard weather.strikes(oneIn: 60) else { return false }
        failures += 1
        world.tell("disk", "fails to sync a folder")
        return true
    }

    /// A file cannot get another name, this once.
    func failsToRename() -> Bool {
        guard weather.strikes(oneIn: 20) else { return false }
        failures += 1
        world.tell("disk", "fails to rename a file")
        return true
    }

    /// Puts a file on the disk. Returns false when that fails, this once.
    func sync(_ file: DiskFile, _ path: String, failsOneIn often: Int = 120) -> Bool {
        guard weather.strikes(oneIn: often), !file.pending.isEmpty else {
            file.synced()
            return true
        }
        failures += 1
        world.tell("disk", "fails to sync \(Self.parts(path).name)")
        world.count("failed syncs")
        file.failedToSync(&weather.chance)
        return false
    }

    // MARK: Ends

    /// The engine is killed: its files are as the kernel has them, and are another life's from now on.
    func move(_ folder: String, to next: String) {
        for name in Self.names(in: folder) { Self.write(Self.read("\(folder)/\(name)") ?? [], "\(next)/\(name)") }
        folders[next] = folders.removeValue(forKey: folder)
    }

    /// The power fails: what was not synced is there or not.
    /// - Parameter next: the folder in which the next life finds its files.
    func cutPower(_ folder: String, to next: String) {
        let known = folders.removeValue(forKey: folder) ?? Folder()
        let names = survivingNames(known)
        for name in Self.names(in: folder) where known.current[name] == nil && names[name] == nil {
            Self.write(Self.read("\(folder)/\(name)") ?? [], "\(next)/\(name)")
        }
        var told: [String] = []
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            let bytes = file.surviving(&weather.chance)
            if !file.pending.isEmpty { told.append("\(name) keeps \(bytes.count) B") }
            Self.write(bytes, "\(next)/\(name)")
        }
        for name in known.current.keys.sorted() where names[name] == nil {
            told.append("\(name) is gone")
        }
        for name in names.keys.sorted() where known.current[name] == nil { told.append("\(name) is back") }
        if !told.isEmpty { world.tell("disk", told.joined(separator: ", ")) }
    }

    /// File systems write their changes of names in order.
    func survivingNames(_ known: Folder) -> [String: DiskFile] {
        var names = known.durable
        for change in known.pending.prefix(weather.chance.below(known.pending.count + 1)) {
            switch change {
            case .put(let name, let file): names[name] = file
            case .removed(let name): names[name] = nil
            case .renamed(let old, let new): names[new] = names.removeValue(forKey: old)
            }
        }
        return names
    }

    // MARK: Real files

    static func names(in folder: String) -> [String] {
        guard let listing = opendir(folder) else { return [] }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let size = ftell(file)
        rewind(file)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = fread(buffer.baseAddress, 1, size, file)
        }
    }

    /// In place where there is a file.
    static func write(_ bytes: [UInt8], _ path: String, keepsMode: Bool = false) {
        guard let file = fopen(path, access(path, F_OK) == 0 ? "r+" : "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fflush(file)
        ftruncate(fileno(file), bytes.count)
        fclose(file)
        if !keepsMode { chmod(path, 0o600) }
    }
}
