package import TransferModel

/// Batches and folders with moving tasks, for the orders that put them first.
package struct MovingRows: Sendable {
    package var batches: Set<BatchID>
    package var folders: Set<FolderID>

    package init(batches: Set<BatchID> = [], folders: Set<FolderID> = []) {
        self.batches = batches
        self.folders = folders
    }
}

/// Orders as terms behind `ORDER BY`.
extension TreeOrder {
    private var upward: String { reversed ? " DESC" : "" }
    private var downward: String { reversed ? "" : " DESC" }

    /// True when folders are read in this order from their index.
    var isIndexedForFolders: Bool {
        switch by {
        case .queue, .name, .speed, .eta: true
        case .size, .files, .done, .state: false
        }
    }

    /// True when moving rows stand before everything else.
    var beginsWithMoving: Bool { by == .speed || by == .eta }

    /// The order of rows of `folders`.
    var ofFolders: String { terms("", name: "name") }

    /// The order of batches `b` with their roots `f`.
    var ofBatches: String { terms("f.", name: "b.name") + ", b.paused, b.position, b.id" }

    private func terms(_ table: String, name: String) -> String {
        let files = FolderSums.filesSQL(of: table)
        switch by {
        case .queue, .name: return name + upward
        case .speed, .eta: return name
        case .size: return "\(table)bytes_total\(downward), \(name)"
        case .files: return "\(files)\(downward), \(name)"
        case .done:
            let share = """
                CASE WHEN \(table)bytes_total > 0 THEN 1.0 * (\(table)bytes_accepted + \(table)bytes_found) / \(table)bytes_total
                ELSE 1.0 * \(table)completed / max(1, \(files)) END
                """
            return "\(share)\(downward), \(name)"
        case .state:
            let rank = """
                CASE WHEN \(table)running + \(table)finishing > 0 THEN 0 WHEN \(table)failed > 0 THEN 1
                WHEN \(table)waiting > 0 THEN 2 WHEN \(table)stopped > 0 THEN 3 WHEN \(table)queued > 0 THEN 4
                WHEN \(table)completed > 0 THEN 5 ELSE 6 END
                """
            return "\(rank)\(upward), \(name)"
        }
    }

    /// The order of rows of `tasks t`; only where files stand one by one.
    var ofFiles: String {
        switch by {
        case .name: "t.name\(upward), t.id"
        // What is unknown is neither large nor small.
        case .size: "t.size IS NULL, t.size\(downward), t.id"
        default: "\(Self.rankOfFile)\(reversed ? " DESC" : ""), t.id"
        }
    }

    /// The places of `FolderListing.order`.
    private static var rankOfFile: String {
        let cases = FolderListing.order.enumerated().map { "WHEN \(state: $0.element) THEN \($0.offset)" }
        return "CASE t.state \(cases.joined(separator: " ")) ELSE 9 END"
    }
}
