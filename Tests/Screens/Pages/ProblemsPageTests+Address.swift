import Configuration
import FoundationEssentials
import DisplayText
@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

/// A wrong address, and the batch that takes the old one's place.
extension ProblemsPageTests {
    /// b8 is queued in the place of b7, and the engine is asked about that.
    func replacing() -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.press("e")
        screen.send(.answer(.batches(.success([unserved(7, "docs", "nas:8080")]), number: screen.lastNumber)))
        #expect(screen.lines[2].contains("A address  r retry"), "\(screen.picture)")
        #expect(screen.picture.contains("A corrects the address, if it is wrong; else see whether"))
        screen.press("A")
        var order = BatchRequest(
            name: BatchName(rawValue: "docs"),
            work: .upload(
                [UploadSource(path: RawPath(Adding.path("notes.txt")), placement: .named(RawPath("notes.txt")))],
                to: "https://nas:8080/in/"))
        order.like = BatchID(rawValue: 7)
        screen.send(.answer(.ordered(.success(order), number: screen.lastNumber)))
        screen.press("Enter")
        #expect(
            screen.picture.contains(
                "Instead of    b7, cancelled then if nothing of it was sent; u takes that back"))
        #expect(screen.picture.contains("  martlet cancel b7"), "the command shown comes to the same")
        screen.press("F2")
        let asked = screen.requests.contains { if case .queue = $0 { true } else { false } }
        #expect(
            asked
                && screen.model.requests.outstanding.values.allSatisfy {
                    if case .replaced = $0.purpose { false } else { true }
                }
        )
        var new = Adding.batch
        (new.id, new.name) = (BatchID(rawValue: 8), "docs")
        screen.send(.answer(.queued(.success(new), number: screen.lastNumber)))
        #expect(screen.requests.contains(.batches(number: screen.lastNumber)))
        return screen
    }

    @Test("of what is not reached the address is mended first, and the new batch takes the old one's place")
    func address() {
        var screen = replacing()
        screen.send(.answer(.batches(.success([unserved(7, "docs", "nas:8080")]), number: screen.lastNumber)))
        let old = NodeID.batch(BatchID(rawValue: 7))
        #expect(screen.requests.contains(.act(.cancel, .ids([old]), number: screen.lastNumber)))
        var result = NodeResult(id: old, result: .done)
        result.bytesToRepeat = 3 << 20
        screen.answer([result])
        let lost: SafeText = "3.0M already sent are lost: it cannot resume there, and undo sends them again."
        #expect(screen.model.notice?.text == "b8 \"docs\" is queued in the place of b7, which is cancelled. " + lost)
        #expect(screen.model.notice?.undo?.choice == .operation(7))
        screen.press("u")
        let back = NodesChanged(results: [NodeResult(id: old, result: .done)], undo: nil, undone: .cancel)
        screen.send(.answer(.acted(.success(back), number: screen.lastNumber)))
        let both: SafeText = "Took back the cancel of b7. b8 \"docs\", which took its place, is still queued, too."
        #expect(screen.model.notice?.text == both)
    }

    func cancels(_ screen: ScreenHarness) -> Bool {
        screen.requests.contains { if case .act(.cancel, _, _) = $0 { true } else { false } }
    }

    @Test("an old batch that has come to move, or is gone, before the new one is queued stands, and that is said")
    func bothStand() {
        var moved = unserved(7, "docs", "nas:8080")
        moved.bytesSent = 1
        let mended = batch(7, "docs", [])
        for answer in [[moved], [mended], []] {
            var screen = replacing()
            screen.send(.answer(.batches(.success(answer), number: screen.lastNumber)))
            #expect(!cancels(screen))
            let said: SafeText = "b8 \"docs\" is queued; b7 changed meanwhile and is not cancelled: both stand."
            #expect(screen.model.notice?.text == said)
        }
        var screen = replacing()
        let error = RequestError(.engineUnreachable, "the engine does not answer: look")
        screen.send(.answer(.batches(.failure(error), number: screen.lastNumber)))
        let said: SafeText = "b8 \"docs\" is queued; b7 was not cancelled: the engine does not answer: look"
        #expect(!cancels(screen) && screen.model.notice?.text == said)
    }

    @Test("what failed for good, or of which anything was sent, is sent once more beside it, and nothing is cancelled")
    func elsewhere() {
        func isInPlace(_ batches: [BatchSnapshot]) -> [Bool] {
            var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
            screen.press("e")
            screen.send(.answer(.batches(.success(batches), number: screen.lastNumber)))
            screen.press("A")
            return screen.model.requests.outstanding.values.compactMap {
                if case .order(_, let inPlace) = $0.purpose { inPlace } else { nil }
            }
        }
        var (done, begun) = (unserved(7, "docs", "nas"), unserved(7, "docs", "nas"))
        done.filesCompleted = 900
        begun.bytesSent = 1
        #expect(isInPlace([unserved(7, "docs", "nas")]) == [true])
        #expect(isInPlace(batches) == [false] && isInPlace([done]) == [false] && isInPlace([begun]) == [false])
    }

    /// A batch of twelve files, all of which wait for a name that nobody knows.
    func unknown(_ destination: String) -> BatchSnapshot {
        var found = batch(4, "raw", [])
        found.destination = destination
        found.filesWaiting = 12
        found.waits = [
            WaitCount(
                reason: .hostBackoff, code: .cannotFindHost, count: 12,
                finding: Finding("nas.lcoal cannot be found", .again("check the spelling of its name")))
        ]
        return found
    }

    @Test("A is offered where it does something: neither for downloads nor on another machine")
    func correctsNothing() {
        func shown(_ batch: BatchSnapshot, machine: String? = nil) -> ScreenHarness {
            var screen = ScreenHarness(80, 24, machine: machine)
            screen.connect()
            screen.news(Rows.example, totals: Rows.exampleTotals)
            screen.press("e")
            screen.send(.answer(.batches(.success([batch]), number: screen.lastNumber)))
            return screen
        }
        func offers(_ screen: ScreenHarness) -> Bool {
            screen.picture.contains("A address") || screen.picture.contains("A corrects")
        }
        #expect(offers(shown(unknown("https://nas.lcoal/in/"))))
        #expect(!offers(shown(unknown("https://nas.lcoal/in/"), machine: "attic")))
        var screen = shown(unknown("/home/ana/in"))
        #expect(!offers(screen) && screen.lines[2].contains("r retry"))
        screen.press("r")
        #expect(screen.matched(.retry) == ["(why=hostBackoff | why=backoff) id:b4"])
        screen.answerDone()
        #expect(screen.model.notice?.text == "Asking the server again now.")
    }
}
