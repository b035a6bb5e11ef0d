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
        try store.keep(login, destination: "nas")
        #expect(try store.forget(destination: "nas", at: 1000))
        #expect(try store.secrets(destination: "nas") == nil)
        #expect(try !store.forget(destination: "nas", at: 1000))
        #expect(try store.restore(destination: "nas", at: 1000 + SecretStore.grace - 1))
        #expect(try store.secrets(destination: "nas")?.password == "one")
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
        try store.keep(login, destination: "nas")
        #expect(try store.forget(destination: "nas", at: 1000))
        login.password = "two"
        try store.keep(login, destination: "nas")
        #expect(try store.restore(destination: "nas", at: 1001), "there is one, which is what counts")
        #expect(try store.secrets(destination: "nas")?.password == "two")
    }
}
