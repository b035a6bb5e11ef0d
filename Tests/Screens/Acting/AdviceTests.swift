import Configuration
import DisplayText
@testable import MartletKit
import Terminal
import Testing
import Wording

@testable import TerminalUI

@Suite("Advice on the screen names its keys and lines")
struct AdviceTests {
    private let b1 = NodeID.batch(BatchID(rawValue: 1))
    private let t9 = NodeID.task(TaskID(rawValue: 9))

    private func screen() -> ScreenHarness {
        ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
    }

    @Test("a command of the shell is the key or the line that does it")
    func keys() {
        let (b3, b7, t4) = (
            NodeID.batch(BatchID(rawValue: 3)), NodeID.batch(BatchID(rawValue: 7)), NodeID.task(TaskID(rawValue: 4))
        )
        let night = AdvisedCommand("session set", [], ["night", "--limit", "off"])
        let paused = AdvisedCommand("resume", [b1], ["--state", "paused"])
        let top = AdvisedCommand("move", [b1], ["--top"])
        let cases: [(Advice, String)] = [
            ("\(.retry(b1))", "Press  r"), ("\(.resume(b1))", "Press  p"),
            ("\(.resume(b3))", "Press  p on its batch"), ("\(.limit("off", "--up"))", "Type  :limit up off"),
            ("\(.limit("off", "--host", "nas"))", "Type  :limit host nas off"),
            ("\(night)", "Type  :limit session night off"),
            ("\(.set(b1, "--limit", "off"))", "Type  :set limit off"),
            ("\(.set(t4, "--limit", "off"))", "Type  :set t4 limit off"),
            ("\(.set(b7, "--if-exists", "replace"))", "Type  :set b7 if-exists replace"),
            ("\(paused)", "Type  :resume @pause batch=b1"),
            ("\(AdvisedCommand("engine start")) takes that back", ":start-engine takes that back"),
            (
                .idle("\(top) brings it forward, \(.runNow(b1)) starts it at once"),
                "Nothing to do; o then f brings it forward, o then n starts it at once"
            ),
            (
                .idle("\(.limit("--transfers", "N")) lets more run at once"),
                "Nothing to do; :limit transfers N lets more run at once"
            ),
            (
                "check its name; if it is wrong, \(.cancel(b1)) and queue it again",
                "Check its name; if it is wrong, x and queue it again"
            ),
            (
                "\(.set(b1, "--user", "USER")) gives another password, then \(.retry(b1))",
                "martlet set b1 --user USER gives another password, then r"
            ),
            (
                "\(.retry(b1)) goes on where it stood; \(AdvisedCommand("leftovers")) shows what is there",
                "r goes on where it stood; martlet leftovers shows what is there"
            ),
        ]
        for (advice, shown) in cases { #expect(screen().model.cure(advice, about: b1).string == shown) }
    }

    @Test("what the engine refuses is mended by keys too")
    func refused() {
        var screen = screen()
        screen.press("p")
        screen.answer([NodeResult(id: b1, refused: .refused, "b1 is paused: \(quoted: .resume(b1))")])
        #expect(screen.picture.contains("b1 is paused: p on b1"))
    }

    @Test("a key that keys.conf has moved is the one that is named; one that has none is named as a line")
    func moved() {
        var problems: [ConfigurationProblem] = []
        var keys = KeyMap.standard
        keys.apply(
            KeyBinding.read(bytes: Array("retry = K\nundo =\n".utf8), problems: &problems), problems: &problems)
        let appearance = screen().model.appearance
        let size = ScreenSize(columns: 80, rows: 24)
        let model = Model(appearance: appearance, keys: keys, size: size, home: [], machine: nil, now: screen().moment)
        #expect(model.cure("\(.retry(b1))", about: b1).string == "Press  K")
        #expect(model.cure("\(AdvisedCommand("undo", [b1])) takes it back", about: b1).string == ":undo takes it back")
    }

    @Test("keys are those of the page; what it has no key for is in the list")
    func pages() {
        var screen = screen()
        screen.press("e")
        #expect(screen.model.advised("\(.runNow(b1))", about: b1).string == "in the list, o then n")
        #expect(screen.model.advised("\(.retry(.batch(BatchID(rawValue: 3)))), or wait").string == "r, or wait")
    }

    @Test("no wait asks for a shell where a key does it", arguments: WaitReason.allCases, TransferScheme.allCases)
    func waits(_ reason: WaitReason, _ scheme: TransferScheme) {
        let subject = CureSubject(
            node: t9, batch: BatchID(rawValue: 1), url: "\(scheme.rawValue)://h/", isDownload: false)
        let shown = screen().model.cure(reason.remedy(for: subject), about: t9).string
        #expect(!shown.replacing("martlet set b1 --", with: "").contains("martlet "), "\(shown)")
        #expect(shown.contains("martlet set") == (reason == .auth))
    }
}
