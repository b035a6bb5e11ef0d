/// Text into a filter, one character after the other. What it does not understand it names with its place.
struct FilterParser {
    private let text: [Character]
    private var place = 0
    private var depth = 0
    /// The last slash of the text, once it is known that no expression ends from here on.
    private var lastSlash: Int?
    /// The cost of the tests so far, so that nothing is read of a filter that asks for too much.
    private var effort = 0

    init(_ text: String) { self.text = Array(text) }

    /// The whole text.
    mutating func whole() throws(FilterFault) -> FilterNode {
        skipBlanks()
        guard place < text.count else { throw FilterFault(0, "a word or a test is missing") }
        let node = try alternatives()
        guard place == text.count else { throw FilterFault(place, "this ) opens nowhere") }
        return node.gathered
    }

    private var next: Character? { place < text.count ? text[place] : nil }

    private mutating func skipBlanks() { while let next, next.isWhitespace { place += 1 } }

    // MARK: The grammar

    private mutating func alternatives() throws(FilterFault) -> FilterNode {
        var parts = [try sequence()]
        while takeOr() { parts.append(try sequence()) }
        return parts.count == 1 ? parts[0] : .any(FilterNode.alternatives(in: parts))
    }

    private mutating func takeOr() -> Bool {
        skipBlanks()
        if next == "|" {
            place += 1
            return true
        }
        guard isWord("or", at: place) else { return false }
        place += 2
        return true
    }

    private func isWord(_ word: String, at start: Int) -> Bool {
        let end = start + word.count
        guard end <= text.count, String(text[start..<end]) == word else { return false }
        return end == text.count || text[end].isWhitespace || text[end] == "("
    }

    private mutating func sequence() throws(FilterFault) -> FilterNode {
        var parts: [FilterNode] = []
        while true {
            skipBlanks()
            guard let next, next != "|", next != ")", !isWord("or", at: place) else { break }
            parts.append(try negation())
        }
        guard let first = parts.first else { throw FilterFault(place, "a word or a test is missing") }
        if parts.count == 1 { return first }
        return .all(
            parts.reduce(into: []) { all, part in
                if case .all(let inner) = part { all += inner } else { all.append(part) }
            })
    }

    private mutating func negation() throws(FilterFault) -> FilterNode {
        guard next == "!" else { return try atom() }
        place += 1
        skipBlanks()
        guard next != nil else { throw FilterFault(place, "what must not be is missing") }
        depth += 1
        defer { depth -= 1 }
        guard depth < 50 else { throw FilterFault(place, "the brackets are too deep") }
        return .not(try negation())
    }

    private mutating func atom() throws(FilterFault) -> FilterNode {
        switch next {
        case "(":
            let start = place
            place += 1
            depth += 1
            guard depth < 50 else { throw FilterFault(start, "the brackets are too deep") }
            let inside = try alternatives()
            skipBlanks()
            guard next == ")" else { throw FilterFault(start, "the ) is missing") }
            place += 1
            depth -= 1
            return inside
        case "\"": return try spend(.word(FilterText(try quoted(), isQuoted: true)))
        case "/":
            if let regex = try expression() { return try spend(.word(regex)) }
        case "@":
            let start = place
            place += 1
            return try spend(.state(try state(bare(), start), isNegated: false))
        default: break
        }
        if let test = try test() { return try spend(test) }
        return try spend(.word(FilterText(bare())))
    }

    private mutating func spend(_ test: FilterTest) throws(FilterFault) -> FilterNode {
        let node = FilterNode.test(test)
        // Rows by their names become one test: they are counted when all is read.
        if case .node = test { return node }
        effort += node.effort
        try TransferFilter.refuse(effort)
        return node
    }

    // MARK: Words

    /// Up to a blank, a bracket or a bar.
    private mutating func bare() -> String {
        let start = place
        while let next, !next.isWhitespace, next != "(", next != ")", next != "|" { place += 1 }
        // A bracket in the place of a word is a letter: progress is certain.
        if place == start, place < text.count { place += 1 }
        return String(text[start..<place])
    }

    private mutating func quoted() throws(FilterFault) -> String {
        let start = place
        place += 1
        var word = ""
        while let next, next != "\"" {
            if next == "\\", place + 1 < text.count, text[place + 1] == "\"" || text[place + 1] == "\\" { place += 1 }
            word.append(text[place])
            place += 1
        }
        guard next == "\"" else { throw FilterFault(start, "the quote is not closed") }
        place += 1
        guard !word.isEmpty else { throw FilterFault(start, "between the quotes is nothing") }
        return word
    }

    /// `/regex/`; `nil`: the slashes are part of a word, as in `/home/ana`.
    private mutating func expression() throws(FilterFault) -> FilterText? {
        let start = place
        var (end, isEscaped, slash) = (place + 1, false, start)
        while end < text.count, lastSlash == nil {
            if text[end] == "/", !isEscaped {
                slash = end
                let behind = end + 1
                if behind == text.count || text[behind].isWhitespace || ")|".contains(text[behind]) { break }
            }
            isEscaped = text[end] == "\\" && !isEscaped
            end += 1
        }
        guard end < text.count, lastSlash == nil else {
            // The rest need not be read again for each word that begins with one.
            let last = lastSlash ?? slash
            lastSlash = last
            if last > start { return nil }
            throw FilterFault(start, "the / at its end is missing")
        }
        let source = String(text[(start + 1)..<end]).split(separator: "\\/", omittingEmptySubsequences: false)
            .joined(separator: "/")
        do throws(FilterFault) {
            let regex = try LinearRegex(source)
            place = end + 1
            return FilterText(regex: regex)
        } catch {
            throw FilterFault(start + 1 + error.position, error.message)
        }
    }

    // MARK: Tests

    private static let keys: [String] =
        FilterTest.TextKey.allCases.map(\.rawValue) + FilterTest.NumberKey.allCases.map(\.rawValue)
        + ["state", "prio", "id"]
    private static let operators = ["!=", ">=", "<=", ":", "=", ">", "<"]

    /// `key op value`; `nil`: it is a word.
    private mutating func test() throws(FilterFault) -> FilterTest? {
        let start = place
        var end = place
        while end < text.count, text[end].isASCII, text[end].isLowercase { end += 1 }
        guard end > start, let sign = Self.operators.first(where: { isSign($0, at: end) }) else { return nil }
        let key = String(text[start..<end])
        guard Self.keys.contains(key) else {
            // `http://…` and `a=b` may well be names; nobody calls a file `sise>1G`.
            guard sign.contains(">") || sign.contains("<") else { return nil }
            throw FilterFault(start, "there is no \"\(key)\": use \(Self.keys.dropLast().joined(separator: " "))")
        }
        place = end + sign.count
        return try test(key, sign)
    }

    private func isSign(_ sign: String, at start: Int) -> Bool {
        start + sign.count <= text.count && String(text[start..<(start + sign.count)]) == sign
    }

    private mutating func test(_ key: String, _ sign: String) throws(FilterFault) -> FilterTest {
        if let key = FilterTest.TextKey(rawValue: key) {
            guard let relation = FilterTest.TextRelation(rawValue: sign) else {
                throw FilterFault(place, "\(key.rawValue) takes : = or !=")
            }
            return .text(key, relation, try value())
        }
        // A colon before a number means the same as an equals sign.
        let comparison = FilterTest.Comparison(rawValue: sign == ":" ? "=" : sign) ?? .equal
        let start = place
        if let key = FilterTest.NumberKey(rawValue: key) {
            let word = place < text.count && !text[place].isWhitespace ? bare() : ""
            return try number(key, comparison, word, start)
        }
        let isNegated = comparison == .different
        let word = place < text.count && !text[place].isWhitespace ? bare() : ""
        switch key {
        case "state":
            guard comparison == .equal || isNegated else { throw FilterFault(start, "state takes : = or !=") }
            return .state(try state(word, start), isNegated: isNegated)
        case "id":
            guard comparison == .equal, let id = RowID(word) else { throw FilterFault(start, "that is no id of a row") }
            return .node(id)
        default:
            guard let priority = TransferPriority(rawValue: word) else {
                let words = TransferPriority.allCases.map(\.rawValue).joined(separator: ", ")
                throw FilterFault(start, "a priority is missing: \(words)")
            }
            return .priority(comparison, priority)
        }
    }

    private mutating func value() throws(FilterFault) -> FilterText {
        switch next {
        case "\"": return FilterText(try quoted(), isQuoted: true)
        case "/": if let regex = try expression() { return regex }
        case nil, " ", "\t", ")", "|", "(": throw FilterFault(place, "a value is missing")
        default: break
        }
        return FilterText(bare())
    }

    private func state(_ word: String, _ start: Int) throws(FilterFault) -> FilterState {
        if let state = FilterState(rawValue: word) { return state }
        if let state = FilterState(named: word) { return state }
        let words = FilterState.allCases.map(\.rawValue).joined(separator: " ")
        throw FilterFault(start, word.isEmpty ? "a state is missing: \(words)" : "\"\(word)\" is no state: \(words)")
    }

    private func number(
        _ key: FilterTest.NumberKey, _ comparison: FilterTest.Comparison, _ word: String, _ start: Int
    ) throws(FilterFault) -> FilterTest {
        guard !word.isEmpty else { throw FilterFault(start, "a number is missing") }
        switch key {
        case .done where word.hasSuffix("%"):
            guard let percent = Int64(word.dropLast()), (0...100).contains(percent) else { break }
            return .percent(comparison, percent)
        case .size, .done, .speed:
            let bare = key == .speed && word.hasSuffix("/s") ? String(word.dropLast(2)) : word
            if let bytes = FilterAmount.bytes(bare) { return .number(key, comparison, bytes) }
        case .eta, .age: if let seconds = FilterAmount.seconds(word) { return .number(key, comparison, seconds) }
        case .tries: if let count = Int64(word), count >= 0 { return .number(key, comparison, count) }
        }
        throw FilterFault(start, "\"\(word)\" is not \(FilterAmount.form(of: key))")
    }
}

extension FilterState {
    /// By the words that rows bear, and those of the commands.
    init?(named word: String) {
        switch word.lowercased() {
        case "run", "running": self = .run
        case "wait", "waiting", "queued": self = .wait
        case "pause", "paused": self = .pause
        case "err", "error", "failed": self = .err
        case "auth": self = .auth
        case "retry": self = .retry
        case "done", "completed": self = .done
        case "new": self = .new
        case "held", "created": self = .held
        case "check", "finishing": self = .check
        case "skip", "skipped": self = .skip
        case "cancel", "cancl", "cancelled": self = .cancel
        case "stall", "stalled": self = .stall
        case "scan", "scanning": self = .scan
        case "marked": self = .marked
        default: return nil
        }
    }
}
