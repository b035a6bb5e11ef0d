import Glibc
import LinuxSystem
import Testing

@Suite struct OwnFileTests {
    @Test func `a folder and a file of ours are made for us alone, and bits for others are taken away`() throws {
        let sandbox = try Sandbox()
        let folder = sandbox.file("state")
        let made = try System.openOwnFolder(folder)
        #expect(try System.fstat(made.rawValue).permissions == 0o700)
        try System.chmod(folder, mode: 0o777)
        let opened = try System.openOwnFolder(folder)
        #expect(try System.stat(folder).permissions == 0o700)
        _ = try System.openOwnFolder(Array("below".utf8), in: opened.rawValue)
        #expect(try System.stat(sandbox.file("state/below")).permissions == 0o700)
        let file = sandbox.file("state/lock")
        _ = try System.openOwnFile(file, flags: O_RDWR | O_CREAT)
        try System.chmod(file, mode: 0o666)
        _ = try System.openOwnFile(file, flags: O_RDWR | O_CREAT)
        #expect(try System.stat(file).permissions == 0o600)
        try? System.unlink(file)
    }

    @Test func `a link, a pipe, a second name and another kind are refused, and what they lead to stays as it was`()
        throws
    {
        let sandbox = try Sandbox()
        let precious = sandbox.file("precious")
        let file = try System.open(precious, flags: O_RDWR | O_CREAT, mode: 0o644)
        try Array("photo".utf8).withUnsafeBytes { try System.writeAll(file.rawValue, $0) }
        func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
        symlink(text(precious), text(sandbox.file("link")))
        Glibc.link(text(precious), text(sandbox.file("second")))
        try System.mkfifo(sandbox.file("pipe"), mode: 0o600)
        try System.mkdirs(sandbox.file("folder"))
        #expect(throws: Untrusted.isLink(path: sandbox.file("link"))) {
            try System.openOwnFile(sandbox.file("link"), flags: O_RDWR | O_CREAT)
        }
        #expect(throws: Untrusted.hasTwoNames(path: sandbox.file("second"))) {
            try System.openOwnFile(sandbox.file("second"), flags: O_RDWR | O_CREAT)
        }
        #expect(throws: Untrusted.isOther(path: sandbox.file("pipe"), than: .regular)) {
            try System.openOwnFile(sandbox.file("pipe"), flags: O_RDWR | O_CREAT)
        }
        #expect(throws: Untrusted.isOther(path: sandbox.file("folder"), than: .regular)) {
            try System.openOwnFile(sandbox.file("folder"), flags: O_RDWR | O_CREAT)
        }
        #expect(throws: Untrusted.isOther(path: precious, than: .directory)) { try System.openOwnFolder(precious) }
        #expect(try System.stat(precious).permissions == 0o644)
        #expect(try System.stat(precious).size == 5)
    }

    @Test func `a file that has another name, too, is read and not written to`() throws {
        let sandbox = try Sandbox()
        func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
        let file = OwnFile(text(sandbox.file("state/log")))
        _ = try file.open(flags: O_WRONLY | O_APPEND | O_CREAT)
        Glibc.link(text(sandbox.file("state/log")), text(sandbox.file("state/second")))
        _ = try file.open(flags: O_RDONLY)
        #expect(throws: Untrusted.hasTwoNames(path: Array("log".utf8))) {
            try file.open(flags: O_WRONLY | O_APPEND | O_CREAT)
        }
    }

    @Test func `nobody else may put another folder in the place of ours, on the whole way to it`() throws {
        let sandbox = try Sandbox()
        func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
        let (way, place) = (sandbox.file("way"), text(sandbox.file("way/home/state")))
        try System.mkdirs(Array(place.utf8), mode: 0o700)
        // As /tmp is: names in it stay their owners'.
        try System.chmod(way, mode: 0o1777)
        try System.requireOwnWay(to: [place, place + "/missing/below"])
        try System.chmod(way, mode: 0o777)
        let open = try #require(throws: Untrusted.self) { try System.requireOwnWay(to: [place]) }
        #expect(open == .wayOpen(path: way, to: Array(place.utf8)))
        #expect("\(open)".hasPrefix("others can write in ") && "\(open)".contains(": chmod go-w it, or name another"))
        #expect(throws: open) { try System.openOwnFolder(Array(place.utf8)) }
        // A group's folder is as open; its own names are not, and a user's own group is nobody else.
        guard chown(text(way), uid_t.max, 54_321) == 0 else { return }
        try System.chmod(way, mode: 0o2775)
        #expect(throws: open) { try System.requireOwnWay(to: [place]) }
        try System.chmod(way, mode: 0o3775)
        try System.requireOwnWay(to: [place])
        #expect(chown(text(way), uid_t.max, getgid()) == 0)
        try System.chmod(way, mode: 0o775)
        try System.requireOwnWay(to: [place])
        try System.chmod(way, mode: 0o755)
        // A link of ours leads where it leads.
        symlink(place, text(sandbox.file("link")))
        try System.requireOwnWay(to: [text(sandbox.file("link/log"))])
        guard System.userID == 0 else { return }
        #expect(chown(text(way), 1, 1) == 0)
        for asked in [place, text(sandbox.file("link/log"))] {
            let foreign = try #require(throws: Untrusted.self) { try System.requireOwnWay(to: [asked]) }
            #expect(foreign == .wayOwnedBy(1, path: way, to: Array(asked.utf8)))
            #expect("\(foreign)".contains(" (uid 1), who could put something else in the place of "))
        }
        #expect(chown(text(way), 0, 0) == 0 && lchown(text(sandbox.file("link")), 1, 1) == 0)
        #expect(throws: Untrusted.self) { try System.requireOwnWay(to: [text(sandbox.file("link/log"))]) }
        // A link of theirs inside the way to where ours leads.
        symlink("way", text(sandbox.file("theirs")))
        symlink("theirs/home", text(sandbox.file("ours")))
        try System.requireOwnWay(to: [text(sandbox.file("ours/state"))])
        #expect(lchown(text(sandbox.file("theirs")), 1, 1) == 0)
        let inner = try #require(throws: Untrusted.self) {
            try System.requireOwnWay(to: [text(sandbox.file("ours/state"))])
        }
        #expect(inner == .wayOwnedBy(1, path: sandbox.file("theirs"), to: sandbox.file("ours/state")))
        // One that leads to itself ends.
        symlink("loop", text(sandbox.file("loop")))
        try System.requireOwnWay(to: [text(sandbox.file("loop/state"))])
    }

    @Test func `what belongs to another user is refused by name, a link of theirs too`() throws {
        // Only root can give files away.
        guard System.userID == 0 else { return }
        let sandbox = try Sandbox()
        func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }
        let (folder, own, link) = (sandbox.file("folder"), sandbox.file("own"), sandbox.file("link"))
        try System.mkdirs(folder)
        try System.mkdirs(own)
        symlink(text(own), text(link))
        _ = try System.openOwnFolder(link)
        chown(text(folder), 12345, 12345)
        lchown(text(link), 12345, 12345)
        #expect(throws: Untrusted.ownedBy(12345, path: folder)) { try System.openOwnFolder(folder) }
        #expect(throws: Untrusted.isLink(path: link)) { try System.openOwnFolder(link) }
        let error = Untrusted.ownedBy(12345, path: folder)
        #expect("\(error)".contains("uid 12345"))
    }

    @Test func `a process that refuses dumps has none, and still reaches what it relies on`() async {
        await #expect(processExitsWith: .success) {
            precondition(System.isDumpable)
            System.forbidDumps()
            precondition(!System.isDumpable)
            var limit = rlimit()
            precondition(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 && limit.rlim_max == 0)
            // Its own program, and a folder by its descriptor, as the control socket is reached; also as an ordinary user.
            if System.userID == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
            System.forbidDumps()
            precondition((try? System.realpath(Array("/proc/self/exe".utf8))) != nil)
            let folder = try! System.open(Array("/tmp".utf8), flags: O_RDONLY | O_DIRECTORY)
            precondition((try? System.stat(Array("/proc/self/fd/\(folder.rawValue)/.".utf8))) != nil)
            precondition((try? System.open(Array("/proc/self/statm".utf8))) != nil)
            precondition(System.environmentEntries.contains { $0.starts(with: "PATH=".utf8) })
        }
    }
}
