/// An engine on another machine, and the way to it: the person's own ssh runs `martlet relay` there, which passes the control socket's
/// bytes on.
package struct RemoteEngine: Sendable, Hashable {
    /// The words of the ssh command: program and options of the person's choice.
    package var sshCommand: [[UInt8]]
    /// `[USER@]HOST` as ssh takes it.
    package var host: String
    /// The command that runs martlet there; read by the shell there.
    package var martlet: String

    package init(sshCommand: [[UInt8]] = [Array("ssh".utf8)], host: String, martlet: String = "martlet") {
        self.sshCommand = sshCommand
        self.host = host
        self.martlet = martlet
    }

    /// The machine's name on its screen: the host without the user.
    package var machine: String { host.split(separator: "@").last.map(String.init) ?? host }

    /// `[USER@]HOST`; `nil` for what ssh would take for an option, or no host at all.
    package static func host(_ text: String) -> String? {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("-") }) else { return nil }
        return text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F } ? text : nil
    }

    /// The arguments after the program's name. The person's own options come first, and the first of several counts.
    ///
    /// ServerAlive… finds a dead line within 15 s, also while nothing is asked.
    /// - Parameters:
    ///   - launching: whether an engine may be started there.
    ///   - asks: whether ssh may ask the person on the terminal.
    func arguments(launching: Bool, asks: Bool) -> [[UInt8]] {
        var options = ["-oServerAliveInterval=5", "-oServerAliveCountMax=3", "-oConnectTimeout=15"]
        if !asks { options.append("-oBatchMode=yes") }
        options += ["-oForwardAgent=no", "-oForwardX11=no", "-oClearAllForwardings=yes", "-oPermitLocalCommand=no"]
        options += ["-oRemoteCommand=none", "-oRequestTTY=no", "-oEscapeChar=none"]
        options += ["--", host, "\(martlet) relay" + (launching ? "" : " --no-start")]
        return sshCommand.dropFirst() + options.map { Array($0.utf8) }
    }
}
