import Testing
import TransferModel
import WireOperations

@testable import TransferProtocols

@Suite struct HostFactsTests {
    private static func unable(_ change: (inout HostFacts) -> Void) -> HostFacts {
        var facts = HostFacts()
        change(&facts)
        return facts
    }

    @Test("what the queue compares by its bytes is written the same each time")
    func stable() {
        var point = ResumePoint(StoredVersion(stored: true, etag: "\"1\"", version: nil, shown: nil))
        point.targetIsOther = true
        let facts = HostFacts { ($0.cannotRename, $0.cannotChunk, $0.chunk, $0.region) = (true, true, 1, "x") }
        for _ in 0..<30 { #expect(point.encoded == point.encoded && facts.encoded == facts.encoded) }
    }

    @Test("each fact that is learnt is kept and stored, and the queue finds the protocol under its name")
    func everyFact() throws {
        var learnt = HostFacts {
            $0.learn(uploadBy: "tus", at: noon)
            ($0.interopVersion, $0.announcesResume, $0.offeredVersion) = (8, true, 8)
            ($0.tusExtensions, $0.tusChecksums) = (["creation"], ["sha1"])
            ($0.answerMilliseconds, $0.largestBody, $0.tellsDigests, $0.chunk) = (5, 1 << 20, true, 65536)
            ($0.cannotRename, $0.refusedRenames, $0.cannotChunk, $0.cannotResume) = (true, 1, true, true)
            ($0.heedsConditions, $0.absenceBelow) = (true, "/d/")
            ($0.clockSkewSeconds, $0.region, $0.partRate) = (7, "eu-central-1", 1 << 20)
            $0.zone = .link
        }
        learnt = try #require(HostFacts(encoded: HostFacts().learning(learnt, at: noon).encoded))
        // A property that `possible`, `merged` or the samples above leave out is nil here.
        for fact in Mirror(reflecting: learnt).children {
            #expect(Mirror(reflecting: fact.value).children.count == 1, "\(fact.label ?? "")")
        }
        // `QueueView.protocolName` reads it with SQL.
        #expect(String(decoding: learnt.encoded, as: UTF8.self).contains(#""uploadBy":"tus""#))
    }

    @Test("what a server cannot do is forgotten a day after it was learnt, and learnt anew")
    func inability() throws {
        let rename = Self.unable { $0.cannotRename = true }
        var facts = HostFacts().learning(rename, at: noon)
        facts = try #require(HostFacts(encoded: facts.encoded))
        let evening = noon.advanced(by: .seconds(40_000))
        #expect(facts.current(at: evening).cannotRename == true)
        // What is learnt beside it does not prolong it; to be told again neither.
        facts = facts.learning(Self.unable { $0.cannotResume = true }, at: evening).learning(rename, at: evening)
        #expect(facts.current(at: evening).cannotResume == true)
        let tomorrow = noon.advanced(by: HostFacts.lifeOfInability)
        #expect(facts.current(at: tomorrow) == HostFacts())
        #expect(facts.learning(rename, at: tomorrow).current(at: tomorrow).cannotRename == true)
        #expect(facts.learning(Self.unable { $0.region = "r" }, at: tomorrow).cannotRename == nil)
        // By a clock that was set back, or of an engine that did not write down when.
        #expect(facts.current(at: noon.advanced(by: .seconds(-1))).cannotRename == nil)
        let old = try #require(
            HostFacts(encoded: Array(#"{"cannotRename":true,"cannotChunk":true,"chunk":65536}"#.utf8)))
        #expect(old.current(at: noon) == Self.unable { $0.chunk = 65536 })
    }

    @Test("refused renames are counted file by file, one that works ends the row, and the row ages with what it taught")
    func refusedRenames() throws {
        let refused = Self.unable { $0.refusedRenames = 1 }
        let two = HostFacts().learning(refused, at: noon).learning(refused, at: noon)
        #expect(two.refusedRenames == 2 && two.cannotRename == nil)
        #expect(two.learning(Self.unable { $0.refusedRenames = 0 }, at: noon) == HostFacts())
        let stored = try #require(HostFacts(encoded: two.encoded))
        let three = stored.learning(refused, at: noon.advanced(by: .seconds(60)))
        #expect(three.cannotRename == true)
        let tomorrow = noon.advanced(by: HostFacts.lifeOfInability)
        for facts in [two, three] { #expect(facts.current(at: tomorrow) == HostFacts()) }
        #expect(three.learning(refused, at: tomorrow).cannotRename == nil)
    }
}
