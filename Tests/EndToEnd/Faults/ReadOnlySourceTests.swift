import Glibc
import TestSupport
import Testing
import TransferModel

/// A person's files are read and nothing else: they may lie where nobody can write, and look afterwards as they did before.
@Suite(.inLane) struct ReadOnlySourceTests {
    /// Everything of a tree that a careless program could change.
    private struct Look: Equatable {
        var digests: [RawPath: String]
        var facts: [RawPath: [Int64]]

        init(_ folder: RawPath) throws {
            digests = try EndToEndTests.digests(below: folder)
            facts = Self.facts(folder, RawPath(""))
        }

        private static func facts(_ root: RawPath, _ below: RawPath) -> [RawPath: [Int64]] {
            let here = below.bytes.isEmpty ? root : root.appending(below)
            var status = stat()
            guard lstat(cString(here), &status) == 0 else { return [:] }
            let own = [
                Int64(status.st_ino), Int64(status.st_size), Int64(status.st_mode), Int64(status.st_nlink),
                Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), Int64(status.st_ctim.tv_sec),
                Int64(status.st_ctim.tv_nsec),
            ]
            return names(in: here).reduce(into: [below: own]) { found, name in
                found.merge(facts(root, below.appending(name))) { $1 }
            }
        }
    }

    // One for each way in which a source is read.
    @Test(arguments: WireProtocol.tested.filter { [.ietf, .s3, .sftp, .ftp, .put].contains($0) })
    func `sources are never changed, whatever is done with their uploads`(wire: WireProtocol) throws {
        try expectUnchanged(WireBench(wire), isReadOnly: false)
    }

    @Test(
        .enabled(if: Mounting.isAllowed, "nothing can be mounted here"),
        arguments: WireProtocol.tested.filter { [.sftp, .put].contains($0) })
    func `sources may lie where nothing can be written`(wire: WireProtocol) throws {
        try expectUnchanged(WireBench(wire), isReadOnly: true)
    }

    /// - Parameter isReadOnly: on a file system that nothing can be written to.
    private func expectUnchanged(_ bench: WireBench, isReadOnly: Bool) throws {
        let (wire, sandbox) = (bench.wire, bench.sandbox)
        let tree = try FileTree.make(
            at: "\(sandbox.root)/batch", count: 20, seed: 61, largest: 1_500_000, onlyText: !wire.carriesBytes)
        try write(SeededBytes.stamped(7_000_000, seed: 62), to: tree.root.appending(RawPath("large.bin")))
        defer { if isReadOnly { umount2(tree.path, Int32(MNT_DETACH)) } }
        if isReadOnly {
            try #require(mount(tree.path, tree.path, "", UInt(MS_BIND), nil) == 0)
            try #require(mount(tree.path, tree.path, "", UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
        }
        let before = try Look(tree.root)

        // Cut, killed, cancelled, sent once more over what is there, refused.
        try bench.proxy.set(wire.rule("rst up 700k every=3"))
        let cut = try bench.send(tree.path)
        try waitUntil("something is completed") { try (sandbox.batch(cut)["filesCompleted"].integer ?? 0) >= 3 }
        try bench.killEngine()
        // It may be over already.
        try sandbox.martlet("cancel", cut)
        try bench.proxy.set()
        let whole = try sandbox.queue(
            "upload", bench.options + ["--if-exists", "replace", tree.path, bench.destination], #_sourceLocation)
        #expect(try sandbox.wait(whole).status == 0)
        let refused = try bench.send(tree.path)
        try sandbox.wait(refused)
        try sandbox.succeed("purge", "--finished")

        #expect(try Look(tree.root) == before)
        if isReadOnly { #expect(open("\(tree.path)/new", O_CREAT | O_WRONLY, 0o644) == -1, "it is read-only indeed") }
    }
}
