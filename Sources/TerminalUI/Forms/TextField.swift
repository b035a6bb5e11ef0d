import DisplayText
import Terminal

extension KeyPress {
    /// True when it puts a character into a line.
    var types: Bool { if case .character = key { modifiers.isEmpty } else { false } }
}

/// One line of text that is being typed. Holds bytes, because a path need not be UTF-8, cut where the cursor may stand; at most
/// `longest` of them: what does not fit is not taken at all, because a part of a path or password would look like the whole.
struct TextField: Hashable, Sendable {
    /// Characters, or single bytes that are none.
    private var units: [[UInt8]] = []
    /// The unit before which the cursor stands.
    private(set) var cursor = 0
    /// True when the text was not typed: the first character that is replaces it, and any other key keeps it.
    private var isProposal = false

    /// The most bytes of a line.
    static let longest = 64 << 10

    init() {}

    init(_ bytes: [UInt8]) { insert(bytes) }

    init(proposal bytes: [UInt8]) {
        insert(bytes)
        isProposal = true
    }

    var bytes: [UInt8] { Array(units.joined()) }
    var text: String? { String(validating: bytes, as: UTF8.self) }
    var isEmpty: Bool { units.isEmpty }
    /// Characters, or single bytes that are none.
    var count: Int { units.count }
    private var byteCount: Int { units.reduce(0) { $0 + $1.count } }
    /// The bytes before the cursor.
    var beforeCursor: [UInt8] { Array(units[..<cursor].joined()) }

    /// Inserts a paste as one line: control characters are left out.
    mutating func paste(_ bytes: [UInt8]) { insert(bytes.filter { $0 >= 0x20 && $0 != 0x7F }) }

    mutating func insert(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, (isProposal ? 0 : byteCount) + bytes.count <= Self.longest else { return }
        if isProposal { (units, cursor, isProposal) = ([], 0, false) }
        var inserted: [[UInt8]] = []
        var rest = bytes[...]
        while let first = rest.first {
            let length = Self.length(first)
            let isCharacter = rest.count >= length && String(validating: rest.prefix(length), as: UTF8.self) != nil
            let unit = Array(rest.prefix(isCharacter ? length : 1))
            rest = rest.dropFirst(unit.count)
            inserted.append(unit)
        }
        units.insert(contentsOf: inserted, at: cursor)
        cursor += inserted.count
    }

    /// Puts text in place of everything before the cursor.
    mutating func replaceBeforeCursor(with bytes: [UInt8]) {
        isProposal = false
        guard byteCount - beforeCursor.count + bytes.count <= Self.longest else { return }
        units.removeFirst(cursor)
        cursor = 0
        insert(bytes)
    }

    /// Does what an editing key does; false when it is none.
    mutating func edit(_ press: KeyPress) -> Bool {
        guard !press.types else {
            if case .character(let scalar) = press.key { insert(Array(String(Character(scalar)).utf8)) }
            return true
        }
        isProposal = false
        switch (press.key, press.modifiers) {
        case (.backspace, _):
            guard cursor > 0 else { return true }
            cursor -= 1
            units.remove(at: cursor)
        case (.delete, _): if cursor < units.count { units.remove(at: cursor) }
        case (.left, _): cursor = max(0, cursor - 1)
        case (.right, _): cursor = min(units.count, cursor + 1)
        case (.home, _), (.character("a"), .control): cursor = 0
        case (.end, _), (.character("e"), .control): cursor = units.count
        case (.character("u"), .control): replaceBeforeCursor(with: [])
        case (.character("k"), .control): units.removeLast(units.count - cursor)
        case (.character("w"), .control): deleteWord()
        default: return false
        }
        return true
    }

    private mutating func deleteWord() {
        let isGap = { (unit: [UInt8]) in unit == [0x20] || unit == [0x2F] }
        var start = cursor
        while start > 0, isGap(units[start - 1]) { start -= 1 }
        while start > 0, !isGap(units[start - 1]) { start -= 1 }
        units.removeSubrange(start..<cursor)
        cursor = start
    }

    /// The part that fits into `cells` with the cursor in it, and the cell of the cursor.
    func shown(in cells: Int, _ characterSet: CharacterSet) -> (text: SafeText, cursor: Int) {
        // Only as many as are shown are made: this is done in each frame.
        func piece(_ index: Int) -> SafeText { SafeText(units[index], characterSet: characterSet) }
        var first = cursor
        var width = 0
        // One cell stays free for the cursor behind the end.
        while first > 0 {
            let wider = width + piece(first - 1).width
            guard wider < cells else { break }
            first -= 1
            width = wider
        }
        var text = SafeText([])
        var shown = 0
        for index in units.indices[first...] where shown <= cells {
            let piece = piece(index)
            text += piece
            shown += piece.width
        }
        return (text.beginning(of: max(0, cells)), min(width, max(0, cells - 1)))
    }

    private static func length(_ first: UInt8) -> Int {
        switch first {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}
