import FoundationEssentials
import LinuxSystem
import ServiceWire
import Testing
import TransferModel

@testable import MartletKit

/// The way to another machine's engine, with a shell script in ssh's place.
@Suite struct RemoteLineTests {
    /// A connection whose ssh is `script`, run by the shell; its arguments are those that ssh would get.
    private func connection(_ script: String) throws -> EngineConnection {
        var options = ConnectionOptions()
        options.remote = RemoteEngine(
            sshCommand: ["/bin/sh", "-c", script, "ssh"].map { Array($0.utf8) }, host: "ana@nas")
        let places = try Places(
            environment: ["MARTLET_HOME": "/tmp/martlet-nothing-\(UUID().uuidString)"], currentDirectory: "/")
        return try EngineConnection(options, places: places)
    }

    @Test(
        arguments: [
            ("exit 127", "nas has no martlet in its PATH: install it there, or name it with --remote-command"),
            (
                "echo 'ssh: connect to host nas port 22: Connection refused' >&2; exit 255",
                "no line to nas (ssh: connect to host nas port 22: Connection refused)"
            ),
            (
                "echo 'martlet: there is no command \"relay\": see martlet --help' >&2; exit 2",
                "the martlet of nas is too old: install the version of this one there"
            ),
            ("echo 'martlet-relay: failed queueLocked it is held'; sleep 100", "it is held"),
            ("echo 'Welcome to nas!'; echo 'oh: no' >&2; exit 3", "martlet ended on nas with status 3: oh: no"),
            (
                "exec yes Welcome",
                "nas prints more than 1 MiB before its engine answers: "
                    + "keep its shell's start-up files silent, then attach again"
            ),
            (
                "exec cat /dev/zero",
                "nas prints more than 1 MiB before its engine answers: "
                    + "keep its shell's start-up files silent, then attach again"
            ),
            ("kill -9 $$", "no line to nas (ssh ended)"),
            ("printf 'bad\\033[2J\\n' >&2; exit 255", "no line to nas (ssh: bad\\x1b[2J)"),
        ])
    func `what keeps a line from being made is said in words`(script: String, message: String) async throws {
        let connection = try connection(script)
        let error = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(error?.message == message)
        await connection.close()
    }

    @Test func `an ssh that is not there is named`() async throws {
        var options = ConnectionOptions()
        options.remote = RemoteEngine(sshCommand: [Array("/nowhere/ssh".utf8)], host: "nas")
        let places = try Places(
            environment: ["MARTLET_HOME": "/tmp/martlet-nothing-\(UUID().uuidString)"], currentDirectory: "/")
        let connection = try EngineConnection(options, places: places)
        let error = await #expect(throws: RequestError.self) { try await connection.connect() }
        #expect(error?.message.hasPrefix("/nowhere/ssh cannot be run (") == true)
    }

    @Test func `an attempt behind a screen that would have to ask says that a person has to attach again`() {
        let remote = RemoteEngine(host: "ana@nas")
        let denied = "ana@nas: Permission denied (publickey,password)."
        #expect(
            RemoteLineEnd.error(.exited(255), [denied], remote, asked: false).message
                == "nas asks who you are (ssh: \(denied)): leave, and attach again")
        #expect(
            RemoteLineEnd.error(.exited(255), [denied], remote, asked: true).message
                == "no line to nas (ssh: \(denied))")
    }

    @Test func `the person's own options come first, and only the first attempt may ask`() {
        let words = SSHCommand.words(Array("ssh -p 2222".utf8)) ?? []
        let remote = RemoteEngine(sshCommand: words, host: "ana@nas", martlet: "/opt/martlet")
        let first = remote.arguments(launching: true, asks: true).map { String(decoding: $0, as: UTF8.self) }
        #expect(first.prefix(2) == ["-p", "2222"])
        #expect(first.suffix(3) == ["--", "ana@nas", "/opt/martlet relay"])
        #expect(!first.contains("-oBatchMode=yes"))
        let later = remote.arguments(launching: false, asks: false).map { String(decoding: $0, as: UTF8.self) }
        #expect(later.suffix(1) == ["/opt/martlet relay --no-start"])
        #expect(later.contains("-oBatchMode=yes"))
    }

    @Test(arguments: [
        ("nas", true), ("ana@nas.example", true), ("-oProxyCommand=x", false), ("ana@-x", false),
        ("", false), ("@nas", false), ("nas ls", false), ("n\tas", false),
    ])
    func `a host is no option and has no blanks`(text: String, isHost: Bool) {
        #expect((RemoteEngine.host(text) != nil) == isHost)
    }

    @Test func `a greeting is read as it was said, and what others say is none`() {
        let all: [RelayGreeting] = [.ready, .failed(RequestError(.queueNewer, "the queue is newer: update it"))]
        for greeting in all { #expect(RelayGreeting(greeting.line.dropLast()) == greeting) }
        for line in ["Welcome", "", "martlet-relay: hello", "martlet-relay: failed", "\u{1B}[0m"] {
            #expect(RelayGreeting(Array(line.utf8)) == nil)
        }
    }
}
