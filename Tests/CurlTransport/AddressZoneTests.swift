import LinuxSystem
import Testing
import WireOperations

@Suite("Where a server's address lies")
struct AddressZoneTests {
    @Test(
        "by its bytes, also of IPv4 in IPv6",
        arguments: [
            ("93.184.216.34", .internet), ("172.15.0.1", .internet), ("172.32.0.1", .internet),
            ("100.128.0.1", .internet),
            ("2606:2800::1", .internet), ("::ffff:8.8.8.8", .internet), ("64:ff9b::8.8.8.8", .internet),
            ("10.1.2.3", .privateNetwork), ("172.16.0.1", .privateNetwork), ("172.31.255.255", .privateNetwork),
            ("192.168.1.1", .privateNetwork), ("100.64.0.1", .privateNetwork), ("fd00::1", .privateNetwork),
            ("::ffff:192.168.1.1", .privateNetwork), ("64:ff9b::10.0.0.1", .privateNetwork),
            ("2002:c0a8:101::1", .privateNetwork), ("2002:808:808::1", .internet), ("fec0::1", .privateNetwork),
            ("64:ff9b:1::a00:1", .privateNetwork), ("fd00:ec2::254", .link),
            ("169.254.169.254", .link), ("fe80::1", .link), ("::169.254.1.1", .link),
            ("127.0.0.1", .machine), ("127.9.9.9", .machine), ("0.0.0.0", .machine), ("::1", .machine),
            ("::", .machine),
            ("::ffff:127.0.0.1", .machine), ("64:ff9b::127.0.0.1", .machine),
        ] as [(String, AddressZone)])
    func zones(text: String, zone: AddressZone) throws {
        #expect(AddressZone(try #require(InternetSocket.bytes(ofAddress: text))) == zone)
    }

    @Test("an address that is none counts as the innermost")
    func unknown() {
        #expect(AddressZone([]) == .machine)
        #expect(AddressZone.internet < .privateNetwork && .privateNetwork < .link && .link < AddressZone.machine)
    }
}
