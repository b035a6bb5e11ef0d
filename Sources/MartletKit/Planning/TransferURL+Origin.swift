import TransferModel

extension TransferURL {
    /// Scheme, host and port: to whom a password is shown. Buckets of S3 are of one service.
    package var origin: String {
        let name = scheme.overHTTP ?? scheme.rawValue
        guard !scheme.facts.urlNamesNoHost else { return "\(scheme.rawValue)://" }
        let host = authority.lowercased()
        let end = host.hasPrefix("[") ? host.firstIndex(of: "]") ?? host.startIndex : host.startIndex
        let hasPort = host[end...].contains(":")
        return "\(name)://\(host)" + (hasPort ? "" : scheme.defaultPort.map { ":\($0)" } ?? "")
    }

    /// A batch has one login, and shows it to one server alone.
    /// - Parameter isGiven: whether a user or a password comes from elsewhere than the URLs.
    package static func requireOneLogin(_ urls: [TransferURL], isGiven: Bool) throws(QueueingFault) {
        let named = urls.first { $0.user != nil }
        guard let first = named ?? (isGiven ? urls.first : nil) else { return }
        if let other = urls.first(where: { $0.origin != first.origin }) {
            throw .usage(
                "a user, a password and a token go to one server, and \(first.origin) and \(other.origin) are two",
                "queue one batch for each")
        }
        let differs = urls.contains { $0.user != nil && ($0.user != first.user || $0.password != first.password) }
        if differs { throw .usage("the URLs name different users", "queue one batch for each") }
    }
}
