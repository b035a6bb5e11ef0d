import CommandLine
import Configuration
import DisplayText
import MartletKit

/// The owners of work: what they hold, and forgetting one whose work is over.
extension Front {
    func listSessions(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        guard try await queueToLookAt(invocation) else { return .done }
        let batches = try await batches(of: nil)
        let limits = try await sessionLimits()
        let sessions = Dictionary(grouping: batches, by: \.session)
            .map { SessionLine($0, $1, limits[$0.rawValue]) }.sorted { $0.name < $1.name }
        let table = TextTable(
            columns: [
                .init(title: "Batches", width: 7, alignment: .right),
                .init(title: "Active", width: 6, alignment: .right),
                .init(title: "Files", width: 9, alignment: .right), .init(title: "Size", width: 6, alignment: .right),
            ],
            lastTitle: "Session", width: console.outputIsTerminal ? console.width : nil)
        let json = invocation.has(CommonOptions.json)
        if !json, console.outputIsTerminal { console.line(table.header) }
        for session in sessions {
            guard !json else {
                console.json(session)
                continue
            }
            let cells = [
                "\(session.batches)", "\(session.batchesActive)", "\(session.filesTotal)",
                console.units.size(session.bytesTotal),
            ]
            console.line(table.row(cells, session.name))
        }
        return .done
    }

    /// Its sums and its limit, and (for a person) its batches.
    func showSession(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (name, batches) = try await named(invocation, "session show")
        let session = SessionLine(name, batches, try await sessionLimits()[name.rawValue])
        guard !invocation.has(CommonOptions.json) else {
            console.json(session)
            return .done
        }
        let units = console.units
        for (title, text) in [
            ("Session", session.name),
            ("Batches", "\(session.batches), \(session.batchesActive) of them not over"),
            ("Files", "\(session.filesTotal), \(units.size(session.bytesTotal))"),
            ("Limit", session.limit.map { units.rate($0) } ?? "off"),
        ] {
            console.line(title + String(repeating: " ", count: 10 - title.count) + text)
        }
        return list(batches, json: false)
    }

    /// Nothing is cancelled by it: work that is not over is named, and what to do about it.
    func removeSession(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let (name, batches) = try await named(invocation, "session remove")
        let unfinished = batches.filter { !$0.state.isTerminal }
        guard unfinished.isEmpty else {
            let ids = unfinished.prefix(5).map(\.id.description).joined(separator: ", ")
            throw CommandFailure(
                .refused, .refused,
                "session remove: \(ids)\(unfinished.count > 5 ? " and more" : "") of \(name.rawValue) are not over",
                "wait for them, or run martlet cancel --session \(name.rawValue)")
        }
        let results = try await ask { engine throws(RequestError) in
            try await engine.purge(.ids(batches.map { .batch($0.id) }))
        }
        let isWhole = results.allSatisfy { $0.result != .refused }
        if isWhole, try await sessionLimits()[name.rawValue] != nil {
            let none = ScopedLimit(kind: .session, name: name.rawValue, rate: 0)
            _ = try await ask { engine throws(RequestError) in try await engine.setLimits(LimitsWish(scoped: [none])) }
        }
        return tell(results, of: .purge, invocation, empty: "nothing matches")
    }

    func named(
        _ invocation: Invocation, _ command: String, mayBeLimitOnly: Bool = false
    ) async throws(CommandFailure) -> (SessionName, [BatchSnapshot]) {
        guard let name = invocation.operands(as: .session).first else {
            throw .usage("\(command): NAME is missing", "")
        }
        let batches = surroundings.queueExists ? try await batches(of: name) : []
        var isKnown = !batches.isEmpty
        if !isKnown, mayBeLimitOnly { isKnown = try await isLimited(name) }
        guard isKnown else {
            throw CommandFailure(
                .noSuchObject, .noSuchObject, "\(command): there is no session \(name.rawValue)",
                "see martlet session list")
        }
        return (name, batches)
    }

    private func isLimited(_ name: SessionName) async throws(CommandFailure) -> Bool {
        guard surroundings.queueExists else { return false }
        return try await sessionLimits()[name.rawValue] != nil
    }

    private func batches(of session: SessionName?) async throws(CommandFailure) -> [BatchSnapshot] {
        try await ask { engine throws(RequestError) in try await engine.batches(session: session, states: []) }
    }

    /// Bytes a second, by the session's name.
    private func sessionLimits() async throws(CommandFailure) -> [String: Int64] {
        let limits = try await ask { engine throws(RequestError) in try await engine.limits() }
        return limits.scoped.filter { $0.kind == .session }.reduce(into: [:]) { $0[$1.name] = $1.rate }
    }

    /// A session as `session list` and `session show` print it.
    private struct SessionLine: Encodable {
        let name: String
        let batches: Int
        /// Those that are not over.
        let batchesActive: Int
        let filesTotal: Int64
        let bytesTotal: Int64
        /// Bytes a second for all of it together.
        @OrNull var limit: Int64?

        init(_ name: SessionName, _ batches: [BatchSnapshot], _ limit: Int64?) {
            self.name = name.rawValue
            self.batches = batches.count
            batchesActive = batches.count { !$0.state.isTerminal }
            filesTotal = ByteSum.of(batches.lazy.map(\.filesTotal))
            bytesTotal = ByteSum.of(batches.lazy.map(\.bytesTotal))
            _limit = OrNull(wrappedValue: limit)
        }
    }
}
