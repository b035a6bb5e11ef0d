import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Leaving says what goes on, and what would not")
struct LeaveDialogTests {
    private func screen(_ effect: LogoutEffect = .none) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.send(.local(.logout(effect)))
        return screen
    }

    @Test("Q says what goes on; Enter only leaves")
    func leaving() {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("Q")
        Pictures.expect(screen.picture, "leave-80x24")
        screen.wait(.seconds(1))
        screen.press("Enter")
        #expect(screen.requests == [.leave])
        var other = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        other.press("Q")
        other.wait(.seconds(1))
        other.press("f")
        #expect(other.requests == [.stopEngine(finishRunning: true)])
        #expect(
            LeavingText.lines(other.model).first
                == "The engine ends when 4 running files are through. What is queued stays.")
        var third = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        third.press("Q")
        third.wait(.seconds(1))
        third.press("Esc")
        #expect(third.requests.isEmpty)
        third.press("q")
        #expect(third.requests == [.leave])
    }

    @Test("where nothing would end with the login, q leaves at once")
    func atOnce() {
        var screen = screen()
        screen.press("q")
        #expect(screen.requests == [.leave])
    }

    @Test("where logging out would end the engine, q asks, says so, and can be told not to ask again")
    func asks() {
        var screen = screen(.endsWithoutLingering)
        screen.press("q")
        Pictures.expect(screen.picture, "leave-logout-80x24")
        #expect(!screen.requests.contains(.leave))
        screen.wait(.seconds(1))
        screen.press("d")
        #expect(screen.picture.contains("[x] do not ask again on q"))
        screen.press("q")
        #expect(screen.requests == [.leave])
        #expect(
            screen.model.returning.kept.appearance.choices["ask-leave"]
                == KeptAppearance.Choice(value: "off", before: "on"))
    }

    @Test("who stays has not said that it is not to be asked again; who said so is not asked")
    func staying() {
        var screen = screen(.endsWithSession)
        screen.press("q")
        screen.wait(.seconds(1))
        screen.press("d", "Esc")
        #expect(screen.model.leaving.isAskedAbout)
        screen.press(":", "ask off", "Enter", "q")
        #expect(screen.requests == [.leave])
        screen.press("Q")
        #expect(screen.picture.contains("KillUserProcesses is on"))
        #expect(!screen.picture.contains("do not ask again"))
    }

    @Test("lingering is turned on with one key, and a refusal says what to type")
    func lingering() {
        var screen = screen(.endsWithoutLingering)
        screen.press("Q")
        screen.wait(.seconds(1))
        screen.press("L")
        #expect(screen.asked(LingeringRequest.self).count == 1)
        #expect(screen.picture.contains("Asking systemd ..."))
        screen.answer(LingeringRequest.self, .success("lingering was refused: type it"))
        #expect(screen.model.notice?.isError == true)
        screen.press("Q")
        screen.wait(.seconds(1))
        screen.press("L")
        screen.answer(LingeringRequest.self, .success(nil))
        screen.press("q")
        #expect(screen.requests == [.leave])
    }

    @Test("nothing unfinished is nothing to be asked about")
    func finished() {
        var totals = QueueTotals()
        (totals.batches, totals.counts.completed) = (1, 3)
        var screen = ScreenHarness(
            80, 24, [Rows.section(nil, [Rows.batch(1, "photos", .completed, { $0.completed = 3 })])], totals: totals)
        screen.send(.local(.logout(.endsWithoutLingering)))
        screen.press("q")
        #expect(screen.requests == [.leave])
    }
}
