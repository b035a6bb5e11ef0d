import Glibc
import LinuxSystem
import ServiceWire
import TestSupport
import Testing
import TransferModel

@testable import MartletKit

extension Sandbox {
    /// A file of so many zeroes.
    @discardableResult
    fileprivate func file(_ name: [UInt8], _ bytes: Int = 0) throws -> [UInt8] {
        try write(name, [UInt8](repeating: 0, count: bytes))
    }

    fileprivate func folder(_ name: String) throws { try System.mkdirs(path(name)) }
}

/// One after another: a forced failure counts for the next threads that are made.
@Suite("This machine's files", .serialized)
struct LocalFilesTests {
    #if DEBUG
        @Test func `without threads nothing is looked at, and that is said`() {
            ForcedFailures.fail(.pthreadCreate, on: .path(containing: "martlet-looks"), with: .wouldBlock)
            let error = #expect(throws: RequestError.self) { try LocalFiles() }
            #expect(error?.message == "no thread to look at files with: Resource temporarily unavailable")
        }
    #endif

    private func front(in home: Sandbox) throws -> EngineConnection {
        let home = String(decoding: home.path, as: UTF8.self)
        let places = try Places(environment: ["MARTLET_HOME": home], currentDirectory: "/")
        return try EngineConnection(ConnectionOptions(launching: .never), places: places)
    }

    @Test func `nothing that a screen keeps goes through a link that somebody has prepared`() async throws {
        let home = try Sandbox()
        let precious = String(decoding: try home.write(Array("precious".utf8), [7]), as: UTF8.self)
        try System.mkdirs(home.path("state/log"))
        let names = ["screen", "recent", "recent.lock", "copied.txt", "log/screen.log"]
        for name in names { symlink(precious, String(decoding: home.path("state/" + name), as: UTF8.self)) }
        let engine = try front(in: home)
        #expect(engine.keptScreen() == nil && engine.recentPlaces() == RecentPlaces(bytes: []))
        engine.keepScreen([1])
        await engine.remember { $0 = RecentPlaces(bytes: Array("/a".utf8)) }
        #expect((try? engine.write([2], as: "copied.txt").get()) != nil)
        var printed = GrowingFile(engine.screenLogFile)
        #expect(printed.newLines().isEmpty)
        #expect(SmallFile.contents(precious) == [7])
        // What is replaced stands where the link was.
        #expect(engine.keptScreen() == [1])
        // A pipe holds nobody up.
        let log = String(decoding: home.path("state/log/screen.log"), as: UTF8.self)
        #expect(unlink(log) == 0 && mkfifo(log, 0o600) == 0)
        _ = GrowingFile(log)
        await engine.close()
    }

    @Test func `remembered places that cannot be read whole are not replaced by what was made of their beginning`()
        async throws
    {
        let home = try Sandbox()
        let bytes = [UInt8](repeating: 0x23, count: (1 << 20) + 1)
        let path = try home.write(Array("state/recent".utf8), bytes)
        let engine = try front(in: home)
        await engine.remember { $0 = RecentPlaces(bytes: Array("/a".utf8)) }
        #expect(try System.lstat(path).size == Int64(bytes.count))
        await engine.close()
    }

    @Test func `nothing is kept in a folder of another user's`() async throws {
        // Only root can give folders away.
        guard System.userID == 0 else { return }
        let home = try Sandbox()
        let state = home.path("state")
        try System.mkdirs(home.path("state/log"))
        try home.write(Array("state/screen".utf8), [7])
        for path in [state, home.path("state/log")] {
            #expect(chown(String(decoding: path, as: UTF8.self), 1, 1) == 0)
        }
        let engine = try front(in: home)
        #expect(engine.keptScreen() == nil)
        engine.keepScreen([1])
        await engine.remember { $0 = RecentPlaces(bytes: Array("/a".utf8)) }
        _ = GrowingFile(engine.screenLogFile)
        let failure = #expect(throws: RequestError.self) { try engine.write([2], as: "copied.txt").get() }
        #expect(failure?.message.contains("(uid 1)") == true)
        #expect(SmallFile.contents(home.path("state/screen")) == [7])
        #expect(home.names("state") == ["log", "screen"] && home.names("state/log").isEmpty)
        await engine.close()
    }

    @Test func `a file that was not read whole is not replaced by what was made of its beginning`() throws {
        let folder = try Sandbox()
        let path = String(decoding: try folder.file(Array("long".utf8), (1 << 20) + 1), as: UTF8.self)
        #expect(throws: Errno(rawValue: EFBIG)) { try SmallFile.replace(path, with: [1]) }
        // Commands may stand in such files, and nobody opens the other end of a pipe.
        let pipe = path + ".pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(SmallFile.contents(pipe) == nil && SmallFile.refusal(pipe)?.contains("no plain file") == true)
        #expect(throws: Errno.invalidArgument) { try SmallFile.replace(pipe, with: [1]) }
        let open = path + ".open"
        try SmallFile.replace(open, with: [1])
        #expect(SmallFile.contents(open) == [1] && SmallFile.refusal(open) == nil)
        #expect(chmod(open, 0o666) == 0)
        #expect(SmallFile.contents(open) == nil && SmallFile.refusal(open)?.contains("chmod") == true)
        // A group that is the user's alone may write it; one that others may be in, no. Only root can give a file away to that.
        #expect(chmod(open, 0o664) == 0)
        if chown(open, uid_t.max, 54_321) == 0 {
            #expect(SmallFile.contents(open) == nil && SmallFile.refusal(open)?.contains("chmod") == true)
        }
        let link = path + ".link"
        #expect(symlink("nowhere", link) == 0)
        #expect(SmallFile.refusal(link)?.contains("link") == true && SmallFile.refusal(path + ".none") == nil)
        #expect(SmallFile.refusal("/")?.contains("no plain file") == true)
        #expect(try System.lstat(Array(path.utf8)).size == (1 << 20) + 1)
        let short = String(decoding: try folder.file(Array("short".utf8), 9), as: UTF8.self)
        // What stands under the name of the version in the making goes, and is not written to.
        let precious = path + ".precious"
        #expect(symlink(precious, "\(short).\(getpid()).new") == 0)
        try SmallFile.replace(short, with: [1])
        #expect(access(precious, F_OK) != 0)
        #expect(SmallFile.contents(short) == [1])
    }

    @Test("a file that cannot be read for a moment is not written anew without its contents")
    func unreadForAMoment() async throws {
        let folder = try Sandbox()
        let name = "momentary-\(getpid()).conf"
        let path = String(decoding: try folder.write(Array(name.utf8), Array("old\n".utf8)), as: UTF8.self)
        for error in [Errno.tooManyOpenFiles, .inputOutput] {
            ForcedFailures.fail(.open, on: .path(containing: name), with: error, times: 1, skip: 1)
            await #expect(throws: error) { try await SmallFile.change(path) { $0 + [1] } }
            #expect(SmallFile.contents(path) == Array("old\n".utf8))
            ForcedFailures.clear(.path(containing: name))
            ForcedFailures.fail(.open, on: .path(containing: name), with: error, times: 1)
            #expect(throws: error) { _ = try DestinationsOnDisk(path, now: 0).file }
            ForcedFailures.clear(.path(containing: name))
        }
        try await SmallFile.change(path) { $0 + [1] }
        #expect(SmallFile.contents(path) == Array("old\n".utf8) + [1])
        #expect(try SmallFile.contents(toChange: path + ".none") == [])
    }

    @Test("links to one file have one lock, beside the file")
    func lockOfLinks() throws {
        let folder = try Sandbox()
        try folder.folder("real")
        try folder.folder("links")
        let real = String(decoding: try folder.file(Array("real/a.conf".utf8)), as: UTF8.self)
        let links = ["links/one.conf", "links/two.conf"].map { String(decoding: folder.path($0), as: UTF8.self) }
        for link in links { #expect(symlink(real, link) == 0) }
        let held = try #require(try FileLock.take(links[0]))
        #expect(try FileLock.take(links[1]) == nil && FileLock.take(real) == nil)
        #expect((try? System.lstat(Array((links[0] + ".lock").utf8))) == nil)
        #expect((try? System.lstat(Array((real + ".lock").utf8))) != nil)
        withExtendedLifetime(held) {}
    }

    @Test("a folder comes sorted, in more and more entries, whole at the end")
    func listing() async throws {
        let folder = try Sandbox()
        for number in 0..<1500 { try folder.file(Array("f\(number)".utf8), number) }
        try folder.folder("z")
        var portions: [FolderSnapshot] = []
        FolderReader.read(folder.path, FolderOrder(), isWanted: { true }, publish: { portions.append($0) })
        #expect(portions.count > 2)
        #expect(portions[0].entries.count == FolderReader.firstPortion)
        // The number of portions grows with the logarithm: each sorts what the one before did not have.
        #expect(portions.count < 8)
        for portion in portions {
            #expect(portion.entries == portion.entries.sorted(by: FolderOrder().places))
        }
        let last = try #require(portions.last)
        #expect(last.isComplete && last.problem == nil)
        #expect(last.entries.count == 1501)
        #expect(last.entries.first?.name == Array("z".utf8) && last.entries.first?.kind == .folder)
        #expect(last.entries.first { $0.name == Array("f7".utf8) }?.size == 7)
    }

    @Test("reading stops when nobody wants it any more")
    func abandoned() throws {
        let folder = try Sandbox()
        for number in 0..<600 { try folder.file(Array("f\(number)".utf8)) }
        var portions = 0
        FolderReader.read(folder.path, FolderOrder(), isWanted: { portions == 0 }, publish: { _ in portions += 1 })
        #expect(portions == 1)
    }

    @Test("links, pipes, names that are not UTF-8 and folders that are not there are said to be so")
    func oddities() throws {
        let folder = try Sandbox()
        try folder.file([0x62, 0xFF, 0x1B])
        try System.mkfifo(folder.path + Array("/pipe".utf8), mode: 0o600)
        #expect(symlink("/", String(decoding: folder.path, as: UTF8.self) + "/link") == 0)
        var entries: [FolderEntry] = []
        FolderReader.read(folder.path, FolderOrder(), isWanted: { true }, publish: { entries = $0.entries })
        #expect(entries.map(\.kind) == [.folder, .file, .other])
        #expect(entries.map(\.isLink) == [true, false, false])
        #expect(entries[1].name == [0x62, 0xFF, 0x1B])
        var problem: String?
        FolderReader.read(
            folder.path + Array("/none".utf8), FolderOrder(), isWanted: { true }, publish: { problem = $0.problem })
        #expect(problem != nil)
    }

    @Test("a folder is counted to its depths, links left out")
    func counting() async throws {
        let folder = try Sandbox()
        try folder.folder("a/b/c")
        try folder.folder("a/none")
        try folder.file(Array("a/one".utf8), 10)
        try folder.file(Array("a/b/c/two".utf8), 32)
        #expect(symlink("..", String(decoding: folder.path, as: UTF8.self) + "/a/loop") == 0)
        let files = try LocalFiles()
        var last = FolderCount()
        for await count in files.count(folder.path) { last = count }
        #expect(last.isComplete)
        #expect(last.files == 2 && last.bytes == 42 && last.folders == 4 && last.leftOut == 1)
        #expect(last.emptyFolders == 1 && last.firstEmpty == [Array("a/none/".utf8)])
        #expect(last.firstLeftOut == [Array("a/loop".utf8)])
        #expect(last.largest == Array("a/b/c/two".utf8) && last.largestBytes == 32 && last.newest != nil)
    }

    @Test("patterns are counted as the engine's walk takes them, and what they keep is named")
    func patterns() async throws {
        let folder = try Sandbox()
        try folder.folder("raw/cache")
        try folder.file(Array("raw/one.jpg".utf8), 10)
        try folder.file(Array("raw/two.tmp".utf8), 5)
        try folder.file(Array("raw/cache/three.jpg".utf8), 7)
        try folder.file(Array("four.jpg".utf8), 3)
        try folder.file(Array("five.txt".utf8), 4)
        let paths = ["raw", "four.jpg", "five.txt"].map { folder.path + Array("/\($0)".utf8) }
        let files = try LocalFiles()
        var last = FolderCount()
        for await count in files.count(paths, include: ["*.jpg"], exclude: ["cache"]) { last = count }
        #expect(last.isComplete)
        #expect(last.files == 2 && last.bytes == 13)
        #expect(last.keptFiles == 2 && last.keptFolders == 1)
        #expect(Set(last.firstKept) == Set(["raw/two.tmp", "raw/cache/", "five.txt"].map { Array($0.utf8) }))
        for await count in files.count(paths, include: ["raw/*"], exclude: []) { last = count }
        #expect(last.files == 2 && last.keptFiles == 3, "the name of what was chosen may stand in front")
        for await count in files.count([paths[0] + Array("/.".utf8)], include: ["raw/*"], exclude: []) { last = count }
        #expect(last.files == 0 && last.keptFiles == 3, "contents arrive without it")
        #expect(last.firstKept.contains(Array("raw/one.jpg".utf8)), "\(last.firstKept)")
    }

    @Test("looks that never come back hold up other looks, and nothing else")
    func deadDisk() async throws {
        let files = try LocalFiles()
        let (ending, end) = try System.pipe()
        let (read, write) = (ending.rawValue, end.rawValue)
        // Only work that is held up comes to the end of this time.
        let looks = (0..<3).map { _ in
            Task { await files.look { (try? System.poll(read, .read, timeout: .seconds(20))) == true } }
        }
        let later = Task { await files.look { true } }
        for number in 0..<4 {
            #expect(await files.run { number } == number)
        }
        try [0].withUnsafeBytes { try System.writeAll(write, $0) }
        for look in looks { #expect(await look.value, "it came back before the others were done") }
        #expect(await later.value)
        ending.close()
        end.close()
    }

    @Test("a word is looked at as a source is")
    func looking() throws {
        let folder = try Sandbox()
        try folder.file(Array("f".utf8), 9)
        #expect(LookedPath(Array("f".utf8), currentDirectory: folder.path).finding == .file(size: 9))
        #expect(LookedPath(folder.path, currentDirectory: [0x2F]).finding == .folder)
        let missing = LookedPath(Array("none".utf8), currentDirectory: folder.path)
        #expect(missing.problem == "none: No such file or directory")
    }
}

@Suite("Places")
struct LocalPlacesTests {
    @Test("disks come from the kernel's table, with its blanks")
    func mounts() {
        let table = """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            40 22 8:17 / /media/ana/My\\040disk rw - vfat /dev/sdb1 rw
            41 22 8:18 / /mnt rw - ext4 /dev/sdc1 rw
            42 22 0:5 / /mnt/nas rw - nfs nas:/x rw
            43 22 0:6 / /mntx rw - tmpfs none rw
            """
        let found = LocalPlaces.mounts(in: Array(table.utf8)).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == ["/media/ana/My disk", "/mnt", "/mnt/nas"])
    }

    @Test("bookmarks are file URLs, with or without a name")
    func bookmarks() {
        let file = "file:///home/ana/My%20Photos Photos\nsftp://host/x\nfile:///tmp\nfile://%00/\n"
        let found = LocalPlaces.bookmarks(in: Array(file.utf8)).map { String(decoding: $0, as: UTF8.self) }
        #expect(found == ["/home/ana/My Photos", "/tmp"])
    }

    @Test("what was used lately is kept, the newest first, each once, and without secrets")
    func recent() {
        var recent = RecentPlaces()
        recent.add(destination: "https://ana:pw@host/in/?sig=abc#x")
        recent.add(destination: "nas:photos/")
        recent.add(destination: "https://ana:other@host/in/")
        recent.add(folder: [0x2F, 0xFF, 0x0A, 0x25])
        #expect(recent.destinations == ["https://ana@host/in/", "nas:photos/"])
        let again = RecentPlaces(bytes: recent.bytes)
        #expect(again == recent)
        #expect(!String(decoding: recent.bytes, as: UTF8.self).contains("pw"))
        // With a mark behind it the colon is none for Swift.
        #expect(!RecentPlaces.harmless("https://ana:\u{301}geheim@host/").contains("geheim"))
        #expect(RecentPlaces.harmless("nas:Cafe\u{301}/") == "nas:Cafe\u{301}/")
        for number in 0..<40 { recent.add(destination: "https://host/\(number)/") }
        #expect(recent.destinations.count == RecentPlaces.most)
        #expect(recent.destinations.first == "https://host/39/")
        #expect(RecentPlaces(bytes: Array("from\nnonsense\n\nto\nwhere x".utf8)) == RecentPlaces())
    }
}
