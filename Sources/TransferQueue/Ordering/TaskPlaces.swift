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

/// A task's turn in its batch. Tasks that share a place, as those of a folder that was moved, stand in the order of their numbers: turns are
/// compared, never places alone.
struct TaskTurn: Comparable {
    let place: Int64
    /// The task's number.
    let id: Int64

    static let first = TaskTurn(place: .min, id: .min)
    static let last = TaskTurn(place: .max, id: .max)

    static func < (one: TaskTurn, other: TaskTurn) -> Bool { (one.place, one.id) < (other.place, other.id) }

    /// A side of a turn: the sign of a comparison.
    enum Side: String {
        case before = "<"
        case behind = ">"
    }

    /// SQL conditions on rows of `tasks` that are on a side of a turn, given by expressions for its place and number. There is one for tasks
    /// that were moved, one for those that were not and one for both: each is answered by an index.
    static func moved(_ side: Side, _ place: String, _ id: String) -> String {
        "rank IS NOT NULL AND (rank, id) \(side.rawValue) (\(place), \(id))"
    }

    static func found(_ side: Side, _ place: String, _ id: String) -> String {
        "rank IS NULL AND id \(side.rawValue)= (\(place) >> 24) AND (id << 24, id) \(side.rawValue) (\(place), \(id))"
    }

    static func any(_ side: Side, _ place: String, _ id: String) -> String {
        "\(TaskPlaces.sql) \(side.rawValue)= \(place) AND (\(TaskPlaces.sql), id) \(side.rawValue) (\(place), \(id))"
    }
}
