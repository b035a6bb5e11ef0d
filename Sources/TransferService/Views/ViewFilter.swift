import LinuxSystem
import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// A filter of views: what it has found, and whether that is still so. Views of a client that have the same text have it together. On the
/// service's loop.
final class ViewFilter {
    let text: String
    let filter: TransferFilter
    var matches = FilterMatches()
    var total: Int64 = 0
    /// Everything was looked at since the view was set.
    var isComplete = false
    /// The search that goes on, or rests until the next one may begin.
    var search: Int?
    /// Something changed since it began.
    var isStale = false

    init(_ text: String) throws(RequestError) {
        self.text = text
        do throws(FilterFault) {
            filter = try TransferFilter(text)
        } catch {
            throw RequestError(.usage, "the filter is wrong at character \(error.position + 1): \(error.message)")
        }
        guard !filter.asksForMarks else {
            throw RequestError(.usage, "@marked is known to the screen alone: name what is meant")
        }
    }

    var count: FilterCount {
        FilterCount(text: text, matched: matches.count, total: max(total, matches.count), complete: isComplete)
    }
}
