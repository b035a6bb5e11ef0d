import Testing
import TransferModel

@testable import TransferProtocols

@Suite struct HostFactsTests {
    private static func unable(_ change: (inout HostFacts) -> Void) -> HostFacts {
        var facts = HostFacts()
        change(&facts)
        return facts
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
