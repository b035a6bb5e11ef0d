import DisplayText
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("V asks whether what was sent is there") struct VerifyingTests {
    private func example() -> ScreenHarness {
        ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
    }

    private func notice(_ screen: ScreenHarness) -> String { screen.model.notice?.text.string ?? "" }

    private func folder(_ files: Int64, _ found: Int64, unlisted: String? = nil) -> VerifiedFolder {
        let absent = (found..<files).map {
            AbsentTask(task: TaskID(rawValue: $0), path: "x", error: TransferError(.notThere, "gone", .retry()))
        }
        return VerifiedFolder(
            destination: "dav://h/", files: files, found: found, absent: unlisted == nil ? absent : [],
            unlisted: unlisted)
    }

    @Test("of the cursor's row; how far it is stands in the message, and what came of it")
    func row() throws {
        var screen = example()
        screen.press("g", "V")
        let number = screen.lastNumber
        guard case .verify(let nodes, readsBack: false, number)? = screen.requests.last else {
            Issue.record("\(screen.requests)")
            return
        }
        #expect(nodes.count == 1 && notice(screen).hasPrefix("Asking the server about"))
        screen.press("V")
        #expect(screen.requests.isEmpty && notice(screen).contains("already"))
        var news = VerifyNews()
        news.add(folder(1200, 1200))
        screen.send(.answer(.verified(news, number: number)))
        #expect(notice(screen).contains("1,200 of 1,200 files"))
        news.isOver = true
        screen.send(.answer(.verified(news, number: number)))
        #expect(notice(screen).contains("at the server, 1,200 of 1,200") && screen.model.notice?.isError == false)
        #expect(screen.model.requests.outstanding[number] == nil)
        // What comes later is of nobody.
        screen.send(.answer(.verified(VerifyNews(), number: number)))
        #expect(notice(screen).contains("1,200 of 1,200"))
    }

    @Test("what is missing, what nobody lists and what is refused is told with what helps")
    func troubles() {
        var screen = example()
        func say(_ news: VerifyNews) -> String {
            screen.press("g", ":", "verify b3 read-back", "Enter")
            #expect(
                screen.requests.last
                    == .verify([.batch(BatchID(rawValue: 3))], readsBack: true, number: screen.lastNumber))
            var news = news
            news.isOver = true
            screen.send(.answer(.verified(news, number: screen.lastNumber)))
            return notice(screen)
        }
        var news = VerifyNews()
        news.add(folder(3, 2))
        #expect(say(news).contains("at the server, 2 of 3") && notice(screen).contains("r sends again what is missing"))
        #expect(screen.model.notice?.isError == true)
        news = VerifyNews()
        news.add(folder(3, 3))
        news.unsent = 1
        #expect(say(news).contains("at the server, 3 of 3; 1 not sent: w says why"))
        news = VerifyNews()
        news.add(folder(3, 0, unlisted: "h does not list folders: look there"))
        #expect(say(news).contains("h does not list folders: look there"))
        news.add(ReadBackProgress(files: 3, same: 3, bytes: 9, isOver: true), to: VerifyNews.Read())
        #expect(say(news).contains("read back, 3 of 3 byte for byte the same") && screen.model.notice?.isError == false)
        news = VerifyNews()
        news.refusal = RequestError(.refused, "b3 was received: its files are on this machine")
        #expect(say(news) == "b3 was received: its files are on this machine")
        screen.press(":", "verify b3 all", "Enter")
        #expect(notice(screen).hasPrefix("Type  verify"))
    }
}
