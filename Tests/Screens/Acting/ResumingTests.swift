import DisplayText
@testable import MartletKit
import Testing

@testable import TerminalUI

@Suite("What is paused is resumed where it was paused")
struct ResumingTests {
    private func folder(_ batch: NodeRow, _ folder: NodeRow, _ file: NodeRow) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [batch])])
        screen.press("l")
        screen.news([Rows.section(batch.id, [folder])])
        screen.press("j", "l")
        screen.news([Rows.section(folder.id, [file])])
        return screen
    }

    @Test("a file of a paused folder, or batch, is told which one to resume")
    func above() {
        let running = Rows.batch(1, "films", .running, { $0.paused = 1 })
        let raw = Rows.folder(1, 2, "raw", .paused, { $0.paused = 1 })
        var film = Rows.task(1, 10, "film.mov", .paused)
        film.paused = false
        var screen = folder(running, raw, film)
        screen.press("j", "p")
        #expect(screen.model.notice?.text.string == #"Its folder "raw" is paused. Resume the folder."#)
        // The outermost first: nothing moves before that does.
        screen = folder(Rows.batch(1, "films", .paused, { $0.paused = 1 }), raw, film)
        screen.press("j", "p")
        #expect(screen.model.notice?.text.string == #"Its batch "films" is paused. Resume the batch."#)
        #expect(screen.model.changes.pending.isEmpty)
    }

    @Test("a folder whose files were paused one by one is resumed; when nothing was, that is said")
    func oneByOne() {
        var raw = Rows.folder(1, 2, "raw", .paused, { $0.paused = 2 })
        (raw.paused, raw.effectivelyPaused) = (false, false)
        var screen = folder(
            Rows.batch(1, "films", .running, { ($0.running, $0.paused) = (1, 2) }), raw,
            Rows.task(1, 10, "film.mov", .paused))
        screen.press("p")
        #expect(screen.requests == [.act(.resume, .rows([raw.id]), number: screen.lastNumber)])
        screen.answer([NodeResult(id: .folder(BatchID(rawValue: 1), path: RawPath("raw")), result: .already)])
        #expect(screen.model.notice?.text.string == #""raw" was not paused."#)
    }
}
