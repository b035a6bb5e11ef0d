import MartletKit

/// A question that one page has and nobody else. It is a type in the page's folder: what is asked, how it is answered, and what the answer
/// does. All batches, which several pages show, are asked for with `Model.askForBatches` instead.
protocol PageQuestion: Hashable, Sendable {
    associatedtype Value: Sendable
    /// True when the answer may take as long as it wants: whatever waits for a server, or for news. Else the engine is shown as silent after
    /// some seconds without an answer.
    var isPatient: Bool { get }
    /// True when only an engine that answers can be asked: a person who has confirmed it is told when none does.
    var needsEngine: Bool { get }
    /// True when it changes what is queued: what the rows become by it is then no news of others, and `undo` does not pass over it.
    var isChange: Bool { get }
    /// Finds the answer, at the edge of the screen.
    func answer(at desk: QuestionDesk) async throws(RequestError) -> Value
    /// Takes the answer, whatever page is open by then: `Model.tellPage` reaches the one that asked.
    /// - Parameter number: the number that `Model.ask` returned.
    func answered(_ result: Result<Value, RequestError>, number: Int, in model: inout Model)
}

extension PageQuestion {
    var isPatient: Bool { false }
    var needsEngine: Bool { true }
    var isChange: Bool { false }

    fileprivate func result(at desk: QuestionDesk) async -> Result<Value, RequestError> {
        do { return .success(try await answer(at: desk)) } catch { return .failure(error) }
    }
}

/// The things with which questions are answered.
struct QuestionDesk: Sendable {
    let engine: EngineConnection
    let files: LocalFiles
    /// The variables of this process that a batch keeps or takes its keys from.
    let environment: [String: String]
}

/// A page's question as one of the requests.
struct AskedQuestion: Hashable, Sendable {
    let question: any PageQuestion

    func answered(at desk: QuestionDesk) async -> PageAnswer {
        func answer(_ question: some PageQuestion) async -> PageAnswer {
            PageAnswer(question, await question.result(at: desk))
        }
        return await answer(question)
    }

    static func == (one: AskedQuestion, other: AskedQuestion) -> Bool {
        AnyHashable(one.question) == AnyHashable(other.question)
    }

    func hash(into hasher: inout Hasher) { AnyHashable(question).hash(into: &hasher) }
}

/// The answer to a page's question, and the question, which takes it.
struct PageAnswer: Sendable {
    let take: @Sendable (_ number: Int, _ model: inout Model) -> Void
    /// `nil`: it was done.
    let refusal: RequestError?

    init<Question: PageQuestion>(_ question: Question, _ result: Result<Question.Value, RequestError>) {
        take = { question.answered(result, number: $0, in: &$1) }
        refusal = if case .failure(let error) = result { error } else { nil }
    }
}

extension Model {
    /// Sends a page's question, and returns its number.
    @discardableResult
    mutating func ask(_ question: some PageQuestion) -> Int {
        ask(.page(isChange: question.isChange), isPatient: question.isPatient) {
            .page(AskedQuestion(question: question), number: $0)
        }
    }

    /// True while a question of this kind has no answer.
    func isAsking<Question: PageQuestion>(_ kind: Question.Type) -> Bool {
        requests.outstanding.values.contains {
            if case .page(let asked, _) = $0.request { asked.question is Question } else { false }
        }
    }

    /// The answer to a page's question has come.
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
        if isConnected, !isAskingForBatches(page) { ask(.batches(for: page)) { .batches(number: $0) } }
    }

    /// True while the page waits for all batches.
    func isAskingForBatches(_ page: KeyMap.View) -> Bool {
        requests.outstanding.values.contains { if case .batches(page) = $0.purpose { true } else { false } }
    }
}
