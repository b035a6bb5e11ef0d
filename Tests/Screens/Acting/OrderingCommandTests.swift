@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("Order, priority and limits can be typed as in the shell")
struct OrderingCommandTests {
    private func typed(_ line: String) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press(":", line, "Enter")
        return screen
    }

    private func sent(_ line: String) -> Request? {
        typed(line).requests.first { request in
            switch request {
            case .show, .count: false
            default: true
            }
        }
    }

    private let batch = NodeID.batch(BatchID(rawValue: 7))

    @Test("move")
    func move() {
        let here = NodeChoice.rows([.batch(BatchID(rawValue: 1))])
        #expect(sent("move top") == .act(.move(.top), here, number: 1))
        #expect(sent("move --bottom") == .act(.move(.bottom), here, number: 1))
        #expect(sent("move b7 up") == .act(.move(.earlier), .ids([batch]), number: 1))
        let before = MovePlace.before(.batch(BatchID(rawValue: 3)))
        #expect(sent("move b7 --before b3") == .act(.move(before), .ids([batch]), number: 1))
        #expect(sent("move b7") == nil && sent("move sideways") == nil && sent("move top top") == nil)
        #expect(typed("move b7").picture.contains("Type  move"))
    }

    @Test("set")
    func set() {
        #expect(
            sent("set b7 --limit 2M --priority low")
                == .act(.set(NodeSettings(priority: .low, limit: 2 << 20)), .ids([batch]), number: 1))
        #expect(
            sent("set limit off")
                == .act(.set(NodeSettings(limit: 0)), .rows([.batch(BatchID(rawValue: 1))]), number: 1))
        #expect(sent("set b7") == nil && sent("set priority huge") == nil && sent("set limit fast") == nil)
        #expect(sent("set b7 if-exists skip") == .act(.set(NodeSettings(ifExists: .skip)), .ids([batch]), number: 1))
        #expect(sent("set b7 if-exists rename") == nil)
        #expect(typed("set b7 if-exists rename").picture.contains("there are fail, skip, replace"))
        #expect(typed("set priority huge").picture.contains("There is no priority huge"))
    }

    @Test("limit")
    func limit() {
        #expect(sent("limit 2M --up") == .setLimits(LimitsWish(up: "2M"), number: 1))
        #expect(sent("limit off") == .setLimits(LimitsWish(up: "off", down: "off"), number: 1))
        #expect(
            sent("limit down 08:00,512K 18:00,off") == .setLimits(LimitsWish(down: "08:00,512K 18:00,off"), number: 1))
        #expect(sent("limit transfers 2") == .setLimits(LimitsWish(transfers: 2), number: 1))
        let scoped = [ScopedLimit(kind: .session, name: "photos", rate: 1 << 20)]
        #expect(sent("limit session photos 1M") == .setLimits(LimitsWish(scoped: scoped), number: 1))
        #expect(sent("limit fast") == nil && sent("limit transfers 0") == nil)
        #expect(typed("limit fast").picture.contains("is no rate"))
    }

    @Test("saved filters are counted while the palette is open, and not longer")
    func counts() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.model.filters.saved = [SavedFilter(name: "errors", text: "@err 403")]
        screen.press(":")
        #expect(screen.requests.contains(.count(["@err 403"])))
        screen.press("err")
        #expect(!screen.requests.contains { if case .count = $0 { true } else { false } })
        screen.send(.counted(FilterCount(text: "@err 403", matched: 1206, total: 12406, complete: false)))
        #expect(screen.picture.contains("1,206+ files  @err 403"))
        screen.send(.counted(FilterCount(text: "@err 403", matched: 1206, total: 12406, complete: true)))
        #expect(screen.picture.contains("1,206 files  @err 403"))
        screen.press("Esc")
        #expect(screen.requests.contains(.count([])))
    }
}
