package import TransferModel

extension TransferOptions {
    /// The proxies of the process that queues a batch, as curl reads them: lower case, upper case too except for
    /// `http_proxy`, which a CGI client could forge.
    package static func proxies(of environment: [String: String]) -> [String: String] {
        var found: [String: String] = [:]
        for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
            let upper = name == "http_proxy" ? nil : environment[name.uppercased()]
            if let value = environment[name] ?? upper, !value.isEmpty { found[name] = value }
        }
        return found
    }
}
