/// A value bound to a parameter of a statement.
package enum SQLiteValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// NULL when there is none.
    package init(_ integer: Int64?) { self = integer.map { .integer($0) } ?? .null }
    /// NULL when there is none.
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    /// NULL when there is none.
    package init(_ bytes: [UInt8]?) { self = bytes.map { .blob($0) } ?? .null }
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(stringLiteral value: String) { self = .text(value) }
    package init(nilLiteral: ()) { self = .null }
}
