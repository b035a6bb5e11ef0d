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

    /// Runs the commands that `why` names for a batch, in their order, with `words` in the places of what is to be filled in.
    private func followAdvice(for batch: String, words: [String: String] = [:]) throws {
        let why = try sandbox.succeed("why", "--json", batch).output
        let commands = try JSONDecoder().decode(WhyAnswer.self, from: Data(why.utf8)).remedy.commands
        #expect(!commands.isEmpty, "\(why)")
        for command in commands {
            let arguments = command.text.split(separator: " ").dropFirst().map { words[String($0)] ?? String($0) }
            try sandbox.succeed(arguments)
        }
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
}
