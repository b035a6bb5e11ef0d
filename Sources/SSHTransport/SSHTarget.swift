import LinuxSystem
import TransferModel

/// Whom `ssh` is to reach, and how. Operations with equal targets share one connection.
package struct SSHTarget: Hashable, Sendable {
    /// The words of the ssh command: program and options of the person's choice, `["ssh"]` if none.
    package var command: [[UInt8]]
    /// A name of `~/.ssh/config`, a host's name or address.
    package var host: String
    /// `nil`: as `~/.ssh/config` says, else 22.
    package var port: UInt16?
    /// `nil`: as `~/.ssh/config` says, else this user.
    package var user: String?
    /// `NAME=value` beside HOME, USER, PATH and LANG: the agent's socket.
    package var environment: [[UInt8]]
    /// The password that a command or a person gave for this server. Without one `ssh` asks for none.
    package var password: [UInt8]?

    package init(
        command: [[UInt8]] = [Array("ssh".utf8)], host: String, port: UInt16? = nil, user: String? = nil,
        environment: [[UInt8]] = [], password: [UInt8]? = nil
    ) {
        self.command = command
        self.host = host
        self.port = port
        self.user = user
        self.environment = environment
        self.password = password
    }

    /// The arguments after the program's name. ServerAlive… finds a dead line within a minute, also while nothing is asked.
    /// - Parameter log: where ssh writes what it has to say itself.
    func arguments(log: [UInt8]?) -> [[UInt8]] {
        var options = ["-oServerAliveInterval=15", "-oServerAliveCountMax=3", "-oConnectTimeout=15"]
        // Batch mode never asks. With a password the questions go to our answerer, which knows one answer.
        options += password == nil ? ["-oBatchMode=yes"] : ["-oBatchMode=no", AskPass.marker]
        options += ["-oForwardAgent=no", "-oForwardX11=no", "-oClearAllForwardings=yes", "-oPermitLocalCommand=no"]
        // What a shell would be given is nothing to a subsystem, and would keep it from starting.
        options += ["-oRemoteCommand=none", "-oRequestTTY=no"]
        if log != nil { options += ["-oLogLevel=INFO"] }
        if let port { options += ["-p", String(port)] }
        if let user { options += ["-l", user] }
        options += ["-s", host, "sftp"]
        let logging = log.map { [Array("-E".utf8), $0] } ?? []
        return command.dropFirst() + logging + options.map { Array($0.utf8) }
    }

    /// The command line by which a person meets the same server in a terminal.
    var shownCommand: String {
        let isPlain = { (byte: UInt8) in byte > 32 && byte < 127 && !"\"'\\$`;&|<>()*?[]{}!#~".utf8.contains(byte) }
        // Whoever gave another command knows how its words are quoted.
        let words = command.allSatisfy { !$0.isEmpty && $0.allSatisfy(isPlain) } ? command : [Array("ssh".utf8)]
        let program = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        return program + (port.map { " -p \($0)" } ?? "") + " \(host)"
    }

    /// The word under which `known_hosts` has its key, for a shell.
    var knownName: String { port.map { $0 == 22 ? host : "'[\(host)]:\($0)'" } ?? host }

    /// The fault of the target; `nil`: none. Names reach `ProxyCommand` and `Match exec` through a shell, so they may hold nothing that a
    /// shell reads.
    var problem: String? {
        func isPlain(_ text: String, _ more: String) -> Bool {
            !text.isEmpty && !text.hasPrefix("-")
                && text.utf8.allSatisfy { byte in
                    byte >= 0x80 || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                        || (0x61...0x7A).contains(byte) || more.utf8.contains(byte)
                }
        }
        if command.first?.isEmpty ?? true { return "the ssh command is empty" }
        if !isPlain(host, ".-_:%") { return "the host's name has characters that no host's name has" }
        if let user, !isPlain(user, ".-_@+=:,\\") || user.hasSuffix("\\") {
            return "the user's name has characters that ssh does not take"
        }
        if let password, password.contains(0) || password.contains(UInt8(ascii: "\n")) || password.count > 1023 {
            return "the password has more than one line or 1023 bytes"
        }
        return nil
    }
}

/// The settings of all connections of a transport.
package struct SSHSettings: Sendable {
    /// A folder of ours, 0700, for the moment of a password's question. Made when needed.
    package var privateFolder: [UInt8]
    /// `NAME=value`: all that every child has.
    package var environment: [[UInt8]]
    /// The time in which `ssh` must get in.
    package var loginPatience = Duration.seconds(60)
    /// The time for which nothing may move while answers are awaited; ten times of it where the server is asked to sync.
    package var stallPatience = Duration.seconds(60)
    /// The time for which a connection without work is kept.
    package var idlePatience = Duration.seconds(30)
    /// Bytes that may be on their way unacknowledged.
    package var window = SFTPTransport.window
    /// Packets that may be on their way unanswered.
    package var outstanding = 256

    /// - Parameter environment: by default HOME, USER, LOGNAME, PATH and LANG of this process.
    package init(privateFolder: [UInt8], environment: [[UInt8]]? = nil) {
        self.privateFolder = privateFolder
        self.environment =
            environment
            ?? ["HOME", "USER", "LOGNAME", "PATH", "LANG"].compactMap { name in
                System.environment(name).map { Array("\(name)=".utf8) + $0 }
            }
    }
}
