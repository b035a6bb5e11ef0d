import TransferModel

/// Places of tasks in their batch: in the order in which they were found, each with room for others before it.
enum TaskPlaces {
    static let gap: Int64 = 1 << 24
    /// Behind whatever is still to be found.
    static let behindAll: Int64 = 1 << 62

    /// The place that is stored, or the nearest that can have been given: differences and sums of two do not overflow.
    static func within(_ place: Int64) -> Int64 { min(max(place, -(1 << 60)), behindAll + (1 << 60)) }

    /// The place of a task that nobody has moved.
    static func found(_ id: TaskID) -> Int64 { id.rawValue << 24 }

    /// The same in SQL, of a row of `tasks`.
    static let sql = "ifnull(rank, id << 24)"
}
