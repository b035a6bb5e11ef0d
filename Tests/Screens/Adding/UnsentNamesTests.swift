@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("What is chosen is known before it is sent: what it holds, and what of it stays here")
struct UnsentNamesTests {
    private func count() -> FolderCount {
        var count = FolderCount(files: 812, bytes: 58 << 30, isComplete: true)
        (count.unreadable, count.firstUnreadable) = (2, [Array("a\u{1B}b".utf8), Array("secret.key".utf8)])
        (count.leftOut, count.firstLeftOut) = (5, [Array("to-nas".utf8), Array("sub/fifo".utf8)])
        (count.emptyFolders, count.firstEmpty) = (1, [Array("sub/later/".utf8)])
        (count.largest, count.largestBytes) = (Array("sub/IMG_0777.CR3".utf8), 98 << 20)
        count.newest = ScreenHarness.morning.milliseconds / 1000
        return count
    }

    private func reviewed() -> ScreenHarness {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter")
        screen.send(.local(.counted(Adding.path("edits"), count())))
        return screen
    }

    @Test("the names are a page over the last step, by F3 anywhere and v where nothing is typed")
    func names() {
        var screen = reviewed()
        screen.press("v")
        Pictures.expect(screen.picture, "unsent-80x24")
        screen.press("Esc")
        #expect(screen.picture.contains("[3 Review]"))
        screen.press("PgUp", "v")
        #expect(screen.model.adding?.review?.form.text(.name) == "editsv")
        screen.press("F3")
        #expect(screen.picture.contains("edits/sub/fifo"))
    }

    @Test("pasted paths that are not there are listed to the end, until they are found")
    func missing() {
        var screen = Adding.screen(80, 24)
        screen.press("Space")
        let missing = (1...3).map {
            LookedPath(path: Adding.path("x\($0)"), finding: .missing("~/x\($0): No such file or directory"))
        }
        screen.send(.local(.looked(missing, .choose)))
        screen.send(.local(.looked([LookedPath(path: Adding.path("x2"), finding: .file(size: 7))], .choose)))
        screen.press("F2", "https://host/in/", "Enter")
        Pictures.expect(screen.picture, "review-missing-80x24")
        screen.press("F3")
        #expect(screen.picture.contains("Not found: 2"))
        #expect(screen.picture.contains("/x3") && !screen.picture.contains("/x2"))
    }

    @Test("where all of it is sent, that is what is said")
    func none() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter")
        #expect(!screen.picture.contains("F3"))
        screen.press("F3")
        #expect(screen.picture.contains("Nothing is left out: all that was chosen is sent."))
    }

    @Test("in a wide window they stand beside the list while it is picked")
    func beside() {
        var screen = Adding.screen(120, 36)
        screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
        screen.press("Space")
        screen.send(.local(.counted(Adding.path("edits"), count())))
        Pictures.expect(screen.picture, "pick-unsent-120x36")
    }

    @Test("i tells what a folder holds, counting it first, and what a file is; again or Esc puts it away")
    func info() {
        var screen = Adding.screen(80, 24)
        screen.press("i")
        #expect(screen.requests == [.local(.count(Adding.path("edits")))])
        screen.send(.local(.counted(Adding.path("edits"), count())))
        Pictures.expect(screen.picture, "pick-info-80x24")
        screen.press("j")
        #expect(screen.picture.contains("i counts what is in it"))
        screen.press("i")
        #expect(screen.requests.contains(.local(.count(Adding.path("export")))))
        screen.press("G")
        #expect(screen.picture.contains("5,242,880 bytes, changed 2024-08-02"))
        screen.press("k")
        #expect(screen.picture.contains("cannot be read: permission denied, 1,700 bytes"))
        screen.press("Esc")
        #expect(screen.requests == [.local(.stopCounting([Adding.path("export")]))])
        #expect(screen.model.adding?.picker.showsInfo == false)
        #expect(screen.model.adding != nil)
    }

    @Test("a batch has a name to begin with, which is no option; another one, and the first place, are")
    func name() {
        var screen = reviewed()
        #expect(screen.model.adding?.review?.form.text(.name) == "edits")
        #expect(screen.model.adding?.review?.sketch.words.contains("--name") == false)
        screen.press("PgUp", "-2")
        screen.model.adding?.review?.form.set(.order, to: "first")
        screen.press("F2")
        guard case .queue(let order, _)? = screen.requests.first else {
            Issue.record("nothing was queued: \(screen.requests)")
            return
        }
        #expect(order.name == "edits-2" && order.isFirst)
        let words = String(decoding: order.command(home: []), as: UTF8.self)
        #expect(words.hasPrefix("martlet upload --name edits-2 --first "))
    }

    @Test("the name that is proposed is the one that the engine would make")
    func proposals() {
        func name(_ work: AddOrder.Work) -> String { work.proposedName }
        #expect(name(.upload([Array("/a/b".utf8), Array("/c".utf8)], to: "x:")) == "b and 1 more")
        #expect(name(.upload([Array("/a/\u{1B}".utf8)], to: "x:")) == "\\x1b")
        #expect(name(.download(["https://h/a/big.iso?key=secret"], into: [])) == "big.iso")
        #expect(name(.download(["https://h"], into: [])) == "")
    }
}
