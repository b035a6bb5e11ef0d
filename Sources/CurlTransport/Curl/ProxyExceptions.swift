import LinuxSystem

/// The hosts that are reached without a proxy, from the variable `no_proxy`: names with all that lies below them, addresses, networks such as
/// 10.0.0.0/8, or `*` for every host. libcurl's own list (`NOPROXY`) is not used, because libcurl does not tell whether it used the proxy.
package struct ProxyExceptions: Sendable, Hashable {
    private enum Entry: Hashable {
        case name([UInt8])
        /// The first bits of an address.
        case network([UInt8], bits: Int)
    }

    private let entries: [Entry]
    private let isAll: Bool

    /// - Parameter text: entries between commas or spaces; a malformed one names no host.
    package init(_ text: String) {
        let words = text.utf8.split { [UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t")].contains($0) }
        isAll = words.contains { $0.elementsEqual("*".utf8) }
        entries = words.compactMap { Self.entry(Array($0)) }
    }

    /// - Parameter host: as it stands in a URL.
    package func contains(_ host: String) -> Bool {
        if isAll { return true }
        let name = Self.plain(Array(host.utf8))
        if let address = InternetSocket.bytes(ofAddress: String(decoding: name, as: UTF8.self)) {
            return entries.contains {
                if case .network(let network, let bits) = $0 { Self.agree(network, address, bits) } else { false }
            }
        }
        return entries.contains {
            guard case .name(let wanted) = $0 else { return false }
            return name == wanted || name.count > wanted.count && name.suffix(wanted.count + 1) == [Self.dot] + wanted
        }
    }

    private static let dot = UInt8(ascii: ".")

    private static func entry(_ word: [UInt8]) -> Entry? {
        let parts = word.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let name = plain(Array(parts[0]))
        if let address = InternetSocket.bytes(ofAddress: String(decoding: name, as: UTF8.self)) {
            let all = address.count * 8
            guard parts.count > 1 else { return .network(address, bits: all) }
            guard parts.count == 2, let bits = Int(String(decoding: parts[1], as: UTF8.self)), (0...all).contains(bits)
            else { return nil }
            return .network(address, bits: bits)
        }
        return parts.count == 1 && !name.isEmpty ? .name(name) : nil
    }

    /// In small letters, without the brackets of an IPv6 address, and without dots at the ends.
    private static func plain(_ host: [UInt8]) -> [UInt8] {
        var name = host[...]
        if name.first == UInt8(ascii: "["), name.last == UInt8(ascii: "]") { name = name.dropFirst().dropLast() }
        if name.first == dot { name = name.dropFirst() }
        if name.last == dot { name = name.dropLast() }
        return name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    private static func agree(_ one: [UInt8], _ other: [UInt8], _ bits: Int) -> Bool {
        guard one.count == other.count, one.prefix(bits / 8) == other.prefix(bits / 8) else { return false }
        let rest = bits % 8
        return rest == 0 || (one[bits / 8] ^ other[bits / 8]) >> (8 - rest) == 0
    }
}
