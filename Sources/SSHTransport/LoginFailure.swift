import LinuxSystem
import TransferModel

/// Turns the end of an ssh child, its words and its exit status, into an outcome of the operations that waited.
enum LoginFailure {
    /// - Parameter wasIn: The server had greeted us.
    static func outcome(_ words: SSHWords, _ exit: ChildExit, wasIn: Bool, target: SSHTarget) -> OperationEnd.Outcome {
        let host = target.host
        let log = words.log
        if let (rule, line) = rule(for: log, isLog: true, wasIn: wasIn) {
            return outcome(rule, target, removal(log, target), line)
        }
        // The reason of a host on the way is said by that host's ssh, on standard error; so is everything by a program that keeps no log.
        let isFarther = log.own.contains { $0.lowercased().hasPrefix("connection closed by unknown port") }
        if log.isEmpty || isFarther, let (rule, line) = rule(for: words.others, isLog: false, wasIn: wasIn) {
            // The key is that host's, and its name may be a server's word.
            return outcome(rule, target, isFarther ? nil : removal(words.others, target), line)
        }
        if !wasIn, words.others.repeating == nil,
            let line = lastWords(words.others.own).last(where: closesSessions.matches)
        {
            return outcome(closesSessions, target, nil, line)
        }
        let last = (log.isEmpty ? words.others : log).last.map(shortened)
        // As a shell says that a command is not there, or cannot be run.
        if !wasIn, exit == .exited(127) || exit == .exited(126) {
            return .broken(
                TransferError(
                    .unsupported, "the ssh command cannot be run", aside: last,
                    .noSSH))
        }
        return .broken(
            TransferError(
                .networkConnectionLost,
                wasIn ? "the ssh connection to \(host) was cut" : "ssh ended before \(host) spoke SFTP", aside: last,
                .again))
    }

    /// The shell command that removes the target's known key; `nil` where ssh speaks of another host's.
    private static func removal(_ records: SSHRecords, _ target: SSHTarget) -> String? {
        guard let key = KnownKey(records.own) else { return "ssh-keygen -R \(target.knownName)" }
        return key.removal(for: target)
    }

    /// The first rule that some of these lines fit, and the line. Where ssh repeats a peer, the peer's words are the reason of the end, and
    /// only rules for such a line count: no peer brings a file to its end, or a person to act, by words that anybody can send.
    /// - Parameter isLog: ssh has written them, and ends its words about a host's key with a line that says so.
    private static func rule(for records: SSHRecords, isLog: Bool, wasIn: Bool) -> (Rule, String)? {
        // A verdict on a key is the end: after it ssh repeats nobody.
        let reason = records.repeating == nil ? lastWords(records.own) : []
        let isAboutKey = reason.contains { $0.lowercased().hasPrefix("host key verification failed") }
        let aboutKey = isAboutKey ? records.own[...] : isLog ? [] : reason
        for rule in rules where !(wasIn && rule.isForLogin) {
            let candidates: ArraySlice<String> =
                switch rule.source {
                case .hostKey: aboutKey
                case .own: reason
                case .repeating: records.repeating.map { [$0] } ?? []
                case .ownOrRepeating: records.repeating.map { [$0] } ?? reason
                }
            if let line = candidates.last(where: rule.matches) { return (rule, line) }
        }
        return nil
    }

    /// The line by which ssh says why it ends, and what follows. A server's banner may have any words, and comes before it; after it ssh says
    /// no more than that the line is closed, once for each host on the way.
    private static func lastWords(_ complaints: [String]) -> ArraySlice<String> {
        let closing = [
            "connection closed", "connection reset", "disconnected from", "client_loop", "stdio forwarding failed",
            "banner exchange:",
        ]
        let isClosing = { (line: String) in closing.contains { line.lowercased().contains($0) } }
        guard let last = complaints.lastIndex(where: { !isClosing($0) }) else { return complaints[...] }
        return complaints[last...]
    }

    /// The program could not be started.
    static func notStarted(_ error: Errno, _ program: [UInt8]) -> OperationEnd.Outcome {
        let name = RawPath(program).displayed
        switch error {
        case .noSuchFile, .accessDenied, .notDirectory, .invalidArgument:
            return .broken(
                TransferError(
                    .unsupported, "\(name) cannot be run (\(error))",
                    .noSSH))
        default:
            return .broken(
                TransferError(.networkConnectionLost, "\(name) could not be started (\(error))", .again))
        }
    }

    /// There is no safe way to hand the password to ssh.
    static func noAskPass(_ error: Errno, _ folder: [UInt8]) -> OperationEnd.Outcome {
        let name = RawPath(folder).displayed
        return .broken(
            TransferError(
                .permissionDenied, "the password cannot be handed to ssh (\(name): \(error))",
                .thenRetry("make that folder yours alone (0700)")))
    }

    /// The outcome when the server's bytes are no SFTP.
    static func malformed(_ beginning: [UInt8], wasIn: Bool, host: String) -> OperationEnd.Outcome {
        // A packet begins with its length, whose first byte is 0.
        let isText =
            !wasIn
            && beginning.first.map {
                (0x07...0x0D).contains($0) || $0 == 0x1B || (0x20...0x7E).contains($0) || (0xC2...0xF4).contains($0)
            } == true
        if isText {
            let text = SFTPAnswer.harmless(beginning.prefix(60))
            return .broken(
                TransferError(
                    .unsupported, "\(host) prints text before SFTP (\(text))",
                    .thenRetry("keep its shell's start-up files silent")))
        }
        return .broken(
            TransferError(.badServerResponse, "\(host) sent what is no SFTP", .again))
    }

    /// A server of before 2001: it knows other requests.
    static func tooOld(_ version: UInt32, host: String) -> OperationEnd.Outcome {
        .broken(
            TransferError(
                .unsupported, "\(host) speaks version \(version) of SFTP, and Martlet version 3 and later",
                .queued("send it there by another protocol")))
    }

    static func timedOut(_ what: String) -> OperationEnd.Outcome {
        .broken(TransferError(.timedOut, what, .again))
    }

    private enum Meaning { case wait(WaitReason, TransferErrorCode), code(TransferErrorCode) }

    /// Words in lower case, by their place in a line.
    private enum Phrase {
        case beginning(String)
        /// Behind a name or a place: `ssh: `, `/etc/ssh/ssh_config line 3: `.
        case afterPlace(String)
        case anywhere(String)
        /// ssh has tried all that it may, and says what the server would take.
        case refusal
        /// A server's last word, with its number: `2: Too many …`.
        case farewell(String)

        /// - Parameter line: in lower case.
        func isIn(_ line: String) -> Bool {
            switch self {
            case .beginning(let words): return line.hasPrefix(words)
            case .afterPlace(let words): return line.contains(": \(words)")
            case .anywhere(let words): return line.contains(words)
            case .refusal: return SSHRecords.isRefusal(line)
            case .farewell(let words):
                guard line.hasPrefix("received disconnect from "), let start = line.firstRange(of: ": ")?.upperBound
                else { return false }
                let said = line[start...]
                // Before version 7 the number stood behind a blank.
                let unnumbered = said.drop { $0.isNumber }
                return said.hasPrefix(words) || unnumbered.hasPrefix(": \(words)")
            }
        }
    }

    /// The lines that a rule looks at.
    private enum Source {
        /// ssh's own last words.
        case own
        /// All that ssh itself said before its verdict on a host's key: it says it in many lines.
        case hostKey
        /// The line in which ssh repeats a peer.
        case repeating
        case ownOrRepeating
    }

    private struct Rule {
        /// One of them is in a line.
        var words: [Phrase]
        var meaning: Meaning
        var what: @Sendable (_ host: String) -> String
        var remedy: @Sendable (_ target: SSHTarget, _ removal: String?) -> Remedy
        /// Only before the server greeted us.
        var isForLogin = true
        var source = Source.own

        func matches(_ line: String) -> Bool {
            let line = line.lowercased()
            return words.contains { $0.isIn(line) }
        }
    }

    private static func outcome(
        _ rule: Rule, _ target: SSHTarget, _ removal: String?, _ line: String
    ) -> OperationEnd.Outcome {
        let finding = Finding(rule.what(target.host), aside: shortened(line), rule.remedy(target, removal))
        return switch rule.meaning {
        case .wait(let reason, let code): .notLetIn(reason, TransferError(code, finding))
        case .code(let code): .broken(TransferError(code, finding))
        }
    }

    private static func shortened(_ line: String) -> String {
        line.count > 200 ? "\(line.prefix(200))…" : line
    }

    /// In this order: what is surest first. The words are those of OpenSSH 6 to 10. What only leads to another try may stand anywhere in a line
    /// of ssh's own; what ends files, or waits for a person, stands where ssh writes it.
    private static let rules: [Rule] = [
        Rule(
            words: [
                .beginning("@    warning: remote host identification has changed"), .beginning("host key for "),
                .anywhere(" host key for "), .anywhere("differs from the key"),
            ],
            meaning: .wait(.hostKey, .pinMismatch), what: { "\($0) has another key than the known one" },
            remedy: { target, removal in
                let step =
                    removal.map { "run \($0) and \(target.shownCommand)" }
                    ?? "remove the known key that \(target.shownCommand) names"
                return .thenRetry("somebody may be in between; if the change is right, \(step)")
            }, source: .hostKey),
        Rule(
            words: [
                .beginning("host key verification failed"), .anywhere("host key is known for"),
                .anywhere("host key is unknown"),
            ],
            meaning: .wait(.hostKey, .pinMismatch), what: { "the key of \($0) is not known" },
            remedy: { target, _ in .thenRetry("run \(target.shownCommand) once, compare the key and accept it") },
            source: .hostKey),
        Rule(
            words: [
                .anywhere("could not resolve hostname"), .anywhere("name or service not known"),
                .anywhere("name resolution"),
            ],
            meaning: .code(.cannotFindHost), what: { "\($0) cannot be found" },
            remedy: { _, _ in .again("check the name") }),
        Rule(
            words: [.anywhere("network is unreachable")], meaning: .code(.notConnectedToInternet),
            what: { "there is no network to \($0)" }, remedy: { _, _ in .again }),
        Rule(
            words: [
                .anywhere("connection timed out"), .anywhere("operation timed out"),
                .anywhere("timed out during banner"), .anywhere("not responding"),
            ],
            meaning: .code(.timedOut), what: { "\($0) took too long" }, remedy: { _, _ in .again }, isForLogin: false),
        Rule(
            words: [
                .anywhere("connection refused"), .anywhere("no route to host"), .anywhere("connect to host"),
                .anywhere("connection to unix socket"),
            ],
            meaning: .code(.cannotConnectToHost), what: { "\($0) does not accept the connection" },
            remedy: { _, _ in .again }),
        Rule(
            words: [.beginning("subsystem request failed")], meaning: .code(.unsupported),
            what: { "\($0) offers no SFTP" },
            remedy: { _, _ in .thenRetry("its sshd needs a line \"Subsystem sftp internal-sftp\"") }),
        Rule(
            // Before any key was looked at, so anybody can say it: the server is asked again.
            words: [.beginning("unable to negotiate"), .beginning("no matching ")], meaning: .code(.badServerResponse),
            what: { "ssh and \($0) have no method in common" },
            remedy: { target, _ in .again("see what \(target.shownCommand) says") }, source: .ownOrRepeating),
        Rule(
            words: [
                .afterPlace("bad configuration option"), .afterPlace("terminating,"), .afterPlace("keyword "),
                .afterPlace("no argument after keyword "), .beginning("bad owner or permissions"),
                .beginning("can't open user config"), .beginning("unknown option"), .beginning("illegal option"),
                .afterPlace("unknown option"), .afterPlace("illegal option"),
            ], meaning: .code(.unsupported), what: { _ in "ssh does not take its settings" },
            remedy: { _, _ in .queued("mend ~/.ssh/config and retry, or queue it again with another --ssh-command") }),
        Rule(
            // A server that has had enough says no more than its last words, and ssh no word of its own: each further try with the same keys
            // would be counted by those who lock out. So these are believed, though somebody in between can send them: the wait is all
            // that comes of it.
            words: [
                .refusal, .farewell("too many authentication failures"),
                .farewell("no supported authentication methods"),
            ],
            meaning: .wait(.auth, .permissionDenied), what: { "\($0) refuses the login" },
            remedy: { _, _ in .login() }, source: .repeating),
    ]

    /// Words of a program that the server runs in place of SFTP.
    private static let closesSessions = Rule(
        words: [
            .anywhere("not available"), .anywhere("account is"), .anywhere("this service allows sftp connections only"),
        ],
        meaning: .wait(.auth, .permissionDenied), what: { "\($0) closes this account's sessions" },
        remedy: { _, _ in .thenRetry("ask who runs it for SFTP") })
}

extension Remedy {
    fileprivate static let noSSH = Remedy.queued(
        "install openssh-client and retry, or queue it again with another --ssh-command")
}
