import SQLiteConnection
import TransferModel

/// A type of row that names each column once, where it takes the value. The list in a statement and the order of reading follow from that.
protocol StoredRow {
    /// Takes the columns in the order in which it names them. To learn their names it is called without a row; then every value is empty.
    init(_ columns: inout RowColumns)
}

extension StoredRow {
    /// Reads the columns from `first` on.
    init(_ row: SQLiteStatement, from first: Int32 = 0) {
        var columns = RowColumns(reading: row, from: first)
        self.init(&columns)
    }

    /// The names of the columns in their order.
    static func names() -> [String] {
        var columns = RowColumns()
        _ = Self(&columns)
        return columns.names
    }

    /// The list for a statement.
    static func list(of table: String = "") -> String { names().map { table + $0 }.joined(separator: ", ") }
}

/// A row whose columns are also written, all of them at once.
protocol WrittenRow: StoredRow {
    init()
    /// Names, reads or writes each column.
    mutating func pass(_ columns: inout RowColumns)
}

extension WrittenRow {
    init(_ columns: inout RowColumns) {
        self.init()
        pass(&columns)
    }

    /// In the order of the columns.
    var stored: [SQLiteValue] {
        var columns = RowColumns(writing: ())
        var row = self
        row.pass(&columns)
        return columns.values
    }
}

/// The columns of one row while they are named, read or written.
struct RowColumns {
    private enum Use {
        case naming
        case reading(SQLiteStatement)
        case writing
    }

    private let use: Use
    private var place: Int32 = 0
    private var table = ""
    private(set) var names: [String] = []
    private(set) var values: [SQLiteValue] = []

    init() { use = .naming }

    init(reading row: SQLiteStatement, from first: Int32) {
        use = .reading(row)
        place = first
    }

    init(writing: ()) {
        use = .writing
        values.reserveCapacity(24)
    }

    private mutating func next<Value>(
        _ name: String, _ none: Value, _ read: (SQLiteStatement, Int32) -> Value
    ) -> Value {
        guard case .reading(let row) = use else {
            names.append(table + name)
            return none
        }
        defer { place += 1 }
        return read(row, place)
    }

    mutating func integer(_ name: String) -> Int64 { next(name, 0) { $0.integer($1) } }
    mutating func optionalInteger(_ name: String) -> Int64? { next(name, nil) { $0.optionalInteger($1) } }
    mutating func count(_ name: String) -> Int64 { next(name, 0) { $0.count($1) } }
    mutating func byteSum(_ name: String) -> Int64 { next(name, 0) { $0.byteSum($1) } }
    mutating func text(_ name: String) -> String { next(name, "") { $0.text($1) } }
    mutating func optionalText(_ name: String) -> String? { next(name, nil) { $0.optionalText($1) } }
    mutating func bytes(_ name: String) -> [UInt8] { next(name, []) { $0.bytes($1) } }
    mutating func optionalBytes(_ name: String) -> [UInt8]? { next(name, nil) { $0.optionalBytes($1) } }
    mutating func flag(_ name: String) -> Bool { integer(name) != 0 }
    mutating func time(_ name: String) -> Timestamp? {
        optionalInteger(name).map { Timestamp(milliseconds: $0) }
    }

    /// The columns of another row, whose table has this name in the statement; with the dot behind it.
    mutating func row<Row: StoredRow>(of table: String = "") -> Row {
        let outer = self.table
        defer { self.table = outer }
        self.table = table
        return Row(&self)
    }

    // MARK: Both ways

    /// Names, reads or writes one column.
    mutating func pass<Value>(
        _ name: String, _ value: inout Value, _ read: (inout RowColumns, String) -> Value,
        _ write: (Value) -> SQLiteValue
    ) {
        if case .writing = use { values.append(write(value)) } else { value = read(&self, name) }
    }

    mutating func pass(_ name: String, _ value: inout Int64?) {
        pass(name, &value, { $0.optionalInteger($1) }, { SQLiteValue($0) })
    }

    mutating func pass(_ name: String, _ value: inout String?) {
        pass(name, &value, { $0.optionalText($1) }, { SQLiteValue($0) })
    }

    mutating func pass(_ name: String, _ value: inout [UInt8]?) {
        pass(name, &value, { $0.optionalBytes($1) }, { SQLiteValue($0) })
    }

    /// A count: never negative.
    mutating func pass(count name: String, _ value: inout Int64) {
        pass(name, &value, { $0.count($1) }, { .integer($0) })
    }

    mutating func pass(byteSum name: String, _ value: inout Int64) {
        pass(name, &value, { $0.byteSum($1) }, { .integer($0) })
    }
}
