import Glibc
import Testing

@testable import LinuxSystem

@Suite struct InternetSocketTests {
    @Test("an interface leads out of the machine when it is up, has its line, and is not loopback")
    func leadsOut() {
        let (up, line, loopback) = (UInt32(IFF_UP), UInt32(IFF_RUNNING), UInt32(IFF_LOOPBACK))
        let others = UInt32(IFF_BROADCAST) | UInt32(IFF_MULTICAST)
        #expect(InternetSocket.leadsOut(up | line | others))
        #expect(InternetSocket.leadsOut(up | line))
        // A bridge with nobody at it, a cable that is not plugged in: an address is there all the same.
        #expect(!InternetSocket.leadsOut(up | others))
        #expect(!InternetSocket.leadsOut(line | others))
        #expect(!InternetSocket.leadsOut(up | line | loopback))
        #expect(!InternetSocket.leadsOut(0))
    }
}
