extension ProtocolFacts {
    /// Resumable uploads of the IETF's draft.
    package static let ietf = ProtocolFacts("ietf", schemes: Spelling.overHTTP("ietf+http", "ietf+https"))
}
