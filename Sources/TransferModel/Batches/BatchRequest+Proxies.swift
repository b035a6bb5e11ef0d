// A proxy's URL may name a user and a password; the options, which the queue stores, hold nothing secret.

extension BatchRequest {
    /// Moves proxies whose URL has user info from the options to the secrets, where they count more.
    package mutating func hideProxies() {
        let hidden = options.removeSecretProxies()
        secrets.proxies.merge(hidden) { $1 }
    }
}

extension TransferOptions {
    /// Takes out the proxies whose URL has user info, wherever in it: what follows an @ is no part of it.
    package mutating func removeSecretProxies() -> [String: String] {
        // A list of hosts, not a URL.
        let hidden = proxies.filter { $0.key.lowercased() != "no_proxy" && $0.value.contains("@") }
        for name in hidden.keys { proxies[name] = nil }
        return hidden
    }

    /// All proxies of a batch.
    package func proxies(with secrets: TransferSecrets) -> [String: String] {
        proxies.merging(secrets.proxies) { $1 }
    }
}
