import MartletKit

/// One folder as it is shown: which entries, where the cursor is, what is found. A value; entries come from a reader,
/// more and more of them, and the cursor stays on its name meanwhile.
struct FolderView: Sendable {
    /// A line of the list.
    enum Row: Hashable, Sendable {
        /// `../`
        case parent
        case entry(FolderEntry)
    }

    /// Absolute, without a slash at its end unless it is the root.
    let path: [UInt8]
    private(set) var order: FolderOrder
    private(set) var showsHidden: Bool
    private(set) var isComplete = false
    /// The reason why the folder cannot be read.
    private(set) var problem: String?
    private var entries: [FolderEntry] = []
    /// Those that are not hidden, as places in `entries`.
    private var shown: [Int] = []
    /// The row of the cursor.
    private(set) var cursor: Int
    /// The first row in the window.
    private(set) var top = 0
    private(set) var height = 1
    /// The name that the cursor is to be on: of a folder that was left, or of the row that the person went to.
    private var wanted: [UInt8]?
    /// The cursor is where it was put at first: on the first entry, as soon as there is one.
    private var isUntouched = true
    /// The row where the range that is being marked began.
    private(set) var rangeStart: Int?
    /// Its name, by which it is found when the rows change; without one on `../`.
    private var rangeName: [UInt8]?

    /// The pattern that is looked for, and the rows that match it.
    private(set) var pattern: [UInt8] = []
    private(set) var found: [Int] = []
    /// The cursor's place when the search began; without a name on `../`.
    private var anchor: (name: [UInt8]?, row: Int) = (nil, 0)
    /// The cursor goes to the first that is found, also while more of the folder is read: until the person moves it.
    private var followsFound = false

    /// - Parameter from: the name of the folder inside that was left for this one.
    init(_ path: [UInt8], order: FolderOrder = FolderOrder(), showsHidden: Bool = false, from: [UInt8]? = nil) {
        self.path = path
        self.order = order
        self.showsHidden = showsHidden || from?.first == UInt8(ascii: ".")
        wanted = from
        cursor = path == Self.root ? 0 : 1
    }

    private static let root = [UInt8(ascii: "/")]

    // MARK: Rows

    private var hasParent: Bool { path != Self.root }
    private var offset: Int { hasParent ? 1 : 0 }
    var count: Int { shown.count + offset }
    /// Entries that are shown; the way up is none.
    var entryCount: Int { shown.count }
    /// Entries that are there, hidden ones too.
    var all: Int { entries.count }
    var window: Range<Int> { top..<min(count, top + height) }

    subscript(row: Int) -> Row? {
        if hasParent, row == 0 { return .parent }
        return shown.indices.contains(row - offset) ? .entry(entries[shown[row - offset]]) : nil
    }

    var cursorRow: Row? { self[cursor] }
    var cursorEntry: FolderEntry? {
        if case .entry(let entry) = cursorRow { entry } else { nil }
    }

    /// The absolute path of an entry.
    func path(of entry: FolderEntry) -> [UInt8] { Self.path(of: entry.name, in: path) }

    static func path(of name: [UInt8], in folder: [UInt8]) -> [UInt8] {
        folder == root ? root + name : folder + root + name
    }

    /// The folder that this one is in, and its own name there.
    var parent: (path: [UInt8], name: [UInt8])? {
        let path = RawPath(path)
        guard hasParent, let parent = path.parent else { return nil }
        return (parent.bytes, path.lastComponent.bytes)
    }

    /// The entries that are shown.
    var shownEntries: [FolderEntry] { shown.map { entries[$0] } }

    // MARK: What is read

    mutating func take(_ snapshot: FolderSnapshot) {
        entries = snapshot.entries
        isComplete = snapshot.isComplete
        problem = snapshot.problem
        refresh()
    }

    mutating func toggleHidden() {
        wanted = cursorEntry?.name
        showsHidden.toggle()
        refresh()
    }

    /// From now on in another order; the entries come anew.
    mutating func sort(_ order: FolderOrder) {
        wanted = cursorEntry?.name
        self.order = order
        isComplete = false
    }

    private mutating func refresh() {
        if showsHidden {
            shown = Array(entries.indices)
        } else {
            shown = entries.indices.filter { !entries[$0].isHidden }
        }
        if let wanted, let place = shown.firstIndex(where: { entries[$0].name == wanted }) {
            cursor = place + offset
            if isComplete { self.wanted = nil }
        } else if isUntouched {
            cursor = offset
        }
        if let rangeName {
            // A name that is not shown begins no range.
            rangeStart = shown.firstIndex { entries[$0].name == rangeName }.map { $0 + offset }
        }
        search()
        if followsFound {
            goToFound()
            followsFound = !isComplete
        }
        clamp()
    }

    // MARK: The cursor

    mutating func resize(height: Int) {
        self.height = max(1, height)
        clamp()
    }

    mutating func move(to row: Int) {
        followsFound = false
        put(row)
    }

    private mutating func put(_ row: Int) {
        isUntouched = false
        cursor = row
        clamp()
        // It stays on this name while others come before it.
        wanted = isComplete ? nil : cursorEntry?.name
    }

    mutating func move(by rows: Int) { move(to: cursor + rows) }

    /// Moves window and cursor together.
    mutating func page(by rows: Int) {
        top += rows
        move(to: cursor + rows)
    }

    private mutating func clamp() {
        cursor = min(max(0, cursor), max(0, count - 1))
        top = min(max(0, top), max(0, count - height))
        if cursor < top { top = cursor }
        if cursor >= top + height { top = cursor - height + 1 }
    }

    // MARK: A range

    mutating func beginRange() { (rangeStart, rangeName) = (cursor, cursorEntry?.name) }
    mutating func endRange() { (rangeStart, rangeName) = (nil, nil) }
    /// The rows from the range's beginning to the cursor.
    var range: ClosedRange<Int>? { rangeStart.map { min($0, cursor)...max($0, cursor) } }

    // MARK: Looking for something

    /// From the row of the cursor on.
    mutating func beginFind() {
        anchor = (cursorEntry?.name, cursor)
        (pattern, found) = ([], [])
    }

    /// Looks for names with this text; small letters stand for both. Goes to the first one at or behind the row where
    /// the search began, as soon as it is read.
    mutating func find(_ pattern: [UInt8]) {
        self.pattern = pattern
        search()
        goToFound()
        followsFound = !isComplete
    }

    /// Back to where the search began.
    mutating func endFind() {
        find([])
        followsFound = false
    }

    private mutating func goToFound() {
        // More names may have come before the row since.
        let named = anchor.name.flatMap { name in shown.firstIndex { entries[$0].name == name } }
        let start = named.map { $0 + offset } ?? anchor.row
        put(found.first { $0 >= start } ?? found.first ?? start)
    }

    /// To the next name that was found, or the one before.
    mutating func findNext(_ direction: Int) {
        guard !found.isEmpty else { return }
        let next =
            direction > 0
            ? found.first { $0 > cursor } ?? found[0] : found.last { $0 < cursor } ?? found[found.count - 1]
        move(to: next)
    }

    private mutating func search() {
        found = []
        guard !pattern.isEmpty else { return }
        let matcher = NamePattern(pattern)
        for (row, index) in shown.enumerated() where matcher.matches(entries[index].name) {
            found.append(row + offset)
        }
    }
}

/// A piece of a name. Capital letters in it must stand as they are; without any, small and capital letters are the same.
struct NamePattern: Sendable {
    private let bytes: [UInt8]
    private let ignoresCase: Bool

    init(_ pattern: [UInt8]) {
        ignoresCase = !pattern.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        bytes = pattern
    }

    func matches(_ name: [UInt8]) -> Bool {
        guard let first = bytes.first, name.count >= bytes.count else { return bytes.isEmpty }
        return name.withUnsafeBufferPointer { name in
            bytes.withUnsafeBufferPointer { bytes in
                for start in 0...(name.count - bytes.count) where folded(name[start]) == first {
                    var length = 1
                    while length < bytes.count, folded(name[start + length]) == bytes[length] { length += 1 }
                    if length == bytes.count { return true }
                }
                return false
            }
        }
    }

    private func folded(_ byte: UInt8) -> UInt8 {
        ignoresCase && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
