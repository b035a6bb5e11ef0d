import CommandLine
import Glibc
import LinuxSystem

/// `martlet receive`: becomes `martlet-receive`, which stands beside `martlet`, or in PATH.
enum ReceiveCommand: MartletCommand {
    static var command: Command {
        var command = ReceiveProgram.command
        command.examples = [.init(line: "martlet receive ~/incoming", effect: "Take uploads on this machine")]
        return command
    }

    static func plan(_ invocation: Invocation, _ console: Console) throws(CommandFailure) -> Martlet.Plan {
        console.flush()
        let name = "martlet-receive"
        let own = try? System.realpath(Array("/proc/self/exe".utf8))
        let folder = own.map { $0.prefix(through: $0.lastIndex(of: UInt8(ascii: "/")) ?? 0) }
        let words = [Array(name.utf8)] + invocation.words.map(\.bytes)
        var arguments = words.map { word in strdup(word.map { CChar(bitPattern: $0) } + [0]) }
        arguments.append(nil)
        defer { arguments.forEach { free($0) } }
        if let folder { _ = try? withCPath(folder + Array(name.utf8)) { execv($0, arguments) } }
        execvp(name, arguments)
        throw CommandFailure(
            .unavailable, .engineUnreachable, "\(name) cannot be started (\(Errno.current))",
            "install it beside martlet, or put it into PATH")
    }
}
