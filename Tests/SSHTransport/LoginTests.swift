import LinuxSystem
import TestSupport
import Testing
import TransferModel

@testable import SSHTransport

private func target(_ host: String = "there", user: String? = nil, password: [UInt8]? = nil) -> SSHTarget {
    SSHTarget(host: host, user: user, password: password)
}

extension SSHWords {
    fileprivate init(own: [String], others: [String]) {
        self.init(log: SSHRecords(own), others: SSHRecords(others))
    }
}

@Suite struct LoginTests {
    @Test(
        "what ssh says is told apart",
        .tells(
            "there cannot be found (ssh: Could not resolve hostname h: Name or service not known): check the name; Martlet tries again by itself",
            "there is no network to there (ssh: connect to host h port 22: Network is unreachable): Martlet tries again by itself",
            "there took too long (Connection timed out during banner exchange): Martlet tries again by itself",
            "there does not accept the connection (ssh: connect to host h port 22: Connection refused)",
            "ssh and there have no method in common (Unable to negotiate with h port 22: no matching host key type found.): see what ssh there says; Martlet tries again by itself",
            "ssh does not take its settings (",
            "there refuses the login (u@h: Permission denied (publickey).): give it a login that it takes, with martlet set",
            "there has another key than the known one",
            "the key of there is not known",
            "there offers no SFTP (",
            "ssh ended before there spoke SFTP ("),
        arguments: [
            ("No ED25519 host key is known for [h]:22 and you have requested strict checking.", "hostKey pinMismatch"),
            ("Host key verification failed.", "hostKey pinMismatch"),
            (
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key for [h]:22 has changed and you have "
                    + "requested strict checking.\nHost key verification failed.", "hostKey pinMismatch"
            ),
            ("Load key \"/k\": Permission denied\nu@h: Permission denied (publickey).", "auth permissionDenied"),
            ("Received disconnect from h port 22:2: Too many authentication failures", "auth permissionDenied"),
            ("ssh: Could not resolve hostname h: Name or service not known", "cannotFindHost"),
            ("ssh: connect to host h port 22: Connection refused", "cannotConnectToHost"),
            ("ssh: connect to host h port 22: No route to host", "cannotConnectToHost"),
            ("ssh: connect to host h port 22: Permission denied", "cannotConnectToHost"),
            ("ssh: connect to host h port 22: Network is unreachable", "notConnectedToInternet"),
            ("ssh: connect to host h port 22: Connection timed out", "timedOut"),
            ("Connection timed out during banner exchange", "timedOut"),
            ("Timeout, server h not responding.", "timedOut"),
            ("subsystem request failed on channel 0", "unsupported"),
            ("Unable to negotiate with h port 22: no matching host key type found.", "badServerResponse"),
            (
                "/c: line 3: Bad configuration option: portt\n/c: terminating, 1 bad configuration options",
                "unsupported"
            ),
            ("kex_exchange_identification: Connection closed by remote host", "networkConnectionLost"),
            ("", "networkConnectionLost"),
        ])
    func complaints(text: String, expected: String) {
        let lines = text.split(separator: "\n").map(String.init)
        let outcome = LoginFailure.outcome(
            SSHWords(own: [], others: lines), .exited(255), wasIn: false, target: target())
        #expect(words(outcome) == expected)
    }

    @Test("an ssh that the machine has no room for is tried again, one that is not there says what to install")
    func notStarted() {
        func message(_ errno: Errno) -> String {
            guard case .broken(let error) = LoginFailure.notStarted(errno, Array("ssh".utf8)) else { return "" }
            return error.message
        }
        #expect(message(.tooManyOpenFiles).hasPrefix("ssh could not be started ("))
        #expect(message(.tooManyOpenFiles).hasSuffix("): Martlet tries again by itself"))
        #expect(
            message(.noSuchFile)
                == "ssh cannot be run (No such file or directory): install openssh-client and retry, or queue it again with another --ssh-command"
        )
        func end(_ exit: ChildExit, wasIn: Bool) -> String {
            let outcome = LoginFailure.outcome(
                SSHWords(own: [], others: []), exit, wasIn: wasIn, target: target())
            guard case .broken(let error) = outcome else { return "" }
            return error.message
        }
        #expect(
            end(.exited(127), wasIn: false)
                == "the ssh command cannot be run: install openssh-client and retry, or queue it again with another --ssh-command"
        )
        #expect(
            end(.exited(255), wasIn: true) == "the ssh connection to there was cut: Martlet tries again by itself")
    }

    @Test("advice about a host key names the command with its port, which is what a person has to type")
    func keyAdvice() {
        func advice(_ line: String, _ target: SSHTarget) -> String {
            let outcome = LoginFailure.outcome(
                SSHWords(own: [], others: [line]), .exited(255), wasIn: false, target: target)
            guard case .notLetIn(_, let error) = outcome else { return "" }
            return error.finding.advice
        }
        var server = target("127.0.0.1")
        let changed = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @"
        let unknown = "Host key verification failed."
        #expect(advice(unknown, server) == "run ssh 127.0.0.1 once, compare the key and accept it, then retry")
        #expect(advice(changed, server).hasSuffix("run ssh-keygen -R 127.0.0.1 and ssh 127.0.0.1, then retry"))
        server.port = 2222
        #expect(advice(unknown, server).hasPrefix("run ssh -p 2222 127.0.0.1 once, "))
        let renewal = "run ssh-keygen -R '[127.0.0.1]:2222' and ssh -p 2222 127.0.0.1, then retry"
        #expect(advice(changed, server).hasSuffix(renewal))
        server.command = ["/usr/bin/ssh", "-F", "/etc/my.conf"].map { Array($0.utf8) }
        #expect(advice(unknown, server).hasPrefix("run /usr/bin/ssh -F /etc/my.conf -p 2222 127.0.0.1 once, "))
    }

    @Test("a server's banner is not taken for ssh's own words, which a closed line may follow for each host on the way")
    func banner() {
        func outcome(_ lines: String...) -> String {
            words(LoginFailure.outcome(SSHWords(own: [], others: lines), .exited(255), wasIn: false, target: target()))
        }
        let banner = "Use of this account is monitored: connection refused to strangers"
        #expect(outcome(banner, "* * *", "Connection closed by 1.2.3.4 port 22") == "networkConnectionLost")
        #expect(outcome(banner, "* * *", "me@there: Permission denied (publickey).") == "auth permissionDenied")
        let key = "Host key for there: SHA256:abc"
        #expect(outcome(key, "me@there: Permission denied (publickey).") == "auth permissionDenied")
        #expect(
            outcome(
                "me@jump: Permission denied (publickey).",
                "kex_exchange_identification: Connection closed by remote host",
                "Connection closed by UNKNOWN port 65535") == "auth permissionDenied")
    }

    @Test(
        "where ssh has a log of its own, nothing that a server says counts as ssh's word",
        .tells(
            "there closes this account's sessions (This account is currently not available.): ask who runs it for SFTP, then retry"
        ))
    func ownWords() {
        func outcome(_ own: [String], _ others: [String]) -> String {
            let words = SSHWords(own: own, others: others)
            let outcome = LoginFailure.outcome(words, .exited(255), wasIn: false, target: target())
            guard case .notLetIn(.hostKey, let error) = outcome else { return SSHTransportTests.words(outcome) }
            return error.finding.advice
        }
        let changed = [
            "Offending ED25519 key in /home/u/.ssh/known_hosts:3",
            "Host key for there has changed and you have requested strict checking.", "Host key verification failed.",
        ]
        let closed = "Connection closed by 1.2.3.4 port 22"
        #expect(outcome([closed], changed) == "networkConnectionLost")
        #expect(outcome(changed, ["Welcome"]).contains("run ssh-keygen -R there and ssh there"))
        #expect(outcome([closed, "me@there: Permission denied (publickey)."], changed) == "auth permissionDenied")
        #expect(
            outcome(["Received disconnect from h port 22:2: Host key verification failed.", closed], [])
                == "networkConnectionLost")
        // Words of the server that ssh repeats are not ssh's either.
        for repeated in [
            "Received disconnect from h port 22:2: Connection closed by UNKNOWN port 65535",
            "Bad remote protocol version identification: 'Host key verification failed.'",
            "Unable to negotiate with h port 22: no matching cipher found. Their offer: host key for",
        ] {
            #expect(!outcome([repeated, closed], changed).contains("somebody may be in between"), "\(repeated)")
        }
        // A host on the way has an ssh of its own, and shares standard error with servers: no key is removed by their word.
        let far = [
            "kex_exchange_identification: Connection closed by remote host", "Connection closed by UNKNOWN port 65535",
        ]
        #expect(outcome(far, ["me@jump: Permission denied (publickey)."]) == "auth permissionDenied")
        #expect(outcome(far, changed).hasSuffix("is right, remove the known key that ssh there names, then retry"))
        #expect(outcome([closed], ["This account is currently not available."]) == "auth permissionDenied")
    }

    @Test(
        "a peer's words may have lines, and none of them is taken for ssh's",
        arguments: [
            "Received disconnect from 1.2.3.4 port 22:2: x", "Bad remote protocol version identification: 'x",
            "Unable to negotiate with 1.2.3.4 port 22: no matching cipher found. Their offer: x",
            "no matching cipher found: client a server x", "channel 0: open failed: connect failed: x",
            "me@there: Permission denied (x", "Permission denied (x", "debug1: Remote: x",
        ], ["\n", "\r", "\r\n"])
    func linesOfPeer(beginning: String, end: String) {
        let forged = [
            beginning, "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @",
            "Offending ED25519 key in /home/me/.ssh/known_hosts:3",
            "Host key for there has changed and you have requested strict checking.", "Host key verification failed.",
            "Disconnected from 1.2.3.4 port 22",
        ]
        let lines = forged.joined(separator: end).split(whereSeparator: \.isNewline).map(String.init)
        let unknown = ["kex_exchange_identification: x", "Connection closed by UNKNOWN port 65535"]
        // The host itself, by its log and without one, and a host on the way.
        for (own, others) in [(lines, []), (lines, forged), ([], lines), (unknown, lines)] {
            let outcome = LoginFailure.outcome(
                SSHWords(own: own, others: others), .exited(255), wasIn: false, target: target())
            #expect(!"\(outcome)".contains("ssh-keygen") && !words(outcome).contains("hostKey"), "\(outcome)")
        }
        #expect(SSHRecords(lines) == SSHRecords(Array(lines.dropFirst()), after: lines[0]))
    }

    @Test(
        "before the greeting the words of a peer alone lead to another try",
        arguments: [
            "extra arguments at end", "unknown option -- Z", "no matching",
            "subsystem request failed on channel 0",
            "permission denied (publickey)", "u@there: Permission denied (publickey).",
            "Host key verification failed.",
            "keyword x", "/c: terminating, 1 bad configuration options", "Bad owner or permissions on /c",
            "This account is currently not available.", "This service allows sftp connections only.",
            "x: Too many authentication failures",
        ])
    func wordsOfPeer(said: String) {
        let unknown = ["kex_exchange_identification: x", "Connection closed by UNKNOWN port 65535"]
        for beginning in [
            "Received disconnect from 1.2.3.4 port 22:2: ", "Received disconnect from ::1: 2: ",
            "Bad remote protocol version identification: 'SSH-x ",
            "channel 0: open failed: connect failed: ",
            "Unable to negotiate with 1.2.3.4 port 22: no matching cipher found. Their offer: ",
        ] {
            let closed = "Disconnected from 1.2.3.4 port 22"
            for lines in [
                [beginning + said], [beginning + said, closed], [beginning + "x", said, closed],
            ] {
                for (own, others) in [(lines, []), (lines, lines), ([], lines), (unknown, lines)] {
                    let outcome = LoginFailure.outcome(
                        SSHWords(own: own, others: others), .exited(255), wasIn: false, target: target())
                    guard case .broken(let error) = outcome, error.isRetryable else {
                        Issue.record("\(own) \(others) \(outcome)")
                        continue
                    }
                }
            }
        }
    }

    @Test(
        "ssh's own words about its settings and the server's offer count where ssh writes them",
        arguments: [
            ("/c line 1: keyword port extra arguments at end of line", "unsupported"),
            ("/c line 1: no argument after keyword \"port\"", "unsupported"),
            ("/c: terminating, 1 bad configuration options", "unsupported"),
            ("command-line: line 0: Bad configuration option: foo", "unsupported"),
            ("Can't open user config file /c: No such file or directory", "unsupported"),
            ("Bad owner or permissions on /c", "unsupported"), ("unknown option -- Z", "unsupported"),
            ("ssh: illegal option -- Z", "unsupported"),
            ("subsystem request failed on channel 0", "unsupported"),
            ("Unable to negotiate a key exchange method", "badServerResponse"),
            (
                "Received disconnect from ::1 port 22:2: Too many authentication failures",
                "auth permissionDenied"
            ),
            (
                "Received disconnect from 1.2.3.4: 2: Too many authentication failures for me",
                "auth permissionDenied"
            ),
            ("me@::1: Permission denied (publickey,password).", "auth permissionDenied"),
            ("The unknown option was not taken", "networkConnectionLost"),
        ])
    func ownLines(line: String, expected: String) {
        for lines in [
            [line], ["Warning: Permanently added 'there' (ED25519) to the list of known hosts.", line],
        ] {
            for words in [SSHWords(own: lines, others: []), SSHWords(own: [], others: lines)] {
                let outcome = LoginFailure.outcome(words, .exited(255), wasIn: false, target: target())
                #expect(SSHTransportTests.words(outcome) == expected, "\(lines)")
            }
        }
    }

    @Test("a key is removed by command where it is the target's, by any of its names; another host's is not")
    func ownKey() {
        func advice(_ name: String, port: UInt16? = nil) -> String {
            var server = target()
            server.port = port
            let own = [
                "Offending ED25519 key in /etc/keys:3",
                "Host key for \(name) has changed and you have requested strict checking.",
                "Host key verification failed.",
            ]
            let outcome = LoginFailure.outcome(
                SSHWords(own: own, others: []), .exited(255), wasIn: false, target: server)
            guard case .notLetIn(.hostKey, let error) = outcome else { return words(outcome) }
            return error.finding.advice
        }
        #expect(advice("there").contains("run ssh-keygen -f /etc/keys -R there and ssh there"))
        #expect(advice("THERE").contains("ssh-keygen -f /etc/keys -R THERE"))
        #expect(advice("[there]:2222").contains("ssh-keygen -f /etc/keys -R '[there]:2222'"))
        #expect(advice("[there]:2222", port: 2222).contains("ssh-keygen -f /etc/keys -R '[there]:2222'"))
        let command = "if the change is right, remove the known key that ssh -p 22 there names, then retry"
        for other in ["[there]:2222", "git.corp.example", "there.example", "[there", "[there]:", "[there]:2222:1"] {
            #expect(advice(other, port: 22).hasSuffix(command), "\(other)")
        }
    }

    @Test("a changed key is named as ssh names it: by the host that it stands for, and the file that it is in")
    func changedKey() {
        func removal(_ file: String, _ name: String) -> String? {
            let host = name == "nas" ? name : "192.168.1.5"
            return KnownKey([
                "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @", "Offending ED25519 key in \(file):3",
                "Host key for \(name) has changed and you have requested strict checking.",
                "Host key verification failed.",
            ])?.removal(for: target(host))
        }
        let home = "/home/me/.ssh/known_hosts"
        #expect(removal(home, "[192.168.1.5]:2222") == "ssh-keygen -R '[192.168.1.5]:2222'")
        #expect(removal("/etc/ssh/ssh_known_hosts", "nas") == "ssh-keygen -f /etc/ssh/ssh_known_hosts -R nas")
        #expect(removal(home, "a;b") == nil && removal("/a b", "nas") == "ssh-keygen -R nas")
        #expect(KnownKey(["Host key verification failed."]) == nil)
    }

    @Test("once in, only the line's end is told: what a program there prints decides nothing")
    func afterwards() {
        func outcome(_ line: String) -> String {
            words(LoginFailure.outcome(SSHWords(own: [], others: [line]), .exited(255), wasIn: true, target: target()))
        }
        #expect(outcome("Permission denied (publickey).") == "networkConnectionLost")
        #expect(outcome("Timeout, server h not responding.") == "timedOut")
        #expect(outcome("client_loop: send disconnect: Broken pipe") == "networkConnectionLost")
    }

    @Test("a missing ssh, and one that a shell did not find, say what to install")
    func missing() {
        for outcome in [
            LoginFailure.notStarted(.noSuchFile, Array("ssh".utf8)),
            LoginFailure.outcome(
                SSHWords(own: [], others: ["sh: 1: ssh: not found"]), .exited(127), wasIn: false, target: target()),
        ] {
            guard case .broken(let error) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(error.code == .unsupported && error.message.contains("openssh-client") && !error.isRetryable)
        }
        #expect(words(LoginFailure.notStarted(.tooManyOpenFiles, Array("ssh".utf8))) == "networkConnectionLost")
    }

    @Test("text before SFTP is a shell's start-up file, anything else a broken peer")
    func malformed() {
        let text = LoginFailure.malformed(Array("Welcome\u{1B}[1m".utf8), wasIn: false, host: "there")
        #expect(words(text) == "unsupported")
        guard case .broken(let error) = text else {
            Issue.record("something else: \(text)")
            return
        }
        #expect(
            error.message
                == "there prints text before SFTP (Welcome\\x1b[1m): keep its shell's start-up files silent, then retry"
        )
        for beginning in ["\u{1B}[1;32mWelcome", "\u{1B}]0;host\u{7}", "\u{2554}\u{2550}", "\thi", "hi\n\0", "\r\nok"] {
            let told = LoginFailure.malformed(Array(beginning.utf8), wasIn: false, host: "h")
            #expect(words(told) == "unsupported", "\(beginning.debugDescription)")
        }
        #expect(words(LoginFailure.malformed([0, 0xFF, 1, 2], wasIn: false, host: "h")) == "badServerResponse")
        #expect(words(LoginFailure.malformed(Array("Welcome".utf8), wasIn: true, host: "h")) == "badServerResponse")
        guard case .broken(let odd) = LoginFailure.malformed([0xFF, 1, 2, 3], wasIn: false, host: "h") else {
            Issue.record("something else")
            return
        }
        #expect(odd.message == "h sent what is no SFTP: Martlet tries again by itself")
    }

    @Test("the words of a command are split as rsync splits them")
    func commandWords() {
        func split(_ line: String) -> [String]? {
            SSHCommand.words(Array(line.utf8))?.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(split("ssh") == ["ssh"])
        #expect(split("  ssh -F '/a b/c' -i \"it's\"  ") == ["ssh", "-F", "/a b/c", "-i", "it's"])
        #expect(split("ssh -o ProxyCommand='nc %h'x ''") == ["ssh", "-o", "ProxyCommand=nc %hx", ""])
        #expect(split("") == nil && split("  ") == nil && split("ssh 'a") == nil && split("'' a") == nil)
    }

    @Test("the person's words come first; port and user only where they are given; a password is in no argument")
    func arguments() {
        func text(_ target: SSHTarget, log: [UInt8]? = nil) -> [String] {
            target.arguments(log: log).map { String(decoding: $0, as: UTF8.self) }
        }
        var full = target("h", user: "u", password: Array("secret".utf8))
        full.command = ["ssh", "-F", "x"].map { Array($0.utf8) }
        full.port = 2222
        #expect(text(full).prefix(2) == ["-F", "x"])
        #expect(text(full, log: Array("/p".utf8)).prefix(4) == ["-F", "x", "-E", "/p"])
        #expect(text(full).suffix(7) == ["-p", "2222", "-l", "u", "-s", "h", "sftp"])
        #expect(text(full).contains("-oBatchMode=no") && !text(full).contains { $0.contains("secret") })
        #expect(text(target()).contains("-oBatchMode=yes") && !text(target()).contains("-p"))
    }

    @Test("nothing that a shell would read, and no option, gets into the command as a name")
    func names() {
        for host in ["h", "h-1.example.org", "::1", "fe80::1%eth0", "bücher.example"] {
            #expect(target(host).problem == nil, "\(host)")
        }
        for host in ["", "-oProxyCommand=x", "a b", "h;x", "$(x)", "a`b", "a\nb", "u@h", "a/b"] {
            #expect(
                target(host).problem == "the host's name has characters that no host's name has", "\(host)")
        }
        for user in ["u", "DOM\\u", "u@realm", "_x-1"] { #expect(target(user: user).problem == nil, "\(user)") }
        for user in ["", "-l", "a b", "a;b", "x\\", "$(x)", "a'b"] {
            #expect(
                target(user: user).problem == "the user's name has characters that ssh does not take", "\(user)")
        }
        var empty = target()
        empty.command = [[]]
        #expect(empty.problem == "the ssh command is empty")
        #expect(
            target(password: Array("a\nb".utf8)).problem == "the password has more than one line or 1023 bytes")
        #expect(target(password: Array(repeating: 0x61, count: 1023)).problem == nil)
    }
}
