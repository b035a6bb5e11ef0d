import SQLiteConnection

/// The names that a folder holds already, for a listing that begins anew: after a kill, a cancel that was undone, an error. In a temporary
/// table, because a directory may hold a million.
///
/// A folder may be listed anew several times before a listing reaches its end: once loaded, the table is told of each name that goes into
/// the queue, so it is complete whenever the next listing begins.
struct KnownNames {
    private let database: SQLiteConnection
    private let folder: Int64

    init(_ database: SQLiteConnection, folder: Int64) throws {
        self.database = database
        self.folder = folder
        try database.execute(
            script: """
                CREATE TEMP TABLE IF NOT EXISTS known_names (folder INTEGER, name BLOB, PRIMARY KEY (folder, name))
                WITHOUT ROWID
                """)
        let isLoaded = try database.integer("SELECT 1 FROM known_names WHERE folder = ? LIMIT 1", .integer(folder))
        if isLoaded != nil { return }
        try database.run(
            """
            INSERT OR IGNORE INTO known_names SELECT ?1, name FROM (SELECT name FROM tasks WHERE folder = ?1
            UNION ALL SELECT name FROM folders WHERE parent = ?1) ORDER BY name
            """, .integer(folder))
    }

    /// Notes a name that the folder is about to get. Returns false when the folder holds it already.
    func takes(_ name: [UInt8]) throws -> Bool {
        try database.run("INSERT OR IGNORE INTO known_names VALUES (?, ?)", .integer(folder), .blob(name))
        return database.changes > 0
    }

    func forget() throws {
        try database.run("DELETE FROM known_names WHERE folder = ?", .integer(folder))
    }
}
