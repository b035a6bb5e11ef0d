import Testing
import TransferModel

@testable import TransferService

@Suite struct ServerQuestionsTests {
    @Test func `so many of a kind run at once, one that ends makes room, and no kind takes the room of another`() throws
    {
        var questions = ServerQuestions()
        let numbers = try (0..<ServerQuestion.most).map { _ in try questions.begin(.test) }
        #expect(Set(numbers).count == ServerQuestion.most)
        let refusal = #expect(throws: RequestError.self) { try questions.begin(.test) }
        #expect(refusal?.code == .refused)
        #expect(try !numbers.contains(questions.begin(.search)))
        questions.end(.test)
        #expect(throws: Never.self) { try questions.begin(.test) }
        #expect(throws: RequestError.self) { try questions.begin(.test) }
    }
}
