import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue

@testable import TransferEngine

@Suite struct NetrcTests {
    @Test("machines, the default, quotes, comments and macros are read as curl reads them")
    func reading() {
        let netrc = Netrc(
            """
            # a comment
            machine one login me password s3cret
            machine two.example
              login "a b" password "q\\"x"
            macdef init
            machine three login never password never

            machine one login second password second
            default login anonymous password guest account x
            """)
        #expect(netrc.entry(for: "one")?.password == "s3cret")
        #expect(netrc.entry(for: "two.example")?.user == "a b")
        #expect(netrc.entry(for: "two.example")?.password == "q\"x")
        #expect(netrc.entry(for: "three")?.user == "anonymous")
        #expect(Netrc("machine a login b").entry(for: "c") == nil)
        // Written by an editor of Windows: a comment ends at its line's end, too.
        let windows = Netrc("# mine\r\nmachine a login b password c\r\n# machine d login e password f\r\n")
        #expect(windows.entry(for: "a") == Netrc.Entry(machine: "a", user: "b", password: "c"))
        #expect(windows.entry(for: "d") == nil)
        #expect(Netrc("login x machine").entry(for: "c") == nil)
    }

    @Test("a file with more than 1 MiB is refused by its name, and none of its entries counts")
    func tooLarge() throws {
        let sandbox = try Sandbox()
        var secrets = TransferSecrets()
        let path = try sandbox.write("netrc", Array("machine one login me password s3cret\n#".utf8))
        secrets.netrcFile = RawPath(path)
        let whole = try CredentialSource.fetch(secrets)
        #expect({ if case .netrc(let netrc) = whole { netrc.entry(for: "one")?.user } else { nil } }() == "me")
        try sandbox.append("netrc", [UInt8](repeating: 0x20, count: 1 << 20))
        let cut = try CredentialSource.fetch(secrets)
        let why = if case .failed(let error) = cut { error.finding.happening } else { "" }
        #expect(why == "\(RawPath(path).displayed) is larger than 1 MiB, the most that is read of a netrc file")
    }

    @Test("of a user who is named the entry of that login counts, and no other's password")
    func named() {
        let netrc = Netrc(
            """
            machine one login me password mine
            machine one login bob password bobs
            machine two password anybodys
            default login bob password elsewhere
            """)
        for (host, user, password) in [
            ("one", "bob", "bobs"), ("one", "me", "mine"), ("two", "bob", "anybodys"), ("three", "bob", "elsewhere"),
            // Nothing is said of them: known by name alone.
            ("one", "eve", ""), ("three", "me", ""),
        ] {
            let entry = netrc.entry(for: host, user: user)
            #expect(entry?.user == user && entry?.password == password, "\(host) \(user)")
        }
        #expect(netrc.entry(for: "one")?.user == "me")
    }
}

@Suite struct SourceFileTests {
    private let sandbox: Sandbox
    init() throws { sandbox = try Sandbox() }

    private func open(_ path: [UInt8]) -> Result<SourceFile, LocalRefusal> {
        Result { () throws(LocalRefusal) in
            try SourceFile(SourcePlace(named: RawPath(path)), followsLinks: false)
        }
    }

    private func code(_ result: Result<SourceFile, LocalRefusal>) -> TransferErrorCode? {
        if case .failure(let refusal) = result { refusal.error.code } else { nil }
    }

    @Test("a small file is read at once and known by its identity")
    func small() throws {
        let source = try open(try sandbox.write("a", [1, 2, 3])).get()
        #expect(source.bytes == [1, 2, 3])
        #expect(source.identity.size == 3)
        try sandbox.append("a", [4])
        #expect(source.change == nil)
    }

    @Test("a large file that grows or shrinks is seen, and never read past its announced end")
    func large() throws {
        let big = [UInt8](repeating: 7, count: 100_000)
        let source = try open(try sandbox.write("b", big)).get()
        #expect(source.bytes == nil && source.change == nil)
        var buffer = [UInt8](repeating: 0, count: 10)
        func counts() throws -> [Int] {
            try [99_985, 99_995, 100_000].map { offset in
                try buffer.withUnsafeMutableBytes { try source.read(into: $0, at: offset) }
            }
        }
        #expect(try counts() == [10, 5, 0])
        try sandbox.append("b", [9])
        #expect(source.change?.size == 100_001)
        // Its end is not given away any more.
        #expect(try counts() == [10, 0, 0])
    }

    @Test("what cannot be sent is refused with the code that says why")
    func refusals() throws {
        #expect(code(open(sandbox.path("none"))) == .sourceMissing)
        #expect(code(open(sandbox.path)) == .unsupported)
        let file = try sandbox.write("c", [1])
        #expect(code(open(file + Array("/x".utf8))) == .sourceMissing)
    }
}

@Suite struct DownloadTargetTests {
    private let sandbox: Sandbox
    init() throws { sandbox = try Sandbox() }

    private func target(on disk: any LocalDisk = LinuxDisk()) -> DownloadTarget {
        DownloadTarget(mark: "t7", directory: RawPath(sandbox.path("new/dir")), umask: 0o027, on: disk)
    }

    private func write(_ target: DownloadTarget, _ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try target.write($0) }
    }

    @Test("a missing directory is made, the temporary file has the person's umask")
    func preparing() throws {
        let target = target()
        try target.prepare(for: RawPath("f"))
        #expect(sandbox.names("new/dir") == ["f.t7.part"])
        #expect(try System.stat(sandbox.path("new/dir/f.t7.part")).permissions == 0o640)
        #expect(try System.stat(sandbox.path("new/dir")).permissions == 0o750)
    }

    @Test(
        "a file system that gives no modes takes downloads, and a disk that fails keeps no file that nobody knows",
        arguments: [Errno.notPermitted, .notSupported, .notImplemented, .inputOutput])
    func modes(error: Errno) throws {
        let target = target(on: RecordingDisk(modeRefusal: error))
        guard error == .inputOutput else {
            try target.prepare(for: RawPath("f"))
            return #expect(sandbox.names("new/dir") == ["f.t7.part"])
        }
        #expect(throws: LocalRefusal.self) { try target.prepare(for: RawPath("f")) }
        #expect(sandbox.names("new/dir").isEmpty && target.descriptor == nil)
    }

    @Test(
        "a name that the file system does not take is the name's fault, not the disk's",
        arguments: [Errno.invalidArgument, Errno(rawValue: EILSEQ)])
    func refusedName(error: Errno) throws {
        let target = target(on: RecordingDisk(refusal: error))
        let refusal = #expect(throws: LocalRefusal.self) { try target.prepare(for: RawPath("a:b")) }
        let message = refusal?.error.message ?? ""
        #expect(message.contains("does not take the name a:b: queue it again with another file name"), "\(message)")
    }

    @Test(
        "a private folder that somebody puts in the place of the one just made keeps its mode",
        arguments: [true, false])
    func exchanged(byLink: Bool) throws {
        try sandbox.write("private/secret", [1])
        try System.chmod(sandbox.path("private"), mode: 0o700)
        let name = "new-" + (try System.randomBytes(6).map { String($0, radix: 16) }.joined())
        let (made, taken) = (sandbox.path(name), sandbox.path("private"))
        let moved = sandbox.path("moved")
        let exchange: @Sendable () -> Void = {
            guard (try? System.rename(made, to: moved)) != nil else { return }
            if byLink {
                symlink(String(decoding: taken, as: UTF8.self), String(decoding: made, as: UTF8.self))
            } else {
                try? System.rename(taken, to: made)
            }
        }
        // The second time it is opened to be given its mode.
        ForcedFailures.act(before: .openat, on: .path(containing: name), skip: 1, exchange)
        defer { ForcedFailures.clear(.path(containing: name)) }
        let target = DownloadTarget(mark: "t7", directory: RawPath(made), umask: 0o022)
        try? target.prepare(for: RawPath("f"))
        #expect(sandbox.names().contains("moved"), "nobody has exchanged it")
        #expect(try System.stat(byLink ? taken : made).permissions == 0o700)
    }

    @Test("links above the folders that are made are followed, as the person has named them")
    func linkAbove() throws {
        try System.mkdirs(sandbox.path("elsewhere"))
        symlink("elsewhere", String(decoding: sandbox.path("link"), as: UTF8.self))
        let target = DownloadTarget(mark: "t7", directory: RawPath(sandbox.path("link/a/../b/c")), umask: 0o027)
        try target.prepare(for: RawPath("f"))
        #expect(sandbox.names("elsewhere/b/c") == ["f.t7.part"])
        #expect(try System.stat(sandbox.path("elsewhere/b")).permissions == 0o750)
    }

    @Test("a temporary file is gone on with by its inode, whatever links to it and whomever a mount says it belongs to")
    func sharedPart() throws {
        let first = target()
        try first.prepare(for: RawPath("f"))
        try first.begin(GateOpening(offset: 0, total: 10))
        try write(first, [1, 2, 3, 4, 5])
        var point = GetResumePoint(version: RemoteVersion(), offset: 4, name: RawPath("f"))
        (point.partName, point.partInode) = (first.partName, first.partInode)
        let part = String(decoding: sandbox.path("new/dir/f.t7.part"), as: UTF8.self)
        link(part, part + "-2")
        #expect(target().reopen(point) == .part(synced: 4, length: 5))
        // Only root can give a file away.
        if chown(part, 1, 1) == 0 { #expect(target().reopen(point) == .part(synced: 4, length: 5)) }
        rename(part + "-2", part)
        try sandbox.write("new/dir/other", [1, 2, 3, 4, 5])
        rename(String(decoding: sandbox.path("new/dir/other"), as: UTF8.self), part)
        #expect(target().reopen(point) == .nothing)
    }

    @Test("where inode numbers do not outlive a mount the last bytes before the checkpoint recognise the file")
    func otherInode() async throws {
        let disk = RecordingDisk(hasStableInodes: false)
        let worker = try BlockingWorker(name: "test", threads: 1)
        defer { worker.stop() }
        let first = target(on: disk)
        try first.prepare(for: RawPath("f"))
        try first.begin(GateOpening(offset: 0, total: 10_000))
        try write(first, pattern(9000))
        #expect(
            await first.putOnDisk(by: worker) { disk, file throws(Errno) in try disk.syncBytes(file.rawValue) } == nil)
        try write(first, [1, 2, 3])
        var point = GetResumePoint(version: RemoteVersion(total: 9000), offset: 9000, name: RawPath("f"))
        first.tellPlace(to: &point)
        /// Gives the file another inode.
        func remount(_ name: String, _ bytes: [UInt8]) throws {
            try sandbox.write("new/dir/other", bytes)
            try System.rename(sandbox.path("new/dir/other"), to: sandbox.path(name))
        }
        try remount("new/dir/f.t7.part", pattern(9000) + [1, 2, 3])
        #expect(target(on: disk).reopen(point) == .part(synced: 9000, length: 9003))
        #expect(target().reopen(point) == .nothing, "elsewhere another inode is another file")
        // Another file of that name is somebody else's, whatever its length is.
        try remount("new/dir/f.t7.part", [UInt8](repeating: 7, count: 9003))
        #expect(target(on: disk).reopen(point) == .nothing)
        let part = try #require(KnownPart(point, in: first.directory))
        #expect(try part.unlink(from: disk))
        #expect(sandbox.names("new/dir") == ["f.t7.part"])
        // It has its name already, and no other file beside that.
        try remount("new/dir/f", pattern(9000))
        #expect(!Publication.isDone(point, in: first.directory, on: disk))
        try System.unlink(sandbox.path("new/dir/f.t7.part"))
        #expect(Publication.isDone(point, in: first.directory, on: disk))
        try remount("new/dir/f", [UInt8](repeating: 7, count: 9000))
        #expect(!Publication.isDone(point, in: first.directory, on: disk))
        try remount("new/dir/f.t7.part", pattern(9000))
        #expect(try part.unlink(from: disk))
        #expect(sandbox.names("new/dir") == ["f"])
    }

    @Test("an empty file of ours that a kill left under the final name goes; anybody else's stays")
    func ownEmpty() throws {
        let disk = RecordingDisk(hasStableInodes: false)
        let made = target(on: disk)
        try made.prepare(for: RawPath("f"))
        try made.begin(GateOpening(offset: 0, total: 3))
        try write(made, [1, 2, 3])
        var point = GetResumePoint(version: RemoteVersion(total: 3), offset: 3, name: RawPath("f"))
        made.tellPlace(to: &point)
        func names(after bytes: [UInt8], _ point: GetResumePoint, _ disk: any LocalDisk) throws -> [String] {
            try sandbox.write("new/dir/f", bytes)
            Publication.removeOwnEmpty(point, in: made.directory, on: disk)
            return sandbox.names("new/dir").sorted()
        }
        let both = ["f", "f.t7.part"]
        #expect(try names(after: [], point, disk) == both, "it was not getting its name")
        point.publishing = true
        #expect(try names(after: [9], point, disk) == both)
        #expect(try names(after: [], point, LinuxDisk()) == both, "an exclusive rename leaves none")
        #expect(try names(after: [], point, disk) == ["f.t7.part"])
    }

    @Test("a tail of equal bytes, or of none, proves nothing")
    func weakTail() {
        #expect(PartTail([UInt8](repeating: 0, count: 4096), before: 4096) == nil)
        #expect(PartTail([], before: 0) == nil)
        #expect(PartTail([0, 1], before: 2) != PartTail([0, 2], before: 2))
    }

    @Test("that a folder does not have the file says nothing when it is another folder, or away")
    func absence() throws {
        let made = target()
        try made.prepare(for: RawPath("f"))
        var point = GetResumePoint(version: RemoteVersion(), offset: 0, name: RawPath("f"))
        made.tellPlace(to: &point)
        let part = try #require(KnownPart(point, in: made.directory))
        #expect(try part.unlink(from: LinuxDisk()) && part.absence(on: LinuxDisk()) == .gone)
        #expect(try !part.unlink(from: LinuxDisk()))
        try System.rename(sandbox.path("new/dir"), to: sandbox.path("new/away"))
        #expect(part.absence(on: LinuxDisk()) == .folderAway)
        try System.mkdir(sandbox.path("new/dir"), mode: 0o700)
        #expect(part.absence(on: LinuxDisk()) == .otherFolder)
        #expect(part.absence(on: RecordingDisk(hasStableInodes: false)) == .gone, "there its number says nothing")
    }

    @Test("the folders on the way to a file are put on the disk once, and again when one is made anew")
    func durableFolders() {
        var folders = DurableFolders()
        #expect(folders.unsynced(above: RawPath("/a/b/c")) == ["/a/b", "/a", "/"].map { RawPath($0) })
        folders.note(RawPath("/a/b/c"))
        #expect(folders.unsynced(above: RawPath("/a/b/c")).isEmpty)
        #expect(folders.unsynced(above: RawPath("/a/b/d/e")) == ["/a/b/d", "/a/b"].map { RawPath($0) })
        folders.forget()
        #expect(folders.unsynced(above: RawPath("/a/b/c")).count == 3)
    }

    @Test("somebody else's file of that name is never touched; an empty one is taken")
    func foreignPart() throws {
        try sandbox.write("new/dir/f.t7.part", [1, 2, 3])
        try sandbox.write("new/dir/g.t7.part", [])
        let one = target()
        try one.prepare(for: RawPath("f"))
        try one.begin(GateOpening(offset: 0, total: nil))
        try write(one, [9])
        #expect(sandbox.read("new/dir/f.t7.part") == [1, 2, 3])
        #expect(sandbox.read("new/dir/f.t7-2.part") == [9])
        let two = target()
        try two.prepare(for: RawPath("g"))
        #expect(two.partName == RawPath("g.t7.part"))
    }

    @Test("an earlier part is known by its inode, and counts as far as it was recorded and is there")
    func reopening() throws {
        let first = target()
        try first.prepare(for: RawPath("f"))
        try first.begin(GateOpening(offset: 0, total: 10))
        try write(first, [1, 2, 3, 4, 5])
        var point = GetResumePoint(version: RemoteVersion(), offset: 4, name: RawPath("f"))
        point.partName = first.partName
        point.partInode = first.partInode
        #expect(target().reopen(point) == .part(synced: 4, length: 5))
        #expect(PartLoss(.part(synced: 4, length: 5), accepted: 4) == .tail(1))
        // Whoever has cut it may have put anything there.
        point.offset = 9
        #expect(target().reopen(point) == .cut(length: 5))
        point.partInode = 1
        #expect(target().reopen(point) == .nothing)
        point.partName = nil
        #expect(target().reopen(point) == .nothing)
    }

    @Test("a file that we emptied for a new beginning, and were killed before that was recorded, is laid to nobody")
    func emptied() throws {
        let first = target()
        try first.prepare(for: RawPath("f"))
        try first.begin(GateOpening(offset: 0, total: 10))
        try write(first, [1, 2, 3, 4, 5])
        var point = GetResumePoint(version: RemoteVersion(), offset: 4, name: RawPath("f"))
        first.tellPlace(to: &point)
        first.forget()
        let loss = PartLoss(target().reopen(point), accepted: 4)
        #expect(loss == .all(reason: "the temporary file is empty", 4))
    }

    @Test("an end without a download finds the empty file that was made and not recorded, and no other")
    func unrecorded() throws {
        let final = RawPath(sandbox.path("new/dir/f"))
        #expect(target().partAtEnd(nil, beside: final) == nil)
        let killed = target()
        try killed.prepare(for: RawPath("f"))
        #expect(target().partAtEnd(nil, beside: final)?.name == killed.partName)
        #expect(target().partAtEnd(nil, beside: final)?.inode == killed.partInode)
        // Whatever has bytes is somebody's.
        try sandbox.write("new/dir/f.t7.part", [1])
        #expect(target().partAtEnd(nil, beside: final) == nil)
    }

    @Test("the file is cut to where the answer goes on, and what the server repeats is dropped")
    func skipping() throws {
        let target = target()
        try target.prepare(for: RawPath("f"))
        try target.begin(GateOpening(offset: 0, total: nil))
        try write(target, [1, 2, 3, 4, 5])
        try target.begin(GateOpening(offset: 3, skip: 2, total: nil))
        try write(target, [2])
        try write(target, [3, 4, 6])
        #expect(sandbox.read("new/dir/f.t7.part") == [1, 2, 3, 4, 6])
        #expect(target.written == 5)
    }

    @Test("when somebody else has written to the temporary file nothing of it counts any more")
    func meddledWith() throws {
        let target = target()
        try target.prepare(for: RawPath("f"))
        try target.begin(GateOpening(offset: 0, total: nil))
        try write(target, [1, 2, 3])
        target.synced = 3
        try sandbox.write("new/dir/f.t7.part", [9, 9, 9, 9, 9])
        #expect(throws: Errno.self) { try write(target, [4]) }
        #expect(target.spoilt?.reason == "the temporary file was changed by somebody else")
        #expect(
            target.refusal(.badDescriptor).error.message
                == "somebody else has written to the temporary file in \(target.directory.displayed): "
                + "leave it alone, it begins again by itself")
        #expect(target.written == 0 && target.synced == 0)
        #expect(sandbox.read("new/dir/f.t7.part") == [])
    }

    @Test("a file that was cut down after it was opened is not made longer again by a hole")
    func cutBeforeTheGate() throws {
        let target = target()
        try target.prepare(for: RawPath("f"))
        try target.begin(GateOpening(offset: 0, total: nil))
        try write(target, [1, 2, 3])
        try sandbox.write("new/dir/f.t7.part", [1])
        #expect(throws: LocalRefusal.self) { try target.begin(GateOpening(offset: 3, total: 5)) }
        #expect(target.spoilt?.reason == "the temporary file was changed by somebody else" && target.written == 0)
        #expect(sandbox.read("new/dir/f.t7.part") == [])
    }

    @Test("a server that sends more than it said the file has is not listened to: the file is asked for again")
    func longer() throws {
        let target = target()
        try target.prepare(for: RawPath("f"))
        try target.begin(GateOpening(offset: 0, total: 5))
        try write(target, [0])
        try target.begin(GateOpening(offset: 1, skip: 1, total: 5))
        try write(target, [0, 1, 2])
        #expect(throws: Errno.self) { try write(target, [3, 4, 5]) }
        #expect(target.written == 0 && target.spoilt?.reason == "the server sent more than it said the file has")
        #expect(target.spoilt?.isOther == true)
        #expect(target.refusal(.badDescriptor).waits == .backoff)
        #expect(
            target.refusal(.badDescriptor).error.message
                == "the server sent more than the 5 bytes that it said the file has: if that goes on, cancel it and queue it with "
                + "--verify none, which takes the file as it comes; Martlet tries again by itself")
        // The next answer may be of another version.
        try target.begin(GateOpening(offset: 0, total: 6))
        try write(target, [0, 1, 2, 3, 4, 5])
        #expect(target.written == 6)
        #expect(target.refusal(.badDescriptor).waits == nil)
    }

    @Test("a full disk waits, a directory that cannot be written fails")
    func refusals() {
        #expect(target().refusal(.noSpace).waits == .diskSpace)
        #expect(target().refusal(.quotaExceeded).error.code == .diskFull)
        #expect(target().refusal(.accessDenied).waits == nil)
        #expect(target().refusal(.accessDenied).error.code == .destinationUnwritable)
    }

    @Test("a download whose kill came after the rename is recognised by its inode")
    func published() throws {
        let made = target()
        try made.prepare(for: RawPath("f"))
        try made.begin(GateOpening(offset: 0, total: 2))
        try write(made, [1, 2])
        var point = GetResumePoint(version: RemoteVersion(total: 2), offset: 2, name: RawPath("f"))
        point.partName = made.partName
        point.partInode = made.partInode
        #expect(!Publication.isDone(point, in: made.directory, on: LinuxDisk()))
        let part = try #require(made.knownPart(nil))
        var publication = Publication(
            part: part, size: 2, final: RawPath(sandbox.path("new/dir/f")), mayReplace: false)
        guard case .published = publication.rename() else {
            Issue.record("not published")
            return
        }
        #expect(Publication.isDone(point, in: made.directory, on: LinuxDisk()))
        // Nobody else's file is published in its place.
        try sandbox.write("new/dir/f.t7.part", [3])
        guard case .notOurs = publication.rename() else {
            Issue.record("a file of somebody else was published")
            return
        }
        var others = point
        others.partInode = try System.stat(sandbox.path("new/dir/f.t7.part")).inode
        publication.part = try #require(KnownPart(others, in: made.directory))
        publication.size = 1
        guard case .nameTaken = publication.rename() else {
            Issue.record("a file was replaced")
            return
        }
        #expect(sandbox.read("new/dir/f") == [1, 2])
    }

    @Test("a file of the length that bears the number of the temporary file is not taken for it while that stands")
    func sameNumber() throws {
        try sandbox.write("f", [1, 2])
        try sandbox.write("f.t7.part", [3, 4])
        var point = GetResumePoint(version: RemoteVersion(total: 2), offset: 2, name: RawPath("f"))
        point.partName = RawPath("f.t7.part")
        // A file system that counts anew with each mount has given the old file's number to another.
        point.partInode = try System.stat(sandbox.path("f")).inode
        let folder = RawPath(sandbox.path(""))
        #expect(!Publication.isDone(point, in: folder, on: RecordingDisk(hasStableInodes: false)))
        #expect(sandbox.read("f.t7.part") == [3, 4])
    }
}
