import TransferModel

/// Questions to servers that the engine asks for clients, each for as long as its client is there.
enum ServerQuestion {
    /// `destination.test`.
    case test
    /// A folder of `nodes.verify`.
    case verification
    /// `leftovers.search`.
    case search

    /// Most of a kind that run at once.
    static let most = 8

    fileprivate var refusal: String {
        switch self {
        case .test: "\(Self.most) other tests of servers are running: ask again when one of them has ended"
        case .verification: "\(Self.most) other folders are being verified: ask again when one of them is done"
        case .search: "\(Self.most) other searches for leftovers are running: ask again when one of them has ended"
        }
    }
}

/// The questions that run now. At most ``ServerQuestion/most`` of a kind do.
struct ServerQuestions {
    private var running: [ServerQuestion: Int] = [:]
    private var last = 0

    /// - Returns: a number of its own.
    mutating func begin(_ question: ServerQuestion) throws(RequestError) -> Int {
        guard running[question, default: 0] < ServerQuestion.most else {
            throw RequestError(.refused, question.refusal)
        }
        running[question, default: 0] += 1
        last += 1
        return last
    }

    mutating func end(_ question: ServerQuestion) { running[question, default: 1] -= 1 }
}

extension TransferService {
    /// Asks a server something for a client. The task is cancelled when the client goes, and counts until it has ended.
    func ask<Answer: Sendable>(
        _ question: ServerQuestion, for client: ServiceClient, _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let number = try questions.begin(question)
        defer { questions.end(question) }
        let asking = Task { try await body() }
        client.questions[number] = { asking.cancel() }
        defer { client.questions[number] = nil }
        if !client.isOpen { asking.cancel() }
        return try await asking.value
    }
}
