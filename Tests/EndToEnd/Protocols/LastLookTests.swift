import Glibc
import Testing
import TransferModel

/// What nobody else proves: that what was sent is there, by the server's own list, also when it goes behind our back.
@Suite(.inLane) struct LastLookTests {
    /// One of each way to list: READDIR, MLSD (vsftpd has none), PROPFIND, PROPFIND with checksums, ListObjectsV2.
    private static let lists = WireProtocol.tested.filter {
        [.sftp, .ftpes, .dav, .nextcloud, .s3].contains($0)
    }

    private func makeTree(_ bench: WireBench) throws -> RawPath {
        for name in ["a", "b", "deep/c", "deep/er/d e"] {
            _ = try bench.makeFile("tree/\(name)", 3000, seed: UInt64(name.count))
        }
        return RawPath("\(bench.sandbox.root)/source/tree")
    }

    @Test(arguments: lists)
    func `all of a tree is listed at the server, and verify says so again`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let batch = try bench.send(try makeTree(bench).displayed)
        #expect(try bench.sandbox.wait(batch).status == 0)
        let shown = try bench.sandbox.batch(batch)
        #expect(shown["listed"]["found"].integer == 4 && shown["listed"]["of"].integer == 4, "\(shown)")
        for task in try bench.sandbox.tasks(batch) { #expect(task["listed"].bool == true, "\(task)") }
        #expect(try bench.sandbox.succeed("show", batch).output.contains("at the server, 4 of 4"))
        let verified = try bench.sandbox.martlet("verify", batch)
        #expect(verified.status == 0 && verified.output == "\(batch): at the server, 4 of 4\n", "\(verified)")
    }

    @Test func `a link that leads to the same file stands for it, also in what verify says`() throws {
        let bench = try WireBench(.sftp)
        let folder = try #require(bench.far.folder)
        let source = try bench.makeFile("photo", 3000)
        try bench.sandbox.wait(try bench.send(source.displayed))
        // As stores with links keep their files.
        #expect(rename("\(folder)/photo", "\(folder)/.object") == 0)
        #expect(symlink(".object", "\(folder)/photo") == 0)
        let again = try bench.send(source.displayed)
        #expect(try bench.sandbox.wait(again).status == 0)
        #expect(try bench.sandbox.batch(again)["listed"]["found"].integer == 1)
        let verified = try bench.sandbox.martlet("verify", again)
        #expect(verified.status == 0 && verified.output == "\(again): at the server, 1 of 1\n", "\(verified)")
        #expect(unlink("\(folder)/.object") == 0)
        #expect(try bench.sandbox.martlet("verify", again).status == 1)
    }

    @Test(arguments: lists)
    func `a file that goes before the last look fails, and a retry sends it again`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let first = try bench.makeFile("first", 3000)
        let second = try bench.makeFile("second", 4000, seed: 2)
        let batch = try bench.sandbox.queue(
            "upload", bench.options + ["--hold", first.displayed, second.displayed, bench.destination], #_sourceLocation
        )
        // The folder is not looked at before its last file is over.
        try bench.sandbox.succeed("run-now", "t1")
        let ended = try bench.sandbox.wait("t1")
        #expect(ended.status == 0, "\(ended)")
        try bench.far.removeBehindOurBack("first")
        try bench.sandbox.succeed("resume", batch)
        #expect(try bench.sandbox.wait(batch).status == 1)
        let tasks = try bench.sandbox.tasks(batch)
        #expect(tasks.map { $0["listed"].bool } == [false, true], "\(tasks)")
        #expect(tasks[0]["error"]["code"].text == "notThere" && tasks[0]["state"].text == "failed", "\(tasks)")
        let ends = try bench.sandbox.events().compactMap { event in
            event["task"].text == "t1" ? event["type"].text : event["type"].text == "batchFinished" ? "end" : nil
        }.filter { ["taskCompleted", "taskFailed", "end"].contains($0) }
        #expect(ends == ["taskCompleted", "taskFailed", "end"])

        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.arrived()[RawPath("first")] == digest(of: first))
        #expect(try bench.sandbox.batch(batch)["listed"]["found"].integer == 2)

        // And once more when all is long over.
        try bench.far.removeBehindOurBack("second")
        let verified = try bench.sandbox.martlet("verify", batch)
        #expect(verified.status == 1 && verified.output.contains("t2 second: "), "\(verified)")
        #expect(
            verified.output.contains("at the server, 1 of 2; 'martlet retry \(batch)' sends again what is missing"),
            "\(verified)")
        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.arrived()[RawPath("second")] == digest(of: second))
    }

    /// A file that was sent, is cut at the server, and of which verify says so.
    private func cut(_ bench: WireBench, _ name: String) throws -> (source: RawPath, batch: String) {
        let source = try bench.makeFile(name, 3000)
        let batch = try bench.send(source.displayed)
        #expect(try bench.sandbox.wait(batch).status == 0)
        try bench.far.cutBehindOurBack(name, to: 10)
        let verified = try bench.sandbox.martlet("verify", batch)
        #expect(verified.status == 1 && verified.output.contains("10 bytes instead of 3000"), "\(verified)")
        return (source, batch)
    }

    @Test(arguments: lists)
    func `a file that is cut is told as another one, and a retry does not replace it`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let (_, batch) = try cut(bench, "first")
        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 1)
        #expect(try bench.sandbox.task(batch)["error"]["code"].text == "destinationExists")
    }

    @Test(arguments: lists)
    func `a file that is cut is replaced when that is asked for`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let (source, batch) = try cut(bench, "first")
        try bench.sandbox.succeed("set", batch, "--if-exists", "replace")
        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.arrived()[RawPath("first")] == digest(of: source))
    }

    /// `sha256sum -c` reads the manifest, and finds each file by the name that it has there.
    private func expectSums(_ bench: WireBench, _ batch: String, of files: Int) throws {
        let sums = try bench.sandbox.succeed("show", batch, "--manifest", "--sha256sum").output
        let list = "\(bench.sandbox.root)/sums"
        try write(sums, to: list)
        func check() throws -> Outcome {
            let script = "cd \"$0\" && exec sha256sum --strict -c \"$1\""
            let folder = "\(bench.sandbox.root)/source"
            return try bench.sandbox.start("/bin/sh", ["-c", script, folder, list]).wait()
        }
        let right = try check()
        #expect(right.status == 0 && right.output.split(separator: "\n").count == files, "\(right)")
        let digits = sums.prefix { $0.isHexDigit }
        try write(sums.replacing(digits, with: String(repeating: "0", count: 64)), to: list)
        #expect(try check().status == 1, "a wrong digest is found")
    }

    @Test(arguments: lists)
    func `every byte is read back, and a file that was flipped at the server is found`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let large = try bench.makeFile("large", 3_000_000)
        _ = try bench.makeFile("small", 3000, seed: 2)
        _ = try bench.makeFile("empty", 0)
        let files = ["large", "small", "empty"].map { "\(bench.sandbox.root)/source/\($0)" }
        let batch = try bench.sandbox.queue("upload", bench.options + files + [bench.destination], #_sourceLocation)
        #expect(try bench.sandbox.wait(batch).status == 0)
        let read = try bench.sandbox.martlet("verify", batch, "--read-back")
        #expect(read.status == 0 && read.output.contains("3 of 3 are byte for byte as they were sent"), "\(read)")
        for task in try bench.sandbox.tasks(batch) { #expect(task["verified"].text == "digest", "\(task)") }
        #expect(try bench.sandbox.succeed("show", batch, "--manifest").output.contains(digest(of: large)))
        try expectSums(bench, batch, of: 3)

        // As long and as old as before: no list tells it.
        try bench.far.flipBehindOurBack("large", size: 3_000_000)
        let second = try bench.sandbox.martlet("verify", batch, "--read-back", "--json")
        let json = try JSON(parsing: second.output)
        #expect(second.status == 1 && json["readBack"]["files"].integer == (wire == .s3 ? 2 : 3), "\(second)")
        #expect(json["absent"].array.first?["error"]["code"].text == "notThere", "\(second)")
        #expect(try bench.sandbox.tasks(batch).map { $0["state"].text } == ["failed", "completed", "completed"])
        // Length and time are no proof any more.
        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 1)
        #expect(try bench.sandbox.tasks(batch)[0]["error"]["code"].text == "destinationExists")
        let unsent = try bench.sandbox.martlet("verify", batch)
        #expect(unsent.status == 1 && unsent.output.contains("1 not sent"), "\(unsent)")
        try bench.sandbox.succeed("set", batch, "--if-exists", "replace")
        try bench.sandbox.succeed("retry", batch)
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.arrived()[RawPath("large")] == digest(of: large))
    }

    @Test func `without a digest that was kept, a source that has changed proves nothing, and is sent as advised`()
        throws
    {
        let bench = try WireBench(.sftp)
        let source = try bench.makeFile("first", 3000)
        let words = bench.options + ["--if-exists", "replace", source.displayed, bench.destination]
        let batch = try bench.sandbox.queue("upload", words, #_sourceLocation)
        #expect(try bench.sandbox.wait(batch).status == 0)
        let changed = try bench.makeFile("first", 3000, seed: 9)
        let read = try bench.sandbox.martlet("verify", batch, "--read-back")
        #expect(read.status == 1 && read.output.contains("has changed since it was sent"), "\(read)")
        #expect(try bench.sandbox.task(batch)["state"].text == "completed")
        // The command that is named, as it is printed.
        let advised = try #require(
            read.output.split(separator: "'").first { $0.hasPrefix("martlet again ") }, "\(read)")
        let again = try bench.sandbox.start("/bin/sh", ["-c", "PATH=$0:$PATH; \(advised) --wait", Sandbox.programs])
            .wait()
        #expect(again.status == 0, "\(again)")
        #expect(try bench.arrived()[RawPath("first")] == digest(of: changed))
    }

    @Test func `one file under exactly its name is looked for in the folder that it lies in`() throws {
        let bench = try WireBench(.sftp)
        let source = try bench.makeFile("first", 3000)
        let batch = try bench.sandbox.queue(
            "upload", bench.options + [source.displayed, bench.destination + "other.name"], #_sourceLocation)
        #expect(try bench.sandbox.wait(batch).status == 0)
        #expect(try bench.sandbox.batch(batch)["listed"]["found"].integer == 1)
    }

    @Test func `a server without MLSD is asked, and then nothing is claimed`() throws {
        let bench = try WireBench(.ftp)
        let source = try bench.makeFile("first", 3000)
        let batch = try bench.send(source.displayed)
        #expect(try bench.sandbox.wait(batch).status == 0)
        let shown = try bench.sandbox.batch(batch)
        #expect(shown["state"].text == "completed" && shown["listed"]["foldersUnlisted"].integer == 1, "\(shown)")
        #expect(try bench.sandbox.task(batch)["listed"] == .null)
        #expect(try bench.sandbox.martlet("verify", batch).status == 1)
    }
}

extension FarEnd {
    /// Where what was sent lies as a file of this machine; `nil`: it is in no such file.
    private func file(_ name: String) -> RawPath? {
        let folder: RawPath
        switch self {
        case .sftp(let server): folder = server.data
        case .ftp(let server, _): folder = server.data
        case .dav(let server): folder = server.data
        case .nextcloud(let server): folder = server.files
        default: return nil
        }
        return folder.appending(RawPath("up/\(name)"))
    }

    /// As somebody else would.
    func removeBehindOurBack(_ name: String) throws {
        if case .s3(let server) = self { return try server.remove("up/\(name)") }
        guard let path = file(name) else { throw HarnessError("\(self) has no files") }
        guard unlink(path.displayed) == 0 else { throw HarnessError("\(path): \(errno)") }
    }

    /// One byte is another one; length and time stay as they were, where the server lets that be.
    func flipBehindOurBack(_ name: String, size: Int) throws {
        if case .s3(let server) = self { return try server.put("up/\(name)", count: size) }
        guard let path = file(name) else { throw HarnessError("\(self) has no files") }
        let descriptor = open(path.displayed, O_RDWR)
        guard descriptor >= 0 else { throw HarnessError("\(path): \(errno)") }
        defer { close(descriptor) }
        var status = stat()
        var byte: UInt8 = 0
        guard fstat(descriptor, &status) == 0, pread(descriptor, &byte, 1, off_t(size / 2)) == 1 else {
            throw HarnessError("\(path): \(errno)")
        }
        byte ^= 1
        guard pwrite(descriptor, &byte, 1, off_t(size / 2)) == 1 else { throw HarnessError("\(path): \(errno)") }
        var times = [status.st_atim, status.st_mtim]
        guard futimens(descriptor, &times) == 0 else { throw HarnessError("\(path): \(errno)") }
    }

    /// Its first bytes are left, with a time of their own.
    func cutBehindOurBack(_ name: String, to count: Int) throws {
        if case .s3(let server) = self { return try server.put("up/\(name)", count: count) }
        guard let path = file(name) else { throw HarnessError("\(self) has no files") }
        guard truncate(path.displayed, off_t(count)) == 0 else { throw HarnessError("\(path): \(errno)") }
    }
}
