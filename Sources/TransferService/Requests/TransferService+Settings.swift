import ServiceWire
import TransferEngine
import TransferModel
import TransferQueue

/// Changes of what is queued or running: its settings, and what lets it in.
extension TransferService {
    func set(_ request: SetRequest) async throws -> NodeResults {
        let settings = request.settings
        if settings.isEmpty, request.secrets?.isEmpty ?? true {
            throw RequestError(.usage, "nodes.set: nothing is to be changed")
        }
        if let policy = settings.ifExists { try Self.check(policy) }
        try await AuthoritiesFile.check(settings.caFile)
        let nodes = NodesRequest(ids: request.ids, rows: request.rows, selector: request.selector)
        var renewed: NodeResults?
        if let secrets = request.secrets, !secrets.isEmpty {
            renewed = try await replaceSecrets(of: nodes, by: secrets)
        }
        if let renewed, settings.isEmpty { return renewed }
        var results = try await changeTogether(nodes) { try await $0.set($1, settings, joining: $2) }
        // One result for each node: the refusal, where one of both was refused.
        var refusals: [NodeID: NodeResult] = [:]
        for refusal in renewed?.results ?? [] where refusal.result == .refused { refusals[refusal.id] = refusal }
        for index in results.results.indices {
            if let refusal = refusals[results.results[index].id] { results.results[index] = refusal }
        }
        return results
    }

    private func replaceSecrets(of request: NodesRequest, by secrets: TransferSecrets) async throws -> NodeResults {
        if secrets.hasLogin { try await refuseSeveralServers(of: request) }
        var isGiven = false
        let results = try await change(request) { writer, nodes in
            let change = try await writer.replaceSecrets(of: meant(nodes, by: request), by: secrets)
            isGiven = isGiven || !change.loginsGiven.isEmpty
            return change
        }
        if isGiven { try await goOn("another login was given") }
        return results
    }

    /// The nodes of a page that get a login: who selects batches does not mean those that are over, unless they are named.
    private func meant(_ page: [NodeID], by request: NodesRequest) async throws -> [NodeID] {
        guard let selector = request.selector, selector.batch == nil else { return page }
        let named = Set(request.ids ?? [])
        let unfinished = Set(try await queue.writer.unfinished(page))
        return page.filter { unfinished.contains($0) || named.contains($0) }
    }

    /// Refuses a login for batches of several servers: each would be shown it, and a person thinks of one.
    private func refuseSeveralServers(of request: NodesRequest) async throws {
        var servers: Set<LoginServer> = []
        var batches = 0
        try await eachPage(of: request) { page in
            let nodes = try await meant(page, by: request)
            batches += nodes.count
            servers.formUnion(try await queue.writer.loginServers(of: nodes))
        }
        // One batch is refused by its name.
        guard batches > 1, servers.count > 1 else { return }
        let named = servers.map(\.displayed).sorted().prefix(3).joined(separator: ", ")
        throw RequestError(
            .usage,
            "a login goes to one server, and these batches are of \(servers.count) (\(named)\(servers.count > 3 ? ", ..." : "")): "
                + "name those of one")
    }
}
