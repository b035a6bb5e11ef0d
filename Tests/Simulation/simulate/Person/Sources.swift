import Glibc
import LinuxSystem
import TransferModel

/// The person's files: real ones, which change at any time.
final class Sources {
    let folder: String
    let contents: Contents
    private let world: World
    private var chance: Chance
    /// Paths below `folder`, those of files that are gone included.
    private(set) var names: [String] = []
    private var inodes: [String: UInt64] = [:]

    init(_ folder: String, _ contents: Contents, seed: UInt64, in world: World) {
        self.folder = folder
        self.contents = contents
        self.world = world
        chance = Chance(seed: seed ^ 0x50AC)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Makes a file of some size: most are small, some empty, a few take a while.
    /// - Parameter isLarge: so long that it goes in pieces of 5 MiB.
    func make(_ name: String, isLarge: Bool = false) {
        var size = chance.pick(weighted: [
            (1, 0), (1, 1), (8, 1 + chance.below(9000)), (4, 30_000 + chance.below(60_000)),
            (4, 65_537 + chance.below(200_000)),
        ])
        if isLarge { size = (5 << 20) * (1 + chance.below(2)) + 1 + chance.below(3 << 20) }
        // Most files that a person has are old ones.
        write(name, bytes(size), age: chance.oneIn(3) ? .zero : .seconds(100 + chance.below(100_000_000)))
        if !names.contains(name) { names.append(name) }
    }

    /// Something becomes of a file of the person's.
    /// - Parameter isNew: one of those that were made last, which may be on its way.
    func disturb(isNew: Bool = false) {
        guard !names.isEmpty else { return }
        // Of the new ones those that take a while.
        let new = names.suffix(8)
        let large = new.filter { (try? System.stat(Array(path($0).utf8)))?.size ?? 0 > 65_536 }
        let name = chance.pick(!isNew ? names[...] : large.isEmpty ? new : large[...])
        guard let old = read(name) else { return make(name) }
        switch chance.below(8) {
        case 0:
            world.tell("person", "deletes \(name)")
            remove(name)
        case 1:
            world.tell("person", "cuts \(name) down")
            write(name, Array(old.prefix(chance.below(old.count + 1))))
        case 2:
            world.tell("person", "appends to \(name)")
            write(name, old + bytes(1 + chance.below(5000)))
        case 3:
            world.tell("person", "puts another file in the place of \(name)")
            replace(name, bytes(max(1, old.count)))
        case 4, 5:
            world.tell("person", "rewrites \(name) in place")
            // In two halves: between them it is a mixture that no program wants.
            let new = bytes(max(1, old.count))
            write(name, Array(new.prefix(new.count / 2) + old.dropFirst(new.count / 2)))
            let later = chance.duration(.microseconds(50), .milliseconds(300))
            _ = world.schedule(after: later, on: world.pool) { [self] in
                if read(name) != nil { write(name, new) }
            }
        case 6:
            // A program that keeps whole seconds: the same second, the same size.
            world.tell("person", "rewrites \(name) and sets its time to the whole second")
            write(name, bytes(max(1, old.count)), wholeSecond: true)
        default:
            world.tell("person", "touches \(name)")
            write(name, old)
        }
    }

    // MARK: Files

    private func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // Of a long file only the beginning of each stretch of 4 KiB is its own: enough to tell versions apart, and quick.
        let step = count > 1 << 20 ? 4096 : 8
        bytes.withUnsafeMutableBytes { buffer in
            var place = 0
            while place + 8 <= count {
                buffer.storeBytes(of: chance.next(), toByteOffset: place, as: UInt64.self)
                place += step
            }
            while place < count {
                buffer[place] = UInt8(truncatingIfNeeded: chance.next())
                place += step == 8 ? 1 : step
            }
        }
        return bytes
    }

    func read(_ name: String) -> [UInt8]? {
        guard let file = fopen(path(name), "r") else { return nil }
        defer { fclose(file) }
        fseek(file, 0, SEEK_END)
        let size = ftell(file)
        rewind(file)
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = fread(buffer.baseAddress, 1, size, file)
        }
    }

    /// In place, as an editor does that keeps the inode.
    private func write(_ name: String, _ bytes: [UInt8], wholeSecond: Bool = false, age: Duration = .zero) {
        makeFolder(name)
        store(bytes, path(name), wholeSecond: wholeSecond, age: age)
        contents.has(path(name), bytes)
        inodes[name] = inode(name)
    }

    private func replace(_ name: String, _ bytes: [UInt8]) {
        store(bytes, path(name) + "~")
        rename(path(name) + "~", path(name))
        contents.has(path(name), bytes, isOther: true)
        inodes[name] = inode(name)
    }

    private func remove(_ name: String) {
        unlink(path(name))
        contents.has(path(name), nil)
        inodes[name] = nil
    }

    private func makeFolder(_ name: String) {
        guard let slash = path(name).lastIndex(of: "/") else { return }
        try? System.mkdirs(Array(path(name)[..<slash].utf8), mode: 0o755)
    }

    private func store(_ bytes: [UInt8], _ path: String, wholeSecond: Bool = false, age: Duration = .zero) {
        guard let file = fopen(path, access(path, F_OK) == 0 ? "r+" : "w") else {
            return world.fault("the world cannot write \(path): errno \(errno)")
        }
        fwrite(bytes, 1, bytes.count, file)
        fflush(file)
        ftruncate(fileno(file), bytes.count)
        var time = world.wallNanoseconds - age.nanoseconds
        if wholeSecond { time -= time % 1_000_000_000 }
        try? System.setModificationTime(fileno(file), nanoseconds: time)
        fclose(file)
    }

    private func inode(_ name: String) -> UInt64? { (try? System.stat(Array(path(name).utf8)))?.inode }

    // MARK: The rule

    /// Nobody but the person has changed a file of the person's.
    func check() {
        for name in names {
            guard let expected = contents.versions[path(name)]?.last else { continue }
            let found = read(name)
            let isThere = expected.until == nil
            if found.map({ Contents.digest($0) }) != (isThere ? expected.digest : nil) || inode(name) != inodes[name] {
                world.fault("\(name), a file of the person's, was changed by somebody else")
            }
        }
    }
}
