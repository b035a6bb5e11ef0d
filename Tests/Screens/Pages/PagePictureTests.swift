import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Pictures of pages, questions and the prompt")
struct PagePictureTests {
    private func example(_ columns: Int = 80, _ rows: Int = 24) -> ScreenHarness {
        ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
    }

    @Test("the engine is lost, and found again")
    func lost() {
        var screen = example()
        screen.send(
            .link(.lost(since: screen.moment.wall, nextTry: screen.moment.wall.advanced(by: .seconds(10)))))
        screen.wait(.seconds(7))
        Pictures.expect(screen.picture, "lost-80x24")
        screen.press("x")
        Pictures.expect(screen.picture, "lost-key-80x24")
        screen.send(.resized(ScreenSize(columns: 20, rows: 2)))
        Pictures.expect(screen.picture, "lost-20x2")
        screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
        screen.connect()
        screen.press("j", "k")
        var undisturbed = example()
        undisturbed.wait(.seconds(7))
        #expect(screen.picture == undisturbed.picture)
    }

    @Test("an engine that ends by accident is started again with growing pauses, and not for ever when none lasts")
    func accident() {
        var screen = example()
        func lose() { screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil))) }
        lose()
        #expect(screen.requests.contains(.startEngine))
        #expect(screen.picture.contains("ended by accident"))
        screen.connect()
        #expect(screen.picture.contains("was started again"))
        for seconds in [1, 2, 4, 8] {
            screen.wait(.seconds(9))
            lose()
            #expect(screen.requests == [])
            #expect(screen.lines[0].contains("starting again in \(seconds) s"))
            screen.wait(.seconds(seconds) - .milliseconds(1))
            #expect(screen.requests == [])
            screen.wait(.milliseconds(1))
            #expect(screen.requests == [.startEngine])
            screen.connect()
        }
        lose()
        screen.wait(.seconds(60))
        #expect(screen.requests == [] && screen.lines[0].contains("looking again"), "it would go on for ever")
        #expect(screen.picture.contains("s starts it"))
        screen.press("s")
        #expect(screen.requests.contains(.startEngine))
        screen.connect()
        screen.wait(.seconds(1))
        lose()
        #expect(screen.lines[0].contains("starting again in 1 s"))
        screen.wait(.seconds(1))
        screen.connect()
        screen.wait(.seconds(60))
        lose()
        #expect(screen.requests.contains(.startEngine), "one that has lived a minute begins no row")
    }

    @Test("a start that fails is made again later, unless it is the queue that is wrong")
    func failedStart() {
        var screen = example()
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        #expect(screen.requests.contains(.startEngine))
        screen.send(.answer(.notConnected(RequestError(.engineUnreachable, "the engine did not start: it was killed"))))
        #expect(screen.picture.contains("it was killed; it is tried again in 1 s."))
        screen.wait(.seconds(1))
        #expect(screen.requests.contains(.startEngine))
        screen.send(.answer(.notConnected(RequestError(.queueCorrupt, "the queue is damaged: see martletd --check"))))
        screen.wait(.seconds(60))
        #expect(!screen.requests.contains(.startEngine) && screen.picture.contains("the queue is damaged"))
    }

    @Test("an engine that is told to stop is not started again, and says what it waits for")
    func stopped() {
        var totals = Rows.exampleTotals
        totals.stopping = true
        var screen = ScreenHarness(80, 24, Rows.example, totals: totals)
        #expect(screen.lines[0].contains("engine STOPS after \(totals.counts.active) files"))
        screen.press(":", "start")
        #expect(screen.model.paletteEntries.contains { $0.run == .action(.startEngine) }, "it can be taken back")
        screen.press("Esc")
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil, .stopped)))
        #expect(!screen.requests.contains(.startEngine))
        #expect(screen.lines[0].contains("ENGINE STOPPED"))
        #expect(screen.picture.contains("s starts it again"))
        screen.press("x")
        #expect(screen.picture.contains("The engine is stopped: nothing can be changed now."))
        screen.press("s")
        #expect(screen.requests.contains(.startEngine))
    }

    @Test("no engine answers and none can be started")
    func failed() {
        var screen = ScreenHarness(80, 24)
        Pictures.expect(screen.picture, "connecting-80x24")
        screen.send(
            .answer(.notConnected(RequestError(.engineUnreachable, "no engine could be started: no such file"))))
        Pictures.expect(screen.picture, "no-engine-80x24")
    }

    @Test("what is asked of a million files may take its time, and so may what is asked behind it")
    func patience() {
        var screen = ScreenHarness(
            80, 24, [Rows.section(nil, [Rows.batch(1, "photos", .queued, { $0.queued = 1_000_000 })])])
        screen.press("p")
        screen.wait(.seconds(1))
        screen.press("w")
        screen.wait(.seconds(20))
        #expect(screen.picture.contains("pause?") && screen.lines[0].contains("engine ok"))
        screen.wait(.seconds(10))
        #expect(screen.lines[0].contains("ENGINE NOT ANSWERING"))
        #expect(!screen.picture.contains("pause?") && screen.picture.contains("The engine has not answered for 2"))
    }

    @Test("what a silent engine did after all can still be taken back, and the screen says by which key")
    func lateAnswer() {
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [Rows.batch(1, "photos", .queued, { $0.queued = 3 })])])
        screen.press("x")
        screen.wait(.seconds(60))
        screen.answerDone()
        #expect(screen.picture.contains(#"Cancelled "photos" (3 files). u takes it back."#))
        screen.press("u")
        #expect(screen.requests == [.undo(.operation(7), number: screen.lastNumber)])
    }

    @Test("what has failed in a batch that is over is tried again with the rest, while others are not over")
    func retryAll() {
        let over = Rows.batch(1, "photos", .failed, { ($0.completed, $0.failed) = (60, 3) })
        let others = Rows.batch(2, "films", .queued, { $0.queued = 5 })
        var totals = QueueTotals()
        (totals.batches, totals.problems, totals.problemCauses) = (2, 4, 2)
        (totals.counts.queued, totals.needsServer) = (5, 1)
        var screen = ScreenHarness(80, 24, [Rows.section(nil, [over, others])], totals: totals)
        screen.press("R")
        let selector = NodeSelector(states: [.failed])
        #expect(screen.requests == [.act(.retry, .matching(selector), number: screen.lastNumber)])
        (totals.problems, totals.needsServer) = (1, 1)
        screen.news([Rows.section(nil, [others])], totals: totals)
        screen.press("R")
        #expect(screen.model.notice?.text.string == "Nothing has failed.")
    }

    @Test("an engine that hangs while bytes move is noticed without a key, and one that answers is asked again")
    func hanging() {
        var screen = example()
        screen.isHung = true
        screen.wait(.milliseconds(1100))
        #expect(screen.requests == [.status(number: screen.lastNumber)])
        screen.send(.answer(.status(.success(nil), number: screen.lastNumber)))
        screen.wait(.seconds(2))
        screen.wait(.seconds(4))
        #expect(screen.lines[0].contains("ENGINE NOT ANSWERING for 4 s"))
        screen.news(Rows.example, totals: QueueTotals())
        screen.send(.answer(.status(.success(nil), number: screen.lastNumber)))
        screen.wait(.seconds(20))
        #expect(screen.requests.isEmpty && screen.lines[0].contains("engine ok"), "nothing moves: nothing is asked")
    }

    @Test("the engine is silent")
    func silent() {
        var screen = example()
        screen.press("j", "j", "p")
        screen.wait(.seconds(2))
        Pictures.expect(screen.picture, "asked-80x24")
        screen.wait(.seconds(2))
        Pictures.expect(screen.picture, "silent-80x24")
    }

    @Test("an engine that has been silent for ten seconds is as far away as a lost one, and comes back by itself")
    func silentForLong() {
        var screen = example()
        screen.isHung = true
        screen.wait(.milliseconds(1100))
        let number = screen.lastNumber
        screen.wait(.milliseconds(9900))
        #expect(!screen.picture.contains("as of") && screen.picture.contains("p pause"))
        screen.wait(.milliseconds(100))
        Pictures.expect(screen.picture, "silent-long-80x24")
        #expect(
            !screen.rolePicture.split(separator: "\n")[4...18].contains { $0.contains("a") || $0.contains("E") },
            "numbers of a while ago are dim")
        screen.press("x")
        #expect(screen.picture.contains("The engine does not answer: nothing can be changed now."))
        #expect(screen.requests.isEmpty && screen.model.dialog == nil && screen.model.changes.pending.isEmpty)
        screen.press("s")
        #expect(screen.requests.isEmpty && screen.picture.contains("(process 1) and does not answer"))
        for _ in 0..<3 { screen.press("R") }
        let asked = screen.model.requests.outstanding.values.count {
            if case .status = $0.purpose { true } else { false }
        }
        #expect(asked == 1, "it is asked once, however often the key is pressed")
        screen.press("?")
        #expect(screen.picture.contains("try to reach it now"))
        screen.press("Esc", "q")
        #expect(screen.requests.contains(.leave), "nothing is asked about")
        #expect(LeavingText.lines(screen.model)[0].hasPrefix("The engine did not answer"))
        screen.send(.answer(.status(.success(nil), number: number)))
        #expect(screen.picture.contains("The engine answers again.") && !screen.picture.contains("as of"))
        screen.press("x")
        #expect(screen.model.dialog != nil)
    }

    @Test("every question, the harmless answer first taken by Enter")
    func questions() {
        for (key, name) in [("x", "cancel"), ("P", "pause-all"), ("R", "retry-all")] {
            var screen = example()
            screen.press(key)
            Pictures.expect(screen.picture, "ask-\(name)-80x24")
        }
        var marked = example(100, 30)
        marked.press("Space", "G", "{", "Space", "x")
        Pictures.expect(marked.picture, "ask-cancel-marked-100x30")
        var small = example(40, 8)
        small.press("x")
        Pictures.expect(small.picture, "ask-cancel-40x8")
        small.send(.resized(ScreenSize(columns: 20, rows: 2)))
        Pictures.expect(small.picture, "ask-cancel-20x2")
        let done = Rows.batch(1, "old", .completed, { $0.completed = 20 }, total: 9, sent: 9)
        var clear = ScreenHarness(80, 24, [Rows.section(nil, [done])])
        clear.press("c")
        #expect(clear.model.dialog == nil, "nothing is lost: it is in the history")
    }

    @Test("details of a batch, a failed file, a group")
    func details() {
        var screen = example()
        screen.press("i")
        Pictures.expect(screen.picture, "details-batch-80x24")
        screen.press("Esc", "E", "i")
        Pictures.expect(screen.picture, "details-failed-80x24")
        screen.press("Esc", "j", "j", "i")
        Pictures.expect(screen.picture, "details-group-80x24")
        var large = example(120, 36)
        for speed in [12, 18, 40, 41, 38, 60, 55, 20, 0, 44] as [Int64] {
            var totals = Rows.exampleTotals
            totals.bytesPerSecondUp = speed * Rows.mega
            large.wait(.seconds(5))
            var sections = Rows.example
            for index in sections[2].rows.indices where sections[2].rows[index].state == .running {
                sections[2].rows[index].bytes.sent += large.uptime.components.seconds
            }
            large.news(sections, totals: totals)
        }
        large.press("j", "j")
        Pictures.expect(large.picture, "lower-120x36")
    }

    @Test("the log, while it is empty and with lines too long for the window")
    func log() {
        var screen = example()
        screen.press("L")
        Pictures.expect(screen.picture, "log-empty-80x24")
        let lines = [
            LogLine(
                at: ScreenHarness.morning, level: .info, batch: BatchID(rawValue: 1), task: nil, message: "queued"),
            LogLine(
                at: ScreenHarness.morning.advanced(by: .seconds(2)), level: .user, batch: BatchID(rawValue: 2),
                task: nil, place: "old-scans",
                message:
                    "cancelled by martlet 1 (a screen), 418 files; what it leaves behind is removed in 10 s unless it is undone"
            ),
            LogLine(
                at: ScreenHarness.morning.advanced(by: .seconds(4)), level: .warning, batch: BatchID(rawValue: 1),
                task: TaskID(rawValue: 10), place: "holiday-2024 raw/IMG_0377.CR3",
                message:
                    "the connection was reset by the server while byte 4,194,304 was sent; it is tried again in 5 s"),
            LogLine(
                at: ScreenHarness.morning.advanced(by: .seconds(9)), level: .error, batch: BatchID(rawValue: 3),
                task: TaskID(rawValue: 20), place: "docs NDA \u{1b}[2J.pdf", message: "403: \u{1b}[2J quota exceeded"),
        ]
        screen.answer(LogRequest.self, .success((lines, 3)))
        Pictures.expect(screen.picture, "log-80x24")
        screen.press("w")
        guard case .write(let text, name: "log.txt")? = screen.requests.first else {
            Issue.record("\(screen.requests)")
            return
        }
        #expect(text.split(separator: "\n").count == lines.count && text.contains("403: \\x1b[2J quota exceeded"))
        screen.send(.resized(ScreenSize(columns: 40, rows: 8)))
        Pictures.expect(screen.picture, "log-40x8")
    }

    @Test("the log follows until it is told not to, by a key or by going back, and says so; the level is said in words")
    func logFollows() {
        var screen = example()
        var next: Int64 = 1
        func come(_ count: Int) {
            let lines = (0..<count).map { number in
                LogLine(
                    at: screen.moment.wall.advanced(by: .seconds(next)), level: .info, batch: nil, task: nil,
                    message: "line \(next + Int64(number))")
            }
            next += Int64(count)
            screen.answer(LogRequest.self, .success((lines, next)))
        }
        screen.press("L")
        come(40)
        #expect(screen.lines[0].contains("Log  follows, newest last") && screen.lines[0].hasSuffix("level info "))
        #expect(screen.picture.contains("line 40 "))
        screen.press("F")
        come(2)
        #expect(screen.lines[0].contains("does not follow, 2 newer below") && !screen.picture.contains("line 41 "))
        screen.press("F")
        #expect(screen.lines[0].contains("follows, newest last") && screen.picture.contains("line 42 "))
        screen.press("k")
        come(3)
        #expect(screen.lines[0].contains("does not follow, 4 newer below") && screen.picture.contains("line 41 "))
        screen.press("G")
        come(1)
        #expect(screen.lines[0].contains("follows, newest last") && screen.picture.contains("line 46 "))
        #expect(screen.lines[23].contains("F follow") && screen.lines[23].contains("v level"))
        for word in ["user", "warning", "error", "debug", "info"] {
            screen.press("v")
            #expect(screen.lines[0].hasSuffix("level \(word) "))
        }
        // Keys of numbers are the views.
        screen.press("1")
        #expect(screen.lines[0].contains("engine ok"))
    }

    @Test("help shows every key")
    func help() {
        var screen = example()
        screen.press("?")
        Pictures.expect(screen.picture, "help-80x24")
        screen.press("G")
        Pictures.expect(screen.picture, "help-end-80x24")
        screen.send(.resized(ScreenSize(columns: 120, rows: 36)))
        screen.press("g")
        Pictures.expect(screen.picture, "help-120x36")
    }

    @Test("why it does not move")
    func why() {
        var screen = example()
        screen.press("w")
        var answer = WhyAnswer(
            id: nil, state: .waiting, waitReasons: [.backoff], since: nil, retryAt: nil, tasks: 2,
            sentence:
                "b1: 2 files wait (for 4 min): nas-of-the-second-floor.lcoal cannot be found, neither by its name "
                + "in /etc/hosts nor by the name server 192.168.178.1 of this machine; next try in 12 s",
            unblock: "")
        let b1 = NodeID.batch(BatchID(rawValue: 1))
        answer.remedy =
            "check the spelling of its name; if it is wrong, \(.cancel(b1)) and queue it again, else check the network"
        screen.send(.answer(.why(.success([answer]), number: screen.lastNumber)))
        Pictures.expect(screen.picture, "why-80x24")
        screen.send(.resized(ScreenSize(columns: 40, rows: 9)))
        Pictures.expect(screen.picture, "why-40x9")
        screen.press("j", "j", "j", "j", "j")
        Pictures.expect(screen.picture, "why-end-40x9")
        screen.press("k")
        #expect(screen.model.why != nil, "keys scroll it as long as there is more")
        screen.send(.resized(ScreenSize(columns: 80, rows: 24)))
        let cursor = screen.model.tree.cursor
        screen.press("Esc")
        #expect(screen.model.why == nil && screen.model.tree.cursor == cursor)
    }

    @Test("why counts down, and is asked again when the row looks different")
    func whyAgain() {
        var screen = example()
        func answer(_ seconds: Int64) -> WhyAnswer {
            WhyAnswer(
                id: nil, state: .waiting, waitReasons: [.backoff], since: nil,
                retryAt: screen.moment.wall.advanced(by: .seconds(seconds)), tasks: 1,
                sentence: "b1 waits: it was cut; next try in \(seconds) s", unblock: "martlet retry b1")
        }
        func isAsked() -> Bool { screen.requests.contains { if case .why = $0 { true } else { false } } }
        screen.press("w")
        #expect(isAsked())
        screen.send(.answer(.why(.success([answer(5)]), number: screen.lastNumber)))
        screen.send(.tick)
        #expect(!isAsked(), "the sentence is still right")
        #expect(screen.model.nextWake == .seconds(1))
        screen.wait(.seconds(1))
        #expect(isAsked())
        screen.send(.answer(.why(.success([answer(4)]), number: screen.lastNumber)))
        #expect(screen.picture.contains("next try in 4 s"))
        #expect(screen.model.said.count { $0.message.contains("b1 waits") } == 1, "the log has it once")
        screen.press("j")
        #expect(screen.model.why == nil, "any other key closes it")
    }

    @Test("what has its bytes at the server is not counted among those that the limit counts")
    func finishing() {
        var totals = Rows.exampleTotals
        (totals.counts.running, totals.counts.finishing) = (8, 4)
        let screen = ScreenHarness(120, 36, Rows.example, totals: totals)
        #expect(screen.lines[0].contains("  8 active  4 checking"), "\(screen.lines[0])")
    }
}
