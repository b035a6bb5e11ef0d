package import TransferModel
package import WireOperations

/// An FTP URL taken apart: which server, and which path there. Carries no user and no password.
package struct FTPAddress: Hashable, Sendable {
    package let security: FTPSecurity
    /// Lower case; an IPv6 address in its brackets.
    package let host: String
    /// 21, or 990 for `ftps`, when the URL names none.
    package let port: Int
    /// Bytes as the server knows them. From the folder after the login, or from the root when it begins with a slash, which is
    /// written `ftp://host//path` or `ftp://host/%2Fpath` (RFC 1738 section 3.2.2).
    package let path: RawPath

    /// `nil` for another scheme, no host, a bad port, user info, a query, or a path that no command can carry.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let security = FTPSecurity(rawValue: parts[0].lowercased()), parts[1].hasPrefix("//"),
            !text.utf8.contains(where: { $0 <= 32 || $0 == 127 || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") })
        else { return nil }
        // The authority has the same grammar as that of an http URL.
        let rest = parts[1].dropFirst(2)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let authority = HTTPAddress("http://\(rest[..<slash])") else { return nil }
        let usual = security == .implicit ? 990 : 21
        let named =
            rest[..<slash].drop { $0 != "]" }.contains(":") || (!rest.hasPrefix("[") && rest[..<slash].contains(":"))
        self.init(
            security, host: authority.host, port: named ? authority.port : usual,
            path: RawPath(PercentEncoding.decode(rest[slash...].dropFirst())))
    }

    /// `nil` for a path that no command can carry: line ends and NUL part commands.
    package init?(_ security: FTPSecurity, host: String, port: Int, path: RawPath) {
        guard !path.bytes.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        self.security = security
        self.host = host
        self.port = port
        self.path = path
    }

    /// True when the path has a byte below 32, which would end a command or which libcurl rejects (`REJECT_CTRL` in its urlapi).
    package static func cannotCarry(_ path: RawPath) -> Bool { path.bytes.contains { $0 < 32 } }

    /// The same server, the path with this below it; an empty one is this address itself.
    package func appending(_ name: RawPath) -> FTPAddress? {
        name.bytes.isEmpty ? self : FTPAddress(security, host: host, port: port, path: path.appending(name))
    }

    /// The server's name in messages: the host, and the port where it is not the usual one.
    package var server: String { String(origin.dropFirst(security.rawValue.count + 3)) }

    /// Scheme, host and port, the usual port left out: what credentials and facts are kept by.
    package var origin: String {
        let isUsual = port == (security == .implicit ? 990 : 21)
        return isUsual ? "\(security.rawValue)://\(host)" : "\(security.rawValue)://\(host):\(port)"
    }
}

extension TransferError {
    package static func noFTPName(_ file: RawPath) -> TransferError {
        TransferError(
            .unsupported, of: file, "has control characters in its name, which FTP cannot carry",
            .queued("rename it, then queue it again, or queue it again by another protocol, such as sftp://"))
    }
}
