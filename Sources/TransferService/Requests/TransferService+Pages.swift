import ServiceWire
import TransferModel
import TransferQueue

/// The nodes that a request means, however many: a page of them is one transaction, and between two pages the queue serves others.
extension TransferService {
    /// Nodes of one page.
    static let page = 1000

    /// Calls `body` with the nodes of a request, each once: those named, then those selected, a page at a time.
    func eachPage(of request: NodesRequest, _ body: ([NodeID]) async throws -> Void) async throws {
        // Nothing is done of a request that names what is not there.
        if let selector = request.selector, let unknown = try await queue.reader.unknown(in: selector) {
            throw Self.missing(unknown)
        }
        var named = (request.ids ?? []).unique
        for row in (request.rows ?? []).unique {
            var page = try await queue.reader.nodes(in: row)
            while case .task(let last)? = page.last, page.count == Self.page {
                try await body(page)
                page = try await queue.reader.nodes(in: row, after: last)
            }
            named += page
        }
        var rest = named.unique[...]
        while !rest.isEmpty {
            try await body(Array(rest.prefix(Self.page)))
            rest = rest.dropFirst(Self.page)
        }
        guard let selector = request.selector else { return }
        if let filter = selector.filter { return try await eachMatch(of: selector, filter, body) }
        var after: NodeID?
        while true {
            let nodes = try await queue.reader.nodes(matching: selector, after: after, limit: Self.page)
            if !nodes.isEmpty { try await body(nodes) }
            guard nodes.count == Self.page else { return }
            after = nodes.last
        }
    }
}

extension Array where Element: Hashable {
    /// Its elements in their order, each once.
    var unique: [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}
