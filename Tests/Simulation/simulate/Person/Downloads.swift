import Glibc
import LinuxSystem
import TransferModel
import TransferProtocols

/// What the person downloads: files at servers that others write there, and the folder of real files that they come into. Holds the rules of
/// downloads.
final class Downloads: @unchecked Sendable {
    /// What may come to stand under a local name, and whose file stands there.
    private struct Place {
        /// `host/path` of files at servers.
        var sources: Set<String> = []
        var since: MonotonicInstant
        var mayReplace = false
        /// Somebody wants a file as it comes, whatever is written there meanwhile (`--verify none`).
        var isTakenAsItComes = false
    }

    let folder: String
    private let world: World
    private let network: Network
    private let contents: Contents
    private let disk: SimulatedDisk
    private var chance: Chance
    /// Files at servers: the server's disk, and the path there.
    private(set) var offered: [(disk: ServerDisk, path: String)] = []
    private var places: [String: Place] = [:]
    /// Digests of files under final names that came there by a download.
    private var published: [String: String] = [:]
    /// Digests of files that the person has put under final names.
    private var own: [String: String] = [:]
    private var ownParts = PersonsParts()
    /// The person has done something to a temporary file.
    private(set) var hasMeddled = false

    init(
        _ folder: String, _ network: Network, _ contents: Contents, on disk: SimulatedDisk, seed: UInt64
    ) {
        self.folder = folder
        self.network = network
        self.contents = contents
        self.disk = disk
        world = network.world
        chance = Chance(seed: seed ^ 0xD0E1)
        try? System.mkdirs(Array(folder.utf8), mode: 0o755)
    }

    // MARK: At servers

    /// Another client puts a file at a server. Returns its address.
    func offer(at disk: ServerDisk) -> String {
        let before = offered.filter { $0.disk === disk }
        if !before.isEmpty, chance.oneIn(3) { return address(chance.pick(before)) }
        let path = "/pub/f\(offered.count)"
        offered.append((disk, path))
        put(bytes(), disk, path)
        return address(offered[offered.count - 1])
    }

    private func address(_ offer: (disk: ServerDisk, path: String)) -> String {
        "\(network.scheme(of: offer.disk.host))://\(offer.disk.host)\(offer.path)"
    }

    /// Most come in one go; some are long enough to be changed while they are read.
    private func bytes() -> [UInt8] {
        Bytes.random(
            chance.pick(weighted: [
                (1, 0), (6, 1 + chance.below(9000)), (5, 30_000 + chance.below(200_000)),
                (1, FileReading.quicklyRead + 1 + chance.below(200_000)),
                (1, (1 << 20) + 1 + chance.below(200_000)),
            ]), &chance)
    }

    /// A new file in the place of the one that is there, as `rename` does it: whoever reads the old one goes on reading it.
    private func put(_ bytes: [UInt8], _ disk: ServerDisk, _ path: String) {
        disk.makeFolders(ServerDisk.parent(path))
        disk.put(RemoteFile(bytes, modified: disk.now), at: path, by: .other)
        contents.has(disk.host + path, bytes)
    }

    /// Something becomes of a file at a server.
    /// - Parameter meant: the file; `nil`: any.
    func disturbServer(_ meant: RemoteFile? = nil) {
        guard !offered.isEmpty else { return }
        let named = meant.flatMap { file in offered.first { $0.disk.file($0.path) === file } }
        let (disk, path) = named ?? chance.pick(offered)
        guard let file = disk.file(path) else { return put(bytes(), disk, path) }
        switch chance.below(6) {
        case 0:
            world.tell("another client", "removes \(disk.host)\(path)")
            disk.put(nil, at: path, by: .other)
            contents.has(disk.host + path, nil)
        case 1...2 where file.bytes.count > FileReading.quicklyRead:
            // In two halves: between them it is a mixture that no program wants.
            world.tell("another client", "rewrites \(disk.host)\(path) in place")
            let new = Bytes.random(file.bytes.count + (chance.oneIn(3) ? 1000 : 0), &chance)
            contents.has(disk.host + path, nil)
            file.bytes = Array(new.prefix(new.count / 2) + file.bytes.dropFirst(new.count / 2))
            file.modified = disk.now
            disk.changed(path, by: .other)
            let later = chance.duration(.microseconds(50), .milliseconds(300))
            _ = world.schedule(after: later, on: world.pool) { [self] in
                guard disk.file(path) === file else { return }
                file.bytes = new
                file.modified = disk.now
                disk.changed(path, by: .other)
                contents.has(disk.host + path, new)
            }
        // What was written a moment ago has the same second after it.
        case 1...2 where !file.bytes.isEmpty && file.modified + 2 <= disk.now:
            world.tell("another client", "rewrites the small \(disk.host)\(path) in place")
            file.bytes = Bytes.random(file.bytes.count, &chance)
            file.modified = disk.now
            disk.changed(path, by: .other)
            contents.has(disk.host + path, file.bytes)
        case 3:
            world.tell("another client", "puts as many other bytes at \(disk.host)\(path)")
            put(Bytes.random(file.bytes.count, &chance), disk, path)
        default:
            world.tell("another client", "puts another file at \(disk.host)\(path)")
            put(bytes(), disk, path)
        }
    }

    // MARK: Here

    /// Final names that downloads want or had.
    var names: [String] { places.keys.sorted().map { SimulatedDisk.parts($0).name } }

    func path(_ name: String) -> String { folder + "/" + name }

    /// The person wants these files from servers, by the names that they get here.
    func wants(_ address: String, as name: String, _ options: TransferOptions, at time: MonotonicInstant) {
        guard let offer = offered.first(where: { self.address($0) == address }) else { return }
        var place = places[path(name)] ?? Place(since: time)
        place.sources.insert(offer.disk.host + offer.path)
        place.mayReplace = place.mayReplace || options.ifExists == .replace
        place.isTakenAsItComes = place.isTakenAsItComes || options.verify == VerificationWish.none
        places[path(name)] = place
    }

    /// The person does something to a temporary file, or puts a file under a name that a download wants.
    func disturb() {
        let names = SimulatedDisk.names(in: folder)
        let parts = names.filter { $0.hasSuffix(".part") }
        if !parts.isEmpty, chance.oneIn(2) { return disturbPart(path(chance.pick(parts))) }
        guard let final = places.keys.sorted().randomElement(using: &chance) else { return }
        if names.contains(SimulatedDisk.parts(final).name), chance.oneIn(3) {
            world.tell("person", "removes \(SimulatedDisk.parts(final).name)")
            unlink(final)
            disk.changedElsewhere(final)
            (published[final], own[final]) = (nil, nil)
            return
        }
        world.tell("person", "writes \(SimulatedDisk.parts(final).name)")
        let bytes = Bytes.random(1 + chance.below(5000), &chance)
        SimulatedDisk.write(bytes, final + "~")
        rename(final + "~", final)
        disk.changedElsewhere(final)
        published[final] = nil
        own[final] = Contents.digest(bytes)
    }

    private func disturbPart(_ path: String) {
        let name = SimulatedDisk.parts(path).name
        guard let old = SimulatedDisk.read(path) else { return }
        hasMeddled = true
        switch chance.below(4) {
        case 0:
            world.tell("person", "removes \(name)")
            unlink(path)
        case 1:
            world.tell("person", "cuts \(name) down")
            ownParts.write(Array(old.prefix(chance.below(old.count + 1))), path)
        case 2:
            world.tell("person", "appends to \(name)")
            ownParts.write(old + Bytes.random(1 + chance.below(500), &chance), path)
        default:
            world.tell("person", "puts another file in the place of \(name)")
            SimulatedDisk.write(Bytes.random(old.count, &chance), path + "~")
            rename(path + "~", path)
            ownParts.put(path)
        }
        disk.changedElsewhere(path)
    }

    /// The disk has refused a whole file its name, and the person looks what is the matter there.
    func wasNotNamed(_ part: String) {
        guard chance.oneIn(2) else { return }
        let later = chance.duration(.milliseconds(10), .seconds(10))
        _ = world.schedule(after: later, on: world.pool) { [self] in
            if !network.weather.isCalm { disturbPart(part) }
        }
    }

    // MARK: Rules

    /// A temporary file is about to get its final name.
    func moves(_ part: String, to final: String) {
        let name = SimulatedDisk.parts(final).name
        world.tell("engine", "gives \(name) its name")
        network.sends?(nil, final, "the move to its name")
        guard let place = places[final] else { return world.fault("nobody wants \(name)") }
        guard let bytes = SimulatedDisk.read(part) else { return }
        let digest = Contents.digest(bytes)
        let isWhole = place.sources.contains { contents.wasVersion(digest, of: $0, since: place.since) }
        if !isWhole, !place.isTakenAsItComes {
            world.fault("\(name) gets bytes that were never a whole version at its server")
        }
        // Where the disk refused an earlier move, nothing was replaced.
        replacing = own[final] != nil && !place.mayReplace ? final : nil
        pending = (final, digest)
    }

    private var replacing: String?
    private var pending: (final: String, digest: String)?

    /// It has got it.
    func moved(to final: String) {
        if replacing == final { world.fault("\(SimulatedDisk.parts(final).name), a file of the person's, is replaced") }
        replacing = nil
        if let pending, pending.final == final {
            published[final] = pending.digest
            own[final] = nil
        }
        pending = nil
    }

    /// The power was cut: completed downloads are there.
    func checkCompleted(_ tasks: [TaskSnapshot]) {
        for task in tasks where task.state == .completed && !task.skipped {
            guard let final = task.finalPath, let expected = published[final] else { continue }
            if SimulatedDisk.read(final).map(Contents.digest) != expected {
                world.fault(
                    "\(task.id) was told to be completed, and \(SimulatedDisk.parts(final).name) is not as it came")
            }
        }
        checkDurable(tasks)
        for (final, digest) in own.sorted(by: { $0.key < $1.key })
        where SimulatedDisk.read(final).map(Contents.digest) != digest {
            world.fault("\(SimulatedDisk.parts(final).name), a file of the person's, is not as the person left it")
        }
        // A move that nobody was told of may have been undone.
        for final in places.keys {
            if let bytes = SimulatedDisk.read(final) {
                let digest = Contents.digest(bytes)
                if published[final] != digest { published[final] = nil }
            } else {
                published[final] = nil
            }
        }
    }

    /// Whoever was told that a download is completed has it whatever the power does.
    func checkDurable(_ tasks: [TaskSnapshot]) {
        for task in tasks where task.state == .completed && !task.skipped {
            guard let final = task.finalPath, let expected = published[final], let kept = disk.durable(final),
                SimulatedDisk.read(final).map(Contents.digest) == expected
            else { continue }
            if kept.map(Contents.digest) != expected {
                world.fault(
                    "\(task.id) was told to be completed, and \(SimulatedDisk.parts(final).name) is not on the disk yet"
                )
            }
        }
    }

    /// All is over: completed downloads are there, and no part that nothing knows of.
    /// - Parameter known: resume points in the queue, in which the names of temporary files stand.
    func checkEnd(_ tasks: [TaskSnapshot], known: [String]) {
        checkCompleted(tasks)
        for name in SimulatedDisk.names(in: folder) where name.hasSuffix(".part") {
            if ownParts.contains(path(name)) { continue }
            let owner = tasks.first { name.contains(".\(UploadToken.task($0.uuid).text.prefix(8))") }
            guard let owner else {
                world.fault("\(name) is left, and its task is gone")
                continue
            }
            if owner.state == .completed { world.fault("\(name) is left, and \(owner.id) is completed") }
            // A kill right after it was made leaves an empty one, which another attempt takes.
            let isEmpty = SimulatedDisk.read(path(name))?.isEmpty ?? true
            if !isEmpty, !known.contains(where: { $0.contains(name) }) {
                world.fault("\(name) is left, and \(owner.id) does not know of it")
            }
        }
    }
}

/// Bytes that no two files share.
enum Bytes {
    static func random(_ count: Int, _ chance: inout Chance) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            // Of a long file only the beginning of each stretch is its own: enough to tell versions apart, and quick.
            let step = count > 1 << 16 ? 256 : 8
            if step > 8 { raw.initializeMemory(as: UInt8.self, repeating: 0) }
            var place = 0
            while place < count {
                var word = chance.next()
                withUnsafeBytes(of: &word) { part in
                    let piece = min(8, count - place)
                    raw[place..<place + piece].copyBytes(from: part.prefix(piece))
                }
                place += step
            }
            filled = count
        }
    }
}
