import Glibc
import LinuxSystem
import Testing

@testable import UploadReceiver

@Suite("Who is let in")
struct DoorTests {
    /// One that knows no name but its own.
    private static func sandbox(_ configure: (inout ReceiverConfiguration) -> Void = { _ in }) throws
        -> ReceiverSandbox
    {
        try ReceiverSandbox {
            $0.names = []
            configure(&$0)
        }
    }

    private func status(_ sandbox: ReceiverSandbox, _ head: String, _ body: String = "") throws -> Int {
        let client = try sandbox.client()
        let port = "\(sandbox.port)"
        try client.send(head.split(separator: "|").joined(separator: "\r\n").replacing("PORT", with: port) + "\r\n\r\n")
        if !body.isEmpty { try? client.send(body) }
        return try client.reply(toHead: head.hasPrefix("HEAD")).status
    }

    @Test(
        "a Host that is not the receiver's is refused before anything else",
        arguments: [
            "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.2:PORT", "localhost:1",
            "localhost.evil.example:PORT", "[::1]:PORT", "0.0.0.0:PORT", "10.0.0.1:PORT",
        ])
    func foreignHost(host: String) throws {
        let sandbox = try Self.sandbox { $0.access = .token(Array("secret".utf8)) }
        for method in ["GET", "OPTIONS", "PUT", "HEAD", "DELETE"] {
            let lines = "\(method) /f HTTP/1.1|Host: \(host)|Authorization: Bearer secret|Content-Length: 1"
            #expect(try status(sandbox, lines, "x") == 421)
        }
        // To a stranger it is not even said that there is a token.
        #expect(try status(sandbox, "GET /f HTTP/1.1|Host: \(host)") == 421)
        #expect(try status(sandbox, "GET http://\(host)/f HTTP/1.1|Host: 127.0.0.1:PORT") == 421)
        #expect(try sandbox.files().isEmpty)
        #expect(try sandbox.line(beginning: "refused").contains("421 this is not a name of this receiver"))
    }

    @Test(
        "its own names are let in",
        arguments: ["127.0.0.1:PORT", "localhost:PORT", "LocalHost.:PORT"])
    func ownHost(host: String) throws {
        let sandbox = try Self.sandbox()
        #expect(try status(sandbox, "PUT /f HTTP/1.1|Host: \(host)|Content-Length: 1", "x") == 201)
        #expect(try status(sandbox, "GET http://\(host)/f HTTP/1.1|Host: \(host)") == 200)
        // HTTP/1.0 need not say it; no browser speaks that.
        #expect(try status(sandbox, "GET /f HTTP/1.0") == 200)
    }

    @Test(
        "fields that mean different things to different readers are refused",
        arguments: [
            "X: y", "Host: 127.0.0.1:PORT|Host: 127.0.0.1:PORT", "Host: a b", "Host: 127.0.0.1:PORT, evil.example",
            "Host: user@127.0.0.1:PORT", "Host: ", "Host: 127.0.0.1:PORT|Content-Length: 1|Content-Length: 1",
            "Host: 127.0.0.1:PORT|Content-Length: 1|Transfer-Encoding: chunked",
            "Host: 127.0.0.1:PORT|Content-Length : 1", "Host: 127.0.0.1:PORT|Transfer-Encoding : chunked",
            "Host: 127.0.0.1:PORT|X: a\u{1}b", "Host: 127.0.0.1:PORT|X: a\u{1B}[2Jb",
        ])
    func faults(lines: String) throws {
        let sandbox = try Self.sandbox()
        #expect(try status(sandbox, "PUT /f HTTP/1.1|\(lines)", "1") == 400)
        #expect(try sandbox.files().isEmpty)
    }

    @Test(
        "a page of another origin makes no request, and no answer is for it to read",
        arguments: [
            ("http://evil.example", 403), ("https://127.0.0.1:PORT", 403), ("http://127.0.0.1:1", 403), ("null", 403),
            ("http://127.0.0.1", 403), ("http://127.0.0.1:PORT", 201), ("http://localhost:PORT", 201),
        ])
    func origins(origin: String, expected: Int) throws {
        let sandbox = try Self.sandbox()
        let head = "PUT /f HTTP/1.1|Host: 127.0.0.1:PORT|Origin: \(origin)|Content-Length: 1"
        #expect(try status(sandbox, head, "x") == expected)
        #expect(try sandbox.files().isEmpty == (expected == 403))
        for method in ["GET", "HEAD"] {
            let head = "\(method) / HTTP/1.1|Host: 127.0.0.1:PORT|Origin: \(origin)"
            #expect(try status(sandbox, head) == (expected == 403 ? 403 : 200), "\(method)")
        }
        let client = try sandbox.client()
        try client.send("OPTIONS /f HTTP/1.1\r\nHost: 127.0.0.1:\(sandbox.port)\r\nContent-Length: 0\r\n\r\n")
        #expect(try client.reply().fields.keys.allSatisfy { !$0.hasPrefix("access-control") })
    }

    @Test("where others can reach it, it answers to this machine's name and to the address that was used")
    func wide() throws {
        let listen = try #require(ListenAddress("0.0.0.0:0"))
        let sandbox = try Self.sandbox { $0.listen = listen }
        #expect(try status(sandbox, "GET / HTTP/1.1|Host: 127.0.0.1:PORT") == 200)
        #expect(try status(sandbox, "GET / HTTP/1.1|Host: evil.example:PORT") == 421)
        #expect(try status(sandbox, "GET / HTTP/1.1|Host: 198.51.100.7:PORT") == 421)
        let machine = InternetSocket.machineName
        if !machine.isEmpty { #expect(try status(sandbox, "GET / HTTP/1.1|Host: \(machine):PORT") == 200) }
    }

    @Test("names follow where it listens")
    func names() throws {
        func names(_ listen: String, tls: Bool = false, given: [String] = []) throws -> OwnNames {
            OwnNames(
                try #require(ListenAddress(listen)), isTLS: tls, machine: "Shelf.Home.example",
                given: try given.map { try #require(RequestAuthority($0)) })
        }
        func takes(_ names: OwnNames, _ host: String, at local: [UInt8]? = nil) throws -> Bool {
            names.include(try #require(RequestAuthority(host)), local: local)
        }
        let loopback = try names("127.0.0.1:80")
        #expect(try takes(loopback, "localhost") && takes(loopback, "127.0.0.1:80") && !takes(loopback, "shelf"))
        let six = try names("[::1]:9000")
        #expect(try takes(six, "[::1]:9000") && takes(six, "[0:0::1]:9000") && takes(six, "localhost:9000"))
        #expect(try !takes(six, "127.0.0.1:9000"))
        let one = try names("192.0.2.4:443", tls: true)
        #expect(try takes(one, "192.0.2.4") && takes(one, "shelf") && takes(one, "shelf.local:443"))
        #expect(try takes(one, "SHELF.home.example") && !takes(one, "localhost") && !takes(one, "192.0.2.5"))
        let wide = try names("[::]:9000")
        #expect(
            try takes(wide, "192.0.2.4:9000", at: [192, 0, 2, 4]) && !takes(wide, "192.0.2.4:9000", at: [127, 0, 0, 1]))
        let named = try names("127.0.0.1:9000", given: ["files.example", "nas:81"])
        #expect(try takes(named, "files.example") && takes(named, "files.example:1234") && takes(named, "nas:81"))
        #expect(try !takes(named, "nas") && !takes(named, "nas:9000"))
        #expect(one.include(origin: "https://shelf", local: nil) && !one.include(origin: "http://shelf", local: nil))
    }

    @Test("hidden folders that somebody else prepared are refused", arguments: HiddenFolder.names)
    func hiddenFolders(name: String) throws {
        let folder = try makeFolder()
        let elsewhere = try makeFolder()
        defer {
            removeTree(folder)
            removeTree(elsewhere)
        }
        try System.chmod(folder, mode: 0o1777)
        let hidden = folder + Array("/\(name)".utf8)
        #expect(symlink(String(decoding: elsewhere, as: UTF8.self), String(decoding: hidden, as: UTF8.self)) == 0)
        #expect(throws: ReceiverError.self) { try UploadReceiver(ReceiverConfiguration(folder: folder), output: -1) }
        try System.unlink(hidden)

        // Our own with bits for others loses them.
        try System.mkdir(hidden, mode: 0o700)
        try System.chmod(hidden, mode: 0o777)
        let receiver = try UploadReceiver(ReceiverConfiguration(folder: folder), output: -1)
        #expect(try System.stat(hidden).permissions == 0o700)
        receiver.stop()
        if System.userID == 0 {
            try System.mkdirs(hidden)
            #expect(chown(String(decoding: hidden, as: UTF8.self), 12_345, 12_345) == 0)
            #expect(throws: ReceiverError.hiddenFolder(name: name, .foreign(userID: 12_345))) {
                try UploadReceiver(ReceiverConfiguration(folder: folder), output: -1)
            }
        }
    }

    @Test("no name leads into the hidden folders, whatever the file system makes of it")
    func aliases() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        _ = try TusClient(sandbox: sandbox).create("f", 10)
        // A second name for the same folder, as FAT gives every long name one.
        let alias = sandbox.path("MARTLE~1")
        try System.mkdir(alias, mode: 0o700)
        guard mount(sandbox.path(UploadID.folderName), at: alias) else { return }
        defer { umount(String(decoding: alias, as: UTF8.self)) }
        #expect(try client.exchange("GET", "/MARTLE~1/").status == 403)
        #expect(try client.exchange("PUT", "/MARTLE~1/x", body: [1]).status == 403)
        #expect(try client.exchange("PUT", "/MARTLE~1/x/y", body: [1]).status == 403)
    }

    /// Where that is permitted.
    private func mount(_ folder: [UInt8], at place: [UInt8]) -> Bool {
        let (source, target) = (String(decoding: folder, as: UTF8.self), String(decoding: place, as: UTF8.self))
        return Glibc.mount(source, target, nil, UInt(MS_BIND), nil) == 0
    }

    @Test("names that would turn the line around are shown by their numbers")
    func direction() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        #expect(try client.exchange("PUT", "/a%E2%80%AEfdp.exe", body: [1]).status == 201)
        #expect(try sandbox.line(beginning: "received").hasPrefix("received a\\u{202E}fdp.exe 1 bytes"))
        #expect(try client.exchange("GET", "/..%E2%80%AE/../x").status == 400)
        #expect(try sandbox.line(beginning: "refused").contains("GET /..%E2%80%AE/../x"))
        let raw = try sandbox.client()
        try raw.send(Array("GET /../\u{202E}x HTTP/1.1\r\nHost: test\r\n\r\n".utf8))
        #expect(try raw.reply().status == 400)
        #expect(try sandbox.line(beginning: "refused").contains("GET /../\\u{202E}x"))
    }
}
