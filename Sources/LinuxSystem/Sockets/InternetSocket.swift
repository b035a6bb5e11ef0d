package import Glibc

/// Listening TCP sockets.
package enum InternetSocket {
    /// Listens at a numeric address, port 0 for a free one. The result is non-blocking.
    /// `EINVAL` when `host` is no address of the family. Corresponds to `bind` and `listen`.
    package static func listen(host: String, isIPv6: Bool, port: UInt16, backlog: Int32 = 1024) throws(Errno)
        -> OwnedDescriptor
    {
        let family = isIPv6 ? AF_INET6 : AF_INET
        let socket = OwnedDescriptor(try systemCall(.socket) { Glibc.socket(family, System.streamType(true), 0) })
        // A server that starts again must get its port back while old connections are still being forgotten.
        try System.setOption(socket.rawValue, level: SOL_SOCKET, option: SO_REUSEADDR, value: 1)
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            if inet_pton(AF_INET6, host, &address.sin6_addr) != 1 { throw .invalidArgument }
            try bind(socket, &address)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            if inet_pton(AF_INET, host, &address.sin_addr) != 1 { throw .invalidArgument }
            try bind(socket, &address)
        }
        _ = try systemCall(.listen, descriptor: socket.rawValue) { Glibc.listen(socket.rawValue, backlog) }
        return socket
    }

    /// The port a socket is bound to. Corresponds to `getsockname`.
    package static func localPort(of socket: Int32) throws(Errno) -> UInt16 {
        var storage = try localAddress(of: socket)
        // The port is at the same place in both families' addresses.
        return withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
    }

    /// The numeric text of the address at which a connection came in, without its port. Corresponds to `getsockname`.
    package static func localHost(of socket: Int32) throws(Errno) -> String {
        var storage = try localAddress(of: socket)
        return withUnsafeBytes(of: &storage) { raw in
            // As above.
            host(of: raw.baseAddress!.assumingMemoryBound(to: sockaddr.self))
        }
    }

    private static func localAddress(of socket: Int32) throws(Errno) -> sockaddr_storage {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = try systemCall(.getsockopt, descriptor: socket) {
            withUnsafeMutableBytes(of: &storage) { raw in
                // The storage is never empty, so it has a base address.
                getsockname(socket, raw.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
            }
        }
        return storage
    }

    /// The bytes of a numeric address in network order: 4 of IPv4, also of one that is written as IPv6 (`::ffff:1.2.3.4`), else 16;
    /// `nil` when it is none. Corresponds to `inet_pton`.
    package static func bytes(ofAddress text: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        return plain(sixteen)
    }

    /// An IPv4 address that is written as one of IPv6 as the IPv4 address that it is.
    static func plain(_ address: [UInt8]) -> [UInt8] {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return address.count == 16 && address.starts(with: prefix) ? Array(address.dropFirst(12)) : address
    }

    /// Returns true when an address of `bytes(ofAddress:)` is a loopback address: 127.0.0.0/8 or ::1.
    package static func isLoopback(_ address: [UInt8]) -> Bool {
        address.count == 4 ? address[0] == 127 : address == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// The name of this machine; empty when it has none. Corresponds to `gethostname`.
    package static var machineName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The numeric text of a peer's address, without its port. Corresponds to `inet_ntop`.
    package static func host(of address: UnsafePointer<sockaddr>) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let raw = UnsafeRawPointer(address)
            let source =
                Int32(address.pointee.sa_family) == AF_INET6
                ? raw + (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8)
                : raw + (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 4)
            let size = socklen_t(text.count)
            guard let base = text.baseAddress,
                inet_ntop(Int32(address.pointee.sa_family), source, base, size) != nil
            else { return "unknown" }
            return String(cString: base)
        }
    }

    /// True when this machine has any address that leads out of it: of an interface that is up, has its line (`IFF_RUNNING`) and is not
    /// loopback. A bridge without a running machine behind it, as Docker and libvirt keep one, has no line.
    package static var hasAddress: Bool { ownAddress(isIPv6: false) != nil || ownAddress(isIPv6: true) != nil }

    /// A numeric address of this machine by which others may reach it; nil when it has none but its own loopback, or no line.
    /// Corresponds to `getifaddrs`.
    package static func ownAddress(isIPv6: Bool) -> String? {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return nil }
        defer { freeifaddrs(first) }
        var next = first
        while let interface = next {
            next = interface.pointee.ifa_next
            guard leadsOut(interface.pointee.ifa_flags), let address = interface.pointee.ifa_addr,
                Int32(address.pointee.sa_family) == (isIPv6 ? AF_INET6 : AF_INET)
            else { continue }
            let host = host(of: address)
            // A link-local address means nothing without the interface's name.
            if !host.hasPrefix("fe80:") { return host }
        }
        return nil
    }

    /// Returns true when an interface with these flags may reach other machines, and be reached.
    static func leadsOut(_ flags: UInt32) -> Bool {
        let (up, running, loopback) = (UInt32(IFF_UP), UInt32(IFF_RUNNING), UInt32(IFF_LOOPBACK))
        return flags & (up | running | loopback) == up | running
    }

    private static func bind<Address>(_ socket: OwnedDescriptor, _ address: inout Address) throws(Errno) {
        _ = try systemCall(.bind, descriptor: socket.rawValue) {
            withUnsafeBytes(of: &address) { raw in
                // An address structure is never empty, so it has a base address.
                Glibc.bind(
                    socket.rawValue, raw.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
            }
        }
    }
}
