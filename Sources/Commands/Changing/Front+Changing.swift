import CommandLine
import Configuration
import MartletKit

/// A change that can be made to named nodes.
enum NodeChange: String {
    case pause, resume, cancel, retry, purge, move, set
    case runNow = "run-now"
    /// For leftovers at servers, as is `forget`.
    case abort
    case forget

    /// The words for a node when it was done.
    var done: String {
        switch self {
        case .pause: "paused"
        case .resume: "resumed"
        case .cancel: "cancelled"
        case .retry: "queued again"
        case .move: "moved"
        case .set: "changed"
        case .runNow: "starts now"
        case .purge: "forgotten"
        case .abort: "has nothing left there"
        case .forget: "is let lie there"
        }
    }

    /// The words for a node when there was nothing to do.
    var already: String {
        switch self {
        case .pause: "was paused already"
        case .resume: "was not paused"
        case .cancel: "was over already"
        case .retry: "had nothing to try again"
        case .move: "stands there already"
        case .set: "was so already"
        case .runNow: "runs already"
        case .purge: "was forgotten already"
        case .abort, .forget: "had nothing left there"
        }
    }
}

extension Front {
    func change(_ invocation: Invocation, _ change: NodeChange) async throws(CommandFailure) -> ExitStatus {
        guard let selection = try Selection(invocation, command: change.rawValue) else {
            throw .usage("\(change.rawValue): nothing is named", "give IDs such as b7, or a selector such as --all")
        }
        let choice = selection.choice
        if change == .pause, let end = time(of: MartletProgram.pauseEnd, invocation) {
            let results = try await ask { engine throws(RequestError) in
                try await engine.change(choice, .pauseUntil(end)).results
            }
            return tell(
                results, done: { _ in " paused until \(time(end))" }, already: " \(NodeChange.pause.already)",
                invocation,
                empty: "nothing matches")
        }
        let results = try await ask { engine throws(RequestError) in
            switch change {
            case .pause: try await engine.pause(choice)
            case .resume: try await engine.resume(choice)
            case .cancel: try await engine.cancel(choice)
            case .retry: try await engine.retry(choice)
            case .purge: try await engine.purge(choice)
            case .abort, .forget, .move, .set, .runNow: [NodeResult]()
            }
        }
        return tell(results, of: change, invocation, empty: "nothing matches")
    }

    /// A moment that an option names.
    func time(of option: Option<WrittenTime>, _ invocation: Invocation) -> Timestamp? {
        invocation.value(option).map {
            Timestamp(milliseconds: $0.milliseconds(now: surroundings.now(), calendar: surroundings.calendar))
        }
    }

    func purge(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let ids = invocation.operands(as: .node)
        let finished = invocation.has(MartletProgram.finished)
        guard finished != !ids.isEmpty else {
            throw .usage(
                "purge: \(finished ? "both IDs and --finished are given" : "nothing is named")",
                "give IDs, or --finished")
        }
        let results = try await ask { engine throws(RequestError) in
            finished ? try await engine.purgeFinished() : try await engine.purge(.ids(ids))
        }
        return tell(results, of: .purge, invocation, empty: "no batch is over")
    }

    /// One line for each ID; why something was refused on standard error.
    func tell(
        _ results: [NodeResult], of change: NodeChange, _ invocation: Invocation, empty: String
    ) -> ExitStatus {
        tell(
            results, done: { _ in " \(change.done)" }, already: " \(change.already)", isCancel: change == .cancel,
            invocation,
            empty: empty)
    }

    /// - Parameters:
    ///   - done: what stands behind an ID when it was done.
    ///   - already: and when there was nothing to do.
    func tell(
        _ results: [NodeResult], done: (NodeResult) -> String, already: String, isCancel: Bool = false,
        _ invocation: Invocation,
        empty: String
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
        let refused = results.filter { $0.result == .refused }
        if refused.contains(where: { $0.code == .noSuchObject }) { return .noSuchObject }
        return refused.isEmpty ? .done : .refused
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
