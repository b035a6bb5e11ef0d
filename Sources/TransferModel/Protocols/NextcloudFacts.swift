extension ProtocolFacts {
    /// WebDAV of a server that takes large files in chunks.
    package static let nextcloud = ProtocolFacts(
        "nextcloud", mark: "/remote.php/dav/files/", beginsAgain: "it goes in one piece")
}
