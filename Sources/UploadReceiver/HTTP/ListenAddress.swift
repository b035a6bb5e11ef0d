import Glibc
import LinuxSystem

/// The address and port on which the receiver listens; the address is numeric.
package struct ListenAddress: Equatable, Sendable {
    /// `127.0.0.1:0`: this machine only, any free port.
    package static let loopback = ListenAddress(host: "127.0.0.1", isIPv6: false, port: 0)

    /// The address in numbers, without brackets.
    package let host: String
    /// True for an IPv6 address.
    package let isIPv6: Bool
    /// The port; 0 takes a free one.
    package let port: UInt16

    private init(host: String, isIPv6: Bool, port: UInt16) {
        self.host = host
        self.isIPv6 = isIPv6
        self.port = port
    }

    /// Reads `ADDR:PORT`, `[ADDR]:PORT` or `localhost:PORT`; `nil` when it is none of these. Other names are not looked up:
    /// what a name means today is not what a receiver should open itself to.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard Self.parses(host, AF_INET6, bytes: 16) != nil else { return nil }
            self.init(host: host, isIPv6: true, port: port)
        } else {
            guard Self.parses(host, AF_INET, bytes: 4) != nil else { return nil }
            self.init(host: host, isIPv6: false, port: port)
        }
    }

    /// True when only this machine can reach it: 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        InternetSocket.bytes(ofAddress: host).map(InternetSocket.isLoopback) ?? false
    }

    /// True for the wildcard address, which stands for all addresses of this machine: 0.0.0.0 or ::.
    var isWide: Bool { InternetSocket.bytes(ofAddress: host)?.allSatisfy { $0 == 0 } ?? false }

    /// The same address with the port that the kernel chose.
    package func with(port: UInt16) -> ListenAddress { ListenAddress(host: host, isIPv6: isIPv6, port: port) }

    /// An address that others can use: where all are listened to, one of this machine's.
    var reachable: ListenAddress {
        guard isWide else { return self }
        let own = InternetSocket.ownAddress(isIPv6: isIPv6) ?? (isIPv6 ? "::1" : "127.0.0.1")
        return ListenAddress(host: own, isIPv6: isIPv6, port: port)
    }

    /// The address as it stands in a URL.
    package var authority: String { (isIPv6 ? "[\(host)]" : host) + ":\(port)" }

    private static func port(_ digits: Substring) -> UInt16? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return UInt16(digits)
    }

    private static func parses(_ host: String, _ family: CInt, bytes count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, host, &bytes) == 1 ? bytes : nil
    }
}
