import CommandLine
import Configuration
import MartletKit

/// The words of a change for one node: when it was done, and when there was nothing to do.
struct ResultWords {
    let done: String
    let already: String
    var isCancel = false
}

/// Printing what became of each node.
extension CommandContext {
    /// Makes a change that the selected nodes have in common.
    func change(
        _ nodes: NodeChoice, _ deed: NodeDeed, _ words: ResultWords, _ invocation: Invocation
    ) async throws(CommandFailure) -> ExitStatus {
        let changed = try await ask { engine throws(RequestError) in try await engine.change(nodes, deed) }
        return tell(changed.results, words, invocation, untold: changed.untold)
    }

    /// One line for each ID; why something was refused on standard error.
    func tell(
        _ results: [NodeResult], _ words: ResultWords, _ invocation: Invocation, empty: String = "nothing matches",
        untold: UntoldResults? = nil
    ) -> ExitStatus {
        tell(
            results, done: { _ in " \(words.done)" }, already: " \(words.already)", isCancel: words.isCancel,
            invocation, empty: empty, untold: untold)
    }

    /// - Parameters:
    ///   - done: what stands behind an ID when it was done.
    ///   - already: and when there was nothing to do.
    ///   - empty: said when there is no result.
    ///   - untold: results beyond these, which the engine has only counted.
    func tell(
        _ results: [NodeResult], done: (NodeResult) -> String, already: String, isCancel: Bool = false,
        _ invocation: Invocation, empty: String = "nothing matches", untold: UntoldResults? = nil
    ) -> ExitStatus {
        let json = invocation.has(CommonOptions.json)
        if results.isEmpty, !json { console.note(empty) }
        for result in results {
            if json {
                console.json(ResultLine(result))
                continue
            }
            switch result.result {
            case .done: console.line("\(result.id)\(done(result))\(price(of: result, isCancel: isCancel))")
            case .already: console.line("\(result.id)\(already)")
            case .refused:
                console.line("\(result.id) refused")
                let why = result.message ?? "refused"
                // Most messages name it themselves.
                console.note("martlet: " + (why.hasPrefix("\(result.id) ") ? why : "\(result.id): \(why)"))
            }
        }
        if let untold {
            console.note(
                "and \(untold.all) more: \(untold.done) done, \(untold.already) already, \(untold.refused) refused")
        }
        let refused = results.filter { $0.result == .refused }
        if refused.contains(where: { $0.code == .noSuchObject }) { return .noSuchObject }
        return refused.isEmpty && untold?.refused ?? 0 == 0 ? .done : .refused
    }

    /// The cost of stopping it at a server that cannot resume.
    private func price(of result: NodeResult, isCancel: Bool) -> String {
        StoppingCost(isCancel ? .cancel : .pause, bytes: result.bytesToRepeat ?? 0)
            .map { "; \($0.sentence(console.units.size))" } ?? ""
    }

    /// `{id, result, code}`; with the message when refused.
    private struct ResultLine: Encodable {
        let id: String
        let result: NodeResult.Outcome
        @OrNull var code: RequestErrorCode?
        let message: String?
        let bytesToRepeat: Int64?
        let pausedAgain: Bool?
        let pausedUntil: Timestamp?
        let files: Int64?

        init(_ result: NodeResult) {
            id = result.id.description
            self.result = result.result
            _code = OrNull(wrappedValue: result.code)
            message = result.message
            bytesToRepeat = result.bytesToRepeat
            (pausedAgain, pausedUntil) = (result.pausedAgain, result.pausedUntil)
            files = result.files
        }
    }
}
