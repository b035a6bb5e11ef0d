import MartletKit

/// The filters of the list: the one that is on, those with a name, and the numbers of files that match them.
struct Filters: Sendable {
    /// The filter for the rows that are shown; `nil`: all are.
    var shown: ShownFilter?
    /// A filter that asks for what is marked, by the words in which the engine got it.
    var typed: [String: String] = [:]
    /// The one that was cleared last, to be had again.
    var last: String?
    /// By name, in the order of the file.
    var saved: [SavedFilter] = []
    /// The numbers of files that match those, while the palette is open.
    var counts: [String: FilterCount] = [:]
    /// Those that the engine is asked to count.
    var counted: [String] = []
    /// All batches as last told, while a filter hides some.
    var hiddenBatches: [NodeRow] = []

    /// The ones that the line of a filter goes through: the one that was cleared last, then those with a name.
    var offers: [String] { (last.map { [$0] } ?? []) + saved.map(\.text) }

    /// The number of files that match, as far as it is known.
    func count(of text: String) -> FilterCount? { shown?.sent == text ? shown?.count ?? counts[text] : counts[text] }
}
