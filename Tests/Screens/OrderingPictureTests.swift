import DisplayText
import MartletKit
import Terminal
import Testing

@testable import TerminalUI

/// Order, priority and limits by keys; every change is asked of the engine and can be taken back.
@Suite("What goes first, and how fast") struct OrderingPictureTests {
    private func screen(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example)
    }

    private let limits = TransferLimits(
        up: 512 << 10, down: nil, transfers: 8, transfersPerHost: 8, upTimetable: "08:00,512K 18:00,off",
        scoped: [ScopedLimit(kind: .host, name: "photos.example", rate: 4 << 20)])

    @Test("one step earlier or later is one key, and marked rows stay marked for the next step")
    func steps() {
        var screen = screen()
        let first = screen.model.tree.cursorRow?.id
        screen.press("]")
        #expect(screen.requests.contains { $0.isAct(.move(.later), [first].compactMap(\.self)) })
        screen.answerDone()
        Pictures.expect(screen.picture, "moved-80x24")
        screen.press("Space", "[")
        screen.answerDone()
        #expect(screen.model.tree.marks.count == 1)
        screen.press("u")
        #expect(screen.requests.contains(.undo(.operation(7), number: screen.lastNumber)))
    }

    @Test("the order menu says what there is; its first line is chosen, and a letter acts at once")
    func menu() {
        var screen = screen()
        screen.press("o")
        Pictures.expect(screen.picture, "order-80x24")
        screen.press("n")
        #expect(screen.requests.contains { $0.isAct(.runNow, [screen.model.tree.cursorRow?.id].compactMap(\.self)) })
        screen.answerDone()
        #expect(screen.model.notice?.text.string.hasSuffix("starts now.") == true)
        screen.press("o", "4")
        #expect(
            screen.requests.contains {
                $0.isAct(
                    .set(NodeSettings(priority: .high)), [screen.model.tree.cursorRow?.id].compactMap(\.self))
            })
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        screen.answerDone()
        screen.press("o")
        Pictures.expect(screen.picture, "order-40x8")
    }

    @Test("marked rows can go before the cursor's")
    func before() {
        var screen = screen()
        screen.press("}", "Space", "g", "o")
        let marked = screen.model.tree.marks.keys.map(\.self)
        screen.press("b")
        #expect(screen.requests.contains { $0.isAct(.move(.before(.batch(BatchID(rawValue: 1)))), marked) })
    }

    @Test("the limits that hold are asked for, shown, and changed line by line")
    func form() {
        var screen = screen()
        screen.press("T")
        #expect(screen.requests.contains(.limits(of: BatchID(rawValue: 1), number: screen.lastNumber)))
        screen.send(.answer(.limits(.success(limits), session: .default, number: screen.lastNumber)))
        Pictures.expect(screen.picture, "limits-80x24")
        screen.press("^U", "2m", "Tab", "^U", "tea", "Enter")
        Pictures.expect(screen.picture, "limits-wrong-80x24")
        screen.press("^U", "08:00,1M", "20:00,off".replacing("20", with: " 20"), "Enter")
        let wish = LimitsWish(up: "08:00,1M 20:00,off")
        #expect(screen.requests.contains { if case .setLimits(wish, _) = $0 { true } else { false } })
        #expect(
            screen.requests.contains {
                $0.isAct(
                    .set(NodeSettings(limit: 2 << 20)), [screen.model.tree.cursorRow?.id].compactMap(\.self))
            })
    }

    @Test("Esc leaves the limits as they are, Enter without a change does too, and small windows show one line")
    func closing() {
        for key in ["Esc", "Enter", "^C"] {
            var screen = screen()
            screen.press("T")
            screen.send(.answer(.limits(.success(limits), session: .default, number: screen.lastNumber)))
            screen.press(key)
            #expect(screen.model.form == nil && !screen.requests.contains { $0.changes }, "\(key)")
        }
        var small = screen(38, 8)
        small.press("T")
        small.send(.answer(.limits(.success(limits), session: .default, number: small.lastNumber)))
        Pictures.expect(small.picture, "limits-38x8")
    }

    @Test("what holds for everything stands in the header, and a change says so with its undo")
    func header() {
        var screen = ScreenHarness(120, 36, Rows.example)
        var totals = Rows.totals(Rows.example[0].rows)
        (totals.limitUp, totals.limitDown) = (2 << 20, nil)
        screen.news(Rows.example, totals: totals)
        #expect(screen.lines[0].contains("cap 2.0M"))
        totals.limitUp = nil
        screen.news(Rows.example, totals: totals)
        #expect(screen.lines[0].contains("cap off"))
        screen.press("T")
        screen.send(.answer(.limits(.success(limits), session: .default, number: screen.lastNumber)))
        screen.press("Up", "Up", "^U", "3", "Enter")
        screen.send(.answer(.limitsSet(.success(limits), number: screen.lastNumber)))
        #expect(screen.model.notice?.text.string == "Limits: up 512K/s now, down off, 8 at once.")
        #expect(screen.model.notice?.undo?.choice == .last)
    }
}

extension Request {
    fileprivate func isAct(_ deed: Deed, _ rows: [RowID]) -> Bool {
        if case .act(deed, .rows(rows), _) = self { true } else { false }
    }

    fileprivate var changes: Bool {
        switch self {
        case .act, .setLimits, .undo, .clearFinished: true
        default: false
        }
    }
}
