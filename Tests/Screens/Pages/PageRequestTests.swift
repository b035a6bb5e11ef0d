import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("A request of one page")
struct PageRequestTests {
    /// With a question that leads to it, answered with yes once the engine is lost.
    private func confirmedTooLate(_ request: some PageRequest) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.model.confirm(
            "Ask?", [], "x", "Ask", no: "Leave it", .ask(AnyPageRequest(request: request), saying: "Asking ..."))
        screen.wait(.seconds(1))
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.press("x")
        return screen
    }

    @Test("an engine that was lost while the person was asked is not asked what only an engine can answer")
    func lostMeanwhile() {
        let lost = confirmedTooLate(StoryRequest(task: TaskID(rawValue: 10)))
        #expect(lost.asked(StoryRequest.self).isEmpty)
        #expect(lost.model.notice?.isError == true)
        #expect(confirmedTooLate(LingeringRequest()).asked(LingeringRequest.self).count == 1)
    }

    /// A page's own change of the queue.
    private struct Removal: PageRequest {
        var isChange: Bool { true }
        func answer(at desk: RequestDesk) async throws(RequestError) {}
        func answered(_ result: Result<Void, RequestError>, number: Int, in model: inout Model) {}
    }

    @Test("one that changes the queue is a change of this screen, which cannot be taken back")
    func change() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.model.ask(Removal())
        var cancelled = Rows.example[0]
        cancelled.rows[0].state = .cancelled
        screen.news([cancelled])
        #expect(!screen.model.observed.changedByOthers.isRecent(cancelled.rows[0].id, at: screen.uptime))
        screen.answer(Removal.self, .success(()))
        screen.press("u")
        #expect(screen.model.notice?.text.string.contains("This cannot be taken back") == true)
        screen.model.ask(Removal())
        screen.answer(Removal.self, .failure(RequestError(.internal, "no")))
        #expect(screen.model.changes.history.newest?.state == .final, "what was refused is no change")
    }
}
