extension ProtocolFacts {
    /// Plain; TLS from the first byte; TLS asked for on the plain port.
    package static let ftp = ProtocolFacts(
        "ftp",
        schemes: [Spelling("ftp", port: 21), Spelling("ftps", port: 990), Spelling("ftpes", port: 21)],
        downloads: .itself, lists: Listing(), login: .password)
}
