import Testing
import TransferModel

@Suite struct WordsTests {
    private let unknown = TransferError(
        .cannotFindHost,
        "nas.lcoal cannot be found: check the spelling of its name, then the network; Martlet tries again by itself")

    @Test("what waits for a server whose name nobody knows does not wait for a network, nor for an answer")
    func unknownName() {
        for reason in [WaitReason.connectivity, .hostBackoff, .backoff] {
            #expect([reason].words(after: unknown) == "a server of that name (nas.lcoal cannot be found)")
        }
        #expect(
            [WaitReason.metered, .hostBackoff].words(after: unknown)
                == "a server of that name (nas.lcoal cannot be found), a line that is not metered")
    }

    @Test("a name that was unknown once is no reason for another wait")
    func otherReasons() {
        #expect([WaitReason.notBefore].words(after: unknown) == "its time")
        #expect([WaitReason.connectivity].words(after: nil) == "a network")
        let cut = TransferError(.networkConnectionLost, "the connection was cut")
        #expect([WaitReason.backoff, .notBefore].words(after: cut) == "the next try, its time")
    }
}
