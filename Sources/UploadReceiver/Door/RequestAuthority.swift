import LinuxSystem

/// A host and perhaps a port, as they stand in `Host`, in an absolute target and in `Origin`.
struct RequestAuthority: Equatable, Sendable {
    /// A host: a name, compared without case and final dot, or an address, compared by its bytes.
    enum Host: Equatable, Sendable {
        case name(String)
        /// In network order, as `InternetSocket.bytes(ofAddress:)` gives it.
        case address([UInt8])
    }

    let host: Host
    /// `nil` when it is not named: the scheme's own.
    let port: UInt16?

    /// Reads `name`, `name:port`, `1.2.3.4:port` or `[::1]:port`; `nil` when it is none of these, such as a list of two.
    init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        let name: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            name = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
            // Between brackets stands an address of IPv6, perhaps with the interface that only its own machine knows.
            guard name.contains(":"), let bytes = InternetSocket.bytes(ofAddress: String(name.prefix { $0 != "%" }))
            else { return nil }
            host = .address(bytes)
        } else {
            name = rest.prefix { $0 != ":" }
            rest = rest[name.endIndex...]
            guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
            let plain = (name.last == "." ? name.dropLast() : name).lowercased()
            host = InternetSocket.bytes(ofAddress: plain).map { .address($0) } ?? .name(plain)
        }
        if rest.isEmpty {
            port = nil
            return
        }
        let digits = rest.dropFirst()
        guard rest.first == ":", digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits) else {
            return nil
        }
        port = number
    }

    /// Letters, digits, hyphens, dots, and the underscore that some names have; no user info, no space, no comma.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
