extension String {
    /// The host that a URL names, without its port; empty for what is no URL.
    var urlHost: String {
        guard let scheme = firstRange(of: "://") else { return "" }
        let authority = self[scheme.upperBound...].prefix { $0 != "/" }.split(separator: "@").last ?? ""
        let name = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
        return name.lowercased()
    }
}
