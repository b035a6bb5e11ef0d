import MartletKit

/// Rows do not change places under fingers: while keys are pressed those that are in sight keep their order, and take
/// the engine's when the keys rest.
extension Tree {
    /// So long after a key.
    static let steadiness = Duration.milliseconds(1500)

    /// True when rows stand elsewhere than the engine would have them.
    var isBehind: Bool { !waiting.isEmpty }

    /// Takes a section over, in its own order or in the one that is shown.
    mutating func place(_ section: TreeSection) {
        waiting[section.parent] = nil
        guard keepsPlaces, let before = sections[section.parent], before.order == section.order else {
            sections[section.parent] = section
            return
        }
        let rows = Self.rows(section.rows, inPlacesOf: before.rows)
        var kept = section
        kept.rows = rows
        sections[section.parent] = kept
        if rows.map(\.id) != section.rows.map(\.id) { waiting[section.parent] = section }
    }

    /// Rows that were there stay in the order in which they were; new ones stand where they belong.
    static func rows(_ rows: [NodeRow], inPlacesOf before: [NodeRow]) -> [NodeRow] {
        let places = Dictionary(before.enumerated().map { ($0.element.id, $0.offset) }) { first, _ in first }
        var kept = rows.compactMap { row in places[row.id].map { (place: $0, row: row) } }
            .sorted { $0.place < $1.place }.map(\.row)[...]
        return rows.map { row in places[row.id] == nil ? row : kept.popFirst() ?? row }
    }

    /// Every row goes where the engine has it.
    mutating func catchUp() {
        guard isBehind else { return }
        sections.merge(waiting) { $1 }
        waiting = [:]
        rebuild()
    }

    /// Another order: what is shown stays until the engine has sorted it.
    mutating func sort(by order: TreeOrder) {
        self.order = order
        catchUp()
    }
}
