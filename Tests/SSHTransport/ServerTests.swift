import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import SSHTransport

/// Against a real sshd, by the machine's own ssh.
@Suite struct ServerTests {
    private func bench(_ target: SSHTarget, _ test: (SFTPBench) async throws -> Void) async throws {
        try await SFTPBench.run(target, try Sandbox(), { _ in }, test)
    }

    @Test("300 MB go up and come down again unchanged, over one login")
    func large() async throws {
        try await SSHServer.run { server in
            try await bench(server.target()) { bench in
                let (client, size) = (bench.client, Int64(300_000_000))
                let block = try System.randomBytes(1_000_003)
                let path = try bench.sandbox.write("source", [])
                for _ in 0..<300 { try bench.sandbox.append("source", Array(block.prefix(1_000_000))) }
                let remote = RawPath(server.data + "/f")
                let handle = try await client.handle(.openForWriting(remote))
                let ends = await client.perform(
                    .write(handle, 0..<size / 2), .write(handle, size / 2..<size), .sync(handle), .handleStatus(handle),
                    .close(handle), source: try FileEnd(path))
                #expect(ends.map { words($0.outcome) } == ["done", "done", "done", "attributes", "done"])
                #expect(ends[1].writtenThrough == size && ends[1].features.isOpenSSH)
                let reading = try await client.handle(.openForReading(remote))
                let read = await client.start([.read(reading, from: 0)])[0]
                await client.openGate(read, try FileEnd(bench.sandbox.path("copy"), writing: true), total: size)
                let end = await client.end(of: read)
                #expect(end.outcome == .answered(.done) && end.bytesRead == size)
                let isSame = bench.sandbox.read("source") == bench.sandbox.read("copy")
                #expect(isSame)
                #expect(await client.childCount == 1)
            }
        }
    }

    @Test("keys that are not the right ones say whose they are: the host's, unknown or changed, and ours")
    func keys() async throws {
        try await SSHServer.run { server in
            let known = server.folderPath + "/none"
            try server.write("none", "")
            let other = String(decoding: try #require(server.read("keys/other.pub")), as: UTF8.self)
            let port = try #require(server.read("keys/known_hosts")).split(separator: UInt8(ascii: " "))[0]
            try server.write("wrong", "\(String(decoding: port, as: UTF8.self)) \(other)")
            for (options, expected) in [
                (["-oUserKnownHostsFile=\(known)"], "hostKey pinMismatch"),
                (["-oUserKnownHostsFile=\(server.folderPath)/wrong"], "hostKey pinMismatch"),
                (["-oIdentityFile=\(server.folderPath)/keys/other", "-oIdentitiesOnly=yes", "-F", "none"], ""),
                (["-oPort=1"], "cannotConnectToHost"), (["-oNoSuchOption=1"], "unsupported"),
            ] {
                var target = server.target()
                if expected.isEmpty {
                    try server.write(
                        "other_config",
                        String(decoding: try #require(server.read("ssh_config")), as: UTF8.self)
                            .replacing("/keys/id", with: "/keys/other"))
                    target.command = ["ssh", "-F", server.folderPath + "/other_config"].map { Array($0.utf8) }
                } else {
                    target.command += options.map { Array($0.utf8) }
                }
                try await bench(target) { bench in
                    let end = await bench.client.perform(.status(RawPath("/")))[0]
                    #expect(words(end.outcome) == (expected.isEmpty ? "auth permissionDenied" : expected), "\(end)")
                    await bench.client.until { $0.childCount == 0 }
                }
            }
        }
    }

    @Test("the way leads through a jump host where ssh's own options say so")
    func jump() async throws {
        try await SSHServer.run { server in
            try server.write("there", "1234567")
            try await bench(server.target("-oProxyJump=door")) { bench in
                let end = await bench.client.perform(.status(RawPath(server.folderPath + "/there")))[0]
                guard case .answered(.attributes(let found)) = end.outcome else {
                    return #expect(words(end.outcome) == "")
                }
                #expect(found.size == 7)
            }
            // A door that does not open is told as such, and nobody waits for ever.
            try await bench(server.target("-oProxyJump=door:1")) { bench in
                let end = await bench.client.perform(.status(RawPath("/")))[0]
                guard case .broken(let error) = end.outcome else { return #expect(words(end.outcome) == "") }
                #expect(error.isRetryable, "\(error)")
            }
        }
    }

    @Test("a key's passphrase reaches the real ssh, also behind a jump host; a wrong one waits for a person")
    func passphrase() async throws {
        try await SSHServer.run { server in
            // The door's key stays open; the one behind it gets the passphrase.
            try await server.lockKey("locked", "open sesame")
            let config = String(decoding: try #require(server.read("ssh_config")), as: UTF8.self)
            let first = "Host there\n  IdentityFile \(server.folderPath)/keys/locked\n"
            try server.write("locked_config", first + config.replacing("IdentityFile", with: "#"))
            try server.write(
                "jump_config",
                first + "Match originalhost door\n  IdentityFile \(server.folderPath)/keys/id\n"
                    + config.replacing("IdentityFile", with: "#"))
            for (file, options, password, expected) in [
                ("locked_config", [], "open sesame", "attributes"),
                ("jump_config", ["-oProxyJump=door"], "open sesame", "attributes"),
                ("locked_config", [], "open barley", "auth permissionDenied"),
            ] as [(String, [String], String, String)] {
                var target = server.target()
                target.command = (["ssh", "-F", server.folderPath + "/" + file] + options).map { Array($0.utf8) }
                target.password = Array(password.utf8)
                try await bench(target) { bench in
                    let end = await bench.client.perform(.status(RawPath("/")))[0]
                    #expect(words(end.outcome) == expected, "\(end)")
                }
            }
        }
    }

    @Test("a server without the SFTP subsystem says what is missing")
    func noSubsystem() async throws {
        try await SSHServer.run(["NO_SFTP=1"]) { server in
            try await bench(server.target()) { bench in
                let end = await bench.client.perform(.status(RawPath("/")))[0]
                guard case .broken(let error) = end.outcome else { return #expect(words(end.outcome) == "") }
                #expect(error.code == .unsupported && error.message.contains("Subsystem sftp"))
            }
        }
    }

    @Test("ssh killed, and the server fallen over, break what is under way; the next operation starts anew")
    func broken() async throws {
        try await SSHServer.run { server in
            let sandbox = try Sandbox()
            let config = server.folderPath + "/ssh_config"
            try sandbox.write("ssh", Array("#!/bin/sh\necho $$ >\"${0%/*}/pid\"\nexec ssh -F \(config) \"$@\"\n".utf8))
            let words = ["/bin/sh", String(decoding: sandbox.path("ssh"), as: UTF8.self)].map { Array($0.utf8) }
            try await SFTPBench.run(SSHTarget(command: words, host: "there"), sandbox) { bench in
                let client = bench.client
                for kills in [true, false] {
                    let handle = try await client.handle(.openForWriting(RawPath(server.data + "/f")))
                    let id = await client.start([.write(handle, 0..<1 << 40)], source: PatternSource())[0]
                    await client.until { ($0.progress(id)?.acknowledged ?? 0) > 0 }
                    if kills {
                        let digits = String(decoding: try #require(sandbox.read("pid")), as: UTF8.self)
                        try System.kill(try #require(Int32(digits.dropLast())), signal: SIGKILL)
                    } else {
                        try await server.crash()
                    }
                    let end = await client.end(of: id)
                    guard case .broken(let error) = end.outcome else { return #expect("\(end)" == "") }
                    #expect(error.code == .networkConnectionLost && error.isRetryable)
                    #expect(try #require(end.writtenThrough) > 0)
                    await client.until { $0.childCount == 0 }
                    let late = await client.perform(.close(handle))[0]
                    guard case .broken = late.outcome else { return #expect("\(late)" == "") }
                }
                let end = await client.perform(.status(RawPath("/")))[0]
                guard case .broken(let error) = end.outcome else { return #expect("\(end)" == "") }
                #expect(error.code == .cannotConnectToHost)
            }
        }
    }
}
