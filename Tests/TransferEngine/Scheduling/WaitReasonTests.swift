import Testing
import TransferModel

@testable import TransferEngine

@Suite struct WaitReasonTests {
    private func reason(_ code: TransferErrorCode, noHostAnswers: Bool, hasNetwork: Bool) -> WaitReason {
        TransferEngine.reason(of: code, noHostAnswers: noHostAnswers, hasNetwork: hasNetwork)
    }

    @Test("a name that nobody knows waits for a network only where there is none")
    func unknownName() {
        #expect(reason(.cannotFindHost, noHostAnswers: true, hasNetwork: true) == .hostBackoff)
        #expect(reason(.cannotFindHost, noHostAnswers: false, hasNetwork: false) == .hostBackoff)
        #expect(reason(.cannotFindHost, noHostAnswers: true, hasNetwork: false) == .connectivity)
    }

    @Test("what the system says of the network counts, whatever addresses there are")
    func said() {
        #expect(reason(.notConnectedToInternet, noHostAnswers: false, hasNetwork: true) == .connectivity)
        #expect(reason(.cannotConnectToHost, noHostAnswers: true, hasNetwork: false) == .hostBackoff)
        #expect(reason(.networkConnectionLost, noHostAnswers: true, hasNetwork: false) == .backoff)
    }
}
