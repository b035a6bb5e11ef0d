import ServiceWire
public import TransferModel

extension EngineConnection {
    /// A new view, which shows nothing until its ``TreeSubscription/show(_:nodes:totals:)`` is called.
    public func view() -> TreeSubscription {
        let number = nextNumber()
        let mailbox = ViewMailbox()
        if isClosed { mailbox.finish() } else { views[number] = mailbox }
        return TreeSubscription(connection: self, number: number, mailbox: mailbox)
    }

    /// The rows below a node as they are now; the root's (`nil`) are the batches.
    public nonisolated func section(of parent: RowID?, limit: Int = 200) async throws(RequestError) -> TreeSection {
        try await call(Methods.treeRead, SectionRequest(parent: parent, limit: limit)).section
    }

    /// The next row below or behind a row whose name has a text, or the previous one; asked again while it is not
    /// complete.
    ///
    /// - Parameters:
    ///   - text: part of a name; empty: the way to `row` itself is asked for.
    ///   - row: where to begin; `nil`: at the first.
    ///   - here: whether that row counts, too.
    ///   - filter: only files that match this.
    public nonisolated func find(
        _ text: String, after row: RowID? = nil, here: Bool = false, backwards: Bool = false,
        order: TreeOrder? = nil, flat: Bool = false, filter: String? = nil
    ) async throws(RequestError) -> FoundRow {
        try await call(
            Methods.treeFind,
            FindRequest(
                text: text, after: row, here: here, backwards: backwards, order: order, flat: flat, filter: filter))
    }

    /// A node's row as it is now.
    public nonisolated func node(_ id: NodeID) async throws(RequestError) -> NodeRow {
        try await call(Methods.nodeShow, NodeShowRequest(id: id)).node
    }

    /// The sums over everything as they are now.
    public nonisolated func totals() async throws(RequestError) -> QueueTotals {
        try await call(Methods.totals, Nothing())
    }

    /// Speeds since the engine started, in the last five minutes, hour and day: of everything, or of one batch.
    public nonisolated func throughput(of batch: BatchID? = nil) async throws(RequestError) -> ThroughputReport {
        try await call(Methods.throughput, ThroughputRequest(batch: batch))
    }

    /// Tells the engine what a view wants. While there is no engine nothing is sent; `connected` sends it then.
    func sendView(_ number: Int) async {
        guard let link, state.isConnected, let wanted = views[number]?.send() else { return }
        do {
            _ = try await exchange(on: link) { id in
                (try? WireCoding.line(WireRequest(id: .number(id), method: .viewSet, params: wanted))) ?? []
            }
        } catch {
            // An engine that went away is asked again by itself.
            if error.code != .engineUnreachable, error != Self.cancelled { views[number]?.finish(error) }
        }
    }

    func closeView(_ number: Int) async {
        guard views.removeValue(forKey: number) != nil, let link, state.isConnected else { return }
        _ = try? await exchange(on: link) { id in
            (try? WireCoding.line(WireRequest(id: .number(id), method: .viewSet, params: ViewRequest(view: number))))
                ?? []
        }
    }

    func notified(_ name: String, _ line: [UInt8]) {
        if name == NotificationName.engineEnds.rawValue { link?.saidGoodbye = true }
        guard name == NotificationName.viewChanged.rawValue,
            let change = try? WireCoding.value(NotificationBody<ViewChange>.self, from: line).params,
            let mailbox = views[change.view]
        else { return }
        var update = ViewUpdate(sections: change.sections, totals: change.totals, filter: change.filter)
        for node in change.nodes { update.nodes.updateValue(node.node, forKey: node.id) }
        mailbox.put(update.clipped(to: mailbox.asked))
    }
}

private struct NotificationBody<Parameters: Decodable>: Decodable {
    var params: Parameters
}
