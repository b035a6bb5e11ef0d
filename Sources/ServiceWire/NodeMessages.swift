package import TransferModel

/// Parameters of `why`.
package struct WhyRequest: Codable, Hashable, Sendable {
    /// Missing: everything that does not move, batch by batch.
    package var id: NodeID?
    package init(id: NodeID? = nil) { self.id = id }
}

/// Answer of `why`; empty when nothing waits.
package struct WhyAnswers: Codable, Hashable, Sendable {
    package var answers: [WhyAnswer]
    package init(answers: [WhyAnswer]) { self.answers = answers }
}

/// Parameters of most `nodes.*` methods: nodes by ID, by the row of a screen, and by a selector. What more than one of these names adds up;
/// our own clients fill one (`NodeChoice`).
package struct NodesRequest: Codable, Hashable, Sendable {
    package var ids: [NodeID]?
    /// As in `view.changed`; a group means its tasks.
    package var rows: [RowID]?
    package var selector: NodeSelector?

    package init(ids: [NodeID]? = nil, rows: [RowID]? = nil, selector: NodeSelector? = nil) {
        self.ids = ids
        self.rows = rows
        self.selector = selector
    }
}

/// Answer of the `nodes.*` methods: one result per node, in the order asked for. Sent when the change is durable.
package struct NodeResults: Codable, Hashable, Sendable {
    package var results: [NodeResult]
    /// The number for `nodes.undo` to take exactly this back; missing when nothing of it can be taken back.
    package var operation: Int64?
    /// `nodes.undo` only: the change that it took back.
    package var undone: UndoneDeed?
    /// `nodes.undo` only: the limits as they are now, when it took back those of the whole engine, a host or a session.
    package var limits: TransferLimits?
    /// `nodes.undo` only, and then true: it took back a cancel whose grace time was over. The cancelled work is queued again, and files
    /// that had arrived only in part begin anew.
    package var startsAgain: Bool?
    /// Results beyond those that are told; missing: none.
    package var untold: UntoldResults?

    /// Results that one answer tells.
    package static let mostTold: Int = 10_000

    package init(
        results: [NodeResult], operation: Int64? = nil, undone: UndoneDeed? = nil, limits: TransferLimits? = nil,
        startsAgain: Bool? = nil, untold: UntoldResults? = nil
    ) {
        self.startsAgain = startsAgain
        self.untold = untold
        self.results = results
        self.operation = operation
        self.undone = undone
        self.limits = limits
    }

    /// True when anything of it was done.
    package var didAny: Bool { results.contains { $0.result == .done } || untold.map { $0.done > 0 } ?? false }

    /// Adds results: told as long as there are not too many, counted afterwards.
    package mutating func add(_ more: [NodeResult]) {
        let told = more.prefix(max(0, Self.mostTold - results.count))
        results += told
        for result in more.dropFirst(told.count) { untold.count(result) }
    }
}

extension UntoldResults? {
    fileprivate mutating func count(_ result: NodeResult) {
        var counted = self ?? UntoldResults()
        counted.count(result)
        self = counted
    }
}

/// The answer of `nodes.undoable`.
package struct UndoSteps: Codable, Hashable, Sendable {
    /// The last change first.
    package var steps: [UndoStep]

    package init(steps: [UndoStep]) { self.steps = steps }
}

/// Parameters of `nodes.undo`: the last change of each node, a change by its number, or (without any) the last change.
package struct UndoRequest: Codable, Hashable, Sendable {
    package var ids: [NodeID]?
    package var rows: [RowID]?
    package var selector: NodeSelector?
    package var operation: Int64?

    package init(
        ids: [NodeID]? = nil, rows: [RowID]? = nil, selector: NodeSelector? = nil, operation: Int64? = nil
    ) {
        self.ids = ids
        self.rows = rows
        self.selector = selector
        self.operation = operation
    }
}

/// Parameters of `nodes.pause`.
package struct PauseRequest: Codable, Hashable, Sendable {
    package var ids: [NodeID]?
    package var rows: [RowID]?
    package var selector: NodeSelector?
    /// They go on by themselves then. Of nodes that are named it may be said again. Missing: when somebody resumes them.
    package var until: Timestamp?

    package init(_ nodes: NodesRequest, until: Timestamp? = nil) {
        (ids, rows, selector) = (nodes.ids, nodes.rows, nodes.selector)
        self.until = until
    }

    package var nodes: NodesRequest { NodesRequest(ids: ids, rows: rows, selector: selector) }
}

/// Parameters of `nodes.move`: nodes keep the order in which they are named.
package struct MoveRequest: Codable, Hashable, Sendable {
    /// The cases of `MovePlace`.
    package enum Place: String, Codable, Sendable, CaseIterable {
        case top, bottom, earlier, later, before
    }

    package var ids: [NodeID]?
    package var rows: [RowID]?
    package var to: Place
    /// With `to` `before`.
    package var before: NodeID?

    package init(ids: [NodeID]? = nil, rows: [RowID]? = nil, to: Place, before: NodeID? = nil) {
        self.ids = ids
        self.rows = rows
        self.to = to
        self.before = before
    }
}

/// Parameters of `nodes.set`.
package struct SetRequest: Codable, Hashable, Sendable {
    package var ids: [NodeID]?
    package var rows: [RowID]?
    package var selector: NodeSelector?
    package var settings: NodeSettings
    /// Batches only: the credentials that let them in from now on; missing ones stay as they are.
    package var secrets: TransferSecrets?

    package init(
        ids: [NodeID]? = nil, rows: [RowID]? = nil, selector: NodeSelector? = nil, settings: NodeSettings,
        secrets: TransferSecrets? = nil
    ) {
        self.ids = ids
        self.rows = rows
        self.selector = selector
        self.settings = settings
        self.secrets = secrets
    }
}

/// Parameters of `node.show`.
package struct NodeShowRequest: Codable, Hashable, Sendable {
    package var id: NodeID
    package init(id: NodeID) { self.id = id }
}

/// Answer of `node.show`: the node's row, as a screen shows it.
package struct NodeShown: Codable, Hashable, Sendable {
    package var node: NodeRow
    package init(node: NodeRow) { self.node = node }
}

/// Answer of `tree.read`.
package struct SectionRead: Codable, Hashable, Sendable {
    package var section: TreeSection
    package init(section: TreeSection) { self.section = section }
}

/// Parameters of `view.set`: what the client wants to see from now on, instead of what it saw before in this view.
///
/// All that is asked for is sent once, and again when it has changed, together at most 10 times a second. Nothing is
/// sent while the client has not read what was sent before. A view that asks for nothing is closed.
package struct ViewRequest: Codable, Hashable, Sendable {
    /// The client's own number for this view; a client may have up to 1000, 16 of them with sections. Default 0.
    package var view: Int?
    /// Up to 200 sections of the tree.
    package var sections: [SectionRequest]?
    /// Up to 1000 single nodes.
    package var nodes: [NodeID]?
    /// True when the sums over everything are wanted.
    package var totals: Bool?
    /// An expression: the sections hold only what matches it, and what that lies in.
    package var filter: String?

    package init(
        view: Int? = nil, sections: [SectionRequest]? = nil, nodes: [NodeID]? = nil, totals: Bool? = nil,
        filter: String? = nil
    ) {
        self.view = view
        self.sections = sections
        self.nodes = nodes
        self.totals = totals
        self.filter = filter
    }
}

/// Parameters of the notification `view.changed`: what has changed of a view, each part whole.
package struct ViewChange: Codable, Hashable, Sendable {
    package var view: Int
    package var sections: [TreeSection]
    package var nodes: [WatchedNode]
    /// Missing when unchanged or not asked for.
    package var totals: QueueTotals?
    /// There when the view has a filter: which one the sections are of, and how far it has come.
    package var filter: FilterCount?

    package init(
        view: Int, sections: [TreeSection] = [], nodes: [WatchedNode] = [], totals: QueueTotals? = nil,
        filter: FilterCount? = nil
    ) {
        self.view = view
        self.sections = sections
        self.nodes = nodes
        self.totals = totals
        self.filter = filter
    }
}

/// A node of a view, and its row; `null` when there is no such node, or no longer.
package struct WatchedNode: Codable, Hashable, Sendable {
    package var id: NodeID
    @OrNull package var node: NodeRow?

    package init(id: NodeID, node: NodeRow?) {
        self.id = id
        _node = OrNull(wrappedValue: node)
    }
}
