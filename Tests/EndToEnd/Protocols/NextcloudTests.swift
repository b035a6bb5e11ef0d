import Testing
import TransferModel

/// What Nextcloud does between the last chunk and the file: it takes its time, a proxy before it loses patience, chunks vanish.
@Suite(.inLane, .enabled(if: WireProtocol.tested.contains(.nextcloud))) struct NextcloudTests {
    let bench: WireBench
    let server: NextcloudServer
    let source: RawPath

    init() throws {
        bench = try WireBench(.nextcloud)
        guard case .nextcloud(let server) = bench.far else { throw HarnessError("another server") }
        self.server = server
        source = try bench.makeFile("film.mov", 12_000_000)
    }

    /// How often the chunks were to be put together, and what was answered; `nil` where nothing was.
    private func moves() throws -> [Int64?] {
        try server.requests().filter { $0["method"].text == "MOVE" }.map { $0["status"].integer }
    }

    private func expectClean(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(names(in: server.chunks).isEmpty, "no folder of chunks is left", sourceLocation: sourceLocation)
        #expect(try bench.arrived().count == 1, sourceLocation: sourceLocation)
    }

    @Test func `chunks go up side by side, with their names, lengths and destination, and are put together once`()
        throws
    {
        let batch = try bench.send(source.displayed)
        let task = try bench.expectArrived(batch, source)
        #expect(task["verified"].text == "size", "\(task)")
        let requests = try server.requests()
        let chunks = requests.filter { $0["method"].text == "PUT" }
        #expect(
            chunks.compactMap { $0["path"].text?.split(separator: "/").last.map(String.init) }.sorted()
                == ["00001", "00002", "00003"])
        #expect(chunks.allSatisfy { $0["OC-Total-Length"].text == "12000000" }, "\(chunks)")
        #expect(
            Set(requests.filter { $0["method"].text != "PROPFIND" }.map { $0["Destination"].text ?? "-" })
                .filter { !$0.hasSuffix("/up/film.mov") }.subtracting(["-"]).isEmpty)
        // The folder "up" was not there: the first MOVE says so.
        #expect(try moves() == [409, 201])
        try expectClean()
    }

    @Test func `a 504 to the MOVE is waited for, not repeated`() throws {
        try server.turn("assembling", "3")
        try server.turn("gateway", "1")
        let batch = try bench.send(source.displayed)
        try bench.expectArrived(batch, source)
        #expect(try moves() == [409, 504])
        try expectClean()
    }

    @Test func `an engine that is killed while the server puts the file together finds it whole`() throws {
        try server.turn("assembling", "4")
        let batch = try bench.send(source.displayed)
        try waitUntil("the server is at it") {
            // Its temporary file is there as soon as the work has begun, but for the seconds that it is made to wait.
            try server.requests().contains { $0["status"].integer == 409 } && !names(in: server.chunks).isEmpty
                && names(in: bench.far.folder ?? RawPath("")).isEmpty
                && server.requests().contains {
                    $0["method"].text == "MKCOL" && $0["path"].text?.hasSuffix("/up/") == true
                }
        }
        try bench.killEngine()
        try bench.push(batch) { $0["finishedAt"] != .null }
        try bench.expectArrived(batch, source)
        #expect(try moves().count { $0 == 201 || $0 == 204 } <= 1)
        try expectClean()
    }

    @Test func `a chunk that was lost before the MOVE is sent again`() throws {
        try server.turn("forget", "00002")
        let batch = try bench.send(source.displayed)
        try bench.push(batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source)
        #expect(task["restarts"].integer == 0, "\(task)")
        let puts = try server.requests().filter { $0["method"].text == "PUT" && $0["status"].integer == 201 }
        #expect(puts.count == 4, "the lost one went up once more, no other: \(puts)")
        try expectClean()
    }

    @Test func `a folder of chunks that expired is made anew`() throws {
        try bench.proxy.set(bench.wire.rate(3))
        let batch = try bench.send(source.displayed)
        try bench.awaitStored(1, of: batch)
        try bench.killEngine()
        removeTree(server.chunks)
        makeFolder(server.chunks)
        try bench.proxy.set()
        try bench.push(batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source)
        #expect((task["restarts"].integer ?? 0) >= 1, "a beginning from zero is said: \(task)")
        try expectClean()
    }

    @Test func `somebody else's file is neither replaced nor taken for ours`() throws {
        makeFolder(try #require(bench.far.folder))
        try write("theirs", to: try #require(bench.far.folder?.appending(RawPath("film.mov"))))
        let refused = try bench.send(source.displayed)
        #expect(try bench.sandbox.wait(refused).status == 1)
        #expect(try bench.sandbox.task(refused)["error"]["code"].text == "destinationExists")
        #expect(names(in: server.chunks).isEmpty)
        let replaced = try bench.sandbox.queue(
            "upload", bench.options + ["--if-exists", "replace", source.displayed, bench.destination], #_sourceLocation)
        try bench.expectArrived(replaced, source)
        try expectClean()
    }

    @Test func `a digest is compared where one is wanted, and the file goes in chunks all the same`() throws {
        let batch = try bench.sandbox.queue(
            "upload", bench.options + ["--verify", "digest", source.displayed, bench.destination], #_sourceLocation)
        let task = try bench.expectArrived(batch, source)
        #expect(task["verified"].text == "digest", "\(task)")
        #expect(try task["digest"]["value"].text == digest(of: source))
        let put = try server.requests().last { $0["method"].text == "MOVE" }
        #expect(try put?["OC-Checksum"].text == "SHA256:\(digest(of: source))")
        #expect(try server.requests().count { $0["method"].text == "PUT" } == 3)
        try expectClean()
    }

    @Test func `a 504 to the MOVE of a small file is waited for, not repeated`() throws {
        let small = try bench.makeFile("note.txt", 100_000)
        makeFolder(try #require(bench.far.folder))
        try server.turn("assembling", "3")
        try server.turn("gateway", "1")
        let batch = try bench.send(small.displayed)
        try bench.expectArrived(batch, small)
        #expect(try moves() == [504])
        try expectClean()
    }

    @Test func `a server without folders of chunks gets the file whole, and the next one at once`() throws {
        try server.turn("plain", "yes")
        try bench.expectArrived(bench.send(source.displayed), source)
        let asked = try server.requests().count { $0["path"].text?.contains("/dav/uploads/") == true }
        #expect(asked == 2, "MKCOL and a look")
        let next = try bench.makeFile("next.mov", 11_000_000, seed: 2)
        let task = try bench.expectArrived(bench.send(next.displayed), next)
        #expect(task["restarts"].integer == 0, "\(task)")
        #expect(try server.requests().count { $0["path"].text?.contains("/dav/uploads/") == true } == asked)
        let whole = try server.requests().filter { $0["method"].text == "PUT" && $0["status"].integer == 201 }
        #expect(whole.count == 2, "\(whole)")
    }
}
