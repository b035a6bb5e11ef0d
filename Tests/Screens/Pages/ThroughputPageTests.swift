import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("The page of the throughput")
struct ThroughputPageTests {
    private func screen(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = ScreenHarness(columns, rows, Rows.example, totals: Rows.exampleTotals)
        for speed in [12, 18, 40, 41, 38, 60, 55, 20, 0, 40] as [Int64] {
            var totals = Rows.exampleTotals
            totals.bytesPerSecondUp = speed * Rows.mega
            screen.wait(.seconds(15))
            screen.news(Rows.example, totals: totals)
        }
        screen.press("b")
        return screen
    }

    @Test(
        "a picture, the numbers beside it, and who has what; small windows keep the numbers",
        arguments: [(80, 24), (120, 36), (40, 10), (20, 2)])
    func pictures(columns: Int, rows: Int) {
        Pictures.expect(screen(columns, rows).picture, "throughput-\(columns)x\(rows)")
    }

    @Test("a message stands over the page, not under it")
    func message() {
        var screen = screen(80, 24)
        screen.model.say("Limits: up off, down 300K/s, 8 at once.")
        let line = screen.lines.first { $0.contains("300K/s") }
        #expect(line?.trimmed == "Limits: up off, down 300K/s, 8 at once.")
    }

    @Test("at every size, and with nothing to show")
    func sizes() {
        for (columns, rows) in [(1, 1), (3, 3), (11, 5), (25, 8), (60, 12), (300, 80)] {
            var screen = screen(columns, rows)
            #expect(screen.lines.allSatisfy { !$0.isEmpty })
            screen.press("Esc")
            guard screen.model.page is TransfersPage else { return #expect(Bool(false), "still on the page") }
        }
        var empty = ScreenHarness(80, 24, [Rows.section(nil, [])])
        empty.press("2")
        #expect(empty.picture.contains("Limit: off"))
    }

    /// - Parameter uptime: of the engine, in seconds; it has used a tenth of one processor.
    private func report(_ series: [SpeedSeries], of batch: Int64? = nil, uptime: Int64 = 1000) -> ThroughputReport {
        var report = ThroughputReport(series: series, batch: batch.map { BatchID(rawValue: $0) })
        (report.sentToday, report.receivedToday, report.errors, report.errorSeconds) = (211 * Rows.giga, 0, 2, 300)
        report.process = ProcessUse(
            cpuMilliseconds: uptime * 100, uptimeMilliseconds: uptime * 1000, residentBytes: 41 * Rows.mega,
            openFiles: 4)
        return report
    }

    /// What the engine has kept of an hour and more, however short this screen is open.
    private func told(_ columns: Int, _ rows: Int) -> ScreenHarness {
        var screen = screen(columns, rows)
        let minutes = (0..<60).map { Int64($0 % 20) * Rows.mega }
        let series = [
            SpeedSeries(seconds: 5, up: minutes, down: Array(repeating: 0, count: 60)),
            SpeedSeries(seconds: 60, up: Array(minutes.suffix(30)), down: Array(repeating: Rows.mega, count: 30)),
            SpeedSeries(seconds: 600, up: [20 * Rows.mega, 3], down: [0, 0]),
        ]
        screen.answer(ThroughputRequest.self, .success(report(series)))
        return screen
    }

    @Test("the peak of a longer span is never below the one of a shorter")
    func peaks() {
        var screen = told(80, 24)
        var peaks: [Substring?] = []
        for key in ["", "l", "l"] {
            screen.press(key)
            let labels = screen.lines.firstIndex { $0.contains("peak") }
            // now, two averages, peak
            peaks.append(labels.map { screen.lines[$0 + 1].split(separator: " ")[3] })
        }
        #expect(peaks == ["60.0M/s", "60.0M/s", "60.0M/s"])
    }

    @Test(
        "who comes back to the list after one batch's page, and loses the engine, has it asked once for the picture there"
    )
    func returning() throws {
        func asked(_ screen: ScreenHarness) -> Int? {
            screen.model.requests.outstanding.first {
                if case .page(let asked, _) = $0.value.request { asked.request is ThroughputRequest } else { false }
            }?.key
        }
        var screen = told(120, 36)
        screen.wait(.seconds(3))
        screen.press("j")
        while let number = asked(screen) {
            let batch = screen.model.throughput.view.batch?.rawValue
            screen.answer(ThroughputRequest.self, .success(report([], of: batch)), number: number)
        }
        screen.press("Esc")
        #expect(screen.model.throughput.view.batch != nil)
        screen.wait(.seconds(3))
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.send(.link(.connected(EngineIdentity(pid: 2, version: "1", protocolVersion: "1"))))
        let number = try #require(asked(screen))
        screen.answer(ThroughputRequest.self, .success(report([])), number: number)
        #expect(asked(screen) == nil)
    }

    @Test("the engine is asked when the page opens, and again while something moves, but not all the time")
    func asking() {
        var screen = screen(80, 24)
        func isAsked(_ screen: ScreenHarness) -> Bool {
            !screen.asked(ThroughputRequest.self).isEmpty
        }
        #expect(isAsked(screen))
        screen.answer(ThroughputRequest.self, .success(report([])))
        screen.news(Rows.example, totals: Rows.exampleTotals)
        #expect(!isAsked(screen))
        screen.wait(.seconds(3))
        #expect(isAsked(screen), "for what came last")
        screen.answer(ThroughputRequest.self, .success(report([], uptime: 1003)))
        screen.wait(.seconds(3))
        #expect(!isAsked(screen), "nothing has moved")
        screen.news(Rows.example, totals: Rows.exampleTotals)
        #expect(isAsked(screen))
    }

    @Test("l and h change the time, the arrows read a point of it, Esc stops reading and then leaves")
    func reading() {
        var screen = told(80, 24)
        Pictures.expect(screen.picture, "throughput-told-80x24")
        screen.press("l")
        #expect(screen.picture.contains("5m  [1h]  24h") && screen.picture.contains("avg 1h"))
        screen.press("Left", "Left", "Left")
        Pictures.expect(screen.picture, "throughput-hour-80x24")
        #expect(screen.picture.contains("12:41:30, 1 min: up 17.0M/s, down 1.0M/s"))
        screen.press("Right", "Right", "Right")
        #expect(screen.model.throughput.view.point == nil)
        screen.press("Left", "l")
        #expect(screen.model.throughput.view.point == nil && screen.picture.contains("[24h]"))
        screen.press("l", "h", "h", "h", "h", "Left", "Esc")
        guard screen.model.page is ThroughputPage else { return #expect(Bool(false), "the page is gone") }
        #expect(screen.picture.contains("[5m]"))
        screen.press("Esc")
        guard screen.model.page is TransfersPage else { return #expect(Bool(false), "still on the page") }
    }

    @Test("time that has passed since the engine told moves the picture, and what is not known counts for no average")
    func passing() {
        var view = ThroughputView()
        #expect(view.steps(at: .zero).isEmpty && view.average(of: .minutes, at: .zero) == nil)
        view.take(report([SpeedSeries(seconds: 5, up: [4, 8], down: [0, 4])]), at: .seconds(10))
        #expect(view.average(of: .minutes, at: .seconds(10)) == 8)
        #expect(view.steps(at: .seconds(21)).map(\.up) == [4, 8, 0, 0])
        #expect(view.steps(at: .seconds(10_000)).count == 60)
        view.movePoint(by: 1, at: .seconds(10))
        #expect(view.point == 0)
        for _ in 0..<9 { view.movePoint(by: 1, at: .seconds(10)) }
        #expect(view.point == 1)
    }

    @Test(
        "the average of a minute is of the engine's steps as that of five is: while both know the same they are the same"
    )
    func averages() {
        var screen = screen(80, 24)
        let speeds = Array(repeating: 30 * Rows.mega, count: 8)
        let series = [SpeedSeries(seconds: 5, up: speeds, down: speeds.map { _ in 0 })]
        screen.answer(ThroughputRequest.self, .success(report(series)))
        let numbers = screen.lines.first { $0.contains("60.0M/s") }
        #expect(numbers?.contains("30.0M/s      30.0M/s") == true, "\(numbers ?? "")")
        screen.press("l")
        #expect(screen.lines.contains { $0.contains("30.0M/s") }, "of the minute nothing else is known in another span")
    }

    @Test("Down and Up choose the batch whose graph and numbers are shown; all of them stand above the first")
    func batches() {
        var screen = told(80, 24)
        func asked(_ screen: ScreenHarness) -> BatchID?? {
            screen.asked(ThroughputRequest.self).first.map(\.request.batch)
        }
        screen.press("Down")
        #expect(asked(screen) == .some(BatchID(rawValue: 1)))
        #expect(screen.picture.contains("Throughput  holiday-2024") && !screen.picture.contains("average 9"))
        // A late answer about everything is no answer.
        let own = [
            SpeedSeries(
                seconds: 5, up: Array(repeating: 7 * Rows.mega, count: 60), down: Array(repeating: 0, count: 60))
        ]
        screen.answer(ThroughputRequest.self, .success(report(own)))
        #expect(!screen.picture.contains("7.0M/s"))
        screen.press("Up", "Down")
        screen.answer(ThroughputRequest.self, .success(report(own)))
        screen.answer(ThroughputRequest.self, .success(report(own, of: 1)))
        Pictures.expect(screen.picture, "throughput-batch-80x24")
        #expect(screen.lines.contains { $0.contains("7.0M/s        7.0M/s") })
        screen.press("j", "j", "j")
        #expect(screen.picture.contains("Throughput  docs"))
        screen.press("k", "k", "k", "k")
        #expect(screen.picture.contains("Throughput  all batches"))
    }

    @Test("what the engine costs is measured between two answers, and is not claimed before")
    func process() {
        var screen = told(120, 36)
        #expect(screen.picture.contains("Limit: off    engine 41.0M memory, 4 files open"))
        screen.wait(.seconds(2))
        screen.answer(ThroughputRequest.self, .success(report([], uptime: 1002)))
        #expect(screen.picture.contains("engine 10.0% CPU, 41.0M memory, 4 files open"))
        #expect(screen.picture.contains("sent today") && screen.picture.contains("211G"))
        #expect(Drawing.rate(2, in: 300) == "0.4" && Drawing.rate(0, in: 60) == "0")
        #expect(Drawing.rate(1, in: 6000) == "0.1" && Drawing.rate(100_000, in: 300) == "20,000")
        Pictures.expect(screen.picture, "throughput-told-120x36")
    }

    @Test(
        "where not all batches have room those that run are shown, or those round the chosen one, in the queue's order")
    func room() {
        var rows = (1...9).map { Rows.batch(Int64($0), "batch\($0)", .paused, { $0.paused = 1 }) }
        for index in [4, 7] { rows[index].state = .running }
        var screen = ScreenHarness(80, 24, [Rows.section(nil, rows)])
        screen.press("b")
        func shown() -> [String] {
            screen.lines.dropFirst().compactMap { line in
                let name = line.trimmed.prefix(6)
                return name.hasPrefix("batch") ? String(name) : nil
            }
        }
        #expect(shown() == ["batch1", "batch2", "batch5", "batch8"])
        screen.press("j", "j", "j")
        #expect(shown() == ["batch1", "batch2", "batch3", "batch4"])
        for _ in 0..<9 { screen.press("j") }
        #expect(
            shown() == ["batch6", "batch7", "batch8", "batch9"]
                && screen.picture.contains("Throughput  batch9"))
    }
}
