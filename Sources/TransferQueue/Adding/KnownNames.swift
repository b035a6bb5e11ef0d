import SQLiteConnection

/// The names that a folder holds already, for a walk that begins again after a kill. In a temporary table, because a
/// directory may hold a million.
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

    func has(_ name: [UInt8]) throws -> Bool {
        try database.integer(
            "SELECT 1 FROM known_names WHERE folder = ? AND name = ?", .integer(folder), .blob(name)) != nil
    }

    func forget() throws {
        try database.run("DELETE FROM known_names WHERE folder = ?", .integer(folder))
    }
}
