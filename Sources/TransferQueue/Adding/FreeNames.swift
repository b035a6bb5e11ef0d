import SQLiteConnection
import TransferModel

/// Names for the folders that the other end does not get. A folder is found by its path, so none may be called as another folder or source.
///
/// It lives for one transaction, and remembers what it has looked up: of thousands of sources that end in the same name each costs a moment.
struct FreeNames {
    private let database: SQLiteConnection
    /// The names of each batch's sources that have a name.
    private var ofSources: [BatchID: Set<[UInt8]>] = [:]
    /// The first number that has not been tried for a name, in each batch.
    private var next: [BatchID: [[UInt8]: Int]] = [:]

    init(_ database: SQLiteConnection) { self.database = database }

    /// The name itself, or else with the first number that is free: `photos (2)`.
    mutating func name(like name: [UInt8], below parent: Int64, in batch: BatchID) throws -> [UInt8] {
        if next[batch]?[name] == nil, try !isTaken(name, below: parent, in: batch) { return name }
        var number = next[batch]?[name] ?? 2
        while try isTaken(Self.numbered(name, number), below: parent, in: batch) { number += 1 }
        next[batch, default: [:]][name] = number + 1
        return Self.numbered(name, number)
    }

    private static func numbered(_ name: [UInt8], _ number: Int) -> [UInt8] { name + Array(" (\(number))".utf8) }

    private mutating func isTaken(_ name: [UInt8], below parent: Int64, in batch: BatchID) throws -> Bool {
        if try namesOfSources(in: batch).contains(name) { return true }
        let isFolder = try database.integer(
            "SELECT EXISTS (SELECT 1 FROM folders WHERE parent = ? AND name = ?)", .integer(parent), .blob(name))
        return isFolder == 1
    }

    private mutating func namesOfSources(in batch: BatchID) throws -> Set<[UInt8]> {
        if let known = ofSources[batch] { return known }
        let found = try database.rows(
            "SELECT name FROM sources WHERE batch = ? AND placement = ?", .integer(batch.rawValue),
            .integer(StoredPlacement.named.rawValue)
        ) { $0.bytes(0) }
        ofSources[batch] = Set(found)
        return ofSources[batch] ?? []
    }
}
