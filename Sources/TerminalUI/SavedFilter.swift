/// A filter with a name of its own, from `filters.conf`.
struct SavedFilter: Hashable, Sendable {
    var name: String
    var text: String
}
