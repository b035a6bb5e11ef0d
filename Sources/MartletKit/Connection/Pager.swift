import TransferModel

/// Goes through the pages of a long list at an engine. Each page has to lead on: an engine that names a place where we were would be asked
/// without end.
struct Pager<Cursor: Equatable & Sendable>: Sendable {
    /// The place behind the last page; `nil`: the beginning.
    private(set) var after: Cursor?
    /// A place further back, moved on ever more rarely: it finds circles of any length.
    private var landmark: Cursor?
    private var pages = 0

    init(after: Cursor? = nil) { (self.after, landmark) = (after, after) }

    /// The next page begins at `next`.
    mutating func move(to next: Cursor) throws(RequestError) {
        guard next != after, next != landmark else {
            throw RequestError(
                .engineUnreachable,
                "the engine gives the same part of a list again and again: update it, and try again")
        }
        pages += 1
        if pages.nonzeroBitCount == 1 { landmark = next }
        after = next
    }
}
