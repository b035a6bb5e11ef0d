import LinuxSystem
import SQLiteConnection
import TransferModel

/// The logins of configured servers. One that was removed is kept for a day, so that the removal can be undone.
extension SecretStore {
    /// Milliseconds: 24 hours.
    static let grace: Int64 = 86_400_000

    /// The login of a configured server, until it is forgotten. Durable on return.
    func keep(_ login: DestinationLogin, destination name: String) throws {
        _ = try withDatabase(make: true) { database in
            try database.transaction(.write) {
                try database.run(
                    "INSERT OR REPLACE INTO destination_secrets VALUES (?, ?)", .text(name),
                    .text(try StoredJSON.text(login)))
                try database.run("DELETE FROM removed_destination_secrets WHERE name = ?", .text(name))
            }
        }
    }

    /// `nil`: none is kept.
    func login(destination name: String) throws -> DestinationLogin? {
        let found = try withDatabase(make: false) { database in
            try database.first("SELECT secrets FROM destination_secrets WHERE name = ?", .text(name)) {
                StoredJSON.value(DestinationLogin.self, $0.text(0))
            }
        }
        return (found ?? nil) ?? nil
    }

    /// The login with the server that it is shown to: `server`, durable on return, where it had none so far.
    /// - Parameter user: who logs in; with another one's login nothing is done.
    func login(destination name: String, at server: LoginServer, user: String?) throws -> DestinationLogin? {
        guard var login = try login(destination: name) else { return nil }
        if login.server == nil, !login.isOfAnother(than: user) {
            login.server = server
            try keep(login, destination: name)
        }
        return login
    }

    /// Forgets the login of a destination; false: there was none.
    /// - Parameter now: milliseconds since 1970; what was forgotten a day ago is gone for good.
    func forget(destination name: String, at now: Int64) throws -> Bool {
        try withDatabase(make: false) { database in
            try expire(database, at: now)
            guard try login(destination: name) != nil else { return false }
            try database.transaction(.write) {
                try database.run(
                    "INSERT OR REPLACE INTO removed_destination_secrets SELECT name, secrets, ? FROM destination_secrets "
                        + "WHERE name = ?", .integer(now), .text(name))
                try database.run("DELETE FROM destination_secrets WHERE name = ?", .text(name))
            }
            return true
        } ?? false
    }

    /// Restores a forgotten login, unless one is there already. Returns true when there is one from now on.
    func restore(destination name: String, at now: Int64) throws -> Bool {
        try withDatabase(make: false) { database in
            try expire(database, at: now)
            guard try login(destination: name) == nil else { return true }
            try database.transaction(.write) {
                try database.run(
                    "INSERT INTO destination_secrets SELECT name, secrets FROM removed_destination_secrets WHERE name = ?",
                    .text(name))
                try database.run("DELETE FROM removed_destination_secrets WHERE name = ?", .text(name))
            }
            return try login(destination: name) != nil
        } ?? false
    }

    /// Removes for good what nobody wanted again in time.
    func expire(_ database: SQLiteConnection, at now: Int64) throws {
        try database.run(
            "DELETE FROM removed_destination_secrets WHERE removed_at <= ?", .integer(now - Self.grace))
    }
}
