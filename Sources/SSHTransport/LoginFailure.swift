import LinuxSystem
import TransferModel

/// Turns the end of an ssh child, its words and its exit status, into an outcome of the operations that waited.
enum LoginFailure {
    /// - Parameters:
    ///   - complaints: The lines of its standard error.
    ///   - wasIn: The server had greeted us.
    static func outcome(
        _ complaints: [String], _ exit: ChildExit, wasIn: Bool, target: SSHTarget
    ) -> OperationEnd.Outcome {
        let host = target.host
        for rule in rules where !(wasIn && rule.isForLogin) {
            guard
                let line = complaints.last(where: { line in
                    let line = line.lowercased()
                    return rule.words.contains { line.contains($0) }
                })
            else { continue }
            let advice = rule.advice.replacing("HOST", with: host)
            return outcome(rule.meaning, "\(rule.what.replacing("HOST", with: host)) (\(shortened(line))): \(advice)")
        }
        let last = complaints.last.map { " (\(shortened($0)))" } ?? ""
        if !wasIn, case .exited(127) = exit {
            return .broken(
                TransferError(
                    .unsupported,
                    "the ssh command cannot be run\(last): install openssh-client, or mend --ssh-command, then retry"))
        }
        return .broken(
            TransferError(
                .networkConnectionLost,
                wasIn
                    ? "the ssh connection to \(host) was cut\(last): Martlet tries again by itself"
                    : "ssh ended before \(host) spoke SFTP\(last): Martlet tries again by itself"))
    }

    /// The program could not be started.
    static func notStarted(_ error: Errno, _ program: [UInt8]) -> OperationEnd.Outcome {
        let name = RawPath(program).displayed
        switch error {
        case .noSuchFile, .accessDenied, .notDirectory, .invalidArgument:
            return .broken(
                TransferError(
                    .unsupported,
                    "\(name) cannot be run (\(error)): install openssh-client, or mend --ssh-command, then retry"))
        default:
            return .broken(
                TransferError(
                    .networkConnectionLost, "\(name) could not be started (\(error)): Martlet tries again by itself"))
        }
    }

    /// There is no safe way to hand the password to ssh.
    static func noAskPass(_ error: Errno, _ folder: [UInt8]) -> OperationEnd.Outcome {
        let name = RawPath(folder).displayed
        return .broken(
            TransferError(
                .permissionDenied,
                "the password cannot be handed to ssh (\(name): \(error)): make that folder yours alone (0700), then retry"
            ))
    }

    /// The outcome when the server's bytes are no SFTP.
    static func malformed(_ beginning: [UInt8], wasIn: Bool, host: String) -> OperationEnd.Outcome {
        // Four bytes of a length that are letters: the shell there has printed something.
        let isText = !wasIn && beginning.prefix(4).allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A || $0 == 0x0D }
        if isText {
            let text = SFTPAnswer.harmless(beginning.prefix(60))
            return .broken(
                TransferError(
                    .unsupported,
                    "\(host) prints text before SFTP (\(text)): keep its shell's start-up files silent, then retry"))
        }
        return .broken(
            TransferError(.badServerResponse, "\(host) sent what is no SFTP: Martlet tries again by itself"))
    }

    static func timedOut(_ what: String) -> OperationEnd.Outcome {
        .broken(TransferError(.timedOut, "\(what): Martlet tries again by itself"))
    }

    private enum Meaning { case wait(WaitReason, TransferErrorCode), code(TransferErrorCode) }

    private struct Rule {
        /// Lower case; one of them is in a line.
        var words: [String]
        var meaning: Meaning
        var what: String
        var advice: String
        /// Only before the server greeted us.
        var isForLogin = true
    }

    private static func outcome(_ meaning: Meaning, _ message: String) -> OperationEnd.Outcome {
        switch meaning {
        case .wait(let reason, let code): .notLetIn(reason, TransferError(code, message))
        case .code(let code): .broken(TransferError(code, message))
        }
    }

    private static func shortened(_ line: String) -> String {
        line.count > 200 ? "\(line.prefix(200))…" : line
    }

    private static let again = "Martlet tries again by itself"

    /// In this order: what is surest first. The words are those of OpenSSH 6 to 10.
    private static let rules: [Rule] = [
        Rule(
            words: ["host identification has changed", "host key for", "differs from the key"],
            meaning: .wait(.hostKey, .pinMismatch), what: "HOST has another key than the known one",
            advice:
                "somebody may be in between; if the change is right, run ssh-keygen -R HOST and ssh HOST, then retry"),
        Rule(
            words: ["host key verification failed", "host key is known for", "host key is unknown"],
            meaning: .wait(.hostKey, .pinMismatch), what: "the key of HOST is not known",
            advice: "run ssh HOST once (with the same port), compare the key and accept it, then retry"),
        Rule(
            words: ["could not resolve hostname", "name or service not known", "name resolution"],
            meaning: .code(.cannotFindHost), what: "HOST cannot be found", advice: "check the name; \(again)"),
        Rule(
            words: ["network is unreachable"], meaning: .code(.notConnectedToInternet),
            what: "there is no network to HOST", advice: again),
        Rule(
            words: ["connection timed out", "operation timed out", "timed out during banner", "not responding"],
            meaning: .code(.timedOut), what: "HOST took too long", advice: again, isForLogin: false),
        Rule(
            words: ["connection refused", "no route to host", "connect to host", "connection to unix socket"],
            meaning: .code(.cannotConnectToHost), what: "HOST does not accept the connection", advice: again),
        Rule(
            words: ["subsystem request failed"], meaning: .code(.unsupported), what: "HOST offers no SFTP",
            advice: "its sshd needs a line \"Subsystem sftp internal-sftp\"; then retry"),
        Rule(
            words: ["unable to negotiate", "no matching"], meaning: .code(.unsupported),
            what: "ssh and HOST have no method in common", advice: "see what ssh HOST says, then retry"),
        Rule(
            words: [
                "bad configuration option", "terminating,", "bad owner or permissions", "unknown option",
                "illegal option", "can't open user config", "extra arguments at end", "keyword ",
            ], meaning: .code(.unsupported), what: "ssh does not take its settings",
            advice: "mend ~/.ssh/config or --ssh-command, then retry"),
        Rule(
            words: ["permission denied (", "too many authentication failures", "no supported authentication methods"],
            meaning: .wait(.auth, .permissionDenied), what: "HOST refuses the login",
            advice: "add the key to ssh-agent (ssh-add), or give a password command, check the user, then retry"),
        Rule(
            words: ["not available", "account is", "this service allows sftp connections only"],
            meaning: .wait(.auth, .permissionDenied), what: "HOST closes this account's sessions",
            advice: "ask who runs it for SFTP, then retry"),
    ]
}
