import CommandLine
import Configuration
import FoundationEssentials
import MartletKit
import Synchronization
import Testing

@testable import Commands

@Suite("The line mode: plain lines, numbered choices, the same commands") struct LineTalkTests {
    private func batch(
        _ id: Int64, _ name: String, _ state: TransferState, sent: Int64 = 0, failed: Int64 = 0
    ) -> BatchSnapshot {
        var counts = FileCounts()
        (counts.running, counts.failed) = (3, failed)
        let causes = failed > 0 ? [CauseCount(code: .http, count: failed, message: "403 Forbidden")] : []
        return BatchSnapshot(
            id: BatchID(rawValue: id), uuid: UUID(), session: .default, name: name, direction: .upload, state: state,
            scanning: false, paused: state == .paused, priority: .normal, createdAt: Timestamp(milliseconds: 0),
            finishedAt: nil, destination: "https://h/", counts: counts,
            bytes: ByteCounts(total: 100, sent: sent, accepted: sent, verified: 0), waitReasons: [], causes: causes)
    }

    private var sight: LineTalk.Sight {
        var totals = QueueTotals()
        totals.batches = 3
        totals.counts.running = 3
        totals.bytes = ByteCounts(total: 498 << 30, sent: 160 << 30, accepted: 0, verified: 0)
        totals.bytesPerSecondUp = 41 << 20
        totals.secondsLeft = 600
        return LineTalk.Sight(
            batches: [
                batch(1, "holiday", .running, sent: 71), batch(2, "nas", .paused, sent: 21),
                batch(3, "docs", .failed, sent: 92, failed: 4),
            ], totals: totals)
    }

    @Test("everything is said in words, and what can be answered")
    func greeting() {
        var talk = LineTalk(units: .iec)
        #expect(
            talk.greeting(sight) == [
                "martlet. 3 batches. 32 percent, 160G of 498G. 41.0M per second. About 10 minutes.",
                "1 holiday, running, 71 percent.", "2 nas, paused, 21 percent.",
                "3 docs, failed, 92 percent. 4 files failed: 403 Forbidden.",
                "1 to 3 choose, a add, s status, e problems, u undo, c clear finished, h help, q leave:",
            ])
    }

    @Test("choices are commands; a cancel asks first")
    func choices() {
        var talk = LineTalk(units: .iec)
        _ = talk.greeting(sight)
        #expect(talk.take("2", sight).lines == ["nas, paused, 21 percent."])
        #expect(talk.prompt(sight) == ["nas. p resume, x cancel, w why, s status, l its files, 0 back:"])
        #expect(talk.take("p", sight).commands == [["resume", "b2"]])
        #expect(talk.take("x", sight).commands == [])
        #expect(talk.take("", sight).lines == ["Not cancelled."])
        _ = talk.take("x", sight)
        #expect(talk.take("y", sight).commands == [["cancel", "b2"]])
        _ = talk.take("0", sight)
        #expect(talk.take("9", sight).lines == ["\"9\" is none of the choices."])
        _ = talk.take("a", sight)
        #expect(talk.take("'a b' ~/c", sight) == LineTalk.Step())
        #expect(talk.take("https://h/in/", sight).commands == [["upload", "a b", "~/c", "https://h/in/"]])
        #expect(talk.take("q", sight).leaves)
    }

    @Test("an end or a failure is told at once, progress each 10 percent and each 30 seconds at most")
    func news() {
        var talk = LineTalk(units: .iec)
        _ = talk.greeting(sight)
        var next = sight
        next.batches[0] = batch(1, "holiday", .running, sent: 80)
        #expect(talk.news(next, now: 40_000) == [])
        next.batches[0] = batch(1, "holiday", .running, sent: 81)
        #expect(talk.news(next, now: 40_000) == ["holiday, running, 81 percent."])
        next.batches[0] = batch(1, "holiday", .running, sent: 95)
        #expect(talk.news(next, now: 60_000) == [])
        next.batches[0] = batch(1, "holiday", .completed, sent: 100)
        #expect(talk.news(next, now: 61_000) == ["holiday, completed."])
        #expect(talk.news(next, now: 99_000) == [])
        next.batches.append(batch(4, "new", .queued))
        #expect(talk.news(next, now: 99_000) == ["New: new, queued, 0 percent."])
    }

    @Test("words are taken apart as a shell does, and written so that they read the same")
    func words() {
        #expect(LineTalk.words(#"a 'b c' "d'e" f\ g ''"#) == ["a", "b c", "d'e", "f g", ""])
        #expect(LineTalk.words("'a") == nil)
        for word in ["a", "", "b c", "it's", "$x", "~/a"] { #expect(LineTalk.words(LineTalk.quoted(word)) == [word]) }
    }

    @Test("a whole conversation, with the commands shown as they are run")
    func conversation() async {
        let lines = Mutex(["1", "p", "0", "q"])
        let batches = sight.batches
        let engine = FakeEngine {
            $0.batches = batches
            $0.totals.batches = 3
            $0.results = [NodeResult(id: .batch(BatchID(rawValue: 1)), result: .done)]
        }
        let bench = Bench(engine) { $0.readLine = { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        #expect(await bench.run("--accessible") == .done)
        #expect(bench.output.contains("martlet pause b1\n"))
        #expect(engine.asked.contains { $0.hasPrefix("pause") })
        #expect(bench.output.hasSuffix("Come back: martlet --accessible\n"))
        #expect(!bench.output.contains("\u{1B}"))
    }
}
