import Testing
import TransferModel

/// Whose keys sign, and what a kill in the moment of an upload's birth leaves in a bucket.
@Suite(.inLane, .enabled(if: WireProtocol.tested.contains(.s3))) struct S3KeyTests {
    let bench: WireBench
    let source: RawPath

    init() throws {
        bench = try WireBench(.s3)
        source = try bench.makeFile("film.mov", 12_000_000)
    }

    /// The environment with a profile in place of keys.
    private func useProfile(_ text: String, credentials: String = "") throws {
        bench.sandbox.environment = [
            "AWS_PROFILE=work", "AWS_REGION=us-east-1", "AWS_ENDPOINT_URL=http://\(bench.proxy.address)",
        ]
        let folder = RawPath("\(bench.sandbox.root)/.aws")
        makeFolder(folder)
        try write(text, to: "\(folder)/config")
        try write(credentials, to: "\(folder)/credentials")
    }

    @Test func `a profile's keys and its session's token sign an upload`() throws {
        try useProfile(
            "[profile work]\nsource_profile = base\n",
            credentials:
                "[base]\naws_access_key_id = testkey\naws_secret_access_key = testsecret\naws_session_token = t/o+k=\n")
        // The server checks every signed field, so one that did not come along would spoil the signature.
        try bench.expectArrived(bench.send(source.displayed), source)
    }

    @Test func `a machine in FIPS mode, which has no MD5, is no hindrance`() throws {
        let settings = "\(bench.sandbox.root)/openssl.cnf"
        try write(
            "openssl_conf = o\n[o]\nalg_section = a\nproviders = p\n[a]\ndefault_properties = fips=yes\n[p]\nbase = b\n[b]\nactivate = 1\n",
            to: settings)
        try useProfile(
            "[profile work]\n", credentials: "[work]\naws_access_key_id = testkey\naws_secret_access_key = testsecret\n"
        )
        bench.sandbox.environment.append("OPENSSL_CONF=\(settings)")
        let batch = try bench.send(source.displayed)
        #expect(try bench.sandbox.wait(batch).status == 0)
        // curl, which looks at what has arrived, heeds it.
        bench.sandbox.environment.removeLast()
        try bench.expectArrived(batch, source)
    }

    @Test func `keys that are refused are taken anew by the command that is named`() throws {
        func give(_ secret: String) throws {
            let keys = "aws_access_key_id = testkey\naws_secret_access_key = \(secret)\n"
            try useProfile("[profile work]\n", credentials: "[work]\n" + keys)
        }
        try give("wrong")
        let batch = try bench.send(source.displayed)
        try waitUntil("nobody is let in") { try bench.sandbox.task(batch)["waitReasons"].array.first?.text == "auth" }
        try give("testsecret")
        let why = try bench.sandbox.succeed("why", batch)
        let command = "martlet set \(batch) --s3-keys"
        #expect(why.output.contains(command), "\(why)")
        let given = try bench.sandbox.start("/bin/sh", ["-c", "PATH=$0:$PATH; \(command)", Sandbox.programs]).wait()
        #expect(given.status == 0, "\(given)")
        try bench.expectArrived(batch, source)
    }

    @Test func `keys that a program prints are asked for again when they are over`() throws {
        let calls = "\(bench.sandbox.root)/calls"
        try useProfile("[profile work]\ncredential_process = /bin/sh \(bench.sandbox.root)/print-keys \"a b\"\n")
        // Over at once, every time; the engine has no such variable of its own.
        bench.sandbox.environment.append("AWS_LAB=x")
        try write(
            """
            [ "$AWS_LAB" = x ] || exit 1
            echo "$1" >>\(calls)
            echo '{"Version": 1, "AccessKeyId": "testkey", "SecretAccessKey": "testsecret", \
            "Expiration": "2020-01-01T00:00:00Z"}'

            """, to: "\(bench.sandbox.root)/print-keys")
        try bench.expectArrived(bench.send(source.displayed), source)
        let asked = try readText(calls).split(separator: "\n")
        #expect(
            asked.count >= 2 && asked.allSatisfy { $0 == "a b" }, "when it was queued, and when it was sent: \(asked)")
    }

    @Test func `a profile that wants a role is refused by name`() throws {
        try useProfile("[profile work]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = base\n")
        let refused = try bench.sandbox.martlet("upload", source.displayed, bench.destination)
        #expect(refused.status == 2, "\(refused)")
        #expect("\(refused)".contains("work uses role_arn") && "\(refused)".contains("credential_process"))
    }

    @Test func `an upload that a kill left unknown is found again and taken away`() throws {
        var met = 0
        for number in 1...4 {
            let file = try bench.makeFile("round-\(number).mov", 12_000_000, seed: UInt64(number))
            let doomed = try bench.sandbox.startDoomedEngine("engine.answered:\(number)")
            let batch = try bench.send(file.displayed)
            if try bench.sandbox.awaitDoom(of: doomed, or: batch) { met += 1 }
            try bench.expectArrived(batch, file)
            try bench.sandbox.killEngines()
        }
        #expect(met >= 3)
        let left = try bench.sandbox.succeed("leftovers", "list", "--in", "s3://test/up/", "--json").output
        #expect(left.isEmpty, "\(left)")
    }
}
