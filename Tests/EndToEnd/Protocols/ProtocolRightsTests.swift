import Glibc
import TestSupport
import Testing
import TransferModel

/// The right to send is lost in the middle: the file waits for a person, keeps what is there, and goes on at the same byte.
@Suite(.inLane) struct ProtocolRightsTests {
    let size: Int64 = 40_000_000

    /// A file under way, with something of it at the server.
    func begin(_ bench: WireBench, _ options: [String] = []) throws -> (source: RawPath, batch: String) {
        let source = try bench.makeFile("film.mov", Int(size))
        try bench.proxy.set(bench.wire.rate(6))
        let batch = try bench.sandbox.queue(
            "upload", bench.options + options + [source.displayed, bench.destination], #_sourceLocation)
        try bench.awaitStored(10_000_000, of: batch)
        return (source, batch)
    }

    /// The server is gone and comes back as another; the file waits for that reason until it is mended.
    func expectWait(
        _ bench: WireBench, _ batch: String, for reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try bench.push(batch, sourceLocation: sourceLocation) { $0["waitReasons"].texts == [reason] }
        let task = try bench.sandbox.task(batch)
        #expect(task["error"]["message"].text?.contains(":") == true, "it says what to do: \(task)")
        if ["auth", "hostKey"].contains(reason) {
            #expect(try bench.sandbox.wait(batch).status == 4, "a person is needed", sourceLocation: sourceLocation)
        }
        #expect(!(try bench.sandbox.succeed("why", batch).output.isEmpty))
    }

    /// Mended: it goes on where it stood, and nothing was begun again.
    func expectGoesOn(
        _ bench: WireBench, _ batch: String, _ source: RawPath, by cure: [String]? = nil, lost: Int64 = 3 << 20,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let cure = cure ?? ["retry", batch]
        try bench.proxy.set()
        try bench.sandbox.succeed(cure)
        try bench.push(batch) { $0["finishedAt"] != .null }
        let task = try bench.expectArrived(batch, source, sourceLocation: sourceLocation)
        #expect(task["restarts"].integer == 0, "\(task)", sourceLocation: sourceLocation)
        let began = task["resumedFrom"].array.compactMap(\.integer)
        #expect((began.max() ?? 0) >= 4_000_000, "\(task)", sourceLocation: sourceLocation)
        // Heads, and what was in the pipes.
        let carried = try bench.bytesSentByWire()
        let allowed = bench.wire.hasParts ? 2 * Int64(bench.wire.parallel) * WireProtocol.part : lost
        #expect(carried <= size + size / 200 + allowed, "\(carried) bytes were sent", sourceLocation: sourceLocation)
    }

    @Test(arguments: WireProtocol.tested.filter { [.ietf8, .ietf3].contains($0) })
    func `a token that is taken no more`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        guard case .draft(let server) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        try server.turn("token", "first")
        let (source, batch) = try begin(bench, ["--header", "Authorization: Bearer first"])
        try server.turn("token", "second")
        try bench.far.crash()
        try bench.far.restart()
        try expectWait(bench, batch, for: "auth")
        try server.turn("token", "first")
        try expectGoesOn(bench, batch, source)
    }

    @Test(arguments: WireProtocol.tested.filter { [.tusToReceiver, .ietf].contains($0) })
    func `a receiver that was given another token`(wire: WireProtocol) throws {
        let bench = try WireBench(wire, token: "first")
        guard case .receiver(let receiver) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        let (source, batch) = try begin(bench, ["--header", "Authorization: Bearer first"])
        try receiver.crash()
        try receiver.restart(token: "second")
        try expectWait(bench, batch, for: "auth")
        try receiver.crash()
        try receiver.restart(token: "first")
        try expectGoesOn(bench, batch, source)
    }

    @Test(arguments: WireProtocol.tested.filter { [.tusToReceiver, .ietf].contains($0) })
    func `a token that expired in the middle is given anew, and what why says does it`(wire: WireProtocol) throws {
        let bench = try WireBench(wire, token: "first")
        guard case .receiver(let receiver) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        let (source, batch) = try begin(bench, ["--header", "Authorization: Bearer first"])
        try receiver.crash()
        try receiver.restart(token: "second")
        try expectWait(bench, batch, for: "auth")
        #expect(try bench.sandbox.succeed("why", batch).output.contains("martlet set \(batch) --header"))
        let new = "Authorization: Bearer second"
        #expect(try bench.sandbox.martlet("set", "t1", "--header", new).status == 1, "keys are the batch's")
        try expectGoesOn(bench, batch, source, by: ["set", batch, "--header", new])
        let told = try bench.sandbox.succeed("show", batch, "--json").output
        #expect(!told.contains("Bearer"), "\(told)")
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.nextcloud)))
    func `a password that was changed is read anew`() throws {
        let bench = try WireBench(.nextcloud)
        guard case .nextcloud(let server) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        let file = "\(bench.sandbox.root)/password"
        try server.turn("password", "old")
        try write("old\n", to: file)
        let (source, batch) = try begin(bench, ["--user", "test", "--password-command", "cat \(file)"])
        try server.turn("password", "new")
        try expectWait(bench, batch, for: "auth")
        try write("new\n", to: file)
        try expectGoesOn(bench, batch, source)
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.s3)))
    func `keys that are taken no more`() throws {
        let bench = try WireBench(.s3)
        guard case .s3(let server) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        let (source, batch) = try begin(bench)
        try server.crash()
        try server.restart(["SECRET=another"])
        try expectWait(bench, batch, for: "auth")
        try server.crash()
        try server.restart()
        try expectGoesOn(bench, batch, source)
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.s3)))
    func `keys that were changed are given anew, and what why says does it`() throws {
        let bench = try WireBench(.s3)
        guard case .s3(let server) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        let (source, batch) = try begin(bench)
        try server.crash()
        try server.restart(secret: "another")
        try expectWait(bench, batch, for: "auth")
        #expect(try bench.sandbox.succeed("why", batch).output.contains("martlet set \(batch) --s3-keys"))
        bench.sandbox.environment = S3Server.environment(bench.proxy.address, secret: "another")
        try expectGoesOn(bench, batch, source, by: ["set", batch, "--s3-keys"])
        let told = try bench.sandbox.succeed("show", batch, "--json").output
        #expect(!told.contains("another") && !told.contains("testsecret"), "\(told)")
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.s3)))
    func `a session whose token has expired is given another`() throws {
        let bench = try WireBench(.s3)
        guard case .s3(let server) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        try server.turn("session", "token1")
        let keys = bench.sandbox.environment
        bench.sandbox.environment = keys + ["AWS_SESSION_TOKEN=token1"]
        let (source, batch) = try begin(bench)
        try server.turn("session", "token2")
        try bench.push(batch) { $0["state"].text == "waiting" && $0["waitReasons"].texts == ["auth"] }
        try expectWait(bench, batch, for: "auth")
        bench.sandbox.environment = keys + ["AWS_SESSION_TOKEN=token2"]
        try expectGoesOn(bench, batch, source, by: ["set", batch, "--s3-keys"])
        let told = try bench.sandbox.succeed("show", batch, "--json").output
        #expect(!told.contains("token1") && !told.contains("token2"), "\(told)")
    }

    @Test(.enabled(if: WireProtocol.tested.contains(.sftp)))
    func `a host key that changed`() throws {
        let bench = try WireBench(.sftp)
        guard case .sftp(let server) = bench.far else {
            Issue.record("something else: \(bench.far)")
            return
        }
        let (source, batch) = try begin(bench)
        try server.crash()
        let known = try readText("\(server.folder)/keys/known_hosts")
        remove("\(server.folder)/keys/host")
        remove("\(server.folder)/keys/host.pub")
        try server.restart()
        // The person's ssh knows the old one still.
        let new = try readText("\(server.folder)/keys/known_hosts")
        #expect(new != known)
        try write(known, to: "\(server.folder)/keys/known_hosts")
        try expectWait(bench, batch, for: "hostKey")
        try write(new, to: "\(server.folder)/keys/known_hosts")
        try expectGoesOn(bench, batch, source)
    }

    @Test(arguments: WireProtocol.tested.filter { [.ietf8, .nextcloud].contains($0) })
    func `a quota that is full`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let (source, batch) = try begin(bench)
        switch bench.far {
        case .nextcloud(let server):
            try server.turn("quota", "1000")
            try expectWait(bench, batch, for: "remoteDiskSpace")
            try server.turn("quota", nil)
        case .draft(let server):
            try server.turn("full", "yes")
            try server.crash()
            try server.restart()
            try expectWait(bench, batch, for: "remoteDiskSpace")
            try server.turn("full", nil)
        default: Issue.record("no server with a quota: \(bench.far)")
        }
        try expectGoesOn(bench, batch, source)
    }

    // A small file system of its own needs root, and a container's root may not mount.
    @Test(
        .enabled(if: Mounting.isAllowed, "nothing can be mounted here"),
        arguments: WireProtocol.tested.filter { [.sftp, .ftp, .ftpes, .dav].contains($0) })
    func `a disk that is full`(wire: WireProtocol) throws {
        let bench = try WireBench(wire)
        let folder = try #require(bench.far.folder)
        makeFolder(folder)
        try #require(mount("tmpfs", folder.displayed, "tmpfs", 0, "size=16m,mode=777") == 0)
        defer { umount2(folder.displayed, Int32(MNT_DETACH)) }
        let source = try bench.makeFile("film.mov", Int(size))
        let batch = try bench.send(source.displayed)
        try expectWait(bench, batch, for: "remoteDiskSpace")
        #expect(mount("tmpfs", folder.displayed, "tmpfs", UInt(MS_REMOUNT), "size=100m,mode=777") == 0)
        guard wire.resumes else {
            try bench.sandbox.succeed("retry", batch)
            try bench.expectArrived(batch, source)
            return
        }
        // A server says that it is full when it comes to the bytes, after some more were sent; and it was asked a few times.
        try expectGoesOn(bench, batch, source, lost: 20 << 20)
    }
}
