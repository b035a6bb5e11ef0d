import Configuration
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Who comes back finds the screen as it was left, and is told what happened")
struct ReturningTests {
    private func batch(
        _ id: Int64, _ state: TransferState, completed: Int64, failed: Int64 = 0, bytes: Int64 = 0,
        created: Timestamp = ScreenHarness.morning.advanced(by: .seconds(-3600)), finished: Timestamp? = nil
    ) -> BatchSnapshot {
        Rows.snapshot(
            id, "b\(id)", state,
            {
                ($0.completed, $0.failed) = (completed, failed)
                if !state.isTerminal { $0.queued = 10 }
            }, created: created, finished: finished, bytes: ByteCounts(total: 0, sent: 0, accepted: bytes, verified: 0))
    }

    /// A screen that opens with what another one left behind, through the file.
    private func returned(_ before: ScreenHarness, _ columns: Int = 80, _ rows: Int = 24) throws -> ScreenHarness {
        let bytes = before.model.keptScreen(over: nil).bytes
        var screen = ScreenHarness(columns, rows)
        screen.model.restore(try KeptScreen(bytes: bytes), over: ScreenConfiguration())
        return screen
    }

    private func example() -> ScreenHarness { ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals) }

    @Test("the cursor is on its row again, folds are as they were, through sections that come one by one")
    func places() throws {
        var before = example()
        before.press("j", "j", "j")
        #expect(before.cursorName == "IMG_0413.CR3")
        before.model.tree.setOpen(.batch(BatchID(rawValue: 3)), false)
        var screen = try returned(before)
        screen.connect()
        screen.news([Rows.example[0]], totals: Rows.exampleTotals)
        #expect(screen.cursorName == "holiday-2024")
        screen.news([Rows.example[1]])
        #expect(screen.cursorName == "raw")
        screen.news(Array(Rows.example[2...]), totals: Rows.exampleTotals)
        #expect(screen.cursorName == "IMG_0413.CR3")
        #expect(screen.picture == before.picture)
    }

    @Test("a key that moves the cursor ends the way back")
    func moved() throws {
        var before = example()
        before.press("j", "j", "j")
        var screen = try returned(before)
        screen.connect()
        screen.news([Rows.example[0]], totals: Rows.exampleTotals)
        screen.press("}")
        screen.news(Array(Rows.example[1...]), totals: Rows.exampleTotals)
        #expect(screen.cursorName == "nas-backup")
        // So does one that acts on where it stands.
        screen = try returned(before)
        screen.connect()
        screen.news([Rows.example[0]], totals: Rows.exampleTotals)
        screen.press("p")
        screen.news(Array(Rows.example[1...]), totals: Rows.exampleTotals)
        #expect(screen.cursorName == "holiday-2024")
    }

    @Test("rows are sorted as they were")
    func order() throws {
        for order in [TreeOrder(.size, reversed: true), TreeOrder(.name), TreeOrder()] {
            var before = example()
            before.model.sort(by: order)
            var screen = try returned(before)
            #expect(screen.model.tree.order == order)
            screen.connect()
            let isAsked = screen.requests.contains {
                if case .show(let sections, _, _) = $0 { sections[0].order ?? TreeOrder() == order } else { false }
            }
            #expect(isAsked)
        }
        var marked = example()
        marked.press("Space", "f", "@marked", "Enter")
        #expect(try returned(marked).model.filters.shown == nil)
    }

    @Test("the filter is on again")
    func filter() throws {
        var before = example()
        before.press("f", "@err 403", "Enter")
        let screen = try returned(before)
        #expect(screen.model.filters.shown?.text == "@err 403")
    }

    @Test("what was done, what failed and what has ended meanwhile is one sentence; every batch is asked of once")
    func happened() throws {
        var screen = try returned(example())
        screen.send(.link(.connected(EngineIdentity(pid: 1, version: "1", protocolVersion: "1"))))
        #expect(screen.requests.contains { if case .batches = $0 { true } else { false } })
        screen.news(Rows.example, totals: Rows.exampleTotals)
        let later = ScreenHarness.morning.advanced(by: .seconds(60))
        let batches = [
            batch(1, .completed, completed: 800, bytes: 61 * Rows.giga, finished: later),
            batch(2, .paused, completed: 2114, bytes: 85 * Rows.giga),
            batch(3, .running, completed: 85, failed: 1206, bytes: 32 * Rows.giga),
            batch(9, .running, completed: 1, created: later),
        ]
        screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
        #expect(
            screen.model.notice?.text.string
                == "Since 12:41: 219 files done (18.0G), 2 failed, 1 batch finished, 1 new batch.")
        Pictures.expect(screen.picture, "returned-80x24")
        screen.connect()
        #expect(!screen.requests.contains { if case .batches = $0 { true } else { false } })
    }

    @Test("nothing is said where nothing is unfinished; and that nothing moved where something is")
    func nothing() throws {
        func said(_ batches: [BatchSnapshot]) throws -> String? {
            var screen = try returned(example())
            screen.connect()
            screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
            return screen.model.notice?.text.string
        }
        #expect(try said([]) == nil)
        #expect(
            try said([batch(2, .cancelled, completed: 2114, bytes: 85 * Rows.giga, finished: ScreenHarness.morning)])
                == "Since 12:41: 1 batch cancelled.")
        #expect(
            try said([batch(2, .paused, completed: 2114, bytes: 85 * Rows.giga)])
                == "Since 12:41: nothing has changed.")
    }

    @Test("a complaint is read first")
    func complaint() throws {
        var screen = try returned(example())
        screen.model.complain("martlet.conf line 3: no")
        screen.connect()
        screen.news(Rows.example, totals: Rows.exampleTotals)
        screen.send(
            .answer(.batches(.success([batch(3, .running, completed: 90, failed: 1204)]), number: screen.lastNumber)))
        #expect(screen.model.notice?.text.string == "martlet.conf line 3: no")
        screen.press("j")
        #expect(screen.model.notice?.text.string == "Since 12:41: 5 files done (0B).")
    }

    @Test("what is set on the screen is kept, until the file says something else")
    func look() throws {
        var screen = example()
        screen.press(":", "units si", "Enter", ":", "columns size eta", "Enter", ":", "bell on", "Enter", "m")
        let kept = try KeptScreen(bytes: screen.model.keptScreen(over: nil).bytes)
        var file = ScreenConfiguration()
        let applied = kept.appearance.applied(to: file)
        #expect(applied.units == .si && applied.bell && !applied.mouse)
        #expect(applied.columns.words == ["size", "eta"])
        file.columns.words = ["percent"]
        #expect(kept.appearance.applied(to: file).columns.words == ["percent"])
        #expect(kept.appearance.kept(over: file).choices.keys.sorted() == ["bell", "mouse", "units"])
        screen.press(":", "units iec", "Enter")
        #expect(screen.model.returning.kept.appearance.choices["units"] == nil)
    }

    @Test("a file of a megabyte is read, and comes to an end")
    func large() throws {
        let look = (1...40_000).map { "k\($0) = a\nk\($0)-before = b\n" }.joined()
        let kept = try KeptScreen(bytes: Array("version = 1\n[look]\n\(look)".utf8))
        #expect(kept.appearance.choices.count == 40_000)
        let views = String(repeating: "[view]\nleft = 1\n", count: 60_000)
        #expect(try KeptScreen(bytes: Array("version = 1\n\(views)".utf8)).views.count == 1)
    }

    @Test("each machine's engine has its own view; a damaged file or one of another version says nothing")
    func file() throws {
        var there = ScreenHarness(80, 24, machine: "nas: [1]")
        there.connect()
        there.news(Rows.example, totals: Rows.exampleTotals)
        let here = example().model.keptScreen(over: nil)
        let both = there.model.keptScreen(over: here)
        #expect(Set(try KeptScreen(bytes: both.bytes).views.keys) == ["", "nas: [1]"])
        #expect(try KeptScreen(bytes: both.bytes) == both)
        for text in ["", "version = 2\n", "version = 1\n[view]\nleft = x\n", "version = 1\nrubbish\n", "\u{0}"] {
            #expect(throws: KeptScreen.Damage.self) { try KeptScreen(bytes: Array(text.utf8)) }
        }
        for length in 0..<both.bytes.count {
            // Cut anywhere it is read or refused, and nothing traps.
            _ = try? KeptScreen(bytes: Array(both.bytes.prefix(length)))
        }
    }
}
