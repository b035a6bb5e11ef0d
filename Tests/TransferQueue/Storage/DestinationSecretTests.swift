import SQLiteConnection
import Testing
import TransferModel

@testable import TransferQueue

@Suite("Logins of configured servers")
struct DestinationSecretTests {
    @Test("a login that is forgotten can be had again for a day, and is gone for good after that")
    func grace() async throws {
        let sandbox = try Sandbox()
        try await sandbox.open().close()
        let store = SecretStore(file: sandbox.path("secrets.sqlite"))
        var login = TransferSecrets()
        (login.user, login.password) = ("ana", "one")
        #expect(try !store.restore(destination: "nas", at: 0))
        try store.keep(DestinationLogin(login, for: nil), destination: "nas")
        #expect(try store.forget(destination: "nas", at: 1000))
        #expect(try store.login(destination: "nas") == nil)
        #expect(try !store.forget(destination: "nas", at: 1000))
        #expect(try store.restore(destination: "nas", at: 1000 + SecretStore.grace - 1))
        #expect(try store.login(destination: "nas")?.secrets.password == "one")
        #expect(try store.forget(destination: "nas", at: 2000))
        #expect(try !store.restore(destination: "nas", at: 2000 + SecretStore.grace))
        let left = try store.withDatabase(make: false) {
            try $0.integer("SELECT count(*) FROM removed_destination_secrets")
        }
        #expect(left == 0)
    }

    @Test("a login that is given anew takes the place of the one that was forgotten")
    func replaced() async throws {
        let sandbox = try Sandbox()
        try await sandbox.open().close()
        let store = SecretStore(file: sandbox.path("secrets.sqlite"))
        var login = TransferSecrets()
        (login.user, login.password) = ("ana", "one")
        try store.keep(DestinationLogin(login, for: nil), destination: "nas")
        #expect(try store.forget(destination: "nas", at: 1000))
        login.password = "two"
        try store.keep(DestinationLogin(login, for: nil), destination: "nas")
        #expect(try store.restore(destination: "nas", at: 1001), "there is one, which is what counts")
        #expect(try store.login(destination: "nas")?.secrets.password == "two")
    }

    @Test("a login that an earlier version kept is for the first server that it is used for, and for that one alone")
    func stamped() async throws {
        let sandbox = try Sandbox()
        try await sandbox.open().close()
        let (one, two) = (LoginServer(rawValue: "https://one:443"), LoginServer(rawValue: "https://two:443"))
        let file = sandbox.path("secrets.sqlite")
        let store = SecretStore(file: file)
        #expect(try store.login(destination: "nas", at: one, user: nil) == nil)
        var login = TransferSecrets()
        (login.user, login.password) = ("ana", "old")
        // As earlier versions wrote it.
        let text = try StoredJSON.text(login)
        _ = try store.withDatabase(make: true) { database in
            try database.run("INSERT INTO destination_secrets VALUES ('nas', ?)", .text(text))
        }
        #expect(try store.login(destination: "nas", at: two, user: "bob")?.server == nil)
        #expect(try store.login(destination: "nas", at: one, user: "ana") == DestinationLogin(login, for: one))
        #expect(try store.login(destination: "nas", at: two, user: nil)?.server == one)
        let again = SecretStore(file: file)
        #expect(try again.login(destination: "nas") == DestinationLogin(login, for: one))
        // And earlier versions read what is written now.
        let stored = try again.withDatabase(make: false) { database in
            try database.first("SELECT secrets FROM destination_secrets") { $0.text(0) }
        }
        let read = (stored ?? nil).flatMap { StoredJSON.value(TransferSecrets.self, $0) }
        #expect(read == login)
        #expect(try again.forget(destination: "nas", at: 1000))
        #expect(try again.restore(destination: "nas", at: 1001))
        #expect(try again.login(destination: "nas")?.server == one)
    }

    @Test(
        "servers are told apart by what a login is shown to",
        arguments: [
            ("davs://H/a", "https://h:443/b?q", true), ("tus+https://h/", "https://h/", true),
            ("https://h/", "http://h/", false), ("https://h/", "http://h:443/", false),
            ("https://h/", "https://h:8443/", false), ("ftp://h/", "ftpes://h/", false),
            ("sftp://h/", "sftp://h:22/", true),
            ("s3://one/", "s3://two/x", true), ("s3://h/", "https://h/", false),
        ])
    func servers(one: String, two: String, areSame: Bool) throws {
        let first = try #require(LoginServer(of: one, nil))
        #expect((first == LoginServer(of: two, nil)) == areSame)
    }

    @Test("the services of S3 are told apart by their endpoints")
    func services() throws {
        func service(_ endpoint: String?) -> LoginServer? { LoginServer(of: "s3://b/", S3Place(endpoint: endpoint)) }
        #expect(service(nil) == LoginServer(of: "s3://c/", nil))
        #expect(service("https://H/") == service("https://h:443"))
        #expect(Set([service(nil), service("https://h"), service("http://h"), service("https://i")]).count == 4)
        #expect(service("nonsense") == nil)
        #expect(service("https://h") != LoginServer(of: "https://h/", nil))
    }
}
