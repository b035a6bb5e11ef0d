import Configuration
import FoundationEssentials
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

/// Names that nobody knows.
extension ProblemsPageTests {
    @Test("one name on two ports is one cause; all of its batch is meant, and asked about before it is cancelled")
    func twoPorts() {
        var found = unknown("/home/ana/in")
        var other = found.waits[0]
        (found.waits[0].count, other.count) = (7, 5)
        found.waits.append(other)
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.batches(.success([found]), number: screen.lastNumber)))
        #expect(screen.model.page.problemTitles == ["nas.lcoal cannot be found"])
        screen.press("x")
        #expect(screen.requests.isEmpty && screen.picture.contains("Leave out 12 files of \"raw\"?"))
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["(@run | @wait | @retry) id:b4"])
    }

    @Test("all that waits for a name that nobody knows is meant, whether it has been tried or not")
    func wholeUnknown() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(
            .answer(.batches(.success([unknown("https://nas.lcoal/in/")]), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "problems-unknown-80x24")
        screen.press("r")
        #expect(screen.matched(.retry) == ["(why=hostBackoff | why=backoff) id:b4"])
        screen.press("x")
        #expect(screen.requests.isEmpty, "what is tried just now is cancelled, too: it is asked about")
        screen.wait(.seconds(1))
        screen.press("x")
        #expect(screen.matched(.cancel) == ["(@run | @wait | @retry) id:b4"])
        screen.press("Enter")
        #expect(screen.model.filters.shown?.text == "(@run | @wait | @retry) id:b4")
    }

    @Test("two names that nobody knows are two problems, and what is done to one is done to none of the other")
    func unknownHosts() throws {
        func unknown(_ id: Int64, _ host: String) -> BatchSnapshot {
            var found = self.batch(id, host, [])
            found.destination = "https://\(host)/in/"
            let finding = Finding("\(host) cannot be found", .step("check the spelling of its name, then the network"))
            found.waits = [WaitCount(reason: .hostBackoff, code: .cannotFindHost, count: id, finding: finding)]
            return found
        }
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        let answer = [unknown(1, "lcoal"), unknown(2, "nas.lcoal"), unknown(3, "lcoal")]
        screen.send(.answer(.batches(.success(answer), number: screen.lastNumber)))
        guard let page = screen.model.page as? ProblemsPage else {
            Issue.record("it is the page of problems")
            return
        }
        #expect(page.causes.map(\.files) == [4, 2])
        #expect(page.causes.map(\.title) == ["lcoal cannot be found", "nas.lcoal cannot be found"])
        let filter = try #require(page.causes[0].filter(among: page.causes))
        #expect(filter == #"@retry err:/^lcoal cannot be found/"#)
        #expect(page.causes[1].filter(among: page.causes) == #"@retry err:/^nas\.lcoal cannot be found/"#)
        for cause in page.causes { _ = try TransferFilter(cause.filter(among: page.causes) ?? "") }
        screen.press("r")
        guard case .act(.retry, .matching(let selector), _)? = screen.requests.first else {
            Issue.record("r tries again what matches")
            return
        }
        #expect(selector.filter == filter)
    }
}
