/// The set of uploads that exist: a value that is told of each one that is made, published and removed.
struct UploadCensus: Equatable, Sendable {
    private(set) var unfinished: Set<UploadID> = []
    /// The oldest first; those that are gone stay until they would be forgotten.
    private var complete: [UploadID] = []
    /// The index in `complete` of the oldest.
    private var first = 0

    /// Replaces the counts by the uploads found on the disk.
    /// - Parameter live: uploads in use, some of which may have been made since the disk was looked at.
    mutating func count(unfinished: some Sequence<UploadID>, complete: [UploadID], live: some Sequence<UploadID>) {
        self.complete = complete
        first = 0
        self.unfinished = Set(unfinished).union(self.unfinished.intersection(live))
    }

    mutating func made(_ id: UploadID) { unfinished.insert(id) }

    mutating func removed(_ id: UploadID) { unfinished.remove(id) }

    /// It is remembered now.
    mutating func published(_ id: UploadID) {
        unfinished.remove(id)
        complete.append(id)
    }

    /// The uploads that are remembered beyond `limit`, the oldest first. They count no more.
    mutating func forget(beyond limit: Int) -> [UploadID] {
        let surplus = complete.count - first - limit
        guard surplus > 0 else { return [] }
        let forgotten = Array(complete[first..<(first + surplus)])
        first += surplus
        if first > complete.count / 2 {
            complete.removeFirst(first)
            first = 0
        }
        return forgotten
    }
}
