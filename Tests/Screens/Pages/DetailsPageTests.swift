import FoundationEssentials
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The page of details follows its row")
struct DetailsPageTests {
    private let batch = BatchID(rawValue: 1)

    private func row(_ files: Int64, scanning: Bool) -> NodeRow {
        var row = Rows.batch(1, "holiday", .running, { $0.queued = files })
        row.scanning = scanning
        return row
    }

    private func screen(_ row: NodeRow, _ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, [Rows.section(nil, [row])])
        screen.press("i")
        return screen
    }

    private func task(_ id: Int64, _ source: String, _ state: TransferState = .queued) -> TaskSnapshot {
        TaskSnapshot(
            id: TaskID(rawValue: id), uuid: UUID(), batch: batch, session: .default, direction: .upload, state: state,
            priority: .normal, name: RawPath("x"), folder: RawPath(""), source: RawPath(source),
            destination: RawPath("https://host/in/"), bytesTotal: nil, createdAt: ScreenHarness.morning)
    }

    private func sources(_ places: String...) -> NamedSources {
        NamedSources(places.enumerated().map { task(Int64($0.offset), $0.element) })
    }

    private func isAsked(_ screen: ScreenHarness) -> Bool {
        screen.asked(SourcesRequest.self).contains { $0.request.batch == batch }
    }

    @Test("a task's story is asked for when the engine is back")
    func detailsAreBack() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [Rows.task(1, 10, "a.mov", .completed)])])
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        func asks() -> Bool { !screen.asked(StoryRequest.self).isEmpty }
        screen.press("i")
        #expect(!asks())
        screen.connect()
        #expect(asks())
    }

    @Test("the time left says what it leaves out")
    func notCounted() {
        var row = Rows.batch(1, "holiday", .running, { ($0.running, $0.paused) = (1, 3) }, speed: 10 << 20, left: 600)
        #expect(screen(row).picture.contains("10.0M/s   10 min left, not counting 3 paused files"))
        row.counts.paused = 0
        #expect(screen(row).picture.contains("10 min left ") && !screen(row).picture.contains("not counting"))
    }

    @Test("a batch's places are asked for again while its folders are listed, once more at the end, and then no more")
    func scanning() {
        var screen = screen(row(1, scanning: true))
        #expect(isAsked(screen))
        screen.wait(.milliseconds(1500))
        screen.news([Rows.section(nil, [row(2, scanning: true)])])
        #expect(!isAsked(screen), "one question at a time")
        screen.answer(SourcesRequest.self, .success(sources("/home/ana/a")))
        screen.news([Rows.section(nil, [row(3, scanning: true)])])
        #expect(isAsked(screen))
        // The end of the listing comes while that is on its way, and no other news after it.
        screen.news([Rows.section(nil, [row(3, scanning: false)])])
        screen.answer(SourcesRequest.self, .success(sources("/home/ana/a")))
        #expect(isAsked(screen))
        screen.answer(SourcesRequest.self, .success(sources("/home/ana/a", "/mnt/b", "/mnt/c")))
        #expect(screen.picture.contains("/mnt/c"))
        screen.wait(.seconds(5))
        screen.news([Rows.section(nil, [Rows.batch(1, "holiday", .running, { $0.running = 3 })])])
        #expect(!isAsked(screen))
    }

    @Test("what could not be told is forgotten once it is told")
    func problem() {
        var screen = screen(row(1, scanning: true))
        let lost = RequestError(.engineUnreachable, "the engine went away")
        screen.answer(SourcesRequest.self, .failure(lost))
        #expect(screen.picture.contains("the engine went away"))
        screen.wait(.seconds(2))
        screen.news([Rows.section(nil, [row(2, scanning: false)])])
        screen.answer(SourcesRequest.self, .success(sources("/home/ana/a")))
        #expect(!screen.picture.contains("the engine went away"))
        #expect(screen.picture.contains("/home/ana/a"))
    }

    @Test("more places than are named are counted, and the key that is named shows their files")
    func places() {
        var screen = screen(row(7, scanning: false))
        let places = (1...7).map { task($0, "/home/ana/\($0)") }
        screen.answer(SourcesRequest.self, .success(NamedSources(places)))
        #expect(screen.picture.contains("/home/ana/5") && !screen.picture.contains("/home/ana/6"))
        #expect(screen.picture.contains("and 2 more: l shows the files in the list"))
        screen.model.tree.setOpen(.batch(batch), false)
        screen.press("l")
        guard screen.model.page is TransfersPage else { return #expect(Bool(false), "still on the page") }
        #expect(screen.cursorName == "holiday" && screen.model.tree.cursorItem?.isOpen == true)
    }

    @Test("Down and Up go to the next file of the batch as the list has them, past groups and never into another batch")
    func neighbours() {
        let other = BatchID(rawValue: 2)
        var screen = ScreenHarness(80, 24)
        screen.connect()
        let batches = [row(3, scanning: false), Rows.batch(2, "docs", .running, { $0.running = 1 })]
        screen.news([
            Rows.section(nil, batches),
            Rows.section(
                .batch(batch),
                [
                    Rows.task(1, 10, "a", .running), Rows.group(1, 1, .queued, 240), Rows.task(1, 11, "b", .failed),
                ]),
            Rows.section(.batch(other), [Rows.task(2, 20, "c", .running)]),
        ])
        screen.press("j", "i")
        #expect(screen.picture.contains("Details  a ") && screen.picture.contains("holiday (1 of 2)"))
        screen.press("Down")
        #expect(screen.picture.contains("Details  b "))
        #expect(screen.asked(StoryRequest.self).map(\.request.task) == [TaskID(rawValue: 11)])
        screen.press("j")
        #expect(screen.picture.contains("Details  b ") && screen.picture.contains("no file of this batch below it"))
        screen.press("Esc")
        #expect(screen.cursorName == "b")
        screen.press("i", "k")
        #expect(screen.picture.contains("Details  a "))
        screen.press("Up")
        #expect(screen.picture.contains("Details  a ") && screen.picture.contains("no file of this batch above it"))
    }

    @Test("arrows that come three at once are a wheel's: they scroll, and no file is passed")
    func wheel() {
        let (up, down) = (Input.key(KeyPress(.up)), Input.key(KeyPress(.down)))
        func turn(_ button: MousePress.Button) -> Input { .mouse(MousePress(button, at: Position(row: 0, column: 0))) }
        let other = Input.key(.character("j"))
        #expect(WheelTurns.read([down]) == [down])
        #expect(WheelTurns.read([down, up, other, other]) == [down, up, other, other])
        #expect(WheelTurns.read([down, down, down]) == [turn(.wheelDown)])
        let notches = Array(repeating: up, count: 6) + [other, down]
        #expect(WheelTurns.read(notches) == [turn(.wheelUp), turn(.wheelUp), other, down])
        var screen = screen(row(7, scanning: false), 40, 10)
        let places = (1...7).map { task($0, "/home/ana/\($0)") }
        screen.answer(SourcesRequest.self, .success(NamedSources(places)))
        let top = screen.picture
        #expect(screen.model.hearsWheelAsArrows)
        screen.send(.input(turn(.wheelDown)))
        let below = screen.picture
        #expect(below != top && below.contains("Details  holiday"))
        screen.send(.input(turn(.wheelUp)))
        #expect(screen.picture == top)
        screen.press("Esc")
        #expect(!screen.model.hearsWheelAsArrows)
    }

    @Test("keys that scroll go on scrolling, and the line at the foot is there only where all has room")
    func scrolling() {
        var screen = ScreenHarness(80, 14, [Rows.section(nil, [row(1, scanning: false)])])
        screen.press("l")
        screen.news([
            Rows.section(nil, [row(1, scanning: false)]),
            Rows.section(.batch(batch), [Rows.task(1, 10, "a", .running)]),
        ])
        screen.press("j", "i")
        #expect(screen.picture.contains("The mouse selects text here. y copies path, Y copies everything."))
        var long = task(10, "/home/ana/a", .running)
        long.history = (0..<30).map {
            HistoryEntry(time: ScreenHarness.morning, what: "w\($0)", cause: nil, attempt: nil, message: nil)
        }
        screen.answer(StoryRequest.self, .success(long))
        #expect(!screen.picture.contains("The mouse selects") && !screen.picture.contains("w29"))
        screen.press("^D")
        let below = screen.picture
        screen.press("^U", "PgDn", "PgUp")
        #expect(below != screen.picture)
        screen.press("G")
        #expect(screen.picture.contains("w29"))
    }

    @Test("what comes late for another file's page is not shown on this one")
    func late() {
        let rows = [Rows.task(1, 10, "a", .completed), Rows.task(1, 11, "b", .completed)]
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [row(2, scanning: false)])])
        screen.press("l")
        screen.news([
            Rows.section(nil, [row(2, scanning: false)]), Rows.section(.batch(batch), rows),
        ])
        screen.press("j", "i")
        let number = screen.lastNumber
        screen.press("Esc", "j", "i")
        screen.answer(StoryRequest.self, .success(task(10, "/home/ana/a-of-another")), number: number)
        #expect(!screen.picture.contains("a-of-another"))
        screen.answer(StoryRequest.self, .success(task(11, "/home/ana/b-itself")))
        #expect(screen.picture.contains("b-itself"))
    }

    @Test("scrolled to its end it shows all that has room after a resize")
    func resize() {
        var screen = screen(row(7, scanning: false), 80, 24)
        let places = (1...5).map { task($0, "/home/ana/\($0)") }
        screen.answer(SourcesRequest.self, .success(NamedSources(places)))
        let whole = screen.picture
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        screen.press("G")
        screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
        #expect(screen.picture == whole)
    }
}
