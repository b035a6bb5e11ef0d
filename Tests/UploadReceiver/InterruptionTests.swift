import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("Interrupted uploads")
struct InterruptionTests {
    @Test("a connection that is cut leaves nothing, and an older file stays", arguments: [true, false])
    func cut(byReset: Bool) throws {
        let sandbox = try ReceiverSandbox()
        #expect(try sandbox.client().exchange("PUT", "/old", body: [1]).status == 201)
        for name in ["old", "new"] {
            let client = try sandbox.client()
            try client.send(RawClient.head("PUT", "/\(name)", ["Expect": "100-continue"], length: 1 << 20))
            // A reset takes what was not read with it, the head too if it comes too early.
            #expect(try client.interim() == 100)
            try client.send(pattern(500_000))
            if byReset { client.reset() } else { client.close() }
            let line = try sandbox.line(beginning: "not received")
            #expect(line.hasPrefix("not received \(name) after "))
            #expect(line.contains(" of 1048576 bytes: the connection was cut"))
        }
        #expect(try contents(sandbox.path("old")) == [1])
        #expect(try sandbox.files() == ["old"])
    }

    @Test(
        "a chunked body without its end is never published",
        arguments: ["5\r\nhello\r\n", "5\r\nhel", "5\r\nhello\r\n0\r\n", "ffffffffffffffff\r\nhello", "5\r\nhelloXX"])
    func cutChunks(sent: String) throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        try client.send(RawClient.head("PUT", "/c", ["Transfer-Encoding": "chunked"]) + sent)
        client.close()
        #expect(try sandbox.line(beginning: "not received").hasPrefix("not received c after "))
        #expect(try sandbox.files().isEmpty)
    }

    @Test("a receiver that stops in the middle of an upload leaves no trace of it")
    func stopped() throws {
        let sandbox = try ReceiverSandbox()
        let client = try sandbox.client()
        try client.send(RawClient.head("PUT", "/f", ["Expect": "100-continue"], length: 1 << 20))
        #expect(try client.interim() == 100)
        try client.send(pattern(1000))
        sandbox.stop()
        #expect(try sandbox.line(beginning: "not received").contains("the receiver is stopping"))
        #expect(try paths(below: sandbox.folder).isEmpty)
        #expect(throws: Errno.noSuchFile) { try System.stat(sandbox.path(IncomingFolder.name)) }
    }

    @Test("what a dead run left is removed, what a living one writes and what is not ours stays")
    func leftovers() throws {
        let living = try ReceiverSandbox()
        let client = try living.client()
        try client.send(RawClient.head("PUT", "/f", ["Expect": "100-continue"], length: 5))
        #expect(try client.interim() == 100)
        // What a run that was killed leaves: a folder that nobody holds locked.
        let dead = living.path("\(IncomingFolder.name)/0123456789abcdef")
        try System.mkdir(dead, mode: 0o700)
        try write([1], to: dead + Array("/1.part".utf8))
        try write([1], to: dead + Array("/22.part".utf8))
        let foreign = living.path("\(IncomingFolder.name)/notes")
        try System.mkdir(foreign, mode: 0o700)
        try write([1], to: foreign + Array("/1.part".utf8))

        let root = try System.open(living.folder)
        let second = try IncomingFolder(in: root, DiskRoom(of: root, keepFree: 0))
        #expect(second.removedLeftovers == 2)
        #expect(throws: Errno.noSuchFile) { try System.stat(dead) }
        #expect(try contents(foreign + Array("/1.part".utf8)) == [1])
        second.endRun()
        try client.send("hello")
        #expect(try client.reply().status == 201)
        #expect(try contents(living.path("f")) == Array("hello".utf8))
    }

    @Test("hidden folders that are cleared away while the receiver runs are made again, checked as at the start")
    func clearedAway() throws {
        let sandbox = try ReceiverSandbox()
        func put(_ name: String) throws -> Int {
            let client = try sandbox.client()
            try client.send(RawClient.head("PUT", "/\(name)", length: 5) + "hello")
            return try client.reply().status
        }
        let tus = TusClient(sandbox: sandbox)
        for round in 0..<2 {
            #expect(try put("f\(round)") == 201)
            let url = try tus.create("u\(round)", 5)
            #expect(try tus.patch(url, at: 0, Array("hello".utf8)).status == 204)
            for name in HiddenFolder.names { removeTree(sandbox.path(name)) }
        }
        // A link in its place is not used, as it is not at the start.
        try System.mkdir(sandbox.path(IncomingFolder.name), mode: 0o700)
        let elsewhere = sandbox.path("elsewhere")
        try System.rename(sandbox.path(IncomingFolder.name), to: elsewhere)
        let link = sandbox.path(IncomingFolder.name)
        #expect(symlink(String(decoding: elsewhere, as: UTF8.self), String(decoding: link, as: UTF8.self)) == 0)
        #expect(try put("g") >= 400)
        try System.unlink(link)
        #expect(try put("h") == 201)
        #expect(try contents(sandbox.path("f1")) == Array("hello".utf8))
    }

    @Test("a hidden folder that is a link is not used")
    func linkedFolder() throws {
        let folder = try makeFolder()
        let elsewhere = try makeFolder()
        defer {
            removeTree(folder)
            removeTree(elsewhere)
        }
        let link = folder + Array("/\(IncomingFolder.name)".utf8)
        #expect(symlink(String(decoding: elsewhere, as: UTF8.self), String(decoding: link, as: UTF8.self)) == 0)
        #expect(throws: ReceiverError.self) {
            try UploadReceiver(ReceiverConfiguration(folder: folder), output: -1)
        }
        #expect(try paths(below: elsewhere).isEmpty)
    }
}
