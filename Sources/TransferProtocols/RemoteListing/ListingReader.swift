package import TransferModel

/// The format of a listing's bytes: a protocol's own, which it declares beside its listing.
package struct ListingFormat: Hashable, Sendable {
    private let syntax: any ListingSyntax

    init(_ syntax: any ListingSyntax) { self.syntax = syntax }

    fileprivate var parser: any ListingParser { syntax.parser() }

    package static func == (one: ListingFormat, other: ListingFormat) -> Bool {
        AnyHashable(one.syntax) == AnyHashable(other.syntax)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(syntax)) }
}

/// The parameters of a format, for one listing.
protocol ListingSyntax: Hashable, Sendable {
    func parser() -> any ListingParser
}

/// Reads one listing's bytes.
protocol ListingParser {
    /// The entries that these bytes complete.
    mutating func take(_ bytes: [UInt8]) -> [RemoteEntry]
    /// True when something came that is no such listing: the rest may be anything.
    var isBroken: Bool { get }
    /// The last entries, and how it ended.
    mutating func finish() -> ([RemoteEntry], ListingEnd)
}

/// The result of reading a listing's bytes.
package struct ListingEnd: Hashable, Sendable {
    /// It is what was asked for, from its beginning to its end. False: nothing follows from a name that is not in it.
    package var isWhole: Bool
    /// Names the next page; `nil`: there is none.
    package var next: String?
    /// Nothing was in this page.
    package var isEmpty: Bool

    package init(isWhole: Bool, next: String? = nil, isEmpty: Bool = false) {
        self.isWhole = isWhole
        self.next = next
        self.isEmpty = isEmpty
    }
}

/// Turns the bytes of a listing into entries as they come, so that a folder of a million names needs no more memory than one of ten.
/// Used by one at a time.
package final class ListingReader {
    /// `nil`: the rest is dropped.
    private var parser: (any ListingParser)?

    package init(_ format: ListingFormat) { parser = format.parser }

    /// The entries that these bytes complete.
    package func take(_ bytes: [UInt8]) -> [RemoteEntry] {
        let entries = parser?.take(bytes) ?? []
        if parser?.isBroken == true { parser = nil }
        return entries
    }

    /// The last entries, and how it ended. After this it is of no more use.
    package func finish() -> ([RemoteEntry], ListingEnd) {
        defer { parser = nil }
        return parser?.finish() ?? ([], ListingEnd(isWhole: false))
    }
}
