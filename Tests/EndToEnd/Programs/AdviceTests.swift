import FoundationEssentials
import Testing
import TransferModel

/// Messages say what happened and what to do: each failure is made to happen, and the commands that its message names are run.
@Suite(.inLane) struct AdviceTests {
    let sandbox: Sandbox
    private let content = SeededBytes.bytes(300_000, seed: 77)

    init() throws {
        sandbox = try Sandbox()
        try write(content, to: RawPath("\(sandbox.root)/file"))
    }

    /// Runs the commands that `why` names for a batch, as they are printed and in their order, with `words` in the places of what is to be
    /// filled in.
    /// - Parameter most: so many of them, where the others are other ways to the same end.
    private func followAdvice(for batch: String, most: Int = .max, words: [String: String] = [:]) throws {
        let why = try sandbox.succeed("why", "--json", batch).output
        let commands = try JSONDecoder().decode(WhyAnswer.self, from: Data(why.utf8)).remedy.commands
        #expect(!commands.isEmpty, "\(why)")
        for command in commands.prefix(most) { try run(command.text, words) }
    }

    /// Runs a command as it is printed, in a shell that finds it.
    private func run(_ printed: String, _ words: [String: String] = [:]) throws {
        let command = words.reduce(printed) { $0.replacing($1.key, with: $1.value) }
        let outcome = try sandbox.start("/bin/sh", ["-c", "PATH=$0:$PATH; \(command)", Sandbox.programs]).wait()
        #expect(outcome.status == 0, "\(command): \(outcome)")
    }

    private func failure(of batch: String) throws -> JSON {
        #expect(try sandbox.wait(batch).status == 1)
        return try sandbox.task(batch)["error"]
    }

    @Test func `an unknown authority is named to a batch that failed, whichever way it goes`() throws {
        let server = try Nginx(sandbox, folder: "nginx-tls", tls: true)
        let upload = try sandbox.upload("\(sandbox.root)/file", server.url)
        let error = try failure(of: upload)
        #expect(error["code"].text == "tlsFailure")
        #expect(error["message"].text?.contains("comes from an unknown authority") == true, "\(error)")
        try followAdvice(for: upload, words: ["FILE": server.certificateAuthority])
        #expect(try sandbox.wait(upload).status == 0)
        #expect(try readBytes(server.data.appending(RawPath("file"))) == content)

        let download = try sandbox.download(server.url + "file", "\(sandbox.root)/back")
        #expect(try failure(of: download)["code"].text == "tlsFailure")
        try followAdvice(for: download, words: ["FILE": server.certificateAuthority])
        #expect(try sandbox.wait(download).status == 0)
        #expect(try readBytes(RawPath("\(sandbox.root)/back")) == content)
    }

    @Test(arguments: [("expired", "has expired", "clock"), ("other", "is for another name", "check the address")])
    func `a certificate is refused for what is wrong with it`(fault: String, what: String, cure: String) throws {
        let server = try Nginx(sandbox, badCertificate: fault)
        let batch = try sandbox.upload("--ca", server.certificateAuthority, "\(sandbox.root)/file", server.url)
        let message = try failure(of: batch)["message"].text ?? ""
        #expect(message.contains(what) && message.contains(cure) && !message.contains("authority"), "\(message)")
    }

    @Test func `a file of authorities that is not there or holds none is refused at once`() throws {
        for file in ["\(sandbox.root)/none.pem", "\(sandbox.root)/file", sandbox.root] {
            let outcome = try sandbox.martlet("upload", "--ca", file, "\(sandbox.root)/file", "https://127.0.0.1:9/")
            #expect(outcome.status == 2 && outcome.errors.contains(file), "\(outcome)")
        }
        #expect(try sandbox.batches().isEmpty)
    }

    @Test func `a folder that is gone, and a receiver that is nowhere, are told`() throws {
        let alone = "\(sandbox.root)/alone"
        let gone = try sandbox.start(
            "/bin/sh", ["-c", "mkdir $1 && cd $1 && rmdir $1 && $0/martlet list", Sandbox.programs, alone]
        ).wait()
        #expect(
            gone.errors == "martlet: the current directory is gone (No such file or directory): cd to another one\n")
        let missing = try sandbox.start(
            "/bin/sh",
            ["-c", "mkdir $1 && cp $0/martlet $1 && PATH=$1 exec $1/martlet receive $1", Sandbox.programs, alone]
        ).wait()
        #expect(
            missing.errors
                == "martlet: martlet-receive cannot be started (No such file or directory): "
                + "install it beside martlet, or put it into PATH\n")
    }

    @Test func `a pin that is wrong is given anew`() throws {
        let server = try Nginx(sandbox, folder: "nginx-tls", tls: true)
        let wrong = "sha256//" + String(repeating: "A", count: 43) + "="
        let batch = try sandbox.upload(
            "--ca", server.certificateAuthority, "--pin", wrong, "\(sandbox.root)/file", server.url)
        #expect(try failure(of: batch)["code"].text == "pinMismatch")
        try followAdvice(for: batch, words: ["PIN": try pin(of: server)])
        #expect(try sandbox.wait(batch).status == 0)
    }

    private func pin(of server: Nginx) throws -> String {
        let script = """
            openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
            """
        let certificate = "\(server.folder)/tls/server.crt"
        let outcome = try sandbox.start("/bin/bash", ["-c", script, certificate]).wait()
        return "sha256//" + outcome.output.filter { $0 != "\n" }
    }

    @Test func `a session or a batch that nobody knows is no reason to do nothing`() throws {
        let batch = try sandbox.upload("--hold", "\(sandbox.root)/file", "http://127.0.0.1:9/")
        for arguments in [
            ["cancel", "--session", "nope"], ["pause", "--session", "nope"], ["list", "--session", "nope"],
            ["wait", "--session", "nope"], ["cancel", "--batch", "b99"], ["retry", "--batch", "b99", "--failed"],
        ] {
            let outcome = try sandbox.start("martlet", arguments).wait()
            #expect(outcome.status == 3 && !outcome.errors.isEmpty, "\(arguments): \(outcome)")
        }
        #expect(try sandbox.batch(batch)["state"].text == "created")
    }

    @Test func `files of several servers get in by the one way that has a login for each`() throws {
        let servers = try ["one", "two"].map { try Nginx(sandbox, folder: $0, authenticated: true) }
        for server in servers {
            try write(content, to: server.data.appending(RawPath(server.folder.hasSuffix("one") ? "a" : "b")))
        }
        let batch = try sandbox.queue(
            "download", [servers[0].url + "a", servers[1].url + "b", "\(sandbox.root)/back/"], #_sourceLocation)
        #expect(try sandbox.wait(batch).status == 4)
        let login = ["--user", "test", "--password-command", "echo test"]
        let refused = try sandbox.start("martlet", ["set", batch] + login).wait()
        #expect(refused.status == 1 && refused.errors.contains("martlet set \(batch) --netrc FILE"), "\(refused)")

        let netrc = "\(sandbox.root)/netrc"
        try write(Array("machine 127.0.0.1 login test password test\n".utf8), to: RawPath(netrc))
        let why = try sandbox.succeed("why", "--json", batch).output
        let commands = try JSONDecoder().decode(WhyAnswer.self, from: Data(why.utf8)).remedy.commands.map(\.text)
        // What waits for a login goes on with it at once; a retry is for a login that was renewed elsewhere.
        for command in commands where command.contains("--netrc") { try run(command, ["FILE": netrc]) }
        #expect(try sandbox.wait(batch).status == 0, "\(commands)")
        for name in ["a", "b"] { #expect(try readBytes(RawPath("\(sandbox.root)/back/\(name)")) == content) }
    }

    @Test func `a file that is in the way is replaced by the commands that are named`() throws {
        let receiver = try Receiver(sandbox)
        #expect(try sandbox.wait(sandbox.send("\(sandbox.root)/file", receiver.url)).status == 0)
        let other = SeededBytes.bytes(200_000, seed: 78)
        try write(other, to: RawPath("\(sandbox.root)/file"))
        let batch = try sandbox.send("\(sandbox.root)/file", receiver.url)
        #expect(try failure(of: batch)["code"].text == "destinationExists")
        try followAdvice(for: batch)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(receiver.data.appending(RawPath("file"))) == other)
    }

    @Test func `what a person holds, pauses, cancels or puts off goes on by the commands that are named`() throws {
        let receiver = try Receiver(sandbox)
        func queue(_ name: String, _ options: String...) throws -> String {
            try write(content, to: RawPath("\(sandbox.root)/\(name)"))
            return try sandbox.queue("upload", options + ["\(sandbox.root)/\(name)", receiver.url], #_sourceLocation)
        }
        let held = try queue("held", "--hold")
        let later = try queue("later", "--not-before", "2099-01-01T00:00:00Z")
        let paused = try queue("paused", "--not-before", "2099-01-01T00:00:00Z")
        try sandbox.succeed("pause", paused)
        let cancelled = try queue("cancelled", "--hold")
        try sandbox.succeed("cancel", cancelled)
        try followAdvice(for: held)
        try followAdvice(for: later)
        // It waits for its time again.
        try followAdvice(for: paused)
        try followAdvice(for: paused)
        // It is held again.
        try followAdvice(for: cancelled)
        try followAdvice(for: cancelled)
        for (batch, name) in [(held, "held"), (later, "later"), (paused, "paused"), (cancelled, "cancelled")] {
            #expect(try sandbox.wait(batch).status == 0, "\(name)")
            #expect(try readBytes(receiver.data.appending(RawPath(name))) == content)
        }
    }

    @Test func `a slow line, a full line and an engine that stops give way to the commands that are named`() throws {
        let server = try Nginx(sandbox)
        try sandbox.succeed("limit", "--transfers", "1")
        let slow = try sandbox.upload("--limit", "1K", "\(sandbox.root)/file", server.url)
        try waitUntil("it moves") { try sandbox.task(slow)["state"].text == "running" }
        try write([1, 2, 3], to: RawPath("\(sandbox.root)/next"))
        let next = try sandbox.upload("\(sandbox.root)/next", server.url)
        try waitUntil("the next one stands in line") { try sandbox.task(next)["state"].text == "queued" }
        // A PUT cannot go on later, so the engine finishes it first.
        let stopping = try sandbox.start("martlet", ["engine", "stop"])
        try waitUntil("the engine stops") {
            try sandbox.succeed("why", next).output.contains("the engine was told to stop")
        }
        try followAdvice(for: next)
        #expect(try stopping.wait().status == 1)
        try followAdvice(for: next, words: ["N": "2"])
        #expect(try sandbox.wait(next).status == 0)
        try waitUntil("the limit is named") { try sandbox.succeed("why", slow).output.contains("by the limit of") }
        try followAdvice(for: slow)
        #expect(try sandbox.wait(slow).status == 0)
        #expect(try readBytes(server.data.appending(RawPath("file"))) == content)
    }

    @Test func `a login that is refused is given anew, and a file that was not there is asked for again`() throws {
        let server = try Nginx(sandbox, authenticated: true)
        let batch = try sandbox.upload("\(sandbox.root)/file", server.url)
        try waitUntil("nobody is let in") { try sandbox.task(batch)["waitReasons"].array.first?.text == "auth" }
        try followAdvice(for: batch, most: 1, words: ["'K: V'": "'Authorization: Basic dGVzdDp0ZXN0'"])
        #expect(try sandbox.wait(batch).status == 0)
        let absent = try sandbox.download(
            "--header", "Authorization: Basic dGVzdDp0ZXN0", server.url + "other", "\(sandbox.root)/back")
        #expect(try failure(of: absent)["httpStatus"].integer == 404)
        try write(content, to: server.data.appending(RawPath("other")))
        try followAdvice(for: absent)
        #expect(try sandbox.wait(absent).status == 0)
        #expect(try readBytes(RawPath("\(sandbox.root)/back")) == content)
    }

    @Test func `a user that is given anew is asked for the password in a terminal`() throws {
        let server = try Nginx(sandbox, authenticated: true)
        let batch = try sandbox.upload("\(sandbox.root)/file", server.url)
        try waitUntil("nobody is let in") { try sandbox.task(batch)["waitReasons"].array.first?.text == "auth" }
        let why = try sandbox.succeed("why", batch)
        #expect(why.output.contains("martlet set \(batch) --header 'K: V' or --user USER"), "\(why)")
        let screen = try TerminalScreen(sandbox, size: "80x24", "set", batch, "--user", "test")
        try screen.awaitText("Password for \(server.address), user test:")
        try screen.type("test")
        try screen.press("Enter")
        try waitUntil("the command has ended") { screen.status != nil }
        #expect(screen.status == 0)
        #expect(try sandbox.wait(batch).status == 0)
        #expect(try readBytes(server.data.appending(RawPath("file"))) == content)
    }

    @Test func `a change that is refused names the command that makes it`() throws {
        makeFolder(RawPath("\(sandbox.root)/tree/sub"))
        try write([1], to: RawPath("\(sandbox.root)/tree/sub/a"))
        let server = try Nginx(sandbox)
        let batch = try sandbox.upload("--not-before", "2099-01-01T00:00:00Z", "\(sandbox.root)/tree", server.url)
        let task = try #require(try sandbox.task(batch)["id"].text)
        let other = try sandbox.upload("--hold", "--priority", "high", "\(sandbox.root)/file", server.url)
        func follow(_ arguments: String..., saying words: String) throws {
            let outcome = try sandbox.start("martlet", arguments).wait()
            let command = outcome.errors.firstRange(of: "'martlet ").flatMap { start in
                outcome.errors[start.upperBound...].firstIndex(of: "'").map { outcome.errors[start.upperBound..<$0] }
            }
            #expect(outcome.status == 1 && outcome.errors.contains(words), "\(arguments): \(outcome)")
            try run("martlet \(try #require(command, "\(outcome)"))")
        }
        try follow("set", task, "--if-exists", "replace", saying: "--if-exists is its batch's")
        try follow("set", task, "--give-up-after", "2h", saying: "--give-up-after is its batch's")
        try follow("move", task, "--before", "t99", saying: "there is no t99 to put it before")
        try follow("verify", task, saying: "is not completed")
        try follow("move", batch, "--before", other, saying: "has priority high, and that comes first")
        try sandbox.succeed("move", batch, "--before", other)
        try sandbox.succeed("pause", batch)
        try follow("resume", task, saying: "its batch \(batch) is paused")
        try sandbox.succeed("pause", batch)
        try follow("run-now", task, saying: "its batch \(batch) is paused")
        try sandbox.succeed("run-now", task)
        #expect(try sandbox.wait(batch).status == 0)
        let held = try #require(try sandbox.task(other)["id"].text)
        try sandbox.succeed("cancel", held)
        try sandbox.succeed("purge", other)
        try follow("undo", held, saying: "was cleared from the list since: take that back first")
        try sandbox.succeed("undo", held)
        #expect(try sandbox.batch(other)["state"].text == "created")
        let late = try sandbox.martlet("run-now", task)
        #expect(late.status == 1 && late.errors.contains("is over: nothing of it can run"), "\(late)")
        try follow("purge", "\(batch):tree/sub", saying: "a folder is forgotten with its batch")
        #expect(try sandbox.martlet("show", batch).status == 3)
    }
}
