import FoundationEssentials
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("A batch is sent once more, or elsewhere")
struct AgainTests {
    /// What the engine tells of b7.
    private var order: BatchRequest {
        var order = BatchRequest(
            name: BatchName(rawValue: "holiday"),
            work: .upload(
                [
                    UploadSource(path: RawPath(Adding.path("edits")), placement: .contents),
                    UploadSource(path: RawPath(Adding.path("notes.txt")), placement: .named(RawPath("notes.txt"))),
                ], to: "https://nas.exmaple/in/"), priority: .high, like: Adding.batch.id)
        order.options.ifExists = .skip
        order.options.exclude = ["*.tmp", "a b"]
        return order
    }

    /// In the step of the destination.
    private func screen(_ order: BatchRequest? = nil) -> ScreenHarness {
        var screen = ScreenHarness(100, 40, Rows.example)
        var batch = Adding.batch
        (batch.state, batch.finishedAt) = (.completed, ScreenHarness.morning)
        screen.press("H")
        screen.send(.answer(.batches(.success([batch]), number: screen.lastNumber)))
        screen.press("A")
        #expect(screen.requests == [.order(of: Adding.batch.id, number: screen.lastNumber)])
        screen.send(.answer(.ordered(.success(order ?? self.order), number: screen.lastNumber)))
        let paths = [Adding.path("edits"), Adding.path("notes.txt")]
        #expect(screen.requests.contains(.local(.look(paths, .choose))))
        screen.send(
            .local(
                .looked(
                    [
                        LookedPath(path: paths[0], finding: .folder),
                        LookedPath(path: paths[1], finding: .file(size: 5)),
                    ], .choose)))
        return screen
    }

    @Test("the steps do not come up over or under a line that is typed meanwhile")
    func whileTyping() {
        var screen = ScreenHarness(100, 40, Rows.example)
        var batch = Adding.batch
        (batch.state, batch.finishedAt) = (.completed, ScreenHarness.morning)
        screen.press("H")
        screen.send(.answer(.batches(.success([batch]), number: screen.lastNumber)))
        screen.press("A")
        let number = screen.lastNumber
        screen.press("Esc", ":", "f")
        screen.send(.answer(.ordered(.success(order), number: number)))
        #expect(screen.model.adding == nil && screen.model.commandPrompt != nil)
        #expect(!screen.requests.contains { if case .local = $0 { true } else { false } })
    }

    private func queued(_ screen: ScreenHarness) -> AddOrder? {
        guard case .queue(let order, _)? = screen.requests.last else { return nil }
        return order
    }

    private func command(_ order: AddOrder?) -> String {
        order.map { String(decoding: $0.command(home: Adding.folder), as: UTF8.self) } ?? ""
    }

    @Test(
        "a batch that goes on trying a wrong address is replaced from the list, too; any other one stays beside the new one",
        arguments: [
            (TransferErrorCode.cannotFindHost, TransferState.waiting, Int64(0), true),
            (.cannotConnectToHost, .running, 0, true), (.timedOut, .waiting, 0, false),
            (.cannotFindHost, .failed, 0, false), (.cannotConnectToHost, .waiting, 1, false),
        ])
    func replaced(code: TransferErrorCode, state: TransferState, sent: Int64, isInPlace: Bool) {
        var row = Rows.batch(1, "docs", state, { $0[state] = 3 }, total: 9, sent: sent)
        row.error = TransferError(code, "nas does not answer", .step("look"))
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [row])])
        screen.press("A")
        let asked = screen.model.requests.outstanding.values.compactMap { request in
            if case .order(_, let inPlace) = request.purpose { inPlace } else { nil }
        }
        #expect(asked == [isInPlace])
    }

    @Test(
        "everything is chosen as it was, the old address is there to be mended, and only what changed is in the command"
    )
    func mended() throws {
        var screen = screen()
        #expect(screen.model.adding?.step == .second)
        #expect(screen.picked == 2)
        #expect(screen.picture.contains("https://nas.exmaple/in/"))
        for _ in 0..<"exmaple/in/".count { screen.press("Backspace") }
        screen.press("example/in/", "Enter")
        #expect(screen.model.adding?.review?.form.text(.exclude) == "*.tmp 'a b'")
        #expect(screen.picture.contains("holiday"))
        screen.press("F2")
        #expect(command(queued(screen)) == "martlet again b7 https://nas.example/in/")
    }

    @Test("what patterns leave of a folder's contents is counted without the folder's name")
    func patterns() {
        var screen = screen()
        screen.press("Enter")
        let words = [Adding.path("edits") + Array("/.".utf8), Adding.path("notes.txt")]
        #expect(screen.requests.contains(.local(.sift(words, NamePatterns(exclude: ["*.tmp", "a b"])))))
    }

    @Test("what is changed in the review is in the command; a pattern that is taken out is said to be for all")
    func changed() throws {
        var screen = screen()
        screen.press("Enter")
        screen.model.adding?.review?.form.set(.exclude, to: "")
        screen.model.adding?.review?.form.set(.ifExists, to: "replace")
        screen.model.adding?.review?.form.set(.priority, to: "normal")
        screen.press("F2")
        #expect(
            command(queued(screen))
                == "martlet again --if-exists replace --include '*' --priority normal b7 https://nas.exmaple/in/")
    }

    @Test("Esc closes it, and what was chosen for something new is still chosen")
    func escape() {
        var screen = ScreenHarness(80, 24, Rows.example)
        screen.press("a")
        screen.list(Adding.entries)
        screen.press("Space", "Esc", "A")
        screen.send(.answer(.ordered(.success(order), number: screen.lastNumber)))
        #expect(screen.model.adding?.repeated != nil)
        screen.press("Esc")
        #expect(screen.model.adding == nil)
        screen.press("a")
        #expect(screen.picked == 1 && screen.model.adding?.repeated == nil)
    }

    @Test("a late answer is for the form that asked, and leaves alone one that was opened since")
    func lateAnswer() {
        for result in [
            Result<BatchSnapshot, RequestError>.success(Adding.batch), .failure(RequestError(.refused, "no")),
        ] {
            var screen = screen()
            screen.press("Enter", "F2")
            let number = screen.lastNumber
            #expect(queued(screen) != nil)
            screen.press("Esc", "A")
            screen.send(.answer(.ordered(.success(order), number: screen.lastNumber)))
            let opened = screen.model.adding?.step
            #expect(opened == .second)
            screen.send(.answer(.queued(result, number: number)))
            #expect(screen.model.adding?.step == opened && screen.model.page is HistoryPage)
        }
    }

    @Test("the limit of the server that it goes to again is shown, and can be taken off")
    func limit() {
        var limited = order
        (limited.options.bytesPerSecond, limited.options.limitOf) = (2 << 20, "nas")
        var screen = screen(limited)
        screen.press("Enter")
        #expect(screen.model.adding?.review?.form.text(.limit) == "2M")
        screen.model.adding?.review?.form.set(.limit, to: "")
        screen.press("F2")
        #expect(command(queued(screen)) == "martlet again --limit off b7 https://nas.exmaple/in/")
    }

    @Test("a batch of downloads, or one that is gone, is said, and nothing opens")
    func refused() {
        var screen = ScreenHarness(80, 24, Rows.example)
        screen.press(":", "again", "Enter")
        screen.send(
            .answer(
                .ordered(
                    .failure(RequestError(.refused, "b1 downloads: queue its URLs with martlet download")),
                    number: screen.lastNumber)))
        #expect(screen.model.adding == nil)
        #expect(screen.picture.contains("b1 downloads"))
    }
}
