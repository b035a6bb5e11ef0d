import DisplayText
@testable import MartletKit
@testable import Terminal
import TestSupport
import Testing

@testable import TerminalUI

@Suite("Every size of window has its picture")
struct LayoutPropertyTests {
    private static let names = [
        "a", "IMG_0412.CR3", "写真アルバム-2024年の夏休み-北海道旅行-その一.jpg", "evil\u{1b}[31mred\u{7}.txt",
        "photo\u{202e}gpj.exe", "family 👨‍👩‍👧 and ❤️ flag 🇯🇵.txt", "한국어 파일", "e\u{301}e\u{301}\u{302}\u{303}",
        "\u{300}starts with a mark", String(repeating: "long ", count: 60), "   ", "tab\there\nand line",
    ]

    private func row(_ id: Int64, _ dice: inout SeededGenerator) -> NodeRow {
        let states = TransferState.allCases
        let state = states.randomElement(using: &dice) ?? .queued
        let name = Self.names.randomElement(using: &dice) ?? ""
        let total = Int64.random(in: 0...(.max >> Int64.random(in: 0...62, using: &dice)), using: &dice)
        var row =
            switch Int.random(in: 0...3, using: &dice) {
            case 0: Rows.folder(1, id, name, state, { $0[state] = total >> 8 }, total: total, sent: total / 3)
            case 1: Rows.group(1, id, state, total >> 8, total: total)
            default: Rows.task(1, id, name, state, total: total, sent: total / 2, speed: total / 7, left: total)
            }
        row.waitReasons = state == .waiting ? [WaitReason.allCases.randomElement(using: &dice) ?? .backoff] : []
        if Bool.random(using: &dice) { row.retryAt = ScreenHarness.morning.advanced(by: .seconds(75)) }
        return row
    }

    private func screen(_ columns: Int, _ rows: Int, _ dice: inout SeededGenerator) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, glyphs: GlyphSet.allCases.randomElement(using: &dice) ?? .ascii)
        if Int.random(in: 0...9, using: &dice) > 0 { screen.connect() }
        let count = Int64.random(in: 0...40, using: &dice)
        let batch = Rows.batch(1, Self.names.randomElement(using: &dice) ?? "", .running, { $0.running = count })
        let below = (0..<count).map { row($0 + 1, &dice) }
        let sections =
            count == 0
            ? [Rows.section(nil, [])]
            : [
                Rows.section(nil, [batch]), Rows.section(batch.id, below, total: count + 3),
            ]
        screen.news(sections, totals: Rows.exampleTotals)
        let keys =
            [
                "j", "j", "G", "k", "Space", "x", "p", "P", "R", "a", "i", "w", "?", "Esc", "PgDn", "*", "c",
                "/", "Enter", "M", "n", ":", "Down", "Q",
                "W", "n", "Tab", "s", "S", "t", "F", "s",
            ] + KeyMap.View.pages.compactMap { $0.openingKeys.first }
        for _ in 0..<Int.random(in: 0...6, using: &dice) {
            screen.press(keys.randomElement(using: &dice) ?? "j")
            screen.wait(.milliseconds(400))
        }
        if Int.random(in: 0...9, using: &dice) == 0 {
            screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        }
        return screen
    }

    /// What is wrong with a picture; `nil`: nothing.
    private func fault(_ model: Model) -> String? {
        let (grid, cursor) = Drawing.draw(model)
        guard grid.size == model.size else { return "another size" }
        guard 0..<grid.size.rows ~= cursor.position.row, 0..<grid.size.columns ~= cursor.position.column else {
            return "the cursor is outside"
        }
        for y in 0..<grid.size.rows {
            let cells = Array(grid.row(y))
            for (x, cell) in cells.enumerated() {
                switch cell.glyph.width {
                case 2:
                    if x + 1 == cells.count || cells[x + 1].glyph.width != 0 { return "half a character at \(y) \(x)" }
                case 0: if x == 0 || cells[x - 1].glyph.width != 2 { return "the rest of a character at \(y) \(x)" }
                default: break
                }
                var text = ""
                cell.glyph.write(to: &text)
                let isHarmful = text.unicodeScalars.contains {
                    $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
                }
                if isHarmful { return "a control character at \(y) \(x)" }
            }
        }
        guard model.page is TransfersPage, model.dialog == nil, model.adding == nil, model.filterLine == nil,
            model.commandPrompt == nil, model.find?.isTyping != true, !model.isInLower,
            !model.layout.tree.isEmpty,
            model.tree.cursor != nil
        else { return nil }
        let selected = (0..<grid.size.rows).filter { y in grid.row(y).contains { $0.style.isSelected } }
        return selected == [cursor.position.row] ? nil : "the cursor's row is not in sight: \(selected)"
    }

    @Test("of the small sizes every one, and whatever was pressed before")
    func small() {
        var dice = SeededGenerator(seed: 1)
        for rows in 1...26 {
            for columns in [1, 2, 3, 4, 5, 7, 10, 15, 16, 20, 27, 28, 31, 32, 39, 40, 55, 56, 63, 64, 71, 72, 80] {
                let screen = screen(columns, rows, &dice)
                if let fault = fault(screen.model) { Issue.record("\(columns)x\(rows): \(fault)\n\(screen.picture)") }
            }
        }
    }

    @Test("up to 500x200, by chance")
    func large() {
        for seed in 0..<300 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            let screen = screen(.random(in: 1...500, using: &dice), .random(in: 1...200, using: &dice), &dice)
            if let fault = fault(screen.model) {
                let picture = screen.model.size.rows < 9 ? screen.picture : ""
                Issue.record("seed \(seed), \(screen.model.size): \(fault)\n\(picture)")
            }
        }
    }

    @Test("a window that was made small and large again shows what it showed before")
    func resizing() {
        for seed in 0..<60 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            let picture = screen.picture
            for _ in 0..<4 {
                screen.send(
                    .resized(
                        ScreenSize(
                            columns: .random(in: 1...500, using: &dice), rows: .random(in: 1...200, using: &dice))))
            }
            screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
            #expect(screen.picture == picture, "seed \(seed)")
        }
    }

    @Test("help and the hints can always be reached: ? stands in the last line whenever it has room")
    func hints() {
        for width in 6...200 {
            let screen = ScreenHarness(width, 24, Rows.example, totals: Rows.exampleTotals)
            #expect(screen.lines.last?.contains("?") == true, "\(width)")
        }
    }
}
