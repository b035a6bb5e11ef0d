import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite(
    "What the list does not have is found in the whole queue; all files stand in one list; the cursor follows a file")
struct FindingTests {
    private let batch = BatchID(rawValue: 1)
    private var folder: RowID { .folder(batch, FolderID(rawValue: 3)) }
    private var task: RowID { .task(batch, TaskID(rawValue: 77)) }
    private var group: RowID { .group(batch, FolderID(rawValue: 3), RowID.Fate(.completed)) }

    private func example() -> ScreenHarness { ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals) }

    private func question(_ screen: ScreenHarness) -> NameQuestion? {
        screen.requests.lazy.compactMap { if case .find(let question, _) = $0 { question } else { nil } }.first
    }

    private func asked(_ screen: ScreenHarness) -> [SectionRequest] {
        screen.requests.lazy.compactMap { if case .show(let sections, _, _) = $0 { sections } else { nil } }.first ?? []
    }

    /// The engine's answer to the last question.
    private func found(
        _ screen: inout ScreenHarness, _ way: [RowID], _ matches: Int64, complete: Bool = true, wrapped: Bool = false
    ) {
        let row = FoundRow(way: way, matches: matches, complete: complete, wrapped: wrapped)
        screen.send(.answer(.found(.success(row), number: screen.lastNumber)))
    }

    /// The section of the folder `video/`, with the file that was found behind a group.
    private func answerWay(_ screen: inout ScreenHarness) {
        screen.news([
            Rows.section(folder, [Rows.group(1, 3, .completed, 12)]),
            Rows.section(group, [Rows.task(1, 77, "holiday.mov", .completed)], total: 12),
        ])
    }

    @Test("a name in a closed folder is gone to when nothing in the list has it; the way is asked for at once")
    func typed() {
        var screen = example()
        screen.press("/", "h")
        #expect(question(screen) == NameQuestion(text: "h", after: .batch(batch), here: true))
        screen.press("oliday.")
        #expect(question(screen) == nil, "one question at a time")
        found(&screen, [.batch(batch)], 3)
        #expect(question(screen)?.text == "holiday.", "what was typed meanwhile")
        #expect(screen.cursorName == "holiday-2024")
        found(&screen, [], 12, complete: false)
        #expect(screen.picture.contains("12+ in the queue"))
        #expect(question(screen)?.text == "holiday.", "it goes on where it stopped")
        found(&screen, [.batch(batch), folder, group, task], 40)
        #expect(screen.picture.contains("40 in the queue"))
        let wanted = asked(screen)
        #expect(wanted.first { $0.parent == folder }?.showing == group)
        #expect(wanted.first { $0.parent == group }?.showing == task)
        answerWay(&screen)
        #expect(screen.cursorName == "holiday.mov")
        Pictures.expect(screen.picture, "find-queue-80x24")
        screen.press("Esc")
        #expect(screen.cursorName == "holiday-2024")
    }

    @Test("n asks the queue when it has more than the list, as often as it was pressed, and says when it went round")
    func steps() {
        var screen = example()
        screen.press("/", "img")
        found(&screen, [], 900)
        found(&screen, [], 9)
        screen.press("Enter", "n", "n")
        #expect(question(screen) == nil)
        found(&screen, [.batch(batch), folder, group, task], 9)
        #expect(question(screen)?.after == task, "from where the first one led")
        answerWay(&screen)
        #expect(screen.cursorName == "holiday.mov")
        found(&screen, [.batch(batch)], 9, wrapped: true)
        #expect(screen.model.notice?.text.string == "Round the end: the first one.")
        #expect(screen.cursorName == "holiday-2024")
        screen.press("N")
        #expect(question(screen)?.backwards == true)
        found(&screen, [], 0)
        #expect(screen.model.notice?.text.string == "\"img\" is nowhere in the queue.")
        screen.press("n")
        screen.press("j", "j")
        #expect(screen.model.tree.going == .nowhere)
    }

    private func deeds(_ screen: ScreenHarness) -> [NodeChoice] {
        screen.requests.compactMap { if case .act(_, let nodes, _) = $0 { nodes } else { nil } }
    }

    private static let onItsWay: SafeText =
        "The cursor is still on its way to another row: wait until it is there, or move it."

    /// A name is looked for that no row of the list has; the engine has not answered yet.
    private func looking() -> ScreenHarness {
        var screen = example()
        screen.press("/", "mov", "Enter")
        #expect(question(screen) == NameQuestion(text: "mov", after: .batch(batch)), "the count is not waited for")
        return screen
    }

    @Test(
        "a key that means a row is refused until the cursor is on the name that was looked for", arguments: ["x", "p"])
    func early(key: String) {
        var screen = looking()
        func isRefused() -> Bool {
            let isSaid = screen.model.notice?.text == Self.onItsWay
            return isSaid && deeds(screen).isEmpty && screen.model.dialog == nil && screen.model.tree.marks.isEmpty
        }
        for pressed in [key, "Space", "v"] {
            screen.press(pressed)
            #expect(isRefused(), "\(pressed)")
        }
        #expect(screen.model.tree.rangeStart == nil)
        found(&screen, [.batch(batch), folder, task], 1)
        screen.press(key)
        #expect(isRefused(), "its section has not come")
        screen.news([Rows.section(folder, [Rows.task(1, 77, "holiday.mov", .running, total: Rows.mega)])])
        #expect(screen.cursorName == "holiday.mov")
        screen.press(key)
        #expect(deeds(screen) == [.rows([task])])
    }

    @Test("a command typed while the cursor is on its way is refused once, and then means the row it has reached")
    func command() {
        var screen = looking()
        screen.press(":", "cancel")
        found(&screen, [.batch(batch), folder, task], 1)
        screen.news([Rows.section(folder, [Rows.task(1, 77, "holiday.mov", .running, total: Rows.mega)])])
        #expect(screen.cursorName == "holiday.mov")
        screen.press("Enter")
        let said = "The cursor moved to \"holiday.mov\" after the line was opened: the same once more does it there."
        #expect(screen.model.notice?.text.string == said && deeds(screen).isEmpty && screen.model.dialog == nil)
        screen.press(":", "cancel", "Enter")
        #expect(screen.model.dialog == nil && deeds(screen) == [.rows([task])])
        screen = looking()
        screen.press(":", "cancel", "Enter")
        #expect(screen.model.notice?.text == Self.onItsWay && deeds(screen).isEmpty && screen.model.dialog == nil)
        // What else is of the cursor's row waits, too.
        for key in ["i", "O", "A", "Enter"] {
            screen = looking()
            screen.press(key)
            #expect(screen.model.notice?.text == Self.onItsWay && screen.model.page is TransfersPage, "\(key)")
        }
    }

    @Test("whoever moves the cursor does not wait for the answer any more: it takes nobody away, and n asks anew")
    func late() {
        var screen = looking()
        screen.press("j")
        found(&screen, [.batch(batch), folder, task], 1)
        #expect(screen.cursorName == "raw" && screen.model.tree.going == .nowhere)
        screen.press("n")
        #expect(question(screen) == NameQuestion(text: "mov", after: .folder(batch, FolderID(rawValue: 2))))
        let older = screen.lastNumber
        screen.press("j", "n")
        #expect(question(screen)?.after == .task(batch, TaskID(rawValue: 10)))
        let row = FoundRow(way: [.batch(batch)], matches: 1)
        screen.send(.answer(.found(.success(row), number: older)))
        #expect(screen.cursorName == "IMG_0412.CR3" && screen.model.tree.going == .sought(steps: 1, from: nil))
        screen.press("N")
        found(&screen, [.batch(batch)], 1)
        #expect(screen.cursorName == "IMG_0412.CR3", "there and back again")
        // Whoever opens or closes a row is on it.
        screen = looking()
        screen.press("h")
        found(&screen, [.batch(batch), folder, task], 1)
        #expect(screen.model.tree.going == .nowhere)
    }

    @Test("Esc ends a search that is not answered yet: the next key means the row under the cursor")
    func given() {
        var screen = looking()
        screen.press("Esc")
        #expect(screen.model.find == nil && screen.model.tree.going == .nowhere)
        found(&screen, [.batch(batch), folder, task], 1)
        #expect(screen.cursorName == "holiday-2024" && screen.model.tree.going == .nowhere)
        screen.press("x")
        #expect(screen.model.dialog != nil)
        screen = looking()
        found(&screen, [.batch(batch), folder, task], 1)
        screen.press("Esc")
        answerWay(&screen)
        #expect(screen.cursorName == "holiday-2024", "its way, too")
    }

    @Test("nothing is retried between E and the problem that it goes to; whoever moves on meanwhile stays there")
    func problem() {
        let june = Rows.batch(4, "June", .paused, { ($0.failed, $0.paused) = (2, 3) })
        let batches = [
            Rows.batch(3, "May", .completed, { $0.completed = 1 }), june,
            Rows.batch(5, "July", .completed, { $0.completed = 1 }),
        ]
        let files = Rows.section(
            june.id, ([1, 2] as [Int64]).map { Rows.task(4, $0, "\($0).jpg", .failed, total: Rows.mega) })
        var screen = ScreenHarness(80, 24, [Rows.section(nil, batches)])
        screen.press("E", "r")
        #expect(screen.cursorName == "June")
        #expect(screen.model.notice?.text == Self.onItsWay)
        #expect(screen.model.requests.outstanding.isEmpty)
        screen.news([files])
        #expect(screen.cursorName == "1.jpg" && screen.model.tree.going == .nowhere)
        screen.press("r")
        #expect(deeds(screen) == [.rows([.task(BatchID(rawValue: 4), TaskID(rawValue: 1))])])
        screen = ScreenHarness(80, 24, [Rows.section(nil, batches)])
        screen.press("E", "j")
        screen.news([files])
        #expect(screen.cursorName == "July")
    }

    @Test("t lists the files of all batches with how many of each state there are, and goes back to where it was")
    func flat() {
        var screen = example()
        screen.press("j", "t")
        #expect(asked(screen) == [SectionRequest(parent: nil, limit: 40, flat: true)])
        let before = screen.model.tree.items
        screen.news(Rows.example)
        #expect(screen.model.tree.items == before, "what was on its way is of the tree")
        var section = Rows.section(
            nil,
            [
                Rows.task(
                    1, 10, "IMG_0412.CR3", .running, total: 71 * Rows.mega, sent: 62 * Rows.mega, speed: 9, left: 1),
                Rows.task(3, 20, "NDA signed (final).pdf", .failed, total: 2 * Rows.mega),
            ], total: 12406)
        section.flat = true
        section.counts = Rows.exampleTotals.counts
        screen.news([section], totals: Rows.exampleTotals)
        #expect(screen.model.tree.items.map(\.depth) == [0, 0, 0])
        Pictures.expect(screen.picture, "flat-80x24")
        #expect(screen.model.tree.root == nil)
        screen.press("Space", "s", "s")
        #expect(asked(screen) == [SectionRequest(parent: nil, limit: 40, order: TreeOrder(.size), flat: true)])
        screen.press("s", "o", "t")
        screen.news(Rows.example, totals: Rows.exampleTotals)
        #expect(screen.cursorName == "raw")
        #expect(screen.model.tree.marks.count == 1)
    }

    @Test("F goes with a file into the row where what is done is folded, until the cursor is moved")
    func follow() {
        var screen = example()
        screen.press("F")
        #expect(screen.model.list.followed == nil, "a batch goes nowhere")
        screen.press("j", "j", "F")
        #expect(screen.model.list.followed == .task(batch, TaskID(rawValue: 10)))
        var sections = Rows.example
        sections[2].rows.remove(at: 0)
        screen.news([sections[2]])
        #expect(question(screen) == NameQuestion(text: "", after: .task(batch, TaskID(rawValue: 10))))
        let done = RowID.group(batch, FolderID(rawValue: 2), RowID.Fate(.completed))
        let raw = RowID.folder(batch, FolderID(rawValue: 2))
        found(&screen, [.batch(batch), raw, done, .task(batch, TaskID(rawValue: 10))], 0)
        #expect(asked(screen).contains { $0.parent == done })
        screen.news([Rows.section(done, [Rows.task(1, 10, "IMG_0412.CR3", .completed)], total: 570)])
        #expect(screen.cursorName == "IMG_0412.CR3")
        #expect(screen.picture.contains("follows"))
        screen.press("k")
        #expect(screen.model.list.followed == nil)
    }

    @Test("@marked is sent by name, typed as it is, and the marks of that moment count")
    func marked() {
        var screen = example()
        screen.press("Space", "Space", "f", "@marked", "Enter")
        #expect(screen.model.filters.shown?.text == "@marked")
        #expect(screen.model.filters.shown?.sent == "id:b1 | id:b1/f2")
        var update = ViewUpdate()
        update.sections = [Rows.section(nil, [Rows.batch(1, "holiday-2024", .running)])]
        update.filter = FilterCount(text: "id:b1 | id:b1/f2", matched: 826, total: 12406, complete: true)
        screen.send(.update(update))
        #expect(screen.picture.contains("filter: 826 of 12,406"))
        #expect(screen.picture.contains("filter: @marked"))
        screen.press("Esc", ":", "cancel @marked", "Enter")
        #expect(screen.picture.contains("that match @marked"))
    }
}
