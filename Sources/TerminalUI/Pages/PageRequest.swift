import MartletKit

/// A request of one page and nobody else. It is a type in the page's folder: what is asked, how it is answered, and what the answer
/// does. All batches, which several pages show, are asked for with `Model.askForBatches` instead.
protocol PageRequest: Hashable, Sendable {
    associatedtype Value: Sendable
    /// True when the answer may take as long as it wants: whatever waits for a server, or for news. Else the engine is shown as silent after
    /// some seconds without an answer.
    var isPatient: Bool { get }
    /// True when only an engine that answers can be asked: a person who has confirmed it is told when none does.
    var needsEngine: Bool { get }
    /// True when it changes what is queued: what the rows become by it is then no news of others, and `undo` does not pass over it.
    var isChange: Bool { get }
    /// Finds the answer, at the edge of the screen.
    func answer(at desk: RequestDesk) async throws(RequestError) -> Value
    /// Takes the answer, whatever page is open by then: `Model.tellPage` reaches the one that asked.
    /// - Parameter number: the number that `Model.ask` returned.
    func answered(_ result: Result<Value, RequestError>, number: Int, in model: inout Model)
}

extension PageRequest {
    var isPatient: Bool { false }
    var needsEngine: Bool { true }
    var isChange: Bool { false }

    fileprivate func result(at desk: RequestDesk) async -> Result<Value, RequestError> {
        do { return .success(try await answer(at: desk)) } catch { return .failure(error) }
    }
}

/// The things with which a page's requests are answered.
struct RequestDesk: Sendable {
    let engine: EngineConnection
    let files: LocalFiles
    /// The variables of this process that a batch keeps or takes its keys from.
    let environment: [String: String]
}

/// A page's request as one of all requests.
struct AnyPageRequest: Hashable, Sendable {
    let request: any PageRequest

    func answered(at desk: RequestDesk) async -> PageAnswer {
        func answer(_ request: some PageRequest) async -> PageAnswer {
            PageAnswer(request, await request.result(at: desk))
        }
        return await answer(request)
    }

    static func == (one: AnyPageRequest, other: AnyPageRequest) -> Bool {
        AnyHashable(one.request) == AnyHashable(other.request)
    }

    func hash(into hasher: inout Hasher) { AnyHashable(request).hash(into: &hasher) }
}

/// The answer to a page's request, and the request, which takes it.
struct PageAnswer: Sendable {
    let take: @Sendable (_ number: Int, _ model: inout Model) -> Void
    /// `nil`: it was done.
    let refusal: RequestError?

    init<Asked: PageRequest>(_ request: Asked, _ result: Result<Asked.Value, RequestError>) {
        take = { request.answered(result, number: $0, in: &$1) }
        refusal = if case .failure(let error) = result { error } else { nil }
    }
}

extension Model {
    /// Sends a page's request, and returns its number.
    @discardableResult
    mutating func ask(_ request: some PageRequest) -> Int {
        ask(.page(isChange: request.isChange), isPatient: request.isPatient) {
            .page(AnyPageRequest(request: request), number: $0)
        }
    }

    /// True while a request of this kind has no answer.
    func awaits<Asked: PageRequest>(_ kind: Asked.Type) -> Bool {
        requests.outstanding.values.contains {
            if case .page(let asked, _) = $0.request { asked.request is Asked } else { false }
        }
    }

    /// The answer to a page's request has come.
    mutating func answered(_ answer: PageAnswer, _ number: Int) {
        guard let request = requests.outstanding.removeValue(forKey: number) else { return }
        if request.purpose.isChange {
            // The engine's answer names nothing that takes it back.
            if let refusal = answer.refusal {
                forget(request, number, refusal)
            } else {
                changes.history.done(request, number, nil, at: now.uptime)
            }
        }
        answer.take(number, &self)
    }

    /// Asks for all batches, which `Page.batchesCame` gets, unless the engine is away or the page has asked already.
    mutating func askForBatches(for page: KeyMap.View) {
        if isConnected, !awaitsBatches(page) { ask(.batches(for: page)) { .batches(number: $0) } }
    }

    /// True while the page waits for all batches.
    func awaitsBatches(_ page: KeyMap.View) -> Bool {
        requests.outstanding.values.contains { if case .batches(page) = $0.purpose { true } else { false } }
    }
}
