import Glibc
import LinuxSystem
import Testing
import TransferModel

/// Somebody else's file gets the name while an upload goes on.
@Suite(.inLane) struct TakenNameTests {
    /// Forty seconds on their way, which the test ends when the name is taken.
    private let size = 40_000_000

    /// An upload under way, and the place where it would become a file.
    private func begin(
        _ wire: WireProtocol, _ options: [String] = []
    ) throws -> (bench: WireBench, source: RawPath, batch: String, receiver: Receiver, there: RawPath) {
        let bench = try WireBench(wire)
        guard case .receiver(let receiver) = bench.far else { throw HarnessError("\(wire) has no martlet receive") }
        let source = try bench.makeFile("film.mov", size)
        try bench.proxy.set(bench.wire.rate(1))
        let batch = try bench.sandbox.queue(
            "upload", bench.options + options + [source.displayed, bench.destination], #_sourceLocation)
        try bench.awaitStored(1_000_000, of: batch)
        return (bench, source, batch, receiver, receiver.data.appending(RawPath("film.mov")))
    }

    /// The receiver has refused the file for its name: without that the name was taken too late.
    private func expectRefused(_ receiver: Receiver, sourceLocation: SourceLocation = #_sourceLocation) {
        let said = receiver.process.soFar
        #expect((said.output + said.errors).contains("film.mov: 412 "), "\(said)", sourceLocation: sourceLocation)
    }

    /// The bytes that unfinished uploads have at the receiver. Of a finished one it keeps the record, for who asks again.
    private func uploads(_ receiver: Receiver) -> [RawPath] {
        let folder = receiver.data.appending(RawPath(".martlet-uploads"))
        return names(in: folder).filter { $0.displayed.hasSuffix(".data") }
    }

    @Test(arguments: [WireProtocol.tusToReceiver, .ietf])
    func `the same file is as good as ours`(wire: WireProtocol) throws {
        let (bench, source, batch, receiver, there) = try begin(wire)
        try write(try readBytes(source), to: there)
        try bench.proxy.set()
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.sandbox.task(batch)["state"].text == "completed")
        #expect(try readBytes(there) == readBytes(source))
        expectRefused(receiver)
        #expect(uploads(receiver).isEmpty)
    }

    @Test(arguments: [WireProtocol.sftp, .put, .ietf], ["replace", "fail"])
    func `two folders that are sent into one have each name once, and the other file is told`(
        wire: WireProtocol, rule: String
    ) throws {
        let bench = try WireBench(wire)
        let folder = try #require(bench.far.folder)
        let first = try bench.makeFile("2025/a.jpg", 3000)
        _ = try bench.makeFile("2025/b.jpg", 3000, seed: 2)
        let second = try bench.makeFile("2026/a.jpg", 4000, seed: 3)
        let sources = ["2025/.", "2026/."].map { "\(bench.sandbox.root)/source/\($0)" }
        let batch = try bench.sandbox.queue(
            "upload", bench.options + ["--if-exists", rule] + sources + [bench.destination], #_sourceLocation)
        #expect(try bench.sandbox.wait(batch).status == 1)
        func expectFirst(sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(
                try readBytes(folder.appending(RawPath("a.jpg"))) == readBytes(first), sourceLocation: sourceLocation)
            let states = try bench.sandbox.tasks(batch).map { "\($0["source"].text ?? "") \($0["state"].text ?? "")" }
            #expect(
                states.filter { $0.hasSuffix("failed") } == ["\(second.displayed) failed"],
                sourceLocation: sourceLocation)
        }
        try expectFirst()
        let why = try bench.sandbox.succeed("why", batch).output
        #expect(
            why.contains("has the name of another file of this batch at the server, \(first.displayed)"), "\(why)")
        #expect(!why.contains("--if-exists"), "\(why)")
        // Nor is it replaced by who has read what helps elsewhere.
        try bench.sandbox.succeed("set", batch, "--if-exists", "replace")
        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 1)
        try expectFirst()
    }

    @Test(arguments: [WireProtocol.tusToReceiver, .ietf])
    func `another file is named, stays, and is replaced or skipped when that is allowed`(wire: WireProtocol) throws {
        for rule in ["replace", "skip"] {
            let (bench, source, batch, receiver, there) = try begin(wire)
            let other = SeededBytes.bytes(1000, seed: 9)
            try write(other, to: there)
            try bench.proxy.set()
            #expect(try bench.sandbox.wait(batch).status == 1)
            let failed = try bench.sandbox.task(batch)
            #expect(failed["error"]["code"].text == "destinationExists", "\(failed)")
            #expect(try readBytes(there) == other)
            expectRefused(receiver)
            let why = try bench.sandbox.succeed("why", batch).output
            #expect(why.contains("martlet set \(batch) --if-exists replace"), "\(why)")
            // Tried again without that, it is refused again, and nothing is worse.
            try bench.sandbox.succeed("retry", batch)
            #expect(try bench.sandbox.wait(batch).status == 1)
            #expect(try readBytes(there) == other)
            // What is there of it is known as long as it may be wanted, and gone afterwards.
            #expect(
                try bench.sandbox.succeed("leftovers", "list").output.contains(
                    "\(bench.wire == .ietf ? "ietf" : "tus")"))
            #expect(!uploads(receiver).isEmpty)
            try bench.sandbox.succeed("set", batch, "--if-exists", rule)
            try bench.sandbox.succeed("retry", batch)
            #expect(try bench.sandbox.wait(batch).status == 0, "\(rule)")
            #expect(try readBytes(there) == (rule == "replace" ? readBytes(source) : other))
            #expect(uploads(receiver).isEmpty, "\(rule)")
            #expect(!(try bench.sandbox.succeed("leftovers", "list").output.contains("film.mov")))
        }
    }

    @Test func `a server that replaces whatever the condition says is asked before any file goes there`() throws {
        let sandbox = try Sandbox()
        let nginx = try Nginx(sandbox)
        let (source, there) = (RawPath("\(sandbox.root)/f"), nginx.data.appending(RawPath("in/f")))
        func upload(_ bytes: [UInt8], _ options: String...) throws -> JSON {
            try write(bytes, to: source)
            let batch = try sandbox.queue("upload", options + [source.displayed, nginx.url + "in/"], #_sourceLocation)
            _ = try sandbox.wait(batch)
            return try sandbox.task(batch)
        }
        // The very first file of a server that nobody knows is somebody else's.
        try System.mkdir(nginx.data.appending(RawPath("in")).bytes, mode: 0o777)
        try write([9], to: there)
        #expect(try upload([1])["error"]["code"].text == "destinationExists")
        #expect(try readBytes(there) == [9])
        try System.unlink(there.bytes)
        #expect(try upload([1, 2])["state"].text == "completed")
        #expect(try readBytes(there) == [1, 2])
        #expect(try upload([1, 2, 3])["error"]["code"].text == "destinationExists")
        #expect(try upload([1, 2, 3, 4], "--if-exists", "skip")["skipped"] == .bool(true))
        #expect(try readBytes(there) == [1, 2])
        #expect(try upload([1, 2, 3, 4, 5], "--if-exists", "replace")["state"].text == "completed")
        #expect(try readBytes(there) == [1, 2, 3, 4, 5])
    }
}
