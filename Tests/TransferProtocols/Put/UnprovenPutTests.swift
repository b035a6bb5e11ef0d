import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite struct UnprovenPutTests {
    private let plan = PutPlan(address: HTTPAddress("https://files.example/a")!, size: 5, ifExists: .fail)

    private func put(_ status: Int? = nil) -> UnprovenPut {
        let yes = status.map {
            UnprovenPut.Yes(answer: HTTPAnswer(status: $0), body: [], heard: noon.advanced(by: .seconds(9)))
        }
        return UnprovenPut(begun: noon, .cutOff(by: "files.example"), yes: yes)
    }

    @Test("a server that shows nothing yet is given one moment")
    func rest() {
        var lost = put()
        #expect(lost.missed(HTTPAnswer(status: 404)) == .rest)
        #expect(lost.missed(HTTPAnswer(status: 404)) == .giveUp)
        // Another file is there: a moment changes nothing.
        var other = put()
        #expect(other.missed(HTTPAnswer(status: 200)) == .giveUp)
    }

    @Test("after a 202 an earlier file may still be there, and a server that tells no length is believed by no look")
    func taken() {
        let shown = HTTPAnswer(status: 200, headers: [HeaderField("Content-Length", "4")])
        var taken = put(202)
        #expect(taken.missed(shown) == .rest)
        #expect(taken.missed(shown) == .giveUp)
        #expect(taken.missed(HTTPAnswer(status: 200)) == .untold)
        #expect(taken.missed(HTTPAnswer(status: 403)) == .untold)
    }

    @Test("a look before the PUT tells a new file; without one the server's clock does")
    func new() {
        func shown(_ modified: String) -> HTTPAnswer {
            HTTPAnswer(
                status: 200,
                headers: [
                    HeaderField("Content-Length", "5"), HeaderField("Last-Modified", modified),
                    HeaderField("Date", "Sat, 21 Nov 2026 12:00:09 GMT"),
                ])
        }
        let (late, early) = (shown("Sat, 21 Nov 2026 12:00:05 GMT"), shown("Tue, 14 Jul 2026 11:59:59 GMT"))
        #expect(put(200).isNew(late, before: .unseen, under: plan))
        #expect(!put(200).isNew(early, before: .unseen, under: plan))
        #expect(put(200).isNew(early, before: .nothing, under: plan))
        #expect(!put(200).isNew(late, before: .file(StandingFile(late)), under: plan))
        #expect(!put().isNew(late, before: .unseen, under: plan))
    }

    @Test("the third file of which nothing proves that it arrived is the last")
    func bound() {
        #expect(UnprovenFiles.count(after: nil) == 1)
        #expect(UnprovenFiles.count(after: 1) == 2)
        #expect(UnprovenFiles.count(after: 2) == nil)
        #expect(UnprovenFiles.count(after: 1_000_000) == nil)
    }
}
