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
    private var dirty: Set<Part>
    /// Parts of this turn that are still to be looked at, in the order in which they are.
    private var due: ArraySlice<Part> = []
    /// All parts in that order: what is nearest to the root comes first, since a screen needs it for the rest.
    private let parts: [Part]
    private var sentHashes: [Part: Int] = [:]
    /// The batch and folder that a part is about, once known; `nil` inside: everything.
    private var subjects: [Part: Subject] = [:]
    private let wanted: [RowID?: SectionRequest]
    /// Rows that it may have.
    let rows: Int

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
    static let mostViews = 1000
    static let mostWithSections = 16
    /// Rows of one view, counted by the limits of its sections, and of all views of a client. A screen wants some hundreds.
    static let mostRows = 20_000
    static let mostRowsOfClient = 40_000
    /// Rows that are read, and told, at once; between two such pieces others have their turn.
    static let rowsAtOnce = 1000

    init(_ request: ViewRequest) throws(RequestError) {
        number = request.view ?? 0
        filter = try request.filter.map(ViewFilter.init)
        self.request = request
        let (sections, nodes) = (request.sections ?? [], request.nodes ?? [])
        guard sections.count <= Self.mostSections, nodes.count <= Self.mostNodes else {
            throw RequestError(
                .usage, "a view has up to \(Self.mostSections) sections and \(Self.mostNodes) nodes: ask for less")
        }
        wanted = Dictionary(
            sections.map { request in
                var request = request
                request.limit = min(Self.rowsAtOnce, max(1, request.limit))
                return (request.parent, request)
            }
        ) { $0.limit < $1.limit ? $1 : $0 }
        rows = wanted.values.reduce(nodes.count) { $0 + $1.limit }
        guard rows <= Self.mostRows else {
            throw RequestError(.usage, "a view has up to \(Self.mostRows) rows: ask for less")
        }
        var parts: [Part] = request.totals == true ? [.totals] : []
        var known: Set<Part> = []
        for part in sections.map({ Part.section($0.parent) }) + nodes.map({ Part.node($0) })
        where known.insert(part).inserted { parts.append(part) }
        self.parts = parts
        dirty = Set(parts)
        for section in sections { subjects[.section(section.parent)] = Subject(section.parent) }
        for node in nodes { if case .batch(let id) = node { subjects[.node(node)] = .batch(id) } }
        if request.totals == true { subjects[.totals] = .everything }
    }

    /// Wants nothing: the client has closed it.
    var isEmpty: Bool { parts.isEmpty }
    /// Shows a part of the tree, and not single nodes alone.
    var hasSections: Bool { !wanted.isEmpty }
    /// Shows the tree from its root, as a screen does.
    var isScreen: Bool { wanted[nil] != nil }

    func sectionRequest(_ parent: RowID?) -> SectionRequest {
        wanted[parent] ?? SectionRequest(parent: parent, limit: 100)
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
    mutating func noteEverything() {
        dirty.formUnion(parts)
        if filter != nil { dirty.insert(.filter) }
    }

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

    /// Something may look different, and nobody has looked yet.
    var isDirty: Bool { !dirty.isEmpty || !due.isEmpty }
    /// Parts of this turn are still to be looked at.
    var isDue: Bool { !due.isEmpty }

    /// Begins a turn: what may look different by now is looked at, once.
    mutating func beginTurn() {
        guard !dirty.isEmpty else { return }
        let all = dirty.union(due)
        due = parts.filter { all.contains($0) }[...] + (dirty.contains(.filter) ? [.filter] : [])
        dirty = []
    }

    /// Takes the next parts of this turn, as many as are looked at together.
    mutating func takeDue() -> [Part] {
        var taken: [Part] = []
        var rows = 0
        while let part = due.first {
            rows += cost(part)
            if rows > Self.rowsAtOnce, !taken.isEmpty { break }
            taken.append(part)
            due.removeFirst()
        }
        return taken
    }

    private func cost(_ part: Part) -> Int {
        switch part {
        case .section(let parent): wanted[parent]?.limit ?? 0
        case .node: 1
        case .totals, .filter: 0
        }
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
