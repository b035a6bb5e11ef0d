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
        // What is typed replaces what stands there; a key that edits keeps it.
        screen.press("Up", "Up", "Up", "3", "Enter")
        #expect(screen.requests == [.setLimits(LimitsWish(transfers: 3), number: screen.lastNumber)])
        var set = limits
        set.operation = 5
        screen.send(.answer(.limitsSet(.success(set), number: screen.lastNumber)))
        #expect(screen.model.notice?.text.string == "Transfers at once: 3.")
        #expect(screen.model.notice?.undo?.choice == .operation(5))
        #expect(screen.model.changes.history.operations == [5])
        screen.press("T")
        screen.send(.answer(.limits(.success(limits), session: .default, number: screen.lastNumber)))
        screen.press("Up", "Up", "Up", "End", "4", "Enter")
        #expect(screen.requests == [.setLimits(LimitsWish(transfers: 84), number: screen.lastNumber)])
        // Another one's change is not taken back for it.
        screen.send(.answer(.limitsSet(.success(limits), number: screen.lastNumber)))
        #expect(screen.model.notice?.undo == nil && screen.model.changes.history.operations == [5])
    }

    @Test("what was set is named, each with what it is now")
    func named() {
        func said(_ wish: LimitsWish) -> String? {
            var screen = self.screen()
            screen.model.ask(.setLimits(wish)) { .setLimits(wish, number: $0) }
            screen.send(.answer(.limitsSet(.success(limits), number: screen.lastNumber)))
            return screen.model.notice?.text.string
        }
        #expect(said(LimitsWish(down: "2M")) == "Limit of all that is received: 2.0M/s.")
        #expect(
            said(LimitsWish(up: "08:00,512K 18:00,off", down: "off"))
                == "Limit of all that is sent: 08:00,512K 18:00,off (512K/s now). Limit of all that is received: off.")
        let scoped = [
            ScopedLimit(kind: .host, name: "nas.local", rate: 1 << 20), ScopedLimit(kind: .session, name: "p", rate: 0),
        ]
        #expect(
            said(LimitsWish(transfers: 4, scoped: scoped))
                == "Transfers at once: 4. Limit of host nas.local: 1.0M/s. Limit of session p: off.")
        var screen = self.screen()
        screen.openLimits()
        screen.press("^U", "2M", "Enter")
        screen.answerDone()
        #expect(screen.model.notice?.text.string == "Limit of batch b1 \"holiday-2024\": 2.0M/s.")
        screen.press("j", "j")
        screen.openLimits()
        screen.press("Tab", "^U", "1M", "Enter")
        screen.answerDone(.task(TaskID(rawValue: 10)))
        #expect(screen.model.notice?.text.string == "Limit of \"IMG_0412.CR3\": 1.0M/s.")
        screen.press("k")
        screen.openLimits()
        screen.press("^U", "1M", "Enter")
        screen.answerDone()
        #expect(screen.model.notice?.text.string == "Limit of folder \"raw\": 1.0M/s.")
    }

    @Test(
        "the form begins in the line of what the cursor is on: of a batch and a folder its own, of a file its batch's")
    func scope() {
        func line(_ keys: String...) -> String? {
            var screen = self.screen()
            for key in keys { screen.press(key) }
            screen.openLimits()
            guard let form = screen.model.form else { return nil }
            return form.lines[form.selected].label.string
        }
        #expect(line() == "Batch b1 \"holiday-2024\"")
        #expect(line("j") == "Folder \"raw\"")
        #expect(line("j", "j") == "Batch b1 \"holiday-2024\"")
        // Files of one fate have no limit of their own.
        #expect(line("j", "j", "j", "j", "j") == "Batch b1 \"holiday-2024\"")
        #expect(line("j", "j", "Space", "Space") == "2 rows")
        #expect(line("}", "Space", "}", "Space") == "2 batches")
        var empty = ScreenHarness(80, 24, [Rows.section(nil, [Rows.batch(1, "a", .completed, { $0.completed = 1 })])])
        empty.openLimits()
        #expect(empty.model.form?.selected == 0)
    }
}

extension Request {
    fileprivate func isAct(_ deed: NodeDeed, _ rows: [RowID]) -> Bool {
        if case .act(deed, .rows(rows), _) = self { true } else { false }
    }

    fileprivate var changes: Bool {
        switch self {
        case .act, .setLimits, .undo, .clearFinished: true
        default: false
        }
    }
}
