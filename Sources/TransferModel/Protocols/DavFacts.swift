extension ProtocolFacts {
    package static let dav = ProtocolFacts(
        "dav", name: "webdav", schemes: Spelling.overHTTP("dav", "davs"), downloads: .by(.get), lists: Listing(),
        variants: [.nextcloud], beginsAgain: "sent whole each time")
}
