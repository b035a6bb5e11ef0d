import Glibc
import Testing

@testable import LinuxSystem

@Suite struct FileTests {
    @Test func `an error says what the C library says`() {
        #expect(Errno.noSuchFile.description == "No such file or directory")
        #expect(Errno(rawValue: 9999).description.contains("9999"))
    }

    @Test func `bytes come back from where they were written, and the status tells size and kind`() throws {
        let sandbox = try Sandbox()
        let path = sandbox.file("a")
        let file = try System.open(path, flags: O_RDWR | O_CREAT)
        try Array("hello".utf8).withUnsafeBytes { try System.pwriteAll(file.rawValue, $0, at: 3) }
        var back = [UInt8](repeating: 1, count: 16)
        let count = try back.withUnsafeMutableBytes { try System.preadAll(file.rawValue, $0, at: 0) }
        #expect(count == 8)
        #expect(Array(back[..<8]) == [0, 0, 0] + Array("hello".utf8))
        let status = try System.fstat(file.rawValue)
        #expect(status.size == 8)
        #expect(status.kind == .regular)
        #expect(try status == System.stat(path))
        #expect(status.userID == System.userID)
    }

    @Test func `the time of modification is kept to the nanosecond, also before 1970`() throws {
        let sandbox = try Sandbox()
        let file = try System.open(sandbox.file("a"), flags: O_RDWR | O_CREAT)
        for time: Int64 in [1_700_000_000_123_456_789, -1_500_000_000] {
            try System.setModificationTime(file.rawValue, nanoseconds: time)
            #expect(try System.fstat(file.rawValue).modifiedNanoseconds == time)
        }
    }

    @Test func `a time that no file has becomes the first or last there is, and leaves room to reckon with`() {
        for (seconds, nanoseconds, told) in [
            (Int.max, 999_999_999, FileStatus.times.upperBound),
            (9_223_372_036, 854_775_807, FileStatus.times.upperBound),
            (9_000_000_000, 1, FileStatus.times.upperBound), (8_999_999_999, 7, 8_999_999_999_000_000_007),
            (-1, 999_999_999, -1), (-8_999_999_999, 7, -8_999_999_998_999_999_993),
            (-9_000_000_001, 0, FileStatus.times.lowerBound), (.min, 0, FileStatus.times.lowerBound),
        ] as [(Int, Int, Int64)] {
            var status = Glibc.stat()
            status.st_mtim = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
            // Network file systems tell whatever their servers say.
            (status.st_blocks, status.st_size) = (.max, .min)
            #expect(FileStatus(status).modifiedNanoseconds == told, "\(seconds)")
        }
    }

    @Test func `a path with a NUL inside is refused instead of meaning another file`() throws {
        let sandbox = try Sandbox()
        _ = try System.open(sandbox.file("a"), flags: O_RDWR | O_CREAT)
        #expect(throws: Errno.invalidArgument) { try System.stat(sandbox.file("a\0b")) }
        #expect(throws: Errno.invalidArgument) { try System.rename(sandbox.file("a"), to: sandbox.file("b\0")) }
    }

    @Test func `openat refuses to follow a link`() throws {
        let sandbox = try Sandbox()
        _ = try System.open(sandbox.file("target"), flags: O_RDWR | O_CREAT)
        #expect(symlink("target", String(decoding: sandbox.file("link"), as: UTF8.self)) == 0)
        let directory = try System.open(sandbox.path, flags: O_RDONLY | O_DIRECTORY)
        #expect(throws: Errno.tooManyLinks) { try System.openat(directory.rawValue, Array("link".utf8)) }
        #expect(try System.fstatat(directory.rawValue, Array("link".utf8), followingLinks: false).kind == .symbolicLink)
        #expect(try System.fstatat(directory.rawValue, Array("link".utf8), followingLinks: true).kind == .regular)
    }

    @Test func `renaming without replacing leaves an existing file alone`() throws {
        let sandbox = try Sandbox()
        for name in ["a", "b"] {
            let file = try System.open(sandbox.file(name), flags: O_RDWR | O_CREAT)
            try Array(name.utf8).withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
        }
        #expect(throws: Errno.fileExists) {
            try System.renameWithoutReplacing(sandbox.file("a"), to: sandbox.file("b"))
        }
        #expect(try contents(of: sandbox.file("b")) == "b")
        try System.renameWithoutReplacing(sandbox.file("a"), to: sandbox.file("c"))
        #expect(try contents(of: sandbox.file("c")) == "a")
        #expect(throws: Errno.noSuchFile) { try System.stat(sandbox.file("a")) }
    }

    @Test func `a name leads to the entry of that name, or to one of another spelling`() throws {
        let sandbox = try Sandbox()
        let names = [Array("Readme.1".utf8), Array("rEADME.1".utf8)]
        _ = try System.open(sandbox.file("Readme.1"), flags: O_RDWR | O_CREAT)
        #expect(System.entryName(names[0], in: sandbox.path) == names[0])
        #expect(System.entryName(names[1], in: sandbox.path) == nil)
        // As a file system that ignores case: both lead to one file.
        try #require(
            link(
                String(decoding: sandbox.file("Readme.1"), as: UTF8.self),
                String(decoding: sandbox.file("rEADME.1"), as: UTF8.self)) == 0)
        #expect(System.entryName(names[1], in: sandbox.path) == names[1], "the entry itself is there")
        // A folder that may be searched and not read: what is there is there.
        let folder = String(decoding: sandbox.path, as: UTF8.self)
        ForcedFailures.fail(.open, on: .path(containing: folder), with: .accessDenied)
        #expect(System.entryName(Array("./Readme.1".utf8), in: sandbox.path) == Array("./Readme.1".utf8))
        ForcedFailures.clear(.path(containing: folder))
        let spelt = System.entryName(Array("./Readme.1".utf8), in: sandbox.path)
        #expect(spelt.map { names.contains($0) } == true)
        // One that tells case apart and not the two ways to write an accent.
        let forms = ["caf\u{E9}", "cafe\u{301}"].map { Array($0.utf8) }
        _ = try System.open(sandbox.path + [UInt8(ascii: "/")] + forms[0], flags: O_RDWR | O_CREAT)
        #expect(System.entryName(forms[1], in: sandbox.path) == nil)
        try #require(link("\(folder)/caf\u{E9}", "\(folder)/cafe\u{301}") == 0)
        for form in forms {
            #expect(System.entryName(form, in: sandbox.path) == form)
            let spelt = System.entryName(Array("./".utf8) + form, in: sandbox.path)
            #expect(spelt.map { forms.contains($0) } == true)
        }
        _ = try System.open(sandbox.file("1"), flags: O_RDWR | O_CREAT)
        #expect(System.entryName(Array("./1".utf8), in: sandbox.path) == Array("./1".utf8), "no letter to ask with")
    }

    @Test(arguments: [Errno.notPermitted, .notImplemented, .notSupported])
    func `without the flag and without second names a file is moved over an empty one of our own`(error: Errno) throws {
        let sandbox = try Sandbox()
        let (a, b, c) = (sandbox.file("a"), sandbox.file("b"), sandbox.file("c"))
        for name in [a, b] {
            let file = try System.open(name, flags: O_RDWR | O_CREAT)
            try name.suffix(1).withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
        }
        let target = ForcedFailures.Target.path(containing: String(decoding: a, as: UTF8.self))
        defer { ForcedFailures.clear(target) }
        ForcedFailures.fail(.renameat2, on: target, with: .invalidArgument, times: .max)
        ForcedFailures.fail(.link, on: target, with: error, times: .max)
        #expect(throws: Errno.fileExists) { try System.renameWithoutReplacing(a, to: b) }
        try System.renameWithoutReplacing(a, to: c)
        #expect(try contents(of: c) == "a")
        #expect(throws: Errno.noSuchFile) { try System.stat(a) }
        #expect(try contents(of: b) == "b")
        // Nothing stays of a name that was taken for nothing.
        ForcedFailures.fail(.rename, on: target, with: .noSpace)
        #expect(throws: Errno.noSpace) {
            try System.rename(c, to: a)
            try System.renameWithoutReplacing(a, to: c)
        }
        #expect(try contents(of: a) == "a")
        #expect(throws: Errno.noSuchFile) { try System.stat(c) }
    }

    @Test func `inode numbers may change at the next mount of some file systems`() {
        let (ext4, xfs, btrfs, tmpfs): (UInt32, UInt32, UInt32, UInt32) = (
            0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994
        )
        let (fat, exFAT, fuse, cifs, smb2): (UInt32, UInt32, UInt32, UInt32, UInt32) =
            (0x4D44, 0x2011_BAB0, 0x6573_5546, 0xFF53_4D42, 0xFE53_4D42)
        for type in [ext4, xfs, btrfs, tmpfs] { #expect(System.hasStableInodes(type: type), "\(type)") }
        for type in [fat, exFAT, fuse, cifs, smb2] { #expect(!System.hasStableInodes(type: type), "\(type)") }
    }

    @Test func `directories are made with those above them, and a file in the way is told`() throws {
        let sandbox = try Sandbox()
        try System.mkdirs(sandbox.file("x/y/z/"))
        try System.mkdirs(sandbox.file("x/y/z"))
        #expect(try System.stat(sandbox.file("x/y/z")).kind == .directory)
        _ = try System.open(sandbox.file("f"), flags: O_RDWR | O_CREAT)
        #expect(throws: Errno.notDirectory) { try System.mkdirs(sandbox.file("f")) }
        #expect(throws: Errno.notDirectory) { try System.mkdirs(sandbox.file("f/g")) }
    }

    @Test func `a directory is streamed as bytes, without dot and dot dot`() throws {
        let sandbox = try Sandbox()
        let names: [[UInt8]] = [Array("...".utf8), [0xff, 0x01, 0x0a], Array("d".utf8)]
        _ = try System.open(sandbox.path + [0x2f] + names[0], flags: O_RDWR | O_CREAT)
        _ = try System.open(sandbox.path + [0x2f] + names[1], flags: O_RDWR | O_CREAT)
        try System.mkdir(sandbox.path + [0x2f] + names[2], mode: 0o700)
        let reader = try DirectoryReader(path: sandbox.path)
        var seen: [[UInt8]: FileKind] = [:]
        while let entry = try reader.next() { seen[entry.name] = entry.kind }
        #expect(seen == [names[0]: .regular, names[1]: .regular, names[2]: .directory])
    }

    @Test func `a file system that tells no kinds is asked for each entry's own`() throws {
        let sandbox = try Sandbox()
        try System.mkdir(sandbox.file("folder"), mode: 0o700)
        #expect(symlink("folder", String(decoding: sandbox.file("link"), as: UTF8.self)) == 0)
        let reader = try DirectoryReader(path: sandbox.path)
        ForcedFailures.fail(.readdirKind, on: .descriptor(reader.descriptor), with: .notSupported)
        defer { ForcedFailures.clear(.descriptor(reader.descriptor)) }
        var seen: [String: FileKind] = [:]
        while let entry = try reader.next() { seen[String(decoding: entry.name, as: UTF8.self)] = entry.kind }
        #expect(seen == ["folder": .directory, "link": .symbolicLink])
    }

    @Test func `only one holder has the exclusive lock`() throws {
        let sandbox = try Sandbox()
        let first = try System.open(sandbox.file("lock"), flags: O_RDWR | O_CREAT)
        let second = try System.open(sandbox.file("lock"), flags: O_RDWR)
        #expect(try first.tryLockExclusively())
        #expect(try !second.tryLockExclusively())
        first.close()
        #expect(try second.tryLockExclusively())
    }

    @Test func `a lock ends with its owner, though a child that is being started has a copy of the file`() throws {
        let sandbox = try Sandbox()
        let first = try System.open(sandbox.file("lock"), flags: O_RDWR | O_CREAT)
        #expect(try first.tryLockExclusively())
        let copyOfAChild = OwnedDescriptor(dup(first.rawValue))
        defer { copyOfAChild.close() }
        first.close()
        let next = try System.open(sandbox.file("lock"), flags: O_RDWR)
        #expect(try next.tryLockExclusively())
    }

    @Test func `a closed owner does not close the number's next user`() throws {
        let first = try System.open(Array("/dev/null".utf8))
        first.close()
        let second = try System.open(Array("/dev/null".utf8))
        first.close()
        _ = try System.fstat(second.rawValue)
        #expect(first.rawValue == -1)
    }

    #if DEBUG
        @Test func `a forced failure hits the named descriptor only, as often as asked`() throws {
            let sandbox = try Sandbox()
            let one = try System.open(sandbox.file("1"), flags: O_RDWR | O_CREAT)
            let two = try System.open(sandbox.file("2"), flags: O_RDWR | O_CREAT)
            ForcedFailures.fail(.pwrite, on: .descriptor(one.rawValue), with: .noSpace, times: 1, skip: 1)
            let byte: [UInt8] = [7]
            func write(_ file: OwnedDescriptor) throws {
                try byte.withUnsafeBytes { try System.pwriteAll(file.rawValue, $0, at: 0) }
            }
            try write(two)
            try write(one)
            #expect(throws: Errno.noSpace) { try write(one) }
            try write(one)
        }
    #endif

    @Test("a reserve stays free, a hundredth of a small disk; a file system that tells nothing is written to")
    func reserve() throws {
        let (gigabyte, reserve) = (UInt64(1_000_000_000), UInt64(64 << 20))
        #expect(DiskSpace(free: gigabyte, total: 100 * gigabyte).room == gigabyte - reserve)
        #expect(DiskSpace(free: gigabyte, total: gigabyte).room == gigabyte - gigabyte / 100)
        #expect(DiskSpace(free: reserve - 1, total: 100 * gigabyte).room == 0)
        #expect(DiskSpace(free: 0, total: 0).room == .max)
        var room = GrantedRoom()
        #expect(throws: Errno.noSpace) { try room.take(6) { 5 } }
        try room.take(3) { 5 }
        // What is left of it is taken without asking.
        try room.take(2) { 0 }
        #expect(throws: Errno.noSpace) { try room.take(1) { 0 } }
    }
}
