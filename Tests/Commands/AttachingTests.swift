import CommandLine
import MartletKit
import Testing

@testable import Commands

@Suite("attach understands where to and by which ssh")
struct AttachingTests {
    private func remote(_ words: String...) throws -> RemoteEngine {
        guard case .run(let invocation) = try MartletProgram.program.parse(words.map { Argument($0) }) else {
            throw CommandFailure.usage("help was printed", "")
        }
        return try AttachCommand.remoteEngine(invocation)
    }

    @Test("the host, the ssh command and martlet's place are the person's")
    func all() throws {
        let engine = try remote(
            "attach", "--ssh-command", "ssh -p 2222 -i 'my key'", "--remote-command", "/opt/martlet", "ana@nas")
        #expect(engine.host == "ana@nas")
        #expect(engine.machine == "nas")
        #expect(engine.sshCommand.map { String(decoding: $0, as: UTF8.self) } == ["ssh", "-p", "2222", "-i", "my key"])
        #expect(engine.martlet == "/opt/martlet")
    }

    @Test("what is no host and what is no command are refused by name")
    func refused() {
        let noHost = #expect(throws: CommandFailure.self) { try remote("attach", "ana@-x") }
        #expect(noHost?.line(program: "martlet").contains("[USER@]HOST: \"ana@-x\" is not allowed") == true)
        let open = #expect(throws: CommandFailure.self) { try remote("attach", "--ssh-command", "ssh 'x", "nas") }
        #expect(
            open?.message
                == "attach: the ssh command has an open quote or no program: "
                + "give it as for rsync -e: --ssh-command 'ssh -p 2222'")
        #expect(open?.status == .usage)
    }
}
