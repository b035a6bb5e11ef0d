import Configuration

/// The columns that the tree has at a width, and their cells. Pure arithmetic over the table of what goes first.
package struct Columns: Hashable, Sendable {
    package enum Column: Hashable, Sendable, CaseIterable {
        /// The mark and the state's sign.
        case sign
        case name
        /// Files done and all.
        case files
        case size
        case bar
        case percent
        case speed
        case timeLeft
        case state
        /// The destination; like the next seven only when it is asked for.
        case destination
        /// When a file was begun.
        case started
        case tries
        /// By what a file was compared that has arrived.
        case checksum
        case priority
        /// Its own limit.
        case limit
        /// The session of the batch, when it is not the default one.
        case session
        /// The speed of the last seconds as a small picture.
        case sparkline
        /// The speed while it moves, else the state's word, where there is no room for both.
        case speedOrState

        /// It is there only when it is asked for by name.
        var isExtra: Bool { Columns.word(self).map(ScreenConfiguration.ColumnList.extra.contains) ?? false }
    }

    /// The columns from left to right with the cells they take. One empty cell is between two.
    package let places: [(column: Column, cells: Range<Int>)]
    /// True when the wide forms are used: `9.8M/s`, `paused`.
    package let isWide: Bool

    package static func == (one: Columns, other: Columns) -> Bool {
        one.isWide == other.isWide
            && one.places.elementsEqual(other.places) { $0.column == $1.column && $0.cells == $1.cells }
    }

    package func hash(into hasher: inout Hasher) {
        for place in places {
            hasher.combine(place.column)
            hasher.combine(place.cells)
        }
    }

    /// The columns that can be chosen, by their words.
    static let choices = ScreenConfiguration.ColumnList.known + ScreenConfiguration.ColumnList.extra

    static func word(_ column: Column) -> String? {
        switch column {
        case .sign, .name, .speedOrState: nil
        case .files: "files"
        case .size: "size"
        case .bar: "progress"
        case .percent: "percent"
        case .speed: "speed"
        case .timeLeft: "eta"
        case .state: "state"
        case .destination: "destination"
        case .started: "started"
        case .tries: "tries"
        case .checksum: "checksum"
        case .priority: "priority"
        case .limit: "limit"
        case .session: "session"
        case .sparkline: "sparkline"
        }
    }

    /// The layout for a width, at least 1. The name takes what the others leave.
    /// - Parameter chosen: the columns that are wanted; `nil`: all for which there is room.
    package init(width: Int, chosen: Set<String>? = nil) {
        isWide = width >= 100
        var wanted = Self.fixed(width)
        wanted.insert(contentsOf: Self.extra(width, chosen ?? []), at: 2)
        if let chosen { wanted.removeAll { Self.word($0.column).map { !chosen.contains($0) } ?? false } }
        // A name of less than eight cells says nothing: then the others go, the least important first. Those that were asked for by name
        // leave it room for folders, too.
        for column in Self.dropOrder where Self.nameWidth(width, wanted) < (column.isExtra ? 20 : 8) {
            wanted.removeAll { $0.column == column }
        }
        let name = max(1, Self.nameWidth(width, wanted))
        var places: [(column: Column, cells: Range<Int>)] = []
        var next = 0
        for (column, columnWidth) in wanted {
            let cells = column == .name ? name : columnWidth
            places.append((column, next..<min(next + cells, max(next, width))))
            next += cells + 1
        }
        self.places = places
    }

    /// The cells of a column, nil when it is not there.
    package subscript(column: Column) -> Range<Int>? { places.first { $0.column == column }?.cells }

    private static let dropOrder: [Column] = [
        .sparkline, .destination, .session, .limit, .priority, .checksum, .tries, .started, .files, .bar, .timeLeft,
        .size, .state, .speedOrState, .speed,
        .percent, .sign,
    ]

    /// The columns that there are at a width, with their widths. The name's is not used.
    private static func fixed(_ width: Int) -> [(column: Column, width: Int)] {
        let isWide = width >= 100
        var columns: [(Column, Int)] = [(.sign, 2), (.name, 0)]
        if isWide { columns.append((.files, 13)) }
        if width >= 56 { columns.append((.size, isWide ? 8 : 7)) }
        if width >= 64 { columns.append((.bar, isWide ? 16 : 10)) }
        if width >= 28 { columns.append((.percent, 4)) }
        if width >= 56 { columns.append((.speed, isWide ? 9 : 7)) }
        if width >= 72 { columns.append((.timeLeft, isWide ? 7 : 5)) }
        if width >= 56 {
            columns.append((.state, isWide ? 6 : 5))
        } else if width >= 40 {
            columns.append((.speedOrState, 7))
        } else if width >= 32 {
            columns.append((.state, 5))
        }
        return columns
    }

    /// Those that stand there only by their names.
    private static func extra(_ width: Int, _ chosen: Set<String>) -> [(column: Column, width: Int)] {
        let all: [(Column, Int)] = [
            (.destination, max(12, width / 5)), (.started, 5), (.tries, 5), (.checksum, 8), (.priority, 11),
            (.limit, 8),
            (.session, 12), (.sparkline, SpeedTrails.length),
        ]
        return all.filter { word($0.0).map { chosen.contains($0) } ?? false }
    }

    private static func nameWidth(_ width: Int, _ columns: [(column: Column, width: Int)]) -> Int {
        width - columns.reduce(0) { $0 + $1.width } - (columns.count - 1)
    }
}
