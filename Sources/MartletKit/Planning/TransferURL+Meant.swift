import Configuration

/// Guesses of the URL when somebody leaves the protocol out, as browsers and scp let one. Only ever proposed: nobody can tell from a
/// server's name which protocol it speaks.
extension TransferURL {
    /// `https://example.org/files/` for `example.org/files/`, `sftp://ana@nas/~/photos` for `ana@nas:photos`; `nil` when it looks
    /// like no server, or may have a password in it.
    static func meant(by text: String) -> String? {
        guard !text.contains("://"), !text.unicodeScalars.contains(where: { $0.value <= 32 || $0.value == 127 }),
            !text.contains(where: { "?#%\\\"<>[]".contains($0) })
        else { return nil }
        let authority = text.prefix { $0 != "/" }
        let rest = text.dropFirst(authority.count)
        if let colon = authority.firstIndex(of: ":") {
            let after = authority[authority.index(after: colon)...]
            let host = authority[..<colon]
            // A short name with a number behind it is rather a destination with a path.
            if isPort(after), isHost(host, mayBeShort: false) { return web(authority, rest) }
            return remote(host, path: "\(after)\(rest)")
        }
        return isHost(authority, mayBeShort: false) ? web(authority, rest) : nil
    }

    private static func web(_ authority: Substring, _ path: Substring) -> String {
        "https://\(authority)\(path.isEmpty ? "/" : String(path))"
    }

    /// `[user@]host:path`, as scp and rsync have it; below the home folder unless it begins with a slash.
    private static func remote(_ account: Substring, path: String) -> String? {
        let parts = account.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count <= 2, let host = parts.last, isHost(host, mayBeShort: parts.count == 2),
            parts.allSatisfy({ !$0.isEmpty }), !path.contains("@")
        else { return nil }
        return "sftp://\(account)" + (path.hasPrefix("/") ? path : "/~/\(path)")
    }

    /// - Parameter mayBeShort: whether something else says that it is one, so that it needs no dot.
    private static func isHost(_ text: Substring, mayBeShort: Bool) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        }
        guard isName else { return false }
        if mayBeShort || text == "localhost" { return true }
        return labels.count > 1
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
