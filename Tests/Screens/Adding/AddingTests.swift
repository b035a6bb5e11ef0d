import DisplayText
import Configuration
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Adding a batch")
struct AddingTests {
    @Test("what is typed as a path is a path, though its first slash also finds")
    func slash() {
        var screen = Adding.screen(80, 24)
        screen.press("/", "t", "m", "p")
        guard case .find? = screen.model.adding?.picker.mode else { return #expect(Bool(false), "it finds") }
        screen.press("/", "x")
        guard case .path(let field)? = screen.model.adding?.picker.mode else {
            return #expect(Bool(false), "it is a path")
        }
        #expect(field.text == "/tmp/x")
    }

    @Test("opening asks for the folder and for the places, and nothing of the engine")
    func opening() {
        let screen = Adding.screen(80, 24)
        #expect(screen.model.adding?.step == .first)
        // The list below is empty: that asks for what was finished.
        #expect(screen.model.requests.outstanding.values.map(\.request) == [.batches(number: 1)])
        #expect(screen.picked == 0)
    }

    @Test("marks survive changing folders, are counted meanwhile, and are what is queued")
    func marks() {
        var screen = Adding.screen(80, 24)
        screen.press("Space")
        #expect(screen.requests == [.local(.count(Adding.path("edits")))])
        screen.press("Enter")
        #expect(screen.model.adding?.picker.folder.path == Adding.path("export"))
        screen.list([FolderEntry(name: Array("inside.txt".utf8), kind: .file, size: 5)])
        screen.press("Space", "h")
        #expect(screen.picked == 2)
        screen.list(Adding.entries)
        screen.send(.local(.counted(Adding.path("edits"), FolderCount(files: 12, bytes: 99, isComplete: true))))
        #expect(screen.model.adding?.picker.basket.totals.files == 13)
        screen.press("F2")
        screen.press("https://host/in", "Enter", "F2")
        guard case .queue(let order, let number)? = screen.requests.first else {
            Issue.record("nothing was queued: \(screen.requests)")
            return
        }
        // Several files go into a folder: the slash is ours.
        #expect(
            order.work
                == .upload([Adding.path("edits"), Adding.path("export/inside.txt")], to: "https://host/in/"))
        screen.send(.answer(.queued(.success(Adding.batch), number: number)))
        #expect(screen.model.adding == nil)
        #expect(screen.model.drafts.kept.isEmpty)
        #expect(
            screen.requests.contains(
                .local(.remember(destination: "https://host/in/", folder: Adding.folder))))
    }

    @Test(
        "a batch that was added here comes into sight when its row comes, one that others added leaves the cursor alone"
    )
    func comesIntoSight() {
        func list(_ last: Int64) -> [TreeSection] {
            [Rows.section(nil, (1...last).map { Rows.batch($0, "batch \($0)", .queued, { $0.queued = 1 }) })]
        }
        var screen = ScreenHarness(80, 24, list(40))
        let order = AddOrder(.upload([Adding.path("edits")], to: "https://host/in/"))
        screen.model.ask(.queueing(order), isPatient: true) { .queue(order, number: $0) }
        screen.news(list(41))
        #expect(screen.model.tree.cursor == .row(.batch(BatchID(rawValue: 1))))
        let number = screen.lastNumber
        screen.send(
            .answer(.queued(.success(Rows.snapshot(42, "batch 42", .queued, { $0.queued = 1 })), number: number)))
        screen.news(list(42))
        #expect(screen.model.tree.cursor == .row(.batch(BatchID(rawValue: 42))))
        #expect(screen.picture.contains("batch 42 "))
        screen.news(list(43))
        #expect(screen.model.tree.cursor == .row(.batch(BatchID(rawValue: 42))))
    }

    @Test("its answer takes nobody from a row to which he has gone meanwhile, and waits for no row that a filter hides")
    func answerAfterMove() {
        let rows = (1...3).map { Rows.batch($0, "batch \($0)", .queued, { $0.queued = 1 }) }
        for isFiltered in [false, true] {
            var screen = ScreenHarness(80, 24, [Rows.section(nil, rows)])
            if isFiltered {
                screen.press("f", "state:queued", "Enter")
                screen.news([Rows.section(nil, rows)])
            }
            let order = AddOrder(.upload([Adding.path("edits")], to: "https://host/in/"))
            screen.model.ask(.queueing(order), isPatient: true) { .queue(order, number: $0) }
            let number = screen.lastNumber
            if !isFiltered { screen.press("j") }
            let cursor = screen.model.tree.cursor
            screen.send(
                .answer(.queued(.success(Rows.snapshot(3, "batch 3", .queued, { $0.queued = 1 })), number: number)))
            #expect(screen.model.tree.cursor == cursor && screen.model.tree.going == .nowhere, "\(isFiltered)")
        }
    }

    /// Queued from the last step, which was left before the answer.
    private func leftWhileQueueing() throws -> (ScreenHarness, Int) {
        var screen = Adding.screen(80, 24)
        screen.news([Rows.section(nil, [Rows.batch(1, "photos", .queued, { $0.queued = 1 })])])
        screen.press("Space", "F2", "https://host/in/", "Enter", "F2")
        let numbers: [Int] = screen.requests.compactMap {
            if case .queue(_, let number) = $0 { number } else { nil }
        }
        screen.press("Esc")
        #expect(screen.model.adding == nil)
        let number = try #require(numbers.first)
        return (screen, number)
    }

    @Test("the answer to what was queued takes nobody out of a form: what is typed stays, and is no key of the list")
    func answerDuringForm() throws {
        let (left, number) = try leftWhileQueueing()
        var screen = left
        screen.press("5", "n", "na")
        screen.send(.answer(.queued(.success(Adding.batch), number: number)))
        #expect(screen.model.notice?.text == "Queued b7: \"edits\". It is in the list of transfers.")
        screen.press("x")
        let page = try #require(screen.model.page as? DestinationsPage)
        #expect(page.form?.fields.text(.name) == "nax")
        #expect(!screen.requests.contains { if case .act = $0 { true } else { false } })
        #expect(screen.model.tree.going == .nowhere)
    }

    @Test(
        "nor out of another page, or out of a question; on the list, where it was waited for, the batch comes into sight"
    )
    func answerElsewhere() throws {
        var (screen, number) = try leftWhileQueueing()
        screen.press("6")
        screen.send(.answer(.queued(.success(Adding.batch), number: number)))
        #expect(!(screen.model.page is TransfersPage))
        (screen, number) = try leftWhileQueueing()
        screen.press(":", "canc")
        screen.send(.answer(.queued(.success(Adding.batch), number: number)))
        #expect(screen.model.commandPrompt?.text == "canc" && screen.model.tree.going == .nowhere)
        (screen, number) = try leftWhileQueueing()
        screen.send(.answer(.queued(.success(Adding.batch), number: number)))
        #expect(screen.model.page is TransfersPage && screen.model.tree.going == .to(.batch(BatchID(rawValue: 7))))
        #expect(screen.model.notice?.text == "Queued b7: \"edits\".")
    }

    @Test("going on with nothing marked takes the row of the cursor")
    func cursorRow() {
        var screen = Adding.screen(80, 24)
        screen.press("F2")
        #expect(screen.picked == 1)
        #expect(screen.model.adding?.step == .second)
        screen.press("Esc", "U", "g", "F2")
        #expect(screen.model.adding?.step == .first)
    }

    @Test("Esc goes back step by step, and what was chosen is there the next time")
    func escape() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter")
        #expect(screen.model.adding?.step == .third)
        screen.press("Esc")
        #expect(screen.model.adding?.step == .second)
        screen.press("Esc")
        #expect(screen.model.adding?.step == .first)
        screen.press("Esc")
        #expect(screen.model.adding == nil)
        #expect(screen.requests.contains(.local(.stopAll)))
        screen.press("a")
        #expect(screen.picked == 1)
        // What was not counted to the end is counted again.
        #expect(screen.requests.contains(.local(.count(Adding.path("edits")))))
    }

    @Test("cancel forgets everything")
    func cancelling() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter", "Right", "Right", "Enter")
        #expect(screen.model.adding == nil)
        screen.press("a")
        #expect(screen.picked == 0)
    }

    @Test("pasted paths open the picker and fill it; what is not there is said, not dropped")
    func pasting() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.paste("'/tmp/a b'\nfile:///home/ana/c%20d\n~/e\n")
        let words = ["/tmp/a b", "/home/ana/c d", "/home/ana/e"].map { Array($0.utf8) }
        #expect(screen.requests.contains(.local(.look(words, .choose))))
        screen.send(
            .local(
                .looked(
                    [
                        LookedPath(path: words[0], finding: .file(size: 3)),
                        LookedPath(path: words[1], finding: .folder),
                        LookedPath(path: words[2], finding: .missing("~/e: No such file or directory")),
                    ], .choose)))
        #expect(screen.picked == 2)
        #expect(screen.model.adding?.picker.unusable.count == 1)
        #expect(screen.picture.contains("2 paths chosen. ~/e: No such file or directory."))
    }

    @Test("going on waits for what was pasted and is still being looked at, and sends no row that nobody chose")
    func pastedAhead() {
        let looked = LocalNews.looked([LookedPath(path: Array("/mnt/x".utf8), finding: .file(size: 3))], .choose)
        for marks in [true, false] {
            var screen = Adding.screen(80, 24)
            if marks { screen.press("Space") }
            screen.paste("/mnt/x\n")
            screen.press("F2")
            #expect(screen.model.adding?.step == .first)
            #expect(screen.picture.contains("being looked at"))
            screen.send(.local(looked))
            #expect(screen.model.adding?.step == .second && screen.picked == (marks ? 2 : 1))
        }
        // Another key takes that back.
        var screen = Adding.screen(80, 24)
        screen.paste("/mnt/x\n")
        screen.press("F2", "Down")
        screen.send(.local(looked))
        #expect(screen.model.adding?.step == .first && screen.picked == 1)
        // What is not there is read before anything else happens, and no row stands in for it.
        for finding in [LookedPath.Finding.missing("It is not there"), .unusable("It is a socket")] {
            var screen = Adding.screen(80, 24)
            screen.paste("/mnt/x\n")
            screen.press("F2")
            screen.send(.local(.looked([LookedPath(path: Array("/mnt/x".utf8), finding: finding)], .choose)))
            #expect(screen.model.adding?.step == .first && screen.picked == 0)
            #expect(screen.picture.contains("0 paths chosen"))
        }
        // An answer that went to nobody is not waited for.
        screen.paste("/mnt/y\n")
        screen.press("Esc", "a", "F2")
        #expect(screen.model.adding?.step == .second)
    }

    @Test("a paste into a line never runs as keys")
    func pasteIntoLines() {
        var screen = Adding.screen(80, 24)
        screen.press("/")
        screen.paste("edi\u{1B}[A\nq")
        #expect(screen.model.adding != nil)
        screen.press("Esc", "Space", "F2")
        screen.paste("https://host/\nF2")
        #expect(screen.model.adding?.step == .second)
        #expect(screen.model.adding?.destination.field.text == "https://host/F2")
        screen.press("^U")
        screen.paste("  nas:My Photos/\n")
        #expect(screen.model.adding?.destination.field.text == "nas:My Photos/")
    }

    @Test("a typed path leads to a folder, to a file in its folder, or is chosen with others")
    func typedPaths() {
        var screen = Adding.screen(80, 24)
        screen.press("~", "Photos", "Enter")
        #expect(screen.requests == [.local(.look([Array("/home/ana/Photos".utf8)], .go))])
        screen.send(.local(.looked([LookedPath(path: Array("/home/ana/x".utf8), finding: .file(size: 1))], .go)))
        #expect(screen.model.adding?.picker.folder.path == Array("/home/ana".utf8))
        #expect(screen.picked == 1)
        screen.press("~", "/etc/hosts", "Enter")
        #expect(
            screen.requests == [.local(.look([Array("/etc/hosts".utf8)], .go))],
            "a slash is the root, not one below home")
        screen.press("Esc", "~")
        screen.paste("/mnt/films\n")
        screen.press("Enter")
        #expect(screen.requests == [.local(.look([Array("/mnt/films".utf8)], .go))], "nor is what is pasted")
        screen.press("Esc", "~")
        screen.paste("films/2026")
        screen.press("Enter")
        #expect(screen.requests == [.local(.look([Array("/home/ana/films/2026".utf8)], .go))])
        screen.press("Esc")
        screen.press("/", "/etc/hosts", "Space", "b", "Enter")
        #expect(
            screen.requests == [.local(.look([Array("/etc/hosts".utf8), Array("/home/ana/b".utf8)], .choose))])
    }

    @Test("Tab continues the path that is typed, and a late answer changes nothing")
    func completion() {
        var screen = Adding.screen(80, 24)
        screen.press("~", "Pho", "Tab")
        let word = Array("/home/ana/Pho".utf8)
        #expect(screen.requests == [.local(.complete(word))])
        screen.send(.local(.completed(word, PathCompletion(path: Array("/home/ana/Photos/".utf8), candidates: 1))))
        #expect(screen.lines[22].contains("path: /home/ana/Photos/"))
        screen.send(.local(.completed(word, PathCompletion(path: Array("/home/ana/Phone".utf8), candidates: 1))))
        #expect(screen.lines[22].contains("path: /home/ana/Photos/"))
    }

    @Test("the engine's silence stops only the last step")
    func lost() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter")
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.press("F2")
        #expect(!screen.requests.contains { if case .queue = $0 { true } else { false } })
        #expect(screen.picture.contains("The engine does not answer: nothing can be queued now."))
        screen.connect()
        screen.press("F2")
        #expect(screen.requests.contains { if case .queue = $0 { true } else { false } })
    }

    @Test("a refusal leaves the form as it was")
    func refusal() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter", "PgUp", "^U", "my batch", "F2")
        let refused = RequestError(.usage, "two sources are named a: queue them as two batches")
        screen.send(.answer(.queued(.failure(refused), number: screen.lastNumber)))
        #expect(screen.model.adding?.review?.form.text(.name) == "my batch")
        #expect(screen.picture.contains("two sources are named a"))
    }

    @Test("patterns whose quote is not closed are said, and what is filled in is read as it was")
    func quotedPatterns() {
        var review = ReviewStep(.upload([Array("/a".utf8)], to: "https://host/in/"), asksPassword: nil)
        review.form.set(.exclude, to: "*.key don't")
        #expect(review.order() == nil && review.note?.isError == true)
        #expect(review.note?.text == "A quote is not closed: write \\' for an apostrophe.")
        review.form.set(.exclude, to: "*.{key,pem}")
        #expect(review.order() == nil && review.note?.isError == true)
        #expect(review.note?.text == "A list in braces is no pattern: write each by itself, such as *.jpg *.png")
        review.form.set(.exclude, to: "a{b}, *.\\\\{key,pem}")
        #expect(review.order() != nil)
        review.form.set(.exclude, to: #"*.key don\'t"#)
        #expect(review.order()?.exclude == ["*.key", "don't"])
        let patterns = [
            "a b", "don't", #"a\b"#, "a\"b", "~/x", "file://x", "\u{2764}\u{FE0F}", "\u{202E}x", "$'x'", "**",
        ]
        for pattern in patterns {
            let line = String(decoding: ShellWords.quote(Array(pattern.utf8)), as: UTF8.self)
            #expect(ShellWords.patterns(line) == [pattern], "\(line)")
        }
    }

    @Test("before another destination stays what a person has changed, and nothing that a server's own lines say")
    func otherDestination() {
        var mirror = Destination(name: "mirror", url: "dav://mirror/in/")
        (mirror.ifExists, mirror.verify) = ("replace", "none")
        mirror.limit = .bytesPerSecond(512 << 10)
        let paths = [Array("/a".utf8)]
        var before = ReviewStep(.upload(paths, to: "dav://mirror/in/"), asksPassword: nil, destination: mirror)
        #expect(before.form.word(.ifExists) == "replace" && before.form.text(.limit) == "512K")
        before.form.set(.exclude, to: "private/**")
        before.form.set(.start, to: "at a time")
        _ = before.settle()
        before.form.set(.time, to: "+2h")
        for other in [nil, Destination(name: "nas", url: "dav://nas/in/")] {
            var next = ReviewStep(.upload(paths, to: "dav://nas/in/"), asksPassword: nil, destination: other)
            next.adopt(before)
            #expect(next.form.word(.ifExists) == "fail" && next.form.word(.verify) == "best")
            #expect(next.form.text(.limit).isEmpty && next.form.text(.exclude) == "private/**")
            #expect(next.form.word(.start) == "at a time" && next.form.text(.time) == "+2h")
        }
        before.form.set(.ifExists, to: "skip")
        var next = ReviewStep(.upload(paths, to: "https://h/"), asksPassword: nil)
        next.adopt(before)
        #expect(next.form.word(.ifExists) == "skip", "by hand")
        // One that proposes the same between two others makes no less of it.
        var skipping = Destination(name: "nas", url: "dav://nas/in/")
        skipping.ifExists = "skip"
        var second = ReviewStep(.upload(paths, to: "dav://nas/in/"), asksPassword: nil, destination: skipping)
        second.adopt(before)
        var third = ReviewStep(.upload(paths, to: "https://h/"), asksPassword: nil)
        third.adopt(second)
        #expect(third.form.word(.ifExists) == "skip")
        second.form.set(.ifExists, to: "fail")
        third = ReviewStep(.upload(paths, to: "https://h/"), asksPassword: nil)
        third.adopt(second)
        #expect(third.form.word(.ifExists) == "fail")
        // What was put back by hand counts before what the next server proposes.
        var last = ReviewStep(.upload(paths, to: "dav://nas/in/"), asksPassword: nil, destination: skipping)
        last.adopt(third)
        #expect(last.form.word(.ifExists) == "fail")
    }

    @Test("a batch can wait for a time; what is no time is said")
    func times() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter", "Up", "Left")
        #expect(screen.model.adding?.review?.form.word(.start) == "at a time")
        screen.press("Tab", "noon", "F2")
        #expect(screen.picture.contains("noon is no time: write 18:00, 2026-12-24T06:00 or +2h."))
        Pictures.expect(screen.picture, "review-time-80x24")
        screen.press("^U", "18:00", "F2")
        guard case .queue(let order, let number)? = screen.requests.first else {
            Issue.record("nothing was queued: \(screen.requests)")
            return
        }
        #expect(order.start == .at("18:00"))
        var batch = Adding.batch
        batch.notBefore = ScreenHarness.morning
        screen.send(.answer(.queued(.success(batch), number: number)))
        #expect(screen.picture.contains("It starts at "))
        // Chosen otherwise again, the line for the time goes.
        screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter", "Up", "Left", "Right")
        #expect(screen.model.adding?.review?.form.fields.contains { $0.id == .time } == false)
    }

    @Test("what patterns leave is counted while they are typed, and shown")
    func patterns() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://host/in/", "Enter", "PgUp", "Tab", "Tab", "Tab", "Tab", "*.jpg")
        let patterns = NamePatterns(include: ["*.jpg"])
        #expect(screen.requests == [.local(.sift([Adding.path("edits")], patterns))])
        #expect(screen.picture.contains("counting what the patterns leave"))
        var count = FolderCount(files: 412, bytes: 3 << 30)
        (count.keptFiles, count.keptFolders, count.firstKept) = (415, 1, [Array("edits/a\u{1B}.tmp".utf8)])
        // Of patterns that are not there any more.
        screen.send(.local(.sifted(NamePatterns(include: ["*"]), FolderCount(files: 99))))
        screen.send(.local(.sifted(patterns, count)))
        Pictures.expect(screen.picture, "review-patterns-80x24")
        // Left and come back to, it is counted on.
        screen.press("^C", "a")
        #expect(screen.requests.contains(.local(.sift([Adding.path("edits")], patterns))))
        screen.press("^U")
        #expect(screen.requests == [.local(.stopSifting)])
        #expect(!screen.picture.contains("Of these"))
    }

    @Test("more files than a command line takes are told so")
    func tooMany() {
        var screen = Adding.screen(80, 24)
        screen.list((0..<3000).map { FolderEntry(name: Array("file-\($0)".utf8), kind: .file, size: 1) })
        screen.press("*", "F2", "https://host/in/", "Enter")
        #expect(screen.picture.contains("more files than a command line takes"))
        screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("W")
        screen.paste((0..<3_000).map { "https://host/file-\($0)" }.joined(separator: "\n"))
        screen.press("F2")
        screen.list([])
        screen.press("F2")
        #expect(screen.picture.contains("more URLs than a command line takes"))
    }

    @Test("a user in the URL is asked for the password, which is shown nowhere")
    func password() {
        var screen = Adding.screen(80, 24)
        screen.press("Space", "F2", "https://ana@host/in/", "Enter", "F2")
        #expect(screen.picture.contains("type the password"))
        screen.press("s3cret")
        #expect(!screen.picture.contains("s3cret"))
        screen.press("F2")
        guard case .queue(let order, _)? = screen.requests.first else {
            Issue.record("nothing was queued")
            return
        }
        #expect(order.password == "s3cret")
    }

    @Test("pasted URLs open a download; it is the URLs and the folder that are queued")
    func downloading() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.paste("https://host/a.iso\nhttps://host/b.iso\n")
        #expect(screen.model.adding?.links.urls == ["https://host/a.iso", "https://host/b.iso"])
        screen.press("Enter")
        screen.list([])
        screen.press("F2", "F2")
        guard case .queue(let order, _)? = screen.requests.first else {
            Issue.record("nothing was queued: \(screen.requests)")
            return
        }
        #expect(
            order.work == .download(["https://host/a.iso", "https://host/b.iso"], into: Array("/home/ana".utf8)))
    }

    @Test("a folder for downloads that is not there is made")
    func newFolder() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [])])
        screen.press("W", "https://host/a.iso", "Enter", "Enter", "~", "new", "Enter")
        let path = Array("/home/ana/new".utf8)
        screen.send(.local(.looked([LookedPath(path: path, finding: .missing("no"))], .go)))
        #expect(screen.model.adding?.review?.work == .download(["https://host/a.iso"], into: path))
    }

    @Test("a range is marked from one end to the other, and again it is taken back")
    func range() {
        var screen = Adding.screen(80, 24)
        screen.press("v", "j", "j", "v")
        #expect(screen.picked == 3)
        screen.press("v", "k", "k", "v")
        #expect(screen.picked == 0)
        screen.press("*")
        // All that are shown but what cannot be read.
        #expect(screen.picked == Adding.entries.count { $0.isReadable && $0.kind != .other && !$0.isHidden })
    }

    @Test("a hundred thousand names are there, found and marked")
    func many() {
        var screen = Adding.screen(80, 24)
        let entries = (0..<100_000).map { FolderEntry(name: Array("file-\($0)".utf8), kind: .file, size: 1) }
        screen.list(entries.sorted(by: FolderOrder().places))
        screen.press("/", "file-99999")
        #expect(screen.picture.contains("1 of 100,000 match"))
        screen.press("Enter", "*")
        #expect(screen.picked == 100_000)
    }

    @Test("where batches of the list go is offered, however they were queued")
    func queuedPlaces() {
        var screen = ScreenHarness(80, 24, Rows.example)
        screen.press("a")
        screen.list(Adding.entries)
        screen.send(.local(.places(Adding.places, RecentPlaces(), DestinationsFile(bytes: []))))
        #expect(screen.model.adding?.destination.choices.map(\.text) == ["https://host/in/"])
    }

    @Test("a configured server is offered once, and places at it are called by its name, in rows and details, too")
    func namedPlaces() {
        var screen = ScreenHarness(160, 30, Rows.example)
        let text = "[work]\nurl = https://host/\n\n[tape]\nurl = https://host/i\n"
        let file = DestinationsFile(bytes: Array(text.utf8))
        var recent = RecentPlaces()
        recent.add(destination: "work:")
        screen.press("a")
        screen.list(Adding.entries)
        screen.send(.local(.places(Adding.places, recent, file)))
        #expect(screen.model.adding?.destination.choices.map(\.text) == ["work:", "tape:", "work:in/"])
        screen.press("^C")
        #expect(screen.picture.contains(" -> work:in/ "))
        screen.model.appearance.columns = ["destination", "state"]
        #expect(screen.picture.contains(" work:in/ ") && !screen.picture.contains(" host/in/ "))
        screen.press("i")
        #expect(screen.picture.contains("work:in/  (https://host/in/)"))
    }

    @Test(
        "a place at a server is below its URL, and not beside it",
        arguments: [
            ("https://host/in/a%20b/", "work:a b/"), ("https://ana@host/in?x=1", "work:"), ("https://host/inbox/", nil),
            ("davs://host/in/c", "work:c"), ("https://host:8443/in/", nil), ("/in/", nil),
        ])
    func naming(url: String, name: String?) {
        let file = DestinationsFile(bytes: Array("[work]\nurl = https://host/in\n".utf8))
        #expect(file.destinations.named(url) == name)
    }
}
