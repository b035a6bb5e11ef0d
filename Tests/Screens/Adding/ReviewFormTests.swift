@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The form of the last look: Tab goes round, and what is typed is in sight")
struct ReviewFormTests {
    private func form() -> Form<Int> {
        Form(
            [.text(0, "Name", help: ""), .choice(1, "Kind", [("a", ""), ("b", "")]), .text(2, "Time", help: "")],
            buttons: ["Start", "Back"], selectsButtons: true)
    }

    @Test("Tab goes round in both directions; the arrows stop at the ends")
    func round() {
        var form = form()
        func press(_ name: String) { if let key = KeyPress(name: name) { _ = form.take(key) } }
        #expect(form.isOnButtons && form.isFresh)
        press("Tab")
        #expect(form.selected == 0 && !form.isFresh)
        press("S-Tab")
        #expect(form.isOnButtons)
        press("Down")
        #expect(form.isOnButtons)
        press("PgUp")
        press("Up")
        #expect(form.selected == 0)
        press("Tab")
        press("Tab")
        press("Tab")
        #expect(form.isOnButtons)
    }

    /// The last look at so many files that their command has no room.
    private func review(_ rows: Int) -> ScreenHarness {
        var screen = Adding.screen(80, rows)
        let names = (1...60).map {
            FolderEntry(name: Array("a picture of number \($0).jpeg".utf8), kind: .file, size: 9)
        }
        screen.list(names)
        screen.press("*", "F2", "https://host/in/", "Enter")
        return screen
    }

    @Test(
        "however long the command is, the beginning is seen first, and the buttons and the selected field always",
        arguments: [24, 16, 12])
    func inSight(_ rows: Int) throws {
        var screen = review(rows)
        try #require(screen.model.adding?.review != nil)
        #expect(screen.picture.contains("Name          ["))
        #expect(screen.picture.contains("[ Start upload ]"))
        for field in screen.model.adding?.review?.form.fields ?? [] {
            screen.press("Tab")
            #expect(screen.picture.contains("[ Start upload ]"))
            #expect(screen.lines.contains { $0.hasPrefix(" \(field.label) ") }, "\(field.label) at \(rows) rows")
        }
        screen.press("Tab")
        #expect(screen.picture.contains("https://host/in/"), "at the buttons the end of the command is seen")
        screen.press("Tab")
        #expect(screen.picture.contains("Name          ["))
    }
}
