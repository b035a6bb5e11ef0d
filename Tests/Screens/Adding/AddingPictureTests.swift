@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Pictures of adding a batch")
struct AddingPictureTests {
    /// Two folders, one of them still being counted, and a file.
    private func chosen(_ columns: Int, _ rows: Int, glyphs: GlyphSet = .ascii) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, glyphs: glyphs)
        screen.connect()
        screen.news([Rows.section(nil, [])])
        screen.press("a")
        screen.list(Adding.entries)
        screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
        screen.press("Space", "j", "Space", "/", "notes", "Enter", "Space", "g", "j", "j")
        var count = FolderCount(files: 812, bytes: 58 << 30, isComplete: true)
        count.unreadable = 2
        count.firstUnreadable = [Array("a\u{1B}b".utf8)]
        screen.send(.local(.counted(Adding.path("raw"), count)))
        screen.send(.local(.counted(Adding.path("edits"), FolderCount(files: 14, bytes: 3 << 30))))
        return screen
    }

    /// At the last look.
    private func reviewed(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = chosen(columns, rows)
        screen.press("F2", "Enter")
        return screen
    }

    @Test(
        "picking, in every size",
        arguments: [(80, 24), (120, 36), (200, 50), (64, 16), (40, 8), (20, 5), (20, 2), (1, 1)])
    func picking(_ columns: Int, _ rows: Int) {
        Pictures.expect(chosen(columns, rows).picture, "pick-\(columns)x\(rows)")
    }

    @Test("picking by roles, and with characters that are not ASCII")
    func roles() {
        Pictures.expect(chosen(80, 24).rolePicture, "pick-80x24-roles")
        Pictures.expect(chosen(80, 24, glyphs: .unicode).picture, "pick-80x24-unicode")
    }

    @Test("a folder that is empty, hidden, being read, or not readable")
    func folders() throws {
        var screen = Adding.screen(80, 24)
        screen.list([])
        Pictures.expect(screen.picture, "pick-empty-80x24")
        screen.list([FolderEntry(name: Array(".profile".utf8), kind: .file, size: 1)])
        #expect(screen.picture.contains("1 hidden name: . shows them."))
        screen.list([], isComplete: false)
        #expect(screen.picture.contains("reading ..."))
        let folder = try #require(screen.model.adding?.picker.folder)
        screen.send(
            .local(
                .listed(
                    folder.path, folder.order,
                    FolderSnapshot([], isComplete: true, problem: "Permission denied"))))
        #expect(screen.picture.contains("It cannot be read: Permission denied."))
    }

    @Test("finding, typing a path, choosing a place, marking a range")
    func modes() {
        var screen = chosen(80, 24)
        screen.press("/", "img_")
        Pictures.expect(screen.picture, "pick-find-80x24")
        screen.press("Esc", "~", "Photos/")
        Pictures.expect(screen.picture, "pick-path-80x24")
        screen.press("Esc", "Tab", "j", "j")
        Pictures.expect(screen.picture, "pick-places-80x24")
        screen.press("Esc", "v", "j", "j")
        Pictures.expect(screen.picture, "pick-range-80x24")
    }

    @Test("a paste of which something is not there")
    func pasted() {
        var screen = chosen(80, 24)
        let missing = (1...3).map {
            LookedPath(path: Adding.path("x\($0)"), finding: .missing("~/x\($0): No such file or directory"))
        }
        screen.send(.local(.looked(missing, .choose)))
        Pictures.expect(screen.picture, "pick-missing-80x24")
    }

    @Test(
        "where to, with places that are known and without", arguments: [(80, 24), (120, 36), (40, 8), (20, 5), (20, 2)])
    func destinations(_ columns: Int, _ rows: Int) {
        var screen = chosen(columns, rows)
        screen.press("F2")
        Pictures.expect(screen.picture, "destination-\(columns)x\(rows)")
    }

    @Test("where to: nothing known, and what cannot be meant")
    func destinationFaults() {
        var screen = Adding.screen(80, 24)
        screen.press("F2")
        Pictures.expect(screen.picture, "destination-first-80x24")
        screen.press("htp://host/", "Enter")
        Pictures.expect(screen.picture, "destination-refused-80x24")
    }

    @Test(
        "the last look, in every size",
        arguments: [(80, 24), (120, 36), (64, 16), (40, 12), (40, 8), (20, 5), (20, 2), (1, 1)])
    func review(_ columns: Int, _ rows: Int) {
        Pictures.expect(reviewed(columns, rows).picture, "review-\(columns)x\(rows)")
    }

    @Test("the last look: a field that is wrong, and a password")
    func reviewFaults() {
        var screen = reviewed(80, 24)
        screen.press("Up", "Up", "Up", "Up", "fast", "F2")
        Pictures.expect(screen.picture, "review-wrong-80x24")
        screen.press("Esc", "^U", "https://ana@nas.example/in/", "Enter", "secret")
        Pictures.expect(screen.picture, "review-password-80x24")
    }

    @Test("downloading: URLs, which folder, and the last look")
    func download() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.paste("https://host/debian.iso\nhttps://host/SHA256SUMS\n")
        Pictures.expect(screen.picture, "download-urls-80x24")
        screen.press("Enter")
        screen.list(Adding.entries)
        screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
        Pictures.expect(screen.picture, "download-folder-80x24")
        screen.press("F2")
        Pictures.expect(screen.picture, "download-review-80x24")
        var small = ScreenHarness(40, 8, [Rows.section(nil, [])])
        small.paste((1...9).map { "https://host/\($0)\n" }.joined())
        Pictures.expect(small.picture, "download-urls-40x8")
    }
}
