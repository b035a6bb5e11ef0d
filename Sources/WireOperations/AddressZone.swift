/// The network zone of an IP address, from the public internet to this machine. Services in a private zone often trust whoever can reach
/// them, so an address that a server names, by a redirect or as the place of an upload, must not be more private than the server itself.
package enum AddressZone: Int, Comparable, Codable, Sendable {
    case internet
    /// A network of a house or a company (RFC 1918, RFC 6598, RFC 4193).
    case privateNetwork
    /// Link-local addresses, among them the metadata services of clouds (RFC 3927, RFC 4291).
    case link
    /// This machine.
    case machine

    /// - Parameter address: 4 or 16 bytes.
    package init(_ address: [UInt8]) {
        self = address.count == 4 ? Self.zone(four: address) : Self.zone(sixteen: address)
    }

    private static func zone(four address: [UInt8]) -> AddressZone {
        switch (address[0], address[1]) {
        // Linux takes 0.0.0.0 for itself.
        case (127, _), (0, _): .machine
        case (169, 254): .link
        case (10, _), (192, 168), (172, 16...31), (100, 64...127): .privateNetwork
        default: .internet
        }
    }

    private static func zone(sixteen address: [UInt8]) -> AddressZone {
        guard address.count == 16 else { return .machine }
        // IPv4 in IPv6: mapped, compatible, and by NAT64 (RFC 6052).
        let prefixes: [[UInt8]] = [
            [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF], [0, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8),
        ]
        let isCompatible = address.prefix(12).allSatisfy { $0 == 0 }
        if isCompatible || prefixes.contains(where: address.starts) {
            let four = Array(address.suffix(4))
            return isCompatible && four[..<3].allSatisfy { $0 == 0 } ? .machine : zone(four: four)
        }
        // The metadata service of Amazon's cloud.
        if address.starts(with: [0xFD, 0x00, 0x0E, 0xC2]) { return .link }
        return switch (address[0], address[1]) {
        case (0xFE, 0x80...0xBF): .link
        // Site-local addresses (RFC 3879), and NAT64 within a network (RFC 8215).
        case (0xFE, 0xC0...0xFF), (0xFC...0xFD, _): .privateNetwork
        case (0x00, 0x64) where address.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0x00, 0x01]): .privateNetwork
        // 6to4 (RFC 3056).
        case (0x20, 0x02): zone(four: Array(address[2..<6]))
        default: .internet
        }
    }

    package static func < (one: AddressZone, other: AddressZone) -> Bool { one.rawValue < other.rawValue }
}
