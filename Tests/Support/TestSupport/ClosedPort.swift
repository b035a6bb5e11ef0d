import Glibc
import LinuxSystem

/// A port that is taken but not listened to: connections are refused, and nobody else gets its number.
package final class ClosedPort: Sendable {
    package let port: UInt16
    private let socket: OwnedDescriptor

    package init() throws {
        socket = OwnedDescriptor(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = socket.rawValue
        let done = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, size) == 0 && getsockname(number, $0, &size) == 0
            }
        }
        if !done { throw Errno.current }
        port = UInt16(bigEndian: address.sin_port)
    }
}
