import Configuration
import FoundationEssentials
import Testing
import TransferModel

@testable import MartletKit

/// The service, its region and its keys as AWS's own tools find them.
@Suite struct S3SurroundingsTests {
    private let home = FileManager.default.temporaryDirectory.path + "/aws-\(UUID())"

    private func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try FileManager.default.createDirectory(atPath: home + "/.aws", withIntermediateDirectories: true)
        let path = home + "/.aws/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func place(_ environment: [String: String] = [:]) throws -> S3Place? {
        defer { try? FileManager.default.removeItem(atPath: home) }
        var request = BatchRequest(work: .upload([], to: "s3://bucket/"))
        try S3Surroundings(environment.merging(["HOME": home]) { own, _ in own }).complete(&request)
        return request.options.s3
    }

    private static let keys = "[default]\naws_access_key_id = ID\naws_secret_access_key = KEY\n"

    @Test func `a profile says by a section of services where S3 is`() throws {
        try write("credentials", Self.keys)
        try write(
            "config",
            """
            [default]
            region = fr-par
            services = scw
            endpoint_url = https://everything.example
            [services scw]
            dynamodb =
              endpoint_url = http://localhost:8000
            s3 =
              endpoint_url = https://s3.fr-par.example
              max_concurrent_requests = 5
            sqs =
              endpoint_url = http://localhost:9324
            """)
        let found = try place()
        #expect(found?.endpoint == "https://s3.fr-par.example" && found?.region == "fr-par")
    }

    @Test func `settings of other services are none of S3, and those of S3 come before all`() throws {
        try write("credentials", Self.keys)
        try write(
            "config",
            """
            [profile default]
            s3 =
                endpoint_url = https://s3.example
            sqs =
                endpoint_url = http://localhost:9324
                region = nowhere
            """)
        let found = try place()
        #expect(found?.endpoint == "https://s3.example" && found?.region == nil)
        try write("credentials", Self.keys)
        try write("config", "[default]\nendpoint_url = https://all.example\nsqs =\n  endpoint_url = http://localhost\n")
        #expect(try place()?.endpoint == "https://all.example")
    }

    @Test func `a section that is indented as a whole reads as one at the margin`() throws {
        try write(
            "credentials", "[lab]\n  aws_session_token =\n  aws_access_key_id = ID\n  aws_secret_access_key = KEY\n")
        try write(
            "config",
            """
            [profile lab]
            \ts3 =
            \t\taddressing_style = path
            # between
            \tregion = fr-par
            \tservices = lab
            [services lab]
                dynamodb =
                    endpoint_url = http://localhost:8000
                s3 =
                    endpoint_url = https://s3.lab.example
            """)
        let found = try place(["AWS_PROFILE": "lab"])
        #expect(found?.endpoint == "https://s3.lab.example" && found?.region == "fr-par")
        try write("credentials", Self.keys)
        try write(
            "config", "[default]\n    s3 =\n        addressing_style = path\n    role_arn = arn:aws:iam::1:role/x\n")
        let error = try #require(throws: QueueingFault.self) { try place() }
        #expect(error.message.contains("uses role_arn"))
    }

    @Test(arguments: ["[profile lab]", "[profile \"lab\"]", "[profile  lab]", "[profile 'lab']"])
    func `a profile is named as AWS's tools take it, and what is left empty is not given`(header: String) throws {
        try write(
            "credentials",
            "[lab]\naws_access_key_id = ID\naws_secret_access_key = KEY\naws_session_token =\nrole_arn =\n")
        try write("config", "\(header)\nregion = fr-par\nendpoint_url = https://lab.example\nsso_session =\n")
        let found = try place(["AWS_DEFAULT_PROFILE": "lab"])
        #expect(found?.endpoint == "https://lab.example" && found?.region == "fr-par")
        let profiles = S3Profiles(
            credentials: INIDocument(
                "[lab]\naws_access_key_id = ID\naws_secret_access_key = KEY\naws_session_token =\n", .aws),
            configuration: nil)
        #expect(try profiles.login("lab")?.keys == S3Keys(accessKeyID: "ID", secretAccessKey: "KEY"))
    }

    @Test func `keys of AWS's files may be in capitals, and a colon may stand for the sign`() throws {
        try write("credentials", "[default]\nAWS_ACCESS_KEY_ID: ID\naws_secret_access_key=KEY\n")
        try write("config", "[default] of the lab\nRegion = fr-par\ns3:\n  endpoint_url: https://lab.example\n")
        let found = try place([:])
        #expect(found?.endpoint == "https://lab.example" && found?.region == "fr-par")
        #expect(INIDocument("a:b = c", .own).entries.map(\.key) == ["a:b"])
    }

    @Test func `an endpoint in the files can be ignored, and paths of files begin at home`() throws {
        try write("credentials", Self.keys)
        try write("other", "[default]\nendpoint_url = https://lab.example\n")
        #expect(try place(["AWS_CONFIG_FILE": "~/.aws/other"])?.endpoint == "https://lab.example")
        try write("credentials", Self.keys)
        try write("config", "[default]\nendpoint_url = https://lab.example\n")
        #expect(try place(["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"])?.endpoint == nil)
    }

    @Test func `services that no section is called, and a file that is not read, are refused by name`() throws {
        func refusal(_ environment: [String: String] = [:]) throws -> String {
            try #require(throws: QueueingFault.self) { try place(environment) }.message
        }
        try write("credentials", Self.keys)
        try write("config", "[default]\nservices = scw\n")
        #expect(
            try refusal()
                == "the AWS profile default names services = scw, and no section is called so: "
                + "write a section [services scw] with the endpoint_url of s3, or leave that line out")
        try write("credentials", Self.keys)
        try write("config", "[default]\nregion = fr-par\n", mode: 0o666)
        #expect(
            try refusal()
                == "the settings of the AWS profile default are not known: \(home)/.aws/config is not read: "
                + "somebody else can write it, and commands may stand in it; chmod go-w it; "
                + "or name other files in AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, /dev/null for none")
        try write("config", "[default]\nregion = fr-par\n[profile lab\nendpoint_url = https://lab.example\n")
        #expect(
            try refusal()
                == "the settings of the AWS profile default are not known: \(home)/.aws/config line 3: is not a section: write [name] and "
                + "nothing after it; what is below it does not count; "
                + "or name other files in AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE, /dev/null for none")
        // Whatever is given elsewhere is not looked for there.
        let given = [
            "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B", "AWS_REGION": "r", "AWS_ENDPOINT_URL": "https://h",
        ]
        try write("config", "[default]\nregion = fr-par\n", mode: 0o666)
        #expect(try place(given)?.endpoint == "https://h")
        try write("config", "[default]\nregion = fr-par\n", mode: 0o666)
        try write("credentials", Self.keys)
        #expect(try place(["AWS_CONFIG_FILE": "/dev/null"]) == S3Place())
    }
}
