import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// One view of one client: what it wants to see, and which parts may look different from what it was sent last.
///
/// Pure: told what changed, says what is to be looked at again; told what that looks like now, says what to send. What
/// was sent is remembered as a hash, so a view costs the service next to nothing.
struct ServiceView {
    enum Part: Hashable {
        case section(RowID?)
        case node(NodeID)
        case totals
        /// The progress of the filter.
        case filter
    }

    let number: Int
    let request: ViewRequest
    /// `nil`: everything is shown.
    var filter: ViewFilter?
    /// To be looked at again. All of it at first.
    private(set) var dirty: Set<Part>
    private var sentHashes: [Part: Int] = [:]
    /// The batch and folder that a part is about, once known; `nil` inside: everything.
    private var subjects: [Part: Subject] = [:]
    private let wanted: [RowID?: SectionRequest]

    /// The object that a part shows something of.
    enum Subject: Hashable {
        case everything
        case batch(BatchID)
        case folder(BatchID, FolderID)
        case task(BatchID, TaskID)

        init(_ row: RowID?) {
            switch row {
            case nil: self = .everything
            case .batch(let batch): self = .batch(batch)
            case .folder(let batch, let folder), .group(let batch, let folder, _): self = .folder(batch, folder)
            case .task(let batch, let task): self = .task(batch, task)
            }
        }
    }

    static let mostSections = 200
    static let mostNodes = 1000
    static let mostViews = 16

    init(_ request: ViewRequest) throws(RequestError) {
        number = request.view ?? 0
        filter = try request.filter.map(ViewFilter.init)
        self.request = request
        let sections = request.sections ?? []
        wanted = Dictionary(
            sections.map { request in
                var request = request
                request.limit = min(1000, max(1, request.limit))
                return (request.parent, request)
            }
        ) { $0.limit < $1.limit ? $1 : $0 }
        dirty = Set(sections.map { .section($0.parent) } + (request.nodes ?? []).map { .node($0) })
        if request.totals == true { dirty.insert(.totals) }
        for section in sections { subjects[.section(section.parent)] = Subject(section.parent) }
        for node in request.nodes ?? [] { if case .batch(let id) = node { subjects[.node(node)] = .batch(id) } }
        if request.totals == true { subjects[.totals] = .everything }
    }

    /// Wants nothing: the client has closed it.
    var isEmpty: Bool { dirty.isEmpty && subjects.isEmpty && (request.nodes ?? []).isEmpty }
    /// Shows the tree from its root, as a screen does.
    var isScreen: Bool { wanted[nil] != nil }

    func sectionRequest(_ parent: RowID?) -> SectionRequest {
        wanted[parent] ?? SectionRequest(parent: parent, limit: 100)
    }

    private var parts: [Part] {
        wanted.keys.map { .section($0) } + (request.nodes ?? []).map { .node($0) }
            + (request.totals == true ? [.totals] : [])
    }

    /// The filter has found more, or something else: every section may look different.
    mutating func noteFilter() {
        dirty.formUnion(wanted.keys.map { .section($0) })
        dirty.insert(.filter)
    }

    /// The queue changed.
    mutating func note(_ change: QueueChange) {
        for part in parts where !dirty.contains(part) && isTouched(part, by: change) { dirty.insert(part) }
    }

    private func isTouched(_ part: Part, by change: QueueChange) -> Bool {
        switch subjects[part] {
        // A node that was not there the last time may be there now.
        case nil, .everything: true
        case .batch(let batch):
            change.batches.contains(batch) || change.wholly.contains(batch) || change.removed.contains(batch)
        case .folder(let batch, let folder):
            change.folders.contains(folder) || change.wholly.contains(batch) || change.removed.contains(batch)
        case .task(let batch, let task):
            change.tasks.contains(task) || change.wholly.contains(batch) || change.removed.contains(batch)
        }
    }

    /// Sections in an order that could not be kept up with.
    mutating func noteSorted() {
        dirty.formUnion(wanted.values.filter { $0.order != nil }.map { .section($0.parent) })
    }

    /// All of it may look different.
    mutating func noteEverything() { dirty.formUnion(parts) }

    /// Notes that live figures have moved, or that something came to rest.
    mutating func noteLive(batches: Set<BatchID>, folders: Set<FolderID>, tasks: Set<TaskID>) {
        for part in parts where !dirty.contains(part) {
            let touched =
                switch subjects[part] {
                case nil: false
                case .everything: true
                case .batch(let batch): batches.contains(batch)
                case .folder(_, let folder): folders.contains(folder)
                case .task(_, let task): tasks.contains(task)
                }
            if touched { dirty.insert(part) }
        }
    }

    /// Takes what is dirty, to look at it.
    mutating func takeDirty() -> Set<Part> {
        defer { dirty = [] }
        return dirty
    }

    /// The change to send after a look; `nil`: it all looks as it did.
    mutating func change(of looked: LookedAt) -> ViewChange? {
        var change = ViewChange(view: number)
        for (parent, section) in looked.sections {
            // A parent that is gone has no rows; the section that shows it as a row says so too.
            var shown = section ?? TreeSection(parent: parent, rows: [], total: 0)
            if section == nil { (shown.order, shown.flat) = (wanted[parent]?.order, wanted[parent]?.flat) }
            if isNew(shown, as: .section(parent)) { change.sections.append(shown) }
        }
        for (node, row) in looked.nodes {
            subjects[.node(node)] = row.map { Subject($0.id) }
            if isNew(row, as: .node(node)) { change.nodes.append(WatchedNode(id: node, node: row)) }
        }
        if let totals = looked.totals, isNew(totals, as: .totals) { change.totals = totals }
        let isSame = change.sections.isEmpty && change.nodes.isEmpty && change.totals == nil
        change.filter = looked.filter
        if isSame, looked.filter == nil || !isNew(looked.filter, as: .filter) { return nil }
        return change
    }

    private mutating func isNew(_ value: some Hashable, as part: Part) -> Bool {
        let hash = value.hashValue
        return sentHashes.updateValue(hash, forKey: part) != hash
    }
}

/// The dirty parts of a view as they look now.
struct LookedAt: Sendable {
    var sections: [(parent: RowID?, section: TreeSection?)] = []
    var nodes: [(id: NodeID, row: NodeRow?)] = []
    var totals: QueueTotals?
    /// The progress of the filter; `nil`: the view has none.
    var filter: FilterCount?
}
