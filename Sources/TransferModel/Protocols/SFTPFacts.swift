extension ProtocolFacts {
    package static let sftp = ProtocolFacts(
        "sftp", schemes: [Spelling("sftp", port: 22)], downloads: .itself, lists: Listing(), login: .ssh)
}
