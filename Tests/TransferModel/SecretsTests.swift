import Testing

@testable import TransferModel

/// What lets a batch in, given anew.
@Suite struct SecretsTests {
    private var old: TransferSecrets {
        var secrets = TransferSecrets()
        secrets.user = "u"
        secrets.password = "p"
        secrets.headers = [HeaderField("Authorization", "old"), HeaderField("X-Team", "a")]
        return secrets
    }

    @Test("a header takes the place of those of its name, in any case; the others stay")
    func headers() {
        var new = TransferSecrets()
        new.headers = [HeaderField("authorization", "new")]
        let all = old.renewed(by: new)
        #expect(all.headers == [HeaderField("X-Team", "a"), HeaderField("authorization", "new")])
        #expect(all.user == "u" && all.password == "p")
        #expect(old.renewed(by: TransferSecrets()) == old)
    }

    @Test("of password, command and netrc file the new one counts alone")
    func password() {
        var command = TransferSecrets()
        command.passwordCommand = "pass"
        let asked = old.renewed(by: command)
        #expect(asked.user == "u" && asked.password == nil && asked.passwordCommand == "pass")
        var file = TransferSecrets()
        file.netrcFile = RawPath("/n")
        let read = asked.renewed(by: file)
        #expect(read.user == nil && read.passwordCommand == nil && read.netrcFile == RawPath("/n"))
        var user = TransferSecrets()
        user.user = "v"
        #expect(old.renewed(by: user).password == "p")
    }

    @Test("a user and password stand for the keys of S3, where there are any")
    func keys() {
        var new = TransferSecrets()
        new.user = "AK"
        new.password = "SK"
        #expect(old.renewed(by: new).s3 == nil)
        var bucket = TransferSecrets()
        bucket.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b", sessionToken: "c")
        #expect(bucket.renewed(by: new).s3 == S3Keys(accessKeyID: "AK", secretAccessKey: "SK"))
        new.user = nil
        #expect(bucket.renewed(by: new).s3 == S3Keys(accessKeyID: "a", secretAccessKey: "SK"))
    }

    @Test("keys of S3 and a netrc file, which is for other servers, leave each other alone")
    func netrcBesideKeys() {
        let keys = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        var both = TransferSecrets()
        (both.s3, both.s3Origin) = (keys, .surroundings)
        var file = TransferSecrets()
        file.netrcFile = RawPath("/n")
        both = both.renewed(by: file)
        #expect(both.s3 == keys && both.s3Origin == .surroundings && both.source == .netrcFile(RawPath("/n")))
        var new = TransferSecrets()
        (new.s3, new.s3Origin) = (S3Keys(accessKeyID: "c", secretAccessKey: "d"), .surroundings)
        #expect(both.renewed(by: new).s3 == new.s3 && both.renewed(by: new).netrcFile == RawPath("/n"))
        #expect(file.renewed(by: new).netrcFile == nil)
    }

    @Test("a password command takes the place of the secret key of S3; the ID stays unless another one is named")
    func command() {
        var bucket = TransferSecrets()
        bucket.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b", sessionToken: "c")
        var new = TransferSecrets()
        new.passwordCommand = "pass s3"
        var renewed = bucket.renewed(by: new)
        #expect(renewed.s3 == nil && renewed.user == "a" && renewed.passwordCommand == "pass s3" && renewed.opensS3)
        new.user = "AK"
        renewed = bucket.renewed(by: new)
        #expect(renewed.s3 == nil && renewed.user == "AK")
        // Keys that come along count more than a command that did not print them.
        new.s3 = S3Keys(accessKeyID: "x", secretAccessKey: "y")
        #expect(bucket.renewed(by: new).s3 == new.s3)
    }

    @Test("of several sources one is asked: a program, a command, a file, what was typed, then keys")
    func source() {
        var secrets = TransferSecrets()
        #expect(secrets.source == .nothing && !secrets.source.showsWhoAsks && !secrets.source.isComplete)
        secrets.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        #expect(secrets.source == .keys(S3Keys(accessKeyID: "a", secretAccessKey: "b")))
        secrets.user = "u"
        #expect(secrets.source == .typed(user: "u", password: nil) && !secrets.source.isComplete)
        #expect(secrets.source.showsWhoAsks)
        secrets.netrcFile = RawPath("/n")
        #expect(secrets.source == .netrcFile(RawPath("/n")))
        // Of a URL.
        secrets.password = "p"
        #expect(secrets.source == .typed(user: "u", password: "p") && secrets.source.isComplete)
        secrets.passwordCommand = "pass"
        #expect(secrets.source == .command("pass"))
        secrets.s3Command = ["keys", "-x"]
        #expect(secrets.source == .keyProgram(["keys", "-x"]) && secrets.source.isComplete)
    }

    @Test("the profile that keys are of goes and comes with them")
    func profile() {
        var lab = TransferSecrets()
        (lab.s3, lab.s3Origin) = (S3Keys(accessKeyID: "a", secretAccessKey: "b"), .profile("lab"))
        #expect(lab.renewed(by: TransferSecrets()) == lab)
        var new = TransferSecrets()
        new.s3 = S3Keys(accessKeyID: "c", secretAccessKey: "d")
        #expect(lab.renewed(by: new).s3Origin == .typed && lab.renewed(by: new).s3 == new.s3)
        new.s3Origin = .profile("lab")
        #expect(lab.renewed(by: new) == new)
        var typed = TransferSecrets()
        typed.password = "p"
        #expect(lab.renewed(by: typed).s3Origin == .typed)
        for name in ["", "a\n", String(repeating: "x", count: 1001)] {
            new.s3Origin = .profile(name)
            #expect(new.refusal == "an AWS profile has a name of 1 to 1000 bytes, without control characters")
        }
    }

    @Test("what a program of keys is run with goes and comes with it, and has a bound")
    func environment() {
        var lab = TransferSecrets()
        lab.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "b")
        (lab.s3Command, lab.s3Environment) = (["keys"], ["A": "1"])
        #expect(lab.renewed(by: TransferSecrets()).s3Environment == ["A": "1"])
        var typed = TransferSecrets()
        typed.password = "p"
        #expect(lab.renewed(by: typed).s3Environment.isEmpty)
        for wrong in [["": "x"], ["A=": "x"], ["A": "\0"], ["A": String(repeating: "x", count: 64 << 10)]] {
            lab.s3Environment = wrong
            #expect(lab.refusal?.hasPrefix("the environment of a program that prints keys has a name or a NUL") == true)
        }
    }

    @Test("keys that are given anew end what told the secret before: a command, a password, a file")
    func keysInsteadOfCommand() {
        var new = TransferSecrets()
        new.s3 = S3Keys(accessKeyID: "x", secretAccessKey: "y")
        var bucket = TransferSecrets()
        bucket.user = "AK"
        bucket.passwordCommand = "pass s3"
        var renewed = bucket.renewed(by: new)
        #expect(renewed.s3 == new.s3 && renewed.passwordCommand == nil && renewed.user == nil)
        bucket.passwordCommand = nil
        bucket.password = "p"
        bucket.netrcFile = RawPath("/n")
        renewed = bucket.renewed(by: new)
        #expect(renewed.s3 == new.s3 && renewed.password == nil && renewed.netrcFile == nil)
        // Nothing of keys is said: the command goes on telling them.
        bucket.passwordCommand = "pass s3"
        #expect(bucket.renewed(by: TransferSecrets()) == bucket)
    }
}
