import CommandLine
import Configuration
import LinuxSystem
import MartletKit

/// `martlet attach`: another machine's engine on this machine's screen.
enum AttachCommand: MartletCommand {
    static let sshCommand = Option(
        "ssh-command", ValueSyntax<String>.text("CMD", .commands),
        "the ssh to run, as rsync's -e; also MARTLET_SSH_COMMAND")
    static let remoteCommand = Option(
        "remote-command", ValueSyntax<String>.text("CMD"),
        "what runs martlet there, read by the shell there; default martlet")

    private static let hostName = ValueSyntax<String>(
        "[USER@]HOST", allowed: "a host as ssh takes it: nas, ana@nas.example"
    ) {
        RemoteEngine.host($0)
    }

    static let command = Command(
        "attach", "this screen on another machine's engine, over ssh",
        details: [
            "Your own ssh makes the line, with your keys, agent and ~/.ssh/config; what it has to ask (a password, a host key) it asks "
                + "before the screen opens. There it runs martlet, which starts an engine if none runs; ssh must find martlet in the PATH "
                + "that it sets, or --remote-command names it.",
            "While the line is down the screen shows what it knew last and says so, changes nothing, and tries again by itself after 1, 2, "
                + "4, 8, then every 10 s. Transfers are the other machine's and go on meanwhile. An attempt that would have to ask something "
                + "fails, and says that you should attach again.",
            "Everything on the screen is that machine's, except keys, colours and saved filters, which are yours. Its files cannot be "
                + "picked from here: queue them there, with martlet upload.",
        ],
        operands: [Operand(hostName)],
        groups: [
            OptionGroup("Options of the line", [sshCommand, remoteCommand]),
            OptionGroup("Options of the screen", ScreenOptions.all),
        ],
        examples: [
            .init(line: "martlet attach nas", effect: "Watch and steer what the NAS transfers"),
            .init(
                line:
                    "martlet attach --ssh-command 'ssh -p 2222' --remote-command /opt/martlet/bin/martlet ana@nas.example",
                effect: "The same with another port and a martlet that is in no PATH"),
        ])

    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        let start = try ProgramStart(console)
        let remote = try remoteEngine(invocation)
        if Martlet.wantsLines(invocation) {
            throw CommandFailure(
                .refused, .refused, "attach: this terminal can show lines only, and attach shows a screen",
                "run ssh -t \(remote.host) martlet --accessible")
        }
        return start.screen(invocation, of: remote)
    }

    /// The engine to attach to, and the way to it.
    static func remoteEngine(_ invocation: Invocation) throws(CommandFailure) -> RemoteEngine {
        let line =
            invocation.value(sshCommand).map { Array($0.utf8) } ?? System.environment("MARTLET_SSH_COMMAND") ?? []
        guard let words = SSHCommand.words(line.isEmpty ? Array("ssh".utf8) : line) else {
            throw .usage(
                "attach: the ssh command has an open quote or no program",
                "give it as for rsync -e: --ssh-command 'ssh -p 2222'")
        }
        return RemoteEngine(
            sshCommand: words, host: invocation.operands.first?.text ?? "",
            martlet: invocation.value(remoteCommand) ?? "martlet")
    }
}
