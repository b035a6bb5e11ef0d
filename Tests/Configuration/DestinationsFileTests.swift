import Testing

@testable import Configuration

@Suite("destinations.conf")
struct DestinationsFileTests {
    private let text = """
        # my servers
        [nas]
        url = sftp://nas.local/backup/
        user = ana

        ; the cloud
        [photos]
        url = s3://photos/2024/
        profile = home ; not a comment
        limit = 8M
        insecure = on
        """

    private func file(_ text: String) -> DestinationsFile { DestinationsFile(bytes: Array(text.utf8)) }

    @Test("sections are destinations")
    func reading() throws {
        let file = file(text)
        #expect(file.problems.isEmpty)
        #expect(file.destinations.map(\.name) == ["nas", "photos"])
        let photos = try #require(file["photos"])
        #expect(photos.url == "s3://photos/2024/" && photos.profile == "home ; not a comment")
        #expect(photos.limit == .bytesPerSecond(8 << 20) && photos.insecure)
    }

    @Test("what does not count is said with its line, and the rest counts")
    func problems() {
        let file = file(
            """
            url = x
            [a b]
            url = https://h/
            [ok]
            url = https://h/
            usr = ana
            if-exists = perhaps
            insecure = yes
            [none]
            user = ana
            """)
        #expect(file.destinations.map(\.name) == ["ok"])
        #expect(file.problems.map(\.line) == [1, 2, 6, 7, 8, 9])
        #expect(file.problems[2].message == "usr is no key of a destination: is it user?")
        #expect(file.problems[3].message == "if-exists: \"perhaps\" is not allowed: give one of fail skip replace")
    }

    @Test("a section whose name cannot be read gives nothing to the one above it, and goes with no other")
    func lostSection() {
        let file = file(
            """
            [nas]
            url = https://nas.home/
            pin = sha256/AAAA
            [cloud
            url = https://files.example/
            [ok] # the other one
            url = https://h/
            """)
        #expect(file.destinations.map(\.url) == ["https://nas.home/", "https://h/"])
        #expect(file.faults.mapValues(\.line) == ["nas": 3])
        let left = String(decoding: file.removing("nas"), as: UTF8.self)
        #expect(left.hasPrefix("[cloud\nurl = https://files.example/\n[ok]"))
    }

    @Test("a file of many sections, and one of many parts of a section, come to an end")
    func large() {
        let many = file((1...40_000).map { "[d\($0)]\nurl = https://h/\n" }.joined())
        #expect(many.destinations.map(\.name) == (1...40_000).map { "d\($0)" } && many.problems.isEmpty)
        let parts = file(String(repeating: "[nas]\nx = 1\n", count: 60_000))
        #expect(parts.destinations.isEmpty && parts.problems.count == 60_001)
    }

    @Test("what is written reads as the same, and every other line stays")
    func writing() throws {
        var destination = Destination(name: "new", url: "davs://cloud.example/remote.php/dav/files/ana/")
        destination.user = "ana"
        destination.login = .kept
        destination.passwordCommand = "pass show cloud | head -1"
        destination.chunk = ByteSize(bytes: 8 << 20)
        destination.insecure = true
        destination.verify = "digest"
        let added = DestinationsFile(bytes: try file(text).setting(destination))
        #expect(added.problems.isEmpty)
        #expect(added["new"] == destination)
        #expect(added["nas"] == file(text)["nas"])
        let again = DestinationsFile(bytes: try added.setting(destination))
        #expect(again.destinations == added.destinations)
        let removed = String(decoding: again.removing("new"), as: UTF8.self)
        #expect(removed.contains("# my servers\n[nas]") && removed.contains("; the cloud"))
        #expect(file(removed).destinations == file(text).destinations)
        #expect(try file("").setting(destination).starts(with: Array("[new]\nurl = davs".utf8)))
        // A comment above the next section is that one's.
        let without = String(decoding: file(text).removing("nas"), as: UTF8.self)
        #expect(without.contains("; the cloud\n[photos]"))
    }

    @Test("NAME:path is told from a URL")
    func names() {
        #expect(Destination.split("nas:photos/2026")?.path == "photos/2026")
        #expect(Destination.split("nas:")?.name == "nas")
        #expect(Destination.split("nas:/a:b")?.path == "/a:b")
        for text in ["https://host/", "no colon", "a/b:c", ":x", "-a:x", "a b:c"] {
            #expect(Destination.split(text) == nil)
        }
    }

    @Test("what was removed is remembered for a day, the last one first")
    func removed() {
        let file = DestinationsFile(
            bytes: Array("[a]\nurl = https://a/\nlimit = 8M\n[b]\nurl = sftp://b/\n".utf8))
        var removed = RemovedDestinations(bytes: [], now: 0)
        for (name, time) in [("b", 1000), ("a", 2000)] as [(String, Int64)] {
            if let destination = file[name] { removed.add(destination, at: time) }
        }
        let again = RemovedDestinations(bytes: removed.bytes, now: 3000)
        #expect(again[nil] == file["a"] && again["b"] == file["b"] && again["c"] == nil)
        let later = RemovedDestinations(bytes: removed.bytes, now: 1000 + RemovedDestinations.grace)
        #expect(later["b"] == nil && later[nil] == file["a"])
        removed.remove("a")
        #expect(removed[nil] == file["b"])
        #expect(
            RemovedDestinations(bytes: Array("[x]\nurl = https://h/\nremoved-at = never\n".utf8), now: 0)[nil] == nil)
    }
}

@Suite("A command whose program is a path from the current directory is told from others")
struct RelativeCommandTests {
    @Test(arguments: ["./pw", "../pw nas", " bin/pw", "bin/pw|head -1"])
    func relative(command: String) {
        #expect(Destination.isRelative(command: command))
    }

    @Test(arguments: [
        "", "pw", "/opt/pw x/y", "cat a/b", "~/pw", "$HOME/pw", "A=b/c pw", "pass|sed s/a/b/", "(cat /x)",
    ])
    func others(command: String) {
        #expect(!Destination.isRelative(command: command))
    }
}

@Suite("What a message repeats of an address")
struct ShownAddressTests {
    @Test(
        "is whole where nothing in it can be secret",
        arguments: ["nas:a@b", "https://h:1/a/b", "photos/", "a@b", "/home/ana/Re: x@y?.eml", "./a:b@c?"])
    func whole(text: String) {
        // A colon in front of an @ may be the one of a user and a password.
        #expect(ShownAddress.of(text) == (text == "nas:a@b" ? "..." : text))
    }

    @Test(
        "never has a password or a token, wherever it stands",
        arguments: [
            ("https://ana:geheim@nas/my file", "https://nas/..."), ("https://ana:gehe/im@host/", "https://..."),
            ("https://ana:gehe?im@host/", "https://..."), ("https://ana:gehe#im@host/", "https://..."),
            ("ana:geheim@host/x", "..."), ("ana:geheim@host://x", "..."), ("https://ana:geheim/x", "https://..."),
            ("https://ana:gehe@im/x@host/", "https://..."), ("https://h/a?token=geheim", "https://h/a?..."),
            ("https://ana:geheim@[::1]:80/", "https://[::1]:80/"), ("sftp://geheim:@h:x/", "sftp://..."),
            ("host/x?sig=geheim", "host/x?..."), ("https:/host/x?sig=geheim", "https:/host/x?..."),
            ("//ana:geheim@h/", "..."),
            // With a mark behind it a separator is none for Swift.
            ("ana:geheim@\u{301}host", "..."), ("https://ana:\u{301}geheim@h/", "..."),
        ])
    func secret(text: String, shown: String) {
        #expect(ShownAddress.of(text) == shown)
    }

    @Test("the file's problems repeat no password of a URL")
    func problems() {
        let file = DestinationsFile(bytes: Array("[a]\nurl = ana:geheim@host/x\n".utf8))
        #expect(!file.problems.isEmpty && !"\(file.problems)".contains("geheim"))
    }
}
