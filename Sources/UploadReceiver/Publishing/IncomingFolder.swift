import Digests
import DisplayText
import Glibc
import LinuxSystem
import struct Synchronization.Atomic

/// The folder of files that are still arriving: hidden, inside the served folder, so that publishing is a rename.
///
/// Each run has a folder of its own in it, `.martlet-incoming/ID`, which it holds locked while it lives. So the next run
/// can tell what a dead one left behind (its folder's lock can be had) from what a living one still writes. A run that
/// ends leaves nothing. Where somebody clears the folder away while the run lives, the next file begins another one, with the same checks.
final class IncomingFolder: Sendable {
    /// Its name; no request reaches below it.
    static let name = ".martlet-incoming"

    /// A run's folder, locked.
    private struct Run: Sendable {
        let shared: OwnedDescriptor
        let id: [UInt8]
        let folder: OwnedDescriptor
    }

    private let run: Mutex<Run>
    /// The number of unfinished files of dead runs that were removed at the start.
    let removedLeftovers: Int
    /// The disk space that its files may take.
    let room: DiskRoom
    private let root: OwnedDescriptor
    private let count = Atomic<UInt64>(0)

    init(in root: OwnedDescriptor, _ room: DiskRoom) throws(Errno) {
        self.root = root
        self.room = room
        let begun = try Self.beginRun(in: root.rawValue)
        run = Mutex(begun)
        removedLeftovers = try Self.removeLeftovers(in: begun.shared.rawValue, except: begun.id)
    }

    /// Makes a new, empty file that only this run knows.
    func makeFile() throws(Errno) -> (OwnedDescriptor, name: [UInt8], folder: OwnedDescriptor) {
        let run = run.withLock { $0 }
        do throws(Errno) {
            return try makeFile(in: run.folder)
        } catch .noSuchFile {
            return try makeFile(in: renewed(run).folder)
        }
    }

    /// The run after one whose folder is gone; another request may have begun it.
    private func renewed(_ lost: Run) throws(Errno) -> Run {
        try run.withLock { run throws(Errno) in
            if run.id == lost.id { run = try Self.beginRun(in: root.rawValue) }
            return run
        }
    }

    private func makeFile(
        in folder: OwnedDescriptor
    ) throws(Errno) -> (OwnedDescriptor, name: [UInt8], folder: OwnedDescriptor) {
        let number = count.add(1, ordering: .relaxed).newValue
        let name = Array("\(number)\(Self.partSuffix)".utf8)
        // 0666 and the umask decide, as for a file that a user saves here; nobody else can look into the folder.
        let flags = O_RDWR | O_CREAT | O_EXCL
        return (try System.openat(folder.rawValue, name, flags: flags, mode: 0o666), name, folder)
    }

    /// - Parameter folder: the one that it was made in.
    static func remove(_ name: [UInt8], in folder: OwnedDescriptor) {
        // A file that is already gone is as good as removed, and any other failure leaves it to the next run.
        try? System.unlinkat(folder.rawValue, name)
    }

    /// Ends the run; no file of it may be left. The shared folder goes too, unless another run is in it.
    func endRun() {
        let run = run.withLock { $0 }
        try? System.rmdirat(run.shared.rawValue, run.id)
        try? System.rmdirat(root.rawValue, Array(Self.name.utf8))
        run.folder.close()
    }

    private static let partSuffix = ".part"

    private static func beginRun(in root: Int32) throws(Errno) -> Run {
        for _ in 0..<100 {
            do {
                let shared = try HiddenFolder.open(name, in: root, making: true)
                let id = Array(Hexadecimal.encode(try System.randomBytes(8)).utf8)
                try System.mkdirat(shared.rawValue, id, mode: 0o700)
                let folder = try System.openat(shared.rawValue, id, flags: O_RDONLY | O_DIRECTORY)
                // A run that starts now may have seen the new folder before it was locked, and be removing it.
                guard try folder.tryLockExclusively(), try System.fstat(folder.rawValue).linkCount > 0
                else { continue }
                return Run(shared: shared, id: id, folder: folder)
            } catch .noSuchFile {
                // A run that ends took the shared folder away between two of our steps.
                continue
            }
        }
        // The served folder itself is gone.
        throw .noSuchFile
    }

    /// Removes what runs left that live no more. Only names of exactly our pattern are touched.
    private static func removeLeftovers(in shared: Int32, except own: [UInt8]) throws(Errno) -> Int {
        let reader = try DirectoryReader(at: shared, name: [UInt8(ascii: ".")])
        var removed = 0
        while let entry = try reader.next() {
            guard isRunID(entry.name), entry.name != own,
                let folder = try? System.openat(shared, entry.name, flags: O_RDONLY | O_DIRECTORY),
                (try? folder.tryLockExclusively()) == true
            else { continue }
            let parts = try DirectoryReader(at: folder.rawValue, name: [UInt8(ascii: ".")])
            while let part = try parts.next() {
                guard isPart(part.name), (try? System.unlinkat(folder.rawValue, part.name)) != nil else { continue }
                removed += 1
            }
            // What is not ours stays, and its folder with it.
            try? System.rmdirat(shared, entry.name)
        }
        return removed
    }

    static func isRunID(_ name: [UInt8]) -> Bool {
        name.count == 16 && name == Array(Hexadecimal.encode(hexadecimalBytes(name)).utf8)
    }

    static func isPart(_ name: [UInt8]) -> Bool {
        let text = String(peer: name)
        return text.hasSuffix(partSuffix) && UInt64(text.dropLast(partSuffix.utf8.count)) != nil
    }

    private static func hexadecimalBytes(_ name: [UInt8]) -> [UInt8] {
        Hexadecimal.decode(String(peer: name)) ?? []
    }
}
