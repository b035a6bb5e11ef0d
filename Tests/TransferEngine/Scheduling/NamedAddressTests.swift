import CurlTransport
import TestSupport
import Testing
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

@testable import TransferEngine

@Suite("Addresses that a server has named")
struct NamedAddressTests {
    @Test("a request to one may go no farther in than who named it; a person may name any")
    func requests() throws {
        let state = RawPath(try Sandbox("named").path("state"))
        let order = BatchOrder(
            batch: BatchID(rawValue: 1), session: .default, priority: .normal, options: TransferOptions(),
            secrets: TransferSecrets(), destination: "http://host/", destinationQuery: nil)
        let context = BatchContext(order, userAgent: "test", receivers: ReceiverTokens(in: state))
        func limit(named: Bool, _ zone: AddressZone?) throws -> AddressZone? {
            let url = try #require(HTTPAddress("http://other/"))
            let exchange = HTTPExchange(.delete, url, mayCarrySecrets: !named)
            let now = Timestamp(milliseconds: 0)
            return context.request(exchange, body: .none, at: now, namedIn: zone).mostPrivateZone
        }
        #expect(try limit(named: true, .internet) == .internet)
        #expect(try limit(named: true, .privateNetwork) == .privateNetwork)
        #expect(try limit(named: true, nil) == nil)
        #expect(try limit(named: false, .internet) == nil)
    }

    @Test("each server on the way counts, and the least private of them decides")
    func hops() {
        var exchanges = AttemptExchanges()
        #expect(exchanges.outermost(besides: nil) == nil)
        #expect(exchanges.outermost(besides: .machine) == .machine)
        exchanges.passed(.privateNetwork)
        #expect(exchanges.outermost(besides: .machine) == .privateNetwork)
        exchanges.passed(.internet)
        exchanges.passed(.link)
        #expect(exchanges.outermost(besides: .machine) == .internet)
        #expect(exchanges.outermost(besides: nil) == .internet)
    }
}
