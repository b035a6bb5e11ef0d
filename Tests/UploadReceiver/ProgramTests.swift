import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import UploadReceiver

@Suite("The program martlet-receive")
struct ProgramTests {
    private let folder: [UInt8]

    init() throws { folder = try makeFolder() }

    /// A home that is no text.
    private static let noText = Array("MARTLET_HOME=/".utf8) + [0xFF]

    private func refusal(_ arguments: [String], environment: [[UInt8]] = []) throws -> (ChildExit, String) {
        let pipe = try System.pipe()
        let program = RunningProgram.program(
            arguments.map { Array($0.utf8) }, environment, output: pipe.write.rawValue, error: pipe.write.rawValue)
        let process = try ChildProcess(program)
        pipe.write.close()
        let exit = try process.wait()
        return (exit, try LineReader(pipe.read).next())
    }

    private var name: String { String(decoding: folder, as: UTF8.self) }

    @Test("its first line says where it is, and SIGTERM and SIGINT end it with status 0", arguments: [SIGTERM, SIGINT])
    func life(signal: Int32) throws {
        defer { removeTree(folder) }
        let program = try RunningProgram([folder])
        #expect(program.url.hasPrefix("http://127.0.0.1:"))
        let client = try RawClient(port: program.port)
        #expect(try client.exchange("PUT", "/f", body: [1]).status == 201)
        // An upload that is under way and a connection that idles hold nothing up.
        let half = try RawClient(port: program.port)
        try half.send(RawClient.head("PUT", "/half", length: 100) + "half")
        #expect(try program.end(by: signal) == .exited(0))
        #expect(try program.lines.next().hasPrefix("received f 1 bytes"))
        #expect(try paths(below: folder).map { $0.dropFirst(folder.count) } == [Array("/f".utf8)[...]])
    }

    @Test("a folder has the same port at each start, and another when that is taken")
    func port() throws {
        defer { removeTree(folder) }
        let usual = try #require(UploadReceiver.usualPort(of: folder))
        let first = try RunningProgram([folder])
        let (port, url) = (first.port, first.url)
        // Another program may have just this one now.
        guard port == usual else {
            #expect(try first.lines.next().contains("port \(usual), which this folder usually has, is taken"))
            return
        }
        let beside = try RunningProgram([folder])
        #expect(beside.port != port)
        #expect(try beside.lines.next().contains("port \(port), which this folder usually has, is taken"))
        _ = try beside.end(by: SIGTERM)
        _ = try first.end(by: SIGTERM)
        let again = try RunningProgram([folder])
        if again.url != url { #expect(try again.lines.next().contains("is taken")) }
        _ = try again.end(by: SIGTERM)
    }

    @Test("a folder's usual port is the same each time, and none that a passing connection takes")
    func usualPort() {
        let ports = (0..<1000).map { UploadReceiver.usualPort(ofReal: Array("/srv/\($0)".utf8)) }
        #expect(ports == (0..<1000).map { UploadReceiver.usualPort(ofReal: Array("/srv/\($0)".utf8)) })
        #expect(ports.allSatisfy { (20_000..<32_000).contains($0) } && Set(ports).count > 900)
    }

    @Test("SIGKILL in the middle of a PUT leaves the old version, and the next run cleans up and serves on")
    func killed() throws {
        defer { removeTree(folder) }
        let first = try RunningProgram([folder])
        let client = try RawClient(port: first.port)
        #expect(try client.exchange("PUT", "/f", body: [1]).status == 201)
        let tag = try client.exchange("HEAD", "/f").fields["etag"]
        var halves: [RawClient] = []
        for name in ["f", "g"] {
            let half = try RawClient(port: first.port)
            halves.append(half)
            try half.send(RawClient.head("PUT", "/\(name)", ["Expect": "100-continue"], length: 5 << 20))
            #expect(try half.interim() == 100)
            try half.send(pattern(2 << 20))
        }
        #expect(try first.end(by: SIGKILL) == .signalled(SIGKILL))
        halves.removeAll()
        #expect(try contents(folder + Array("/f".utf8)) == [1])
        #expect(try paths(below: folder).count == 3)

        let second = try RunningProgram([folder])
        #expect(try second.lines.next() == "unfinished files of an earlier run that were removed: 2")
        let again = try RawClient(port: second.port)
        #expect(try again.exchange("HEAD", "/f").fields["etag"] == tag)
        #expect(try again.exchange("GET", "/g").status == 404)
        #expect(try again.exchange("PUT", "/g", body: pattern(5 << 20)).status == 201)
        #expect(try second.end(by: SIGTERM) == .exited(0))
        #expect(try paths(below: folder).count == 2)
    }

    @Test("everybody needs a token, wherever it listens, unless it is open", arguments: ["127.0.0.1:0", "0.0.0.0:0"])
    func access(address: String) throws {
        let state = try makeFolder()
        defer {
            removeTree(folder)
            removeTree(state)
        }
        let listen = [folder] + ["--listen", address].map { Array($0.utf8) }
        let home = "MARTLET_HOME=\(String(decoding: state, as: UTF8.self))/home"
        for word in ["--open", "--no-token"] {
            let open = try RunningProgram(listen, access: [word, "--host", "test"], environment: [home])
            #expect(try RawClient(port: open.port).exchange("GET", "/").status == 200)
        }
        let given = try RunningProgram(
            listen, access: ["--host", "test"], environment: [home, "MARTLET_RECEIVE_TOKEN=secret"])
        #expect(try RawClient(port: given.port).exchange("GET", "/").status == 401)
        #expect(try RawClient(port: given.port).exchange("GET", "/", ["Authorization": "Bearer secret"]).status == 200)
        #expect(throws: Errno.noSuchFile) { try System.stat(state + Array("/home".utf8)) }

        let kept = try RunningProgram(listen, access: ["--host", "test"], environment: [home])
        let path = state + Array("/home/state/receive/\(kept.port).token".utf8)
        #expect(try kept.lines.next() == "token is in \(String(decoding: path, as: UTF8.self))")
        let token = String(decoding: try contents(path).dropLast(), as: UTF8.self)
        #expect(token.utf8.count == 48)
        #expect(try System.stat(path).permissions == 0o600)
        #expect(try RawClient(port: kept.port).exchange("PUT", "/f", body: [1]).status == 401)
        let fields: KeyValuePairs = ["Authorization": "Bearer \(token)"]
        #expect(try RawClient(port: kept.port).exchange("PUT", "/f", fields, body: [1]).status == 201)
        // What was queued with the token goes on after a kill.
        _ = try kept.end(by: SIGKILL)
        let again = try RunningProgram(
            [folder] + ["--listen", "127.0.0.1:\(kept.port)"].map { Array($0.utf8) }, access: ["--host", "test"],
            environment: [home])
        #expect(try RawClient(port: again.port).exchange("GET", "/f", fields).status == 200)
        #expect(try paths(below: state).count == 1)
    }

    @Test("at a terminal it shows the token itself, for who sits there")
    func tokenAtTerminal() throws {
        let state = try makeFolder()
        defer {
            removeTree(folder)
            removeTree(state)
        }
        let (ours, terminal) = try Self.terminal()
        let home = "MARTLET_HOME=\(String(decoding: state, as: UTF8.self))/home"
        let program = RunningProgram.program([folder], [Array(home.utf8)], output: terminal.rawValue)
        let process = try ChildProcess(program)
        let lines = LineReader(ours)
        let port = try #require(UInt16(lines.next().split(separator: ":").last?.prefix { $0 != "/" } ?? ""))
        let path = state + Array("/home/state/receive/\(port).token".utf8)
        let token = String(decoding: try contents(path).dropLast(), as: UTF8.self)
        #expect(token.utf8.count == 48)
        #expect(try lines.next() == "token \(token), kept in \(String(decoding: path, as: UTF8.self))\r")
        try process.signal(SIGTERM)
        #expect(try process.wait() == .exited(0))
    }

    /// A terminal: our end, and the one for a program.
    private static func terminal() throws -> (ours: OwnedDescriptor, program: OwnedDescriptor) {
        // posix_openpt and its kin are not in the Glibc module; these are what they do: TIOCSPTLCK and TIOCGPTN.
        let (unlock, tellNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        let ours = try System.open(Array("/dev/ptmx".utf8), flags: O_RDWR | O_NOCTTY)
        var (locked, number): (Int32, Int32) = (0, 0)
        guard ioctl(ours.rawValue, unlock, &locked) == 0, ioctl(ours.rawValue, tellNumber, &number) == 0 else {
            throw Errno.current
        }
        return (ours, try System.open(Array("/dev/pts/\(number)".utf8), flags: O_RDWR | O_NOCTTY))
    }

    @Test(
        "a place for the token that is not this user's alone is refused", arguments: ["mode", "link", "owner", "file"])
    func tokenPlace(kind: String) throws {
        let home = try makeFolder()
        defer {
            removeTree(folder)
            removeTree(home)
        }
        let state = home + Array("/state".utf8)
        // A port that is free now.
        let claimed = try InternetSocket.listen(host: "127.0.0.1", isIPv6: false, port: 0)
        let port = try InternetSocket.localPort(of: claimed.rawValue)
        claimed.close()
        switch kind {
        case "mode":
            try System.mkdir(state, mode: 0o700)
            try System.chmod(state, mode: 0o755)
        case "link": #expect(symlink("/tmp", String(decoding: state, as: UTF8.self)) == 0)
        case "owner":
            // Nobody but root can give a folder away.
            guard System.userID == 0 else { return }
            try System.mkdir(state, mode: 0o700)
            #expect(chown(String(decoding: state, as: UTF8.self), 12_345, 12_345) == 0)
        default:
            try System.mkdirs(state + Array("/receive".utf8))
            let file = state + Array("/receive/\(port).token".utf8)
            try write(Array("known-to-all\n".utf8), to: file)
            try System.chmod(file, mode: 0o644)
        }
        let (exit, line) = try refusal(
            [name, "--listen", "127.0.0.1:\(port)"],
            environment: [Array("MARTLET_HOME=".utf8) + home])
        // Another program may have just this port by now.
        if line.contains("is in use") { return }
        #expect(exit == .exited(1))
        #expect(line.hasPrefix("martlet-receive: cannot keep a token in "))
        #expect(line.contains("or --open to let anybody in"))
    }

    @Test("its memory is in no core dump")
    func noDumps() throws {
        defer { removeTree(folder) }
        let program = try RunningProgram([folder])
        let limits = try text(Array("/proc/\(program.process.processID)/limits".utf8), upTo: 4096)
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(line?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    }

    private func text(_ path: [UInt8], upTo limit: Int) throws -> String {
        let file = try System.open(path)
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try bytes.withUnsafeMutableBytes { try System.read(file.rawValue, $0) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    @Test("a token comes from a file's first line")
    func tokenFile() throws {
        defer { removeTree(folder) }
        let path = folder + Array("/token".utf8)
        try write(Array("from-file\nsecond line\n".utf8), to: path)
        let program = try RunningProgram(
            [folder, Array("--token-file".utf8), path], access: ["--host", "test"])
        #expect(try RawClient(port: program.port).exchange("GET", "/").status == 401)
        let fields: KeyValuePairs = ["Authorization": "Bearer from-file"]
        #expect(try RawClient(port: program.port).exchange("GET", "/", fields).status == 200)
    }

    @Test(
        "what cannot be meant is refused with status 2 and a line that says what to do",
        arguments: [
            ([], "DIR is missing: give a path"),
            (
                ["DIR", "--listen", "example.org:80"],
                "--listen: \"example.org:80\" is not allowed: give a numeric address and a port, such as 0.0.0.0:8080 or [::1]:0"
            ),
            (["DIR", "--open", "--tls-cert", "/dev/null"], "--tls-cert and --tls-key belong together: give both"),
            (
                ["DIR", "--token-file", "/nonexistent/token"],
                "--token-file: cannot read /nonexistent/token: No such file or directory: give a file that can be read"
            ),
            (
                ["DIR", "--token-file", "/dev/null"],
                "--token-file holds no token: its first line must be visible ASCII characters without spaces"
            ),
            (
                ["DIR", "--no-token", "--token-file", "/dev/null"],
                "--open and --token-file exclude each other: leave one of them out"
            ),
            (
                ["DIR", "--open", "--token-file", "/dev/null"],
                "--open and --token-file exclude each other: leave one of them out"
            ),
            (
                ["DIR", "--open", "--host", "two words"],
                "--host: \"two words\" is not allowed: give a name or an address, such as nas.example:8443"
            ),
            (
                ["DIR"],
                "there is no place for a token: MARTLET_HOME is not UTF-8: give it another path, or give --token-file FILE, or --open"
            ),
            (["DIR", "--max-size", "big"], "--max-size: \"big\" is not allowed: give a size such as 512K, 8M or 2G"),
            (["DIR", "--nonsense"], "there is no option --nonsense: see martlet-receive --help"),
        ] as [([String], String)])
    func usage(arguments: [String], said: String) throws {
        defer { removeTree(folder) }
        let (exit, line) = try refusal(arguments.map { $0 == "DIR" ? name : $0 }, environment: [Self.noText])
        #expect(exit == .exited(2))
        #expect(line == "martlet-receive: " + said)
    }

    @Test("a folder that is not there, a port that is taken, a bad certificate: status 1 and a line that says so")
    func cannotStart() throws {
        defer { removeTree(folder) }
        let (missing, missingLine) = try refusal([name + "/none", "--open"])
        #expect(missing == .exited(1))
        #expect(missingLine.contains("make it first"))
        let running = try RunningProgram([folder])
        let (taken, takenLine) = try refusal([name, "--listen", "127.0.0.1:\(running.port)"])
        #expect(taken == .exited(1))
        #expect(takenLine.contains("is in use: choose another port"))
        let (bad, badLine) = try refusal([name, "--open", "--tls-cert", "/dev/null", "--tls-key", "/dev/null"])
        #expect(bad == .exited(1))
        #expect(badLine.contains("the HTTP library does not start"))
    }

    @Test("with a certificate it speaks https")
    func tls() throws {
        defer { removeTree(folder) }
        let keys = try makeFolder()
        defer { removeTree(keys) }
        let (certificate, key) = (keys + Array("/cert.pem".utf8), keys + Array("/key.pem".utf8))
        let source = keys + Array("/source".utf8)
        let body = pattern(3 << 20)
        try write(body, to: source)
        let request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
        let names = ["-addext", "subjectAltName=IP:127.0.0.1", "-out", text(certificate), "-keyout", text(key)]
        #expect(try run("/usr/bin/openssl", request + names) == .exited(0))

        let options = ["--tls-cert", text(certificate), "--tls-key", text(key)].map { Array($0.utf8) }
        let program = try RunningProgram([folder] + options)
        #expect(program.url.hasPrefix("https://127.0.0.1:"))
        let curl = ["-sf", "--cacert", text(certificate)]
        #expect(try run("/usr/bin/curl", curl + ["-T", text(source), program.url + "f"]) == .exited(0))
        #expect(try contents(folder + Array("/f".utf8)) == body)
        let back = keys + Array("/back".utf8)
        #expect(try run("/usr/bin/curl", curl + ["-r", "5-", "-o", text(back), program.url + "f"]) == .exited(0))
        #expect(try contents(back) == Array(body.dropFirst(5)))
        // 22: curl -f saw a status from 400 on.
        let again = curl + ["-H", "If-None-Match: *", "-T", text(source), program.url + "f"]
        #expect(try run("/usr/bin/curl", again) == .exited(22))
        #expect(try program.end(by: SIGTERM) == .exited(0))
    }

    private func text(_ path: [UInt8]) -> String { String(decoding: path, as: UTF8.self) }

    private func run(_ program: String, _ arguments: [String]) throws -> ChildExit {
        var child = ChildProgram(program, arguments, environment: ["PATH=/usr/bin:/bin"])
        let null = try System.open(Array("/dev/null".utf8), flags: O_RDWR)
        child.standardError = null.rawValue
        child.standardOutput = null.rawValue
        return try ChildProcess(child).wait()
    }
}
