import Configuration
import DisplayText
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("A key that was meant for a row that is gone does not change its neighbour")
struct MovedCursorTests {
    /// A batch with files, of which the first ones may be folded away.
    private func sections(from first: Int64) -> [TreeSection] {
        let batch = Rows.batch(1, "photos", .running, { ($0.running, $0.completed) = (4 - first, first) })
        let files = (first..<4).map { Rows.task(1, 10 + $0, "\($0).jpg", .running, total: Rows.mega) }
        return [
            Rows.section(nil, [batch]), Rows.section(batch.id, files + [Rows.group(1, 0, .completed, first)]),
        ]
    }

    private func deeds(_ screen: ScreenHarness) -> [NodeChoice] {
        screen.requests.compactMap { if case .act(_, let nodes, _) = $0 { nodes } else { nil } }
    }

    private func row(_ file: Int64) -> NodeChoice {
        .rows([.task(BatchID(rawValue: 1), TaskID(rawValue: 10 + file))])
    }

    /// The cursor was on the first file, which is done and folded away.
    private func moved() -> ScreenHarness {
        var screen = ScreenHarness(80, 24, sections(from: 0))
        screen.press("j")
        #expect(screen.cursorName == "0.jpg")
        screen.news(sections(from: 1))
        #expect(screen.cursorName == "1.jpg")
        return screen
    }

    @Test(
        "in the list one such key is refused with a line that says where the cursor is",
        arguments: ["x", "p", "Space", "T"])
    func list(key: String) {
        var screen = moved()
        screen.press(key)
        #expect(deeds(screen).isEmpty && screen.model.tree.marks.isEmpty && screen.model.requests.outstanding.isEmpty)
        #expect(screen.model.notice?.text == "That row is gone: the cursor is on \"1.jpg\" now.")
        screen.press(key)
        switch key {
        case "Space": #expect(screen.model.tree.marks.count == 1)
        case "T": #expect(!screen.model.requests.outstanding.isEmpty)
        default: #expect(deeds(screen) == [row(1)])
        }
    }

    @Test("a range whose beginning is gone is refused once, and means nothing else", arguments: ["x", "p", "Space"])
    func lostRange(key: String) {
        var screen = ScreenHarness(80, 24, sections(from: 0))
        screen.press("j", "v", "j", "j")
        screen.news(sections(from: 1))
        #expect(screen.cursorName == "2.jpg")
        screen.press(key)
        #expect(deeds(screen).isEmpty && screen.model.tree.marks.isEmpty && screen.model.tree.rangeStart == nil)
        #expect(
            screen.model.notice?.text
                == "The row at which the range began is not in the list any more: begin it again with v.")
        screen.press(key)
        if key == "Space" {
            #expect(screen.model.tree.marks.count == 1)
        } else {
            #expect(deeds(screen) == [row(2)])
        }
        screen = ScreenHarness(80, 24, sections(from: 0))
        screen.press("j", "v", "j", "j")
        screen.news(sections(from: 1))
        screen.press("v", "j", "x")
        #expect(deeds(screen) == [.rows([2, 3].map { .task(BatchID(rawValue: 1), TaskID(rawValue: 10 + $0)) })])
    }

    @Test("on a row's own page a question is about that row, wherever the list's cursor is")
    func ownPage() {
        var screen = ScreenHarness(80, 24, sections(from: 0))
        screen.press("j", "i")
        screen.news(sections(from: 1))
        screen.press("w")
        let asked = screen.requests.compactMap { if case .why(let node, _) = $0 { node } else { nil } }
        #expect(asked == [.task(TaskID(rawValue: 10))])
    }

    @Test("a command without a name means the cursor's row, too")
    func command() {
        for line in ["cancel", "move top"] {
            var screen = moved()
            screen.press(":", line, "Enter")
            #expect(deeds(screen).isEmpty)
            screen.press(":", line, "Enter")
            #expect(deeds(screen) == [row(1)])
        }
    }

    @Test("whoever has moved the cursor means the row; marked rows are named; who only looks is let")
    func meant() {
        var screen = moved()
        screen.press("j", "x")
        #expect(deeds(screen) == [row(2)])
        screen = moved()
        screen.press("i")
        #expect(screen.model.page is DetailsPage)
        screen = ScreenHarness(80, 24, sections(from: 0))
        screen.press("j", "j", "j", "Space", "k", "k", "k")
        screen.news(sections(from: 1))
        screen.press("x")
        #expect(deeds(screen) == [row(2)])
    }

    @Test("rows that another filter leaves out are not gone by themselves")
    func filtered() {
        var screen = ScreenHarness(80, 24, sections(from: 0))
        screen.press("j")
        screen.model.tree.forgetRows()
        screen.news(sections(from: 1))
        screen.press("x")
        #expect(deeds(screen) == [row(1)])
    }

    @Test("in history a second r does not try the neighbour again")
    func history() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("H")
        let batches = [7, 8].map { id in
            Rows.snapshot(
                id, "old\(id)", .failed, { $0.failed = 1 },
                finished: ScreenHarness.morning.advanced(by: .seconds(-id)))
        }
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        screen.press("r")
        #expect(deeds(screen) == [.ids([.batch(BatchID(rawValue: 7))])])
        screen.answer([NodeResult(id: .batch(BatchID(rawValue: 7)), result: .done)])
        screen.send(.answer(.batches(.success([batches[1]]), number: screen.lastNumber)))
        screen.press("r")
        #expect(deeds(screen).isEmpty)
        #expect(screen.model.notice?.text == "That batch is gone: the cursor is on \"old8\" now.")
        screen.press("r")
        #expect(deeds(screen) == [.ids([.batch(BatchID(rawValue: 8))])])
    }

    @Test("of the servers a second x does not remove the next one")
    func servers() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("D")
        screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
        screen.press("x")
        #expect(screen.asked(DestinationRequest.self).count == 1)
        screen.answer(
            DestinationRequest.self, .success(.changed(DestinationsFile(bytes: Adding.configured.removing("nas")))))
        screen.press("x")
        #expect(screen.asked(DestinationRequest.self).isEmpty)
        #expect(screen.picture.contains("That server is gone: the cursor is on photos now."))
        screen.press("x")
        #expect(screen.asked(DestinationRequest.self).map(\.request) == [.remove("photos")])
    }
}
