import Glibc
import LinuxSystem

/// Files that the person sees as well, and changes: they keep their places and their inodes through a power cut.
extension SimulatedDisk {
    func adopt(_ file: DiskFile, inode: UInt64) {
        file.inode = inode
        byInode[inode] = file
    }

    func file(inode: UInt64) -> DiskFile? { byInode[inode] }

    /// A real file is about to lose its name, and may have it again after a power cut.
    func keep(_ path: String, inode: UInt64) {
        let (folder, name) = Self.parts(path)
        if byInode[inode] == nil {
            let file = DiskFile(Self.read(path) ?? [])
            adopt(file, inode: inode)
            folders[folder, default: Folder()].durable[name] = file
            folders[folder]?.current[name] = file
        }
        link(path, "\(attic)/\(inode)")
    }

    /// The person has changed the file under a name, or put another one there: that is on the disk.
    func changedElsewhere(_ path: String) {
        let (folder, name) = Self.parts(path)
        guard let known = folders[folder]?.current[name] else { return }
        if let inode = Self.inode(path), inode == known.inode {
            known.settle(Self.read(path) ?? [])
        } else {
            folders[folder]?.current[name] = nil
            folders[folder]?.pending.append(.removed(name))
            syncedFolder(folder)
        }
    }

    /// The bytes that a power cut leaves under a name for sure; `nil`: the world does not know the file.
    func durable(_ path: String) -> [UInt8]?? {
        let (folder, name) = Self.parts(path)
        guard let file = folders[folder]?.current[name], file.inode == Self.inode(path) else { return nil }
        return folders[folder]?.durable[name] === file ? .some(file.durable) : .some(nil)
    }

    static func inode(_ path: String) -> UInt64? { (try? System.lstat(Array(path.utf8)))?.inode }

    /// The power fails: what was not synced in this folder is there or not, under the name that it had or has.
    func cutPower(in folder: String) {
        guard let known = folders[folder] else { return }
        let names = survivingNames(known)
        let before = Dictionary(known.current.map { (ObjectIdentifier($0.value), $0.key) }) { first, _ in first }
        let after = Dictionary(names.map { (ObjectIdentifier($0.value), $0.key) }) { first, _ in first }
        var told: [String] = []
        for (name, file) in known.current.sorted(by: { $0.key < $1.key }) where after[ObjectIdentifier(file)] != name {
            guard let inode = file.inode, Self.inode("\(folder)/\(name)") == inode else { continue }
            rename("\(folder)/\(name)", "\(attic)/\(inode)")
            told.append("\(name) is gone")
        }
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            guard let inode = file.inode else { continue }
            let place = "\(folder)/\(name)"
            if before[ObjectIdentifier(file)] != name, Self.inode(place) == nil {
                rename("\(attic)/\(inode)", place)
                told.append("\(name) is back")
            }
            guard Self.inode(place) == inode else { continue }
            let isWhole = file.pending.isEmpty
            let bytes = file.surviving(&weather.chance)
            if !isWhole { told.append("\(name) keeps \(bytes.count) B") }
            Self.write(bytes, place, keepsMode: true)
            file.settle(bytes)
        }
        folders[folder] = Folder(durable: names, current: names)
        if !told.isEmpty { world.tell("disk", told.joined(separator: ", ")) }
    }
}
