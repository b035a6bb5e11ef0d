import Testing
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

@testable import TransferEngine

/// The exchanges of an attempt, its stage, and the credentials that it began with.
@Suite struct AttemptExchangesTests {
    private func exchange(_ number: Int) -> FlyingExchange {
        FlyingExchange(
            local: ExchangeID(rawValue: number), wire: WireID(rawValue: UInt64(number) + 100), carrier: .http,
            isPayload: true)
    }

    @Test("what those under way have sent is theirs alone, and goes with them")
    func sent() {
        var exchanges = AttemptExchanges()
        for number in 1...3 { exchanges.begin(exchange(number)) }
        for (wire, sent) in [(101, 10), (102, 20), (101, 30), (999, 40)] as [(UInt64, Int64)] {
            exchanges.saw(sent, in: WireID(rawValue: wire))
        }
        #expect(exchanges.sent == 50 && exchanges[ExchangeID(rawValue: 1)]?.sent == 30)
        #expect(exchanges[WireID(rawValue: 102)]?.local == ExchangeID(rawValue: 2))
        let ended = exchanges.end(WireID(rawValue: 101))
        let again = exchanges.end(WireID(rawValue: 101))
        #expect(ended?.sent == 30 && again == nil && exchanges.sent == 20)
        let rest = exchanges.endAll()
        #expect(rest.map(\.sent) == [20, 0] && exchanges.underWay.isEmpty && exchanges.begun == 3)
    }

    @Test("a slot is given away once, and the queue is told once")
    func stage() {
        var stage = AttemptStage(at: 5)
        #expect(stage.hasGivenSlotAway && stage.phase == .running && stage.startedAt == 5)
        stage.takeSlot()
        #expect(!stage.hasGivenSlotAway)
        let given = [stage.giveSlotAway(), stage.giveSlotAway()]
        let told = [stage.tellRunning(), stage.tellRunning()]
        #expect(given == [true, false] && told == [true, false] && stage.hasGivenSlotAway)
        stage.takeSlot()
        stage.beginFinishing()
        #expect(stage.holdsSlot && stage.hasGivenSlotAway)
        stage.end()
        #expect(stage.phase == .over && !stage.hasGivenSlotAway)
    }

    @Test("an attempt knows that its batch would show something else by now")
    func access() {
        var order = BatchOrder(asking: "https://h/", query: nil, TransferOptions(), TransferSecrets())
        (order.secrets.s3, order.secrets.s3Command) = (S3Keys(accessKeyID: "a", secretAccessKey: "b"), ["keys"])
        order.options.caFile = RawPath("/ca")
        let context = BatchContext(order, userAgent: "test")
        var access = AttemptAccess(context)
        #expect(!access.hasOldKeys(context) && !access.hasOldLogin(context) && access.lacksTrust(context))
        access.awaitTrust(of: context)
        _ = context.credentials.askForOtherKeys(at: Timestamp(milliseconds: 1))
        #expect(access.hasOldKeys(context) && !access.hasOldLogin(context) && !access.lacksTrust(context))
        order.secrets.s3?.accessKeyID = "c"
        order.options.caFile = RawPath("/other")
        context.adopt(order)
        #expect(access.hasOldLogin(context) && access.lacksTrust(context))
    }
}
