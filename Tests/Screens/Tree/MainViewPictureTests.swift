import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Pictures of the main view")
struct MainViewPictureTests {
    private func example(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows)
        screen.connect()
        screen.news(Rows.example, totals: Rows.exampleTotals)
        return screen
    }

    @Test(
        "the queue of the design, from a large window down to one cell",
        arguments: [
            (300, 100), (120, 36), (100, 30), (80, 24), (64, 16), (40, 10), (40, 8), (20, 5), (20, 2), (12, 3), (1, 1),
        ])
    func sizes(columns: Int, rows: Int) {
        Pictures.expect(example(columns, rows).picture, "main-\(columns)x\(rows)")
    }

    @Test(
        "on a wall of 500 by 200 the rows fill the width, between them and what stands below there is nothing but blanks"
    )
    func wall() {
        let screen = example(500, 200)
        let lines = screen.picture.split(separator: "\n").map(String.init)
        #expect(lines.count == 202 && lines.allSatisfy { $0.count == 502 })
        // Of the picture what is not blank, with one blank line for any number of them.
        let blank = "|" + String(repeating: " ", count: 500) + "|"
        let kept = lines.enumerated().filter { $0.element != blank || $0.offset == 0 || lines[$0.offset - 1] != blank }
        Pictures.expect(kept.map(\.element).joined(separator: "\n"), "main-500x200-shortened")
        let rows = screen.model.tree.items.count
        #expect(lines[4...].prefix(rows).allSatisfy { $0 != blank }, "every row of the queue is in sight")
        #expect(screen.model.layout.tree.count > 180)
    }

    @Test("the bar of the cursor's row is not reversed: full stays full")
    func selectedBar() {
        let screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        let grid = Drawing.draw(screen.model).grid
        let bar = screen.model.columns[.bar] ?? 0..<0
        #expect(!bar.isEmpty)
        for column in 0..<80 {
            #expect(grid[3, column].style.isSelected == !bar.contains(column), "\(column)")
        }
    }

    @Test("what was opened because it moved is closed when it is done, unless somebody is in it or opened it")
    func selfOpened() {
        func done(_ id: Int64) -> NodeRow { Rows.batch(id, "b\(id)", .completed, { $0.completed = 1 }) }
        func running(_ id: Int64) -> NodeRow { Rows.batch(id, "b\(id)", .running, { $0.running = 1 }) }
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [running(1), running(2), running(3)])])
        screen.news([
            Rows.section(running(1).id, [Rows.task(1, 10, "one", .running)]),
            Rows.section(running(2).id, [Rows.task(2, 20, "two", .running)]),
            Rows.section(running(3).id, [Rows.task(3, 30, "three", .running)]),
        ])
        // Into the second; the third is closed and opened by hand.
        screen.press("j", "j", "j", "j", "h", "l", "k")
        screen.news([Rows.section(running(3).id, [Rows.task(3, 30, "three", .running)])])
        #expect(screen.cursorName == "two")
        screen.news([Rows.section(nil, [done(1), done(2), done(3)])])
        let names = screen.model.tree.items.compactMap { $0.row?.name }
        #expect(names == ["b1", "b2", "two", "b3", "three"])
    }

    @Test("the same in the other glyph sets", arguments: [GlyphSet.narrow, .unicode])
    func glyphs(set: GlyphSet) {
        var screen = ScreenHarness(80, 24, glyphs: set)
        screen.connect()
        screen.news(Rows.example, totals: Rows.exampleTotals)
        Pictures.expect(screen.picture, "main-80x24-\(set)")
    }

    @Test("what the cells mean, which is all there is with NO_COLOR")
    func roles() {
        var screen = example(80, 24)
        screen.press("j", "j", "Space")
        Pictures.expect(screen.rolePicture, "main-80x24-roles")
    }

    @Test("nothing queued")
    func empty() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])], totals: QueueTotals())
        Pictures.expect(screen.picture, "empty-80x24")
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        Pictures.expect(screen.picture, "empty-40x8")
    }

    @Test("when all is over and not all of it is there, what became of it stands in the bar's place")
    func over() {
        let rows = [
            Rows.batch(1, "holiday", .completed, { ($0.completed, $0.cancelled) = (9, 3) }, total: 100, sent: 69),
            Rows.batch(2, "docs", .failed, { $0.failed = 1 }, total: 10),
        ]
        var screen = ScreenHarness(80, 24, [Rows.section(nil, rows)])
        #expect(screen.lines[1].contains("over: 9 done, 1 failed, 3 cancelled   69B of 110B"))
        #expect(!screen.lines[1].contains("%"))
        screen.send(.resized(ScreenSize(columns: 40, rows: 4)))
        #expect(screen.picture.contains("over: 9 done, 1 failed, 3 cancelled"))
    }

    @Test("batches of one name are told apart by their number, whatever else has no room")
    func twins() {
        let long = "a-name-that-is-longer-than-its-column-in-a-window-like-this"
        let names = [(1, "docs"), (2, "docs"), (31, long), (32, long), (5, "photos")]
        let rows = names.map { id, name in Rows.batch(Int64(id), name, .running, { $0.running = 1 }) }
        let screen = ScreenHarness(80, 24, [Rows.section(nil, rows)])
        func line(_ number: String) -> String? { screen.lines.first { $0.contains(" b\(number) ") } }
        #expect(line("1")?.contains("docs b1 ") == true && line("2")?.contains("docs b2 ") == true)
        #expect(line("31")?.contains("a-name-") == true && line("32") != nil && line("5") == nil)
    }

    @Test("while folders are looked through nothing says that it is all, though all that was found is there")
    func scanned() {
        var totals = QueueTotals()
        (totals.batches, totals.counts.completed) = (1, 3)
        totals.bytes = ByteCounts(total: 100, sent: 100, accepted: 100, verified: 100)
        var batch = Rows.batch(1, "docs", .running, { $0.completed = 3 }, total: 100, sent: 100)
        batch.scanning = true
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [batch])], totals: totals)
        #expect(screen.lines[1].contains(" 99% ") && !screen.picture.contains("100%"), "\(screen.picture)")
        #expect(screen.model.windowTitle == "martlet 99%")
        batch.scanning = false
        screen.news([Rows.section(nil, [batch])], totals: totals)
        #expect(screen.lines[1].contains(" 100% "))
    }

    @Test("everything is done")
    func done() {
        let giga = Rows.giga
        var totals = QueueTotals()
        totals.batches = 1
        totals.counts.completed = 200
        totals.bytes = ByteCounts(total: giga, sent: giga, accepted: giga, verified: 0)
        let batch = Rows.batch(1, "holiday", .completed, { $0.completed = 200 }, total: giga, sent: giga)
        let screen = ScreenHarness(80, 24, [Rows.section(nil, [batch])], totals: totals)
        Pictures.expect(screen.picture, "done-80x24")
    }

    @Test("marks are counted, and stand in a column of their own")
    func marks() {
        var screen = example(80, 24)
        screen.press("j", "j", "Space", "Space")
        Pictures.expect(screen.picture, "marks-80x24")
    }

    @Test("a cancel is asked for, done, and can be undone for a while")
    func undo() {
        var screen = example(80, 24)
        screen.press("j", "j", "x")
        Pictures.expect(screen.picture, "cancel-asked-80x24")
        screen.answerDone(.task(TaskID(rawValue: 10)))
        screen.wait(.seconds(2))
        Pictures.expect(screen.picture, "cancel-undo-80x24")
    }

    @Test("a wide name in Japanese, one with an escape sequence, one of bidirectional tricks")
    func names() {
        let rows = [
            Rows.task(1, 1, "写真アルバム-2024年の夏休み-北海道旅行-その一.jpg", .running, total: Rows.mega, sent: 7, speed: 9, left: 3),
            Rows.task(1, 2, "evil\u{1b}[31mred\u{7}.txt", .queued, total: 12),
            Rows.task(1, 3, "photo\u{202e}gpj.exe", .failed, total: 12),
            Rows.task(1, 4, "family 👨‍👩‍👧 and ❤️ flag 🇯🇵.txt", .completed, total: 12, sent: 12),
        ]
        let batch = Rows.batch(
            1, "names", .running, { ($0.running, $0.queued, $0.failed, $0.completed) = (1, 1, 1, 1) },
            total: 2 * Rows.mega)
        let screen = ScreenHarness(80, 24, [Rows.section(nil, [batch]), Rows.section(batch.id, rows)])
        Pictures.expect(screen.picture, "names-80x24")
        var small = screen
        small.send(.resized(ScreenSize(columns: 25, rows: 8)))
        Pictures.expect(small.picture, "names-25x8")
    }

    @Test("every state has its sign and its word")
    func states() {
        var rows: [NodeRow] = []
        for (index, state) in TransferState.allCases.enumerated() {
            rows.append(
                Rows.task(1, Int64(index + 1), "\(state.rawValue).bin", state, total: 4 * Rows.mega, sent: 1 << 20))
        }
        for (index, reason) in [WaitReason.backoff, .auth, .hostKey, .connectivity, .notBefore].enumerated() {
            var row = Rows.task(1, Int64(index + 100), "waits for \(reason.rawValue)", .waiting, total: Rows.mega)
            row.waitReasons = [reason]
            if reason == .backoff { row.retryAt = ScreenHarness.morning.advanced(by: .seconds(75)) }
            rows.append(row)
        }
        let batch = Rows.batch(1, "states", .running, { ($0.running, $0.failed) = (1, 1) }, total: 9 * Rows.mega)
        let screen = ScreenHarness(100, 30, [Rows.section(nil, [batch]), Rows.section(batch.id, rows)])
        Pictures.expect(screen.picture, "states-100x30")
        Pictures.expect(screen.rolePicture, "states-100x30-roles")
    }
}
