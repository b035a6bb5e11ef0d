import Testing

@testable import TransferProtocols

@Suite struct PayloadBeginningTests {
    @Test("a file that is begun again counts nothing of what is there, and a second time of another length is seen")
    func anew() {
        var beginning = PayloadBeginning.goesOn(from: 9)
        #expect(beginning.start == 9 && !beginning.isWhole)
        beginning.beginAnew(isRepair: true)
        #expect(beginning.start == nil && beginning.isRepair)
        // For another reason.
        beginning.beginAnew()
        #expect(beginning.isWhole && beginning.isRepair)
    }
}
