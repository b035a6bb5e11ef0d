import Configuration
import Testing
import TransferModel

@testable import MartletKit

@Suite struct S3ProfilesTests {
    private func login(
        _ configuration: String, of profile: String = "p", credentials: String = ""
    ) throws(QueueingFault) -> S3Login? {
        try S3Profiles(credentials: INIDocument(credentials), configuration: INIDocument(configuration)).login(profile)
    }

    private func refusal(_ configuration: String, credentials: String = "") -> String? {
        do throws(QueueingFault) {
            _ = try login(configuration, credentials: credentials)
            return nil
        } catch {
            return "\(error.what): \(error.remedy)"
        }
    }

    private static let keys = "aws_access_key_id = ID\naws_secret_access_key = KEY\n"

    @Test("keys stand in either file, those of the credentials first, with their session's token")
    func staticKeys() throws {
        let both = try login("[profile p]\n\(Self.keys)", credentials: "[p]\naws_secret_access_key = OTHER\n")
        #expect(both?.keys == S3Keys(accessKeyID: "ID", secretAccessKey: "OTHER"))
        let session = try login("[default]\n\(Self.keys)aws_session_token = T", of: "default")
        #expect(session?.keys.sessionToken == "T" && session?.command == nil)
        #expect(try login("[profile other]\n\(Self.keys)") == nil)
    }

    @Test("a profile takes the keys of its source, over several of them, and a circle is named")
    func sources() throws {
        let chain = "[profile p]\nsource_profile = q\n[profile q]\nsource_profile = default\n[default]\n\(Self.keys)"
        #expect(try login(chain)?.keys.accessKeyID == "ID")
        let circle = refusal("[profile p]\nsource_profile = q\n[profile q]\nsource_profile = p\n")
        #expect(
            circle
                == "the AWS profiles p, q name each other as source_profile: give one of them keys or a credential_process"
        )
    }

    @Test("a program prints the keys; nothing of a shell is between")
    func process() throws {
        let printed =
            #"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","SessionToken":"T","Expiration":"2026-11-21T12:00:00Z"}"#
        let found = try login("[profile p]\ncredential_process = /bin/echo '\(printed)'\n")
        #expect(found?.keys.accessKeyID == "A" && found?.keys.sessionToken == "T")
        #expect(found?.keys.expires == Timestamp("2026-11-21T12:00:00Z"))
        #expect(found?.command == ["/bin/echo", printed])
        // It is found as the person's shell finds it, and run with what it may want of that; the engine is told both.
        let environment = [
            "PATH": "bin:/nowhere:/bin", "AWS_LAB": printed, "GITHUB_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x",
            "SSH_AUTH_SOCK": "/s",
        ]
        let profiles = S3Profiles(
            credentials: nil,
            configuration: INIDocument("[profile p]\ncredential_process = sh -c 'echo \"$AWS_LAB\"'\n"),
            environment: environment)
        let byName = try profiles.login("p")
        #expect(byName?.keys.accessKeyID == "A" && byName?.command?.first == "/bin/sh")
        #expect(byName?.environment == ["PATH": "bin:/nowhere:/bin", "AWS_LAB": printed])
        for (command, why) in [
            ("/bin/echo hello; echo", "does not print keys"), ("/bin/false", "failed"),
            ("/does/not/exist", "cannot be run"), ("/bin/echo 'x", "cannot be split"),
        ] {
            let said = refusal("[profile p]\ncredential_process = \(command)\n")
            #expect(said?.hasPrefix("credential_process of the AWS profile p \(why)") == true, "\(said ?? "-")")
            #expect(said?.contains(": run it by hand and mend it") == true, "\(said ?? "-")")
            #expect(said?.contains("credential_process = env NAME=VALUE PROGRAM") == (why == "failed"))
        }
    }

    @Test("what a profile needs and Martlet cannot is named, even beside keys")
    func unknown() {
        for key in ["role_arn", "web_identity_token_file", "sso_session", "sso_start_url", "credential_source"] {
            let said = refusal("[profile p]\n\(key) = x\nsource_profile = default\n[default]\n\(Self.keys)")
            #expect(said?.hasPrefix("the AWS profile p uses \(key) (") == true, "\(said ?? "-")")
            let cure =
                "), which Martlet cannot: use credential_process, such as: credential_process = "
                + "aws configure export-credentials --profile p --format process, in a profile of its own"
            #expect(said?.hasSuffix(cure) == true, "\(said ?? "-")")
        }
        #expect(refusal("[profile p]\nrole_arn = x\n\(Self.keys)") != nil)
    }

    @Test("words are split as a shell splits them")
    func words() {
        #expect(S3Profiles.words(#"a "b c"  'd "e' f\ g """#) == ["a", "b c", "d \"e", "f g", ""])
        #expect(S3Profiles.words(#""x\"y\z\\""#) == [#"x"y\z\"#])
        #expect(S3Profiles.words("'a") == nil && S3Profiles.words("a\\") == nil)
        #expect(S3Profiles.words("a;b|c $d") == ["a;b|c", "$d"])
    }

    @Test("keys are good until a minute before they are over")
    func expiry() throws {
        let text = #"{"Version":1,"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"2026-11-21T12:00:00+00:00"}"#
        let keys = try #require(S3Keys(processOutput: Array(text.utf8)))
        let end = try #require(Timestamp("2026-11-21T12:00:00Z"))
        #expect(keys.isGood(at: end.advanced(by: .seconds(-61))))
        #expect(!keys.isGood(at: end.advanced(by: .seconds(-60))))
        for bad in [
            "", "{}", #"{"Version":2,"AccessKeyId":"A","SecretAccessKey":"S"}"#, #"{"Version":1,"AccessKeyId":"A"}"#,
        ] {
            #expect(S3Keys(processOutput: Array(bad.utf8)) == nil)
        }
    }
}
