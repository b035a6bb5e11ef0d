/// A person's choice of what to see of the queue, as an expression: `@err 403`, `size>1G !@done`, `(@pause | @retry) dest:nas`.
///
/// ```
/// or    := and { ("|" | "or") and }          and  := not { not }          not := [ "!" ] atom
/// atom  := "(" or ")" | test | word | "quoted words" | /regex/ | @state
/// test  := key op value                      op   := ":" "=" "!=" ">" ">=" "<" "<="
/// value := word | number[K|M|G|T] | number% | duration (10s 5m 2h 3d) | glob with * ?
/// ```
///
/// It is about files: a folder or batch is there when a file below it matches. The engine looks (`FilterScan`), the
/// screen and the commands send the text.
package struct TransferFilter: Hashable, Sendable {
    package let root: FilterNode

    package init(_ root: FilterNode) { self.root = root }

    /// Reads an expression.
    package init(_ text: String) throws(FilterFault) {
        if text.utf8.count > Self.longest { throw FilterFault(0, "the filter is longer than \(Self.longest) bytes") }
        var parser = FilterParser(text)
        root = try parser.whole()
        try Self.refuse(effort)
    }

    /// Refuses more effort than `most`.
    static func refuse(_ effort: Int) throws(FilterFault) {
        guard effort > most else { return }
        throw FilterFault(0, "the filter asks for too much: up to \(most) letters and tests are taken")
    }

    /// Bytes: marked rows by their names are the longest that a screen writes.
    static let longest = 2 << 20
    /// Bytes of words and patterns, steps of regular expressions, and other tests.
    static let most = 4000

    /// Comparisons that one letter of a file's texts may cost: bytes of words and patterns, steps of regular expressions, and other tests. Who looks through a queue takes shorter stretches
    /// for a higher effort, so that nobody waits behind it.
    package var effort: Int { root.effort }

    package func matches(_ subject: FilterSubject) -> Bool { root.matches(subject) }

    /// The facts of a task that must be read to decide.
    package var needs: FilterNeeds { root.needs }

    /// True when it asks for what is marked, which nobody but a screen can tell.
    package var asksForMarks: Bool { root.asksForMarks }

    /// The same with the marked rows by name, as the engine understands it.
    package func naming(_ marked: [RowID]) -> TransferFilter { TransferFilter(root.naming(marked)) }

    /// Both.
    package func and(_ other: TransferFilter) -> TransferFilter {
        let parts = [root, other.root].flatMap { if case .all(let parts) = $0 { parts } else { [$0] } }
        return TransferFilter(.all(parts))
    }
}

/// A part of a filter. Lists have at least two parts, and no list is directly in a list of its kind.
package indirect enum FilterNode: Hashable, Sendable {
    case all([FilterNode])
    case any([FilterNode])
    case not(FilterNode)
    case test(FilterTest)
}

/// One question about a file.
package enum FilterTest: Hashable, Sendable {
    /// Found in the path, the batch's name included.
    case word(FilterText)
    case text(TextKey, TextRelation, FilterText)
    case number(NumberKey, Comparison, Int64)
    /// The done share of the file, in percent.
    case percent(Comparison, Int64)
    case state(FilterState, isNegated: Bool)
    case priority(Comparison, TransferPriority)
    /// One of many rows, or in one of them: as many alternatives of `node`, and as cheap as one.
    case nodes(FilterRows)
    /// One of these; for selectors, which name states as the commands do. Nobody can type it.
    case states([TransferState])
    /// The file itself, or what it is in. The screen writes it for what is marked.
    case node(RowID)

    package enum TextKey: String, CaseIterable, Sendable {
        case name, path, batch, folder, dest, session, err, kind
        /// The reasons why a file waits, by their names in JSON.
        case why
    }

    package enum TextRelation: String, Sendable {
        case contains = ":"
        case equals = "="
        case differs = "!="
    }

    /// Sizes in bytes, speeds in bytes a second, times in seconds.
    package enum NumberKey: String, CaseIterable, Sendable { case size, done, speed, eta, tries, age }

    package enum Comparison: String, CaseIterable, Sendable {
        case equal = "="
        case different = "!="
        case more = ">"
        case atLeast = ">="
        case less = "<"
        case atMost = "<="

        func holds<Value: Comparable>(_ one: Value, _ other: Value) -> Bool {
            switch self {
            case .equal: one == other
            case .different: one != other
            case .more: one > other
            case .atLeast: one >= other
            case .less: one < other
            case .atMost: one <= other
            }
        }
    }
}

/// A state as the screen calls it.
package enum FilterState: String, CaseIterable, Sendable {
    case run, wait, pause, err, auth, retry, done, new, held, check, skip, cancel
    /// It runs, and nothing of it moves.
    case stall
    /// Its batch's folders are still being listed.
    case scan
    /// Rows marked on the screen: only the screen knows them, see ``TransferFilter/naming(_:)``.
    case marked
}

/// The facts of a task that a filter asks about: what it does not need is not read.
package struct FilterNeeds: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }
    package static let name = FilterNeeds(rawValue: 1)
    /// Rows that only some tasks have: errors, tries, what they wait for.
    package static let details = FilterNeeds(rawValue: 2)
    /// Figures that move: speeds, and bytes since the last checkpoint.
    package static let live = FilterNeeds(rawValue: 4)
    /// The texts of its failure.
    package static let error = FilterNeeds(rawValue: 8)
}

/// The reason why a text is no filter.
package struct FilterFault: Error, Hashable, Sendable {
    /// The character where it went wrong, counted from 0.
    package var position: Int
    /// Continues `size>  ^ `: "a number is missing".
    package var message: String

    package init(_ position: Int, _ message: String) {
        self.position = position
        self.message = message
    }
}

extension FilterNode {
    fileprivate var asksForMarks: Bool {
        switch self {
        case .all(let parts), .any(let parts): parts.contains(where: \.asksForMarks)
        case .not(let part): part.asksForMarks
        case .test(.state(.marked, _)): true
        case .test: false
        }
    }

    fileprivate func naming(_ marked: [RowID]) -> FilterNode {
        switch self {
        case .all(let parts):
            return .all(
                parts.flatMap { part -> [FilterNode] in
                    let named = part.naming(marked)
                    return if case .all(let inner) = named { inner } else { [named] }
                })
        case .any(let parts):
            return .any(
                parts.flatMap { part -> [FilterNode] in
                    let named = part.naming(marked)
                    return if case .any(let inner) = named { inner } else { [named] }
                })
        case .not(let part): return .not(part.naming(marked))
        case .test(.state(.marked, let isNegated)):
            let rows = marked.map { FilterNode.test(.node($0)) }
            // Of nothing there is no word: no file is over and runs.
            let nothing = FilterNode.all([
                .test(.state(.done, isNegated: false)), .test(.state(.run, isNegated: false)),
            ])
            let all = rows.isEmpty ? nothing : .any(of: rows)
            return isNegated ? .not(all) : all
        case .test: return self
        }
    }

    /// These parts, and what one of them lists as alternatives in its place.
    static func alternatives(in parts: [FilterNode]) -> [FilterNode] {
        parts.reduce(into: []) { all, part in
            if case .any(let inner) = part { all += inner } else { all.append(part) }
        }
    }

    /// The same with rows that are named standing together, where they are many. Once for the whole, and not at every bracket.
    var gathered: FilterNode {
        switch self {
        case .all(let parts): .all(parts.map(\.gathered))
        case .any(let parts): .any(of: parts.map(\.gathered))
        case .not(let part): .not(part.gathered)
        case .test: self
        }
    }

    /// One of these parts. Rows that are named stand together, where they are many.
    static func any(of parts: [FilterNode]) -> FilterNode {
        let flat = alternatives(in: parts)
        var rows: [RowID] = []
        var others: [FilterNode] = []
        for part in flat {
            switch part {
            case .test(.node(.group)): others.append(part)
            case .test(.node(let id)): rows.append(id)
            case .test(.nodes(let known)): rows += known.rows
            default: others.append(part)
            }
        }
        guard rows.count >= FilterRows.least else { return flat.count == 1 ? flat[0] : .any(flat) }
        let named = FilterNode.test(.nodes(FilterRows(rows)))
        return others.isEmpty ? named : .any(others + [named])
    }

    var effort: Int {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.effort }
        case .not(let part): part.effort
        case .test(.word(let text)), .test(.text(_, _, let text)): text.effort
        case .test: 1
        }
    }

    var needs: FilterNeeds {
        switch self {
        case .all(let parts), .any(let parts): parts.reduce(into: []) { $0.formUnion($1.needs) }
        case .not(let part): part.needs
        case .test(let test): test.needs
        }
    }

    func matches(_ subject: FilterSubject) -> Bool {
        switch self {
        case .all(let parts):
            for part in parts where !part.matches(subject) { return false }
            return true
        case .any(let parts):
            for part in parts where part.matches(subject) { return true }
            return false
        case .not(let part): return !part.matches(subject)
        case .test(let test): return test.holds(subject)
        }
    }
}

extension FilterTest {
    fileprivate var needs: FilterNeeds {
        switch self {
        case .word, .text(.name, _, _), .text(.path, _, _): .name
        case .text(.err, _, _): [.details, .error]
        case .text(.why, _, _): .details
        case .number(.tries, _, _): .details
        case .number(.speed, _, _), .number(.eta, _, _), .number(.done, _, _), .percent: .live
        case .state(let state, _):
            switch state {
            case .wait, .auth, .retry, .new: .details
            case .run, .check, .stall: .live
            case .pause, .err, .done, .held, .skip, .cancel, .scan, .marked: []
            }
        case .states: .live
        case .text, .number, .priority, .node, .nodes: []
        }
    }
}
