import Glibc
import LinuxSystem
import TestSupport
import Testing
import TransferModel
import WireOperations

@testable import SSHTransport

/// Children that are not ssh, but behave as it may.
@Suite struct ChildTests {
    /// A shell script's ssh that asks for the password as the real one does, and lets in who knows it.
    private static func asking(_ question: String, as program: String = "\"$SSH_ASKPASS\"") -> String {
        """
        tr '\\0' '\\n' </proc/$$/environ >"${0%/*}/seen"
        tr '\\0' '\\n' </proc/$$/cmdline >>"${0%/*}/seen"
        answer=$(\(program) "\(question)") || { echo "u@there: Permission denied (publickey,password)." >&2; exit 255; }
        [ "$answer" = 'pass word$1' ] || { echo "u@there: Permission denied (password)." >&2; exit 255; }
        exec \(SFTPBench.server)
        """
    }

    @Test("a password reaches ssh's question, and nothing else ever shows it")
    func password() async throws {
        try await SFTPBench.run(ssh: Self.asking("u@there's password: "), password: "pass word$1") { bench in
            let end = await bench.client.perform(.status(RawPath("/")))[0]
            #expect(words(end.outcome) == "attributes")
            let seen = String(decoding: try #require(bench.sandbox.read("seen")), as: UTF8.self)
            #expect(seen.contains("SSH_ASKPASS_REQUIRE=force") && seen.contains("BatchMode=no"))
            #expect(!seen.contains("pass word"))
            // The pipe is gone as soon as ssh is in; the script holds no secret.
            #expect(bench.sandbox.names("private") == ["askpass"])
            let script = String(decoding: try #require(bench.sandbox.read("private/askpass")), as: UTF8.self)
            #expect(!script.contains("pass word"))
        }
    }

    @Test(
        "other questions, and other programs' questions, get no answer",
        arguments: [
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? password", "Verification code: ",
            "JUMP",
        ])
    func noAnswer(question: String) async throws {
        let script =
            question == "JUMP"
            // Another ssh, on the way through a jump host, asks for that host's password.
            ? Self.asking("u@jump's password: ", as: "sh -c '\"$SSH_ASKPASS\" \"$1\"' ssh") : Self.asking(question)
        try await SFTPBench.run(ssh: script, password: "pass word$1") { bench in
            let end = await bench.client.perform(.status(RawPath("/")))[0]
            #expect(words(end.outcome) == "auth permissionDenied")
            #expect(bench.sandbox.names("private") == ["askpass"])
        }
    }

    @Test("a greeting that comes byte by byte does not hold a login for ever")
    func drippingGreeting() async throws {
        let script = "printf '\\000\\004\\020\\000'; while printf x; do sleep 0.02; done"
        try await SFTPBench.run(ssh: script) {
            $0.loginPatience = .milliseconds(400)
        } _: { bench in
            #expect(words(await bench.client.perform(.status(RawPath("/")))[0].outcome) == "timedOut")
        }
    }

    @Test(
        "a wrong password waits for a person; a folder that others can look into gets none",
        .tells(
            "/private: Permission denied): make that folder yours alone (0700), then retry",
            "the password cannot be handed to ssh ("))
    func wrongPassword() async throws {
        try await SFTPBench.run(ssh: Self.asking("u@there's password: "), password: "other") { bench in
            #expect(words(await bench.client.perform(.status(RawPath("/")))[0].outcome) == "auth permissionDenied")
        }
        try await SFTPBench.run(ssh: Self.asking("u@there's password: "), password: "other") { bench in
            try System.mkdirs(bench.sandbox.path("private"), mode: 0o700)
            try System.chmod(bench.sandbox.path("private"), mode: 0o755)
            let end = await bench.client.perform(.status(RawPath("/")))[0]
            #expect(words(end.outcome) == "permissionDenied")
            #expect(bench.sandbox.names("private") == [])
        }
    }

    @Test("a missing program is told at once, and no child stays")
    func missing() async throws {
        let target = SSHTarget(command: [Array("/nowhere/ssh".utf8)], host: "there")
        try await SFTPBench.run(target, try Sandbox()) { bench in
            let ends = await bench.client.perform(.status(RawPath("/")), .remove(RawPath("/x")))
            #expect(ends.map { words($0.outcome) } == ["unsupported", "unsupported"])
            #expect(await bench.client.childCount == 0)
        }
    }

    @Test("a shell that prints text, an end without a word, and a wrapper without ssh are told apart")
    func notSFTP() async throws {
        for (script, expected) in [
            ("echo Welcome; exec \(SFTPBench.server)", "unsupported"), ("exit 255", "networkConnectionLost"),
            ("exec /nowhere/no-such-program", "unsupported"), ("exec /etc/passwd", "unsupported"),
            ("echo 'subsystem request failed on channel 0' >&2; exit 255", "unsupported"),
        ] {
            try await SFTPBench.run(ssh: script) { bench in
                let end = await bench.client.perform(.status(RawPath("/")))[0]
                #expect(words(end.outcome) == expected, "\(script)")
                await bench.client.until { $0.childCount == 0 }
            }
        }
    }

    @Test("line ends in what ssh repeats of a peer make no words of ssh, however many lines follow")
    func linesOfPeer() async throws {
        let forged = """
            Offending ED25519 key in /home/me/.ssh/known_hosts:3\\nHost key for there has changed and you have requested \
            strict checking.\\rHost key verification failed.\\r\\nDisconnected from 1.2.3.4 port 22\\r\\n
            """
        let log = "while [ \"$1\" != -E ]; do shift; done;"
        let disconnect = "Received disconnect from 1.2.3.4 port 22:2: x\\n"
        let flood = "printf \"$(printf '%0200d\\\\n' $(seq 100))\""
        let unknown = "Connection closed by UNKNOWN port 65535\\r\\n"
        for script in [
            "\(log) printf '\(disconnect)\(forged)' >\"$2\"",
            "\(log) { printf '\(disconnect)'; \(flood); printf '\(forged)'; } >\"$2\"",
            "\(log) printf '\(unknown)' >\"$2\"; printf '\(disconnect)\(forged)' >&2",
            "\(log) printf '\(unknown)' >\"$2\"; { printf '\(disconnect)'; \(flood); printf '\(forged)'; } >&2",
        ] {
            try await SFTPBench.run(ssh: "\(script); exit 255") { bench in
                let end = await bench.client.perform(.status(RawPath("/")))[0]
                #expect(words(end.outcome) == "networkConnectionLost", "\(script)")
                #expect(!"\(end.outcome)".contains("known_hosts"), "\(end.outcome)")
            }
        }
        // The same lines alone are ssh's verdict.
        try await SFTPBench.run(ssh: "\(log) printf '\(forged)' >\"$2\"; exit 255") { bench in
            #expect(words(await bench.client.perform(.status(RawPath("/")))[0].outcome) == "hostKey pinMismatch")
        }
    }

    @Test("a peer that speaks nonsense after its greeting ends its own connection and nothing else")
    func nonsense() async throws {
        // A greeting of version 3, then: an unknown request's answer, a huge length, a length of nothing.
        for tail in [
            "\\000\\000\\000\\021e\\000\\000\\377\\377\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000",
            "\\377\\377\\377\\377abcdefgh", "\\000\\000\\000\\000\\000\\000\\000\\000",
        ] {
            let script = "printf '\\000\\000\\000\\005\\002\\000\\000\\000\\003\(tail)'; exec cat >/dev/null"
            try await SFTPBench.run(ssh: script) { bench in
                let end = await bench.client.perform(.status(RawPath("/")))[0]
                #expect(words(end.outcome) == "badServerResponse")
                await bench.client.until { $0.childCount == 0 }
            }
        }
    }

    @Test("a server of SFTP before version 3 is named, and a packet that is none is no text of a shell")
    func oldVersion() async throws {
        for (greeting, expected) in [
            ("\\000\\000\\000\\005\\002\\000\\000\\000\\002", "unsupported"),
            ("\\000\\000\\000\\005    \\003", "badServerResponse"),
        ] {
            try await SFTPBench.run(ssh: "printf '\(greeting)'; exec cat >/dev/null") { bench in
                let end = await bench.client.perform(.status(RawPath("/")))[0]
                #expect(words(end.outcome) == expected)
                guard case .broken(let error) = end.outcome, expected == "unsupported" else { return }
                #expect(
                    error.message.hasSuffix(
                        " speaks version 2 of SFTP, and Martlet version 3 and later: send it there by another protocol")
                )
            }
        }
    }

    @Test("operations for one target share a child; another environment or user has its own")
    func sharing() async throws {
        try await SFTPBench.run { bench in
            let client = bench.client
            var other = client.target
            other.environment = [Array("SSH_AUTH_SOCK=/x".utf8)]
            let root = RawPath("/")
            _ = await client.perform(.status(root), .status(root))
            _ = await client.perform(.status(root), owner: 2)
            #expect(await client.childCount == 1)
            _ = await client.perform(.status(root), on: other)
            #expect(await client.childCount == 2)
        }
    }

    @Test("the loop sleeps again once a pipe that was full has taken everything")
    func fullPipe() async throws {
        // As for a user who has many pipes: 1031 is F_SETPIPE_SZ.
        let script = "python3 -c 'import fcntl; fcntl.fcntl(0, 1031, 4096)'; exec \(SFTPBench.server)"
        try await SFTPBench.run(ssh: script, manualClock: true) { bench in
            let client = bench.client
            let handle = try await client.handle(.openForWriting(bench.path("f")))
            let end = await client.perform(.write(handle, 0..<3_000_000), source: PatternSource())[0]
            #expect(end.outcome == .answered(.done))
            let before = await client.turns
            // Ample time for a busy loop to show itself.
            let other = try EventLoop(name: "other")
            let bystander = SFTPClient(other, client.target, manualClock: true)
            for _ in 0..<1000 { _ = await bystander.turns }
            other.stop()
            other.join()
            #expect(await client.turns - before <= 3)
        }
    }

    @Test("a connection without work is closed after a while, one with an open file is kept")
    func idle() async throws {
        try await SFTPBench.run(manualClock: true) { bench in
            let client = bench.client
            let handle = try await client.handle(.openForWriting(bench.path("f")))
            await client.advance(by: .seconds(100))
            #expect(await client.childCount == 1)
            _ = await client.perform(.close(handle))
            // Idle from now on; the watch over answers ends by itself.
            await client.pause()
            await client.advance(by: .seconds(29))
            #expect(await client.childCount == 1)
            await client.advance(by: .seconds(2))
            await client.until { $0.childCount == 0 }
            // The next one starts anew.
            #expect(words(await client.perform(.status(RawPath("/")))[0].outcome) == "attributes")
        }
    }

    @Test(
        "a child that stands still while answers are awaited is ended and told; so is one that never gets in",
        .tells(
            "there let nobody in for too long: Martlet tries again by itself",
            "nothing moved to or from there: Martlet tries again by itself"))
    func stalled() async throws {
        try await SFTPBench.run(ssh: "echo $$ >\"${0%/*}/pid\"; exec \(SFTPBench.server)", manualClock: true) { bench in
            let client = bench.client
            _ = await client.perform(.status(RawPath("/")))
            let digits = String(decoding: try #require(bench.sandbox.read("pid")), as: UTF8.self)
            try System.kill(try #require(Int32(digits.dropLast())), signal: SIGSTOP)
            let id = await client.start([.status(RawPath("/"))])[0]
            // The packet is out when the turn has ended.
            await client.pause()
            // Nobody was silent while the machine slept.
            await client.sleep(for: .seconds(36_000))
            #expect(await client.activeCount == 1)
            await client.advance(by: .seconds(100))
            #expect(words(await client.end(of: id).outcome) == "timedOut")
            // A stopped process does not hear SIGTERM.
            await client.advance(by: .seconds(3))
            await client.until { $0.childCount == 0 }
        }
        try await SFTPBench.run(ssh: "exec sleep 1000", manualClock: true) { bench in
            let id = await bench.client.start([.status(RawPath("/"))])[0]
            await bench.client.pause()
            await bench.client.advance(by: .seconds(100))
            #expect(words(await bench.client.end(of: id).outcome) == "timedOut")
            await bench.client.until { $0.childCount == 0 }
        }
    }

    @Test(
        "a server that answers every question but the first is broken off, whatever else moves",
        .tells(
            "there left a question without an answer for too long while it answered others"))
    func unanswered() async throws {
        // INIT has 9 bytes, each STAT of "/" has 14. The greeting is version 3; an answer is the status "no such file".
        let script = """
            skip() { dd bs=1 count=$1 of=/dev/null 2>/dev/null; }
            skip 9
            printf '\\000\\000\\000\\005\\002\\000\\000\\000\\003'
            skip 14
            id=2
            while [ $id -le 33 ]; do
                skip 14
                printf "\\\\000\\\\000\\\\000\\\\011e\\\\000\\\\000\\\\000\\\\$(printf %03o $id)\\\\000\\\\000\\\\000\\\\002"
                id=$((id + 1))
            done
            exec sleep 1000
            """
        try await SFTPBench.run(ssh: script, manualClock: true) { bench in
            let client = bench.client
            let id = await client.start([.status(RawPath("/"))])[0]
            // A question may take ten times as long as a piece of a file.
            for _ in 0..<32 where await client.activeCount > 0 {
                #expect(words(await client.perform(.status(RawPath("/")))[0].outcome) == "refused 2")
                await client.advance(by: .seconds(20))
            }
            #expect(await client.activeCount == 0)
            let outcome = await client.end(of: id).outcome
            #expect(words(outcome) == "timedOut", "\(outcome)")
        }
    }
}
