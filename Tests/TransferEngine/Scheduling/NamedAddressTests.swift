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
        func limit(named: Bool, _ zone: AddressZone?) throws -> AddressZone? {
            try request("http://other/", named: named, zone).mostPrivateZone
        }
        #expect(try limit(named: true, .internet) == .internet)
        #expect(try limit(named: true, .privateNetwork) == .privateNetwork)
        #expect(try limit(named: true, nil) == nil)
        #expect(try limit(named: false, .internet) == nil)
    }

    @Test("each server that has answered counts, and the least private of them decides")
    func hops() {
        var exchanges = AttemptExchanges()
        #expect(exchanges.leastPrivate == nil)
        for (zone, least) in [(.machine, .machine), (.privateNetwork, .privateNetwork), (.internet, .internet)]
            as [(AddressZone, AddressZone)]
        {
            exchanges.passed(zone)
            exchanges.passed(.machine)
            #expect(exchanges.leastPrivate == least)
        }
    }

    @Test("what no_proxy excepts is reached straight, and only then its own address counts")
    func exceptions() throws {
        var options = TransferOptions()
        options.proxies = ["http_proxy": "http://proxy:3128", "NO_PROXY": "inside,10.0.0.0/8"]
        for (host, proxy) in [
            ("outside", ProxyPolicy.url("http://proxy:3128")), ("inside", .none), ("10.1.2.3", .none),
        ] {
            #expect(try request("http://\(host)/", named: true, .internet, options).connection.proxy == proxy)
        }
    }

    private func request(
        _ address: String, named: Bool, _ zone: AddressZone?, _ options: TransferOptions = TransferOptions()
    ) throws -> HTTPRequest {
        let state = RawPath(try Sandbox("named").path("state"))
        let order = BatchOrder(
            batch: BatchID(rawValue: 1), session: .default, priority: .normal, options: options,
            secrets: TransferSecrets(), destination: "http://host/", destinationQuery: nil)
        let context = BatchContext(order, userAgent: "test", receivers: ReceiverTokens(in: state))
        let url = try #require(HTTPAddress(address))
        let exchange = HTTPExchange(.delete, url, mayCarrySecrets: !named)
        return context.request(exchange, body: .none, at: Timestamp(milliseconds: 0), namedIn: zone)
    }
}
