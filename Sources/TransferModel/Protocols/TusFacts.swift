extension ProtocolFacts {
    package static let tus = ProtocolFacts(
        "tus", schemes: Spelling.overHTTP("tus+http", "tus+https"),
        comparedInParts: "by a digest of each request (tus checksum)")
}
