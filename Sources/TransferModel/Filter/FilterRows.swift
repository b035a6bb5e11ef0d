/// Many rows by their names: what a screen has marked. Looked up, not compared one after the other.
package struct FilterRows: Hashable, Sendable {
    /// As they were named.
    package let rows: [RowID]
    private var batches: Set<BatchID> = []
    private var folders: Set<FolderID> = []
    private var tasks: Set<TaskID> = []

    /// Fewer are compared.
    static let least = 16

    /// - Parameter rows: batches, folders and tasks; groups are no rows of their own.
    init(_ rows: [RowID]) {
        self.rows = rows
        for row in rows {
            switch row {
            case .batch(let id): batches.insert(id)
            case .folder(_, let id): folders.insert(id)
            case .task(_, let id): tasks.insert(id)
            case .group: break
            }
        }
    }

    func contain(_ subject: FilterSubject) -> Bool {
        tasks.contains(subject.id) || batches.contains(subject.place.batch)
            || !folders.isEmpty && subject.place.chain.contains { folders.contains($0) }
    }
}
