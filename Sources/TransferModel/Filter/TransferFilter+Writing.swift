extension TransferFilter: CustomStringConvertible {
    /// The shortest text that reads as this filter again.
    package var description: String { root.written }
}

extension FilterNode {
    var written: String {
        switch self {
        case .all(let parts): parts.map(\.inSequence).joined(separator: " ")
        case .any(let parts):
            parts.map { if case .any = $0 { "(\($0.written))" } else { $0.written } }.joined(separator: " | ")
        case .not(let part): "!" + part.inSequence
        case .test(let test): test.written
        }
    }

    private var inSequence: String {
        switch self {
        case .all, .any, .test(.nodes): "(\(written))"
        case .not, .test: written
        }
    }
}

extension FilterTest {
    fileprivate var written: String {
        switch self {
        case .word(let text): text.written(isWord: true)
        case .text(let key, let relation, let text): key.rawValue + relation.rawValue + text.written(isWord: false)
        case .number(let key, let comparison, let value):
            key.rawValue + comparison.rawValue + (key == .eta || key == .age ? "\(value)s" : "\(value)")
        case .percent(let comparison, let value): "done\(comparison.rawValue)\(value)%"
        case .state(let state, let isNegated): isNegated ? "state!=\(state.rawValue)" : "@\(state.rawValue)"
        case .priority(let comparison, let priority): "prio\(comparison.rawValue)\(priority.rawValue)"
        case .states(let states): "state:" + states.map(\.rawValue).joined(separator: ",")
        case .node(let id): "id:\(id)"
        case .nodes(let rows): rows.rows.map { "id:\($0)" }.joined(separator: " | ")
        }
    }
}

extension FilterText {
    fileprivate func written(isWord: Bool) -> String {
        switch kind {
        case .regex(let regex):
            return "/" + regex.source.split(separator: "/", omittingEmptySubsequences: false).joined(separator: "\\/")
                + "/"
        case .glob: return source
        case .plain:
            // What would be read as something else is quoted.
            let isBare = source.allSatisfy { !$0.isWhitespace && !"()|\"\\*?".contains($0) }
            let isSafe = isWord ? !source.contains { "!@/:=<>".contains($0) } && source != "or" : source.first != "/"
            if isBare, isSafe, !source.isEmpty { return source }
            let escaped = source.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : "\($1)" }
            return "\"\(escaped)\""
        }
    }
}
